/* SPDX-License-Identifier: GPL-3.0-or-later */
/* netbench list: what can be run, and what cannot run here and why. */
#include <errno.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/columns.h"
#include "cmd/complete.h"
#include "cmd/keys.h"
#include "cmd/output.h"
#include "cmd/stages.h"
#include "load/load.h"
#include "suite/embedded.h"
#include "suite/plan.h"
#include "suite/suite.h"
#include "topo/filter/filter.h"

struct list_cfg {
	struct common_cfg common;
	bool names;
};

static const struct opt list_opts[] = {
	{.name = "names",
	 .type = OPT_BOOL,
	 .offset = offsetof(struct list_cfg, names),
	 .help = "print bare names, one a line, for scripts and completion"},
	COMMON_OPTS,
	{0},
};

/* What the kind says about its default configuration: 0, or -errno with the reason. */
static int check_kind(const struct kind *kind, struct err *err)
{
	void *cfg;
	int r;

	if (!kind->check)
		return 0;
	cfg = calloc(1, kind->cfg_size ? kind->cfg_size : 1);
	if (!cfg)
		return err_set(err, ENOMEM, "out of memory");
	r = opts_default(kind->opts, cfg, err);
	if (!r)
		r = kind->check(cfg, err);
	opts_release(kind->opts, cfg);
	free(cfg);
	return r;
}

/* What a row of the list says; texts are borrowed. */
static void add_row(struct columns *table, const char *name, const char *text)
{
	const char *cells[] = {name, text};

	columns_add(table, cells);
}

static void add_rowf(struct columns *table, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static void add_rowf(struct columns *table, const char *name, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	add_row(table, name, text);
}

static struct columns *new_rows(void)
{
	static const struct column column[] = {{NULL, false}, {NULL, true}};

	return columns_new(column, sizeof(column) / sizeof(column[0]));
}

static int end_rows(struct columns *table)
{
	int r = columns_print(table, 2, output_width(stdout), false, stdout);

	columns_free(table);
	return r ? cmd_complain(EXIT_FAILED, "out of memory") : EXIT_GOOD;
}

static int print_loads(bool verbose)
{
	struct columns *table = NULL;
	struct err err;
	int code = EXIT_GOOD;

	puts("Loads:");
	for (size_t i = 0; loads[i]; i++) {
		const struct kind *kind = &loads[i]->kind;

		if (!table)
			table = new_rows();
		if (!table)
			return cmd_complain(EXIT_FAILED, "out of memory");
		add_row(table, kind->name, kind->help);
		if (check_kind(kind, &err))
			add_rowf(table, "", "cannot run here: %s", err.text);
		if (!verbose && loads[i + 1])
			continue;
		code = end_rows(table);
		table = NULL;
		if (verbose && !code && keys_print(kind->opts, 4, output_width(stdout), stdout))
			code = cmd_complain(EXIT_FAILED, "out of memory");
	}
	return code;
}

/* The arms that cannot run here: each with -v, else how many and why the first cannot. */
static void add_skips(struct columns *table, const struct suite *suite, bool verbose)
{
	const struct plan_options options = {.seed = 1};
	const char *reason = NULL;
	struct plan *plan;
	struct err err;
	size_t skips = 0;

	if (plan_make(suite, &options, &plan, &err)) {
		add_rowf(table, "", "cannot be planned: %s", err.text);
		return;
	}
	for (size_t i = 0; i < plan->n_arms; i++) {
		const struct arm *arm = &plan->arms[i];

		if (!arm->skip)
			continue;
		if (verbose)
			add_rowf(table, "", "  cannot run here: %s: %s", arm->name, arm->skip);
		reason = reason ? reason : arm->skip;
		skips++;
	}
	if (skips && !verbose)
		add_rowf(table, "", "%zu of %zu cases cannot run here: %s", skips, plan->n_arms,
			 reason);
	plan_free(plan);
}

static int add_suite(struct columns *table, const char *word, bool verbose)
{
	struct suite *suite;
	struct err err;

	if (suite_open(word, &suite, &err)) {
		add_rowf(table, word, "cannot be read: %s", err.text);
		return EXIT_USAGE;
	}
	add_row(table, word, suite->about);
	for (size_t i = 0; verbose && i < suite->n_labs; i++) {
		const struct lab_spec *lab = &suite->labs[i];

		add_rowf(table, "", "lab %s: %zu node%s, %zu link%s", lab->name, lab->n_nodes,
			 PLURAL(lab->n_nodes), lab->n_links, PLURAL(lab->n_links));
	}
	for (size_t i = 0; verbose && i < suite->n_cases; i++)
		add_rowf(table, "", "%s: %s in lab %s", suite->cases[i].name,
			 suite->cases[i].main.load->kind.name,
			 suite->labs[suite->cases[i].lab].name);
	add_skips(table, suite, verbose);
	suite_free(suite);
	return EXIT_GOOD;
}

static int add_lab(struct columns *table, const char *word, bool verbose)
{
	const struct lab_spec *lab;
	struct suite *suite;
	struct err err;

	(void)verbose;
	if (suite_open_lab(word, &suite, &err)) {
		add_rowf(table, word, "cannot be read: %s", err.text);
		return EXIT_USAGE;
	}
	lab = &suite->labs[0];
	add_rowf(table, word, "%s%s(%zu node%s, %zu link%s)", suite->about ? suite->about : "",
		 suite->about ? " " : "", lab->n_nodes, PLURAL(lab->n_nodes), lab->n_links,
		 PLURAL(lab->n_links));
	suite_free(suite);
	return EXIT_GOOD;
}

static json_t *json_option(const struct opt *opt)
{
	char range[256];

	opt_range_text(opt, range, sizeof(range));
	return json_pack("{s:s, s:s, s:s?, s:s, s:s?}", "name", opt->name, "type",
			 opt_type_text(opt), "default", opt->def, "accepts", range, "help",
			 opt->help);
}

static json_t *json_load(const struct load *load)
{
	const struct kind *kind = &load->kind;
	json_t *options = json_array();
	struct err err = {0};
	bool able = !check_kind(kind, &err);

	for (const struct opt *opt = kind->opts; opt->name; opt++)
		json_array_append_new(options, json_option(opt));
	return json_pack("{s:s, s:s, s:b, s:b, s:s?, s:o}", "name", kind->name, "help", kind->help,
			 "traffic", load->traffic, "available", able, "reason",
			 able ? NULL : err.text, "options", options);
}

static json_t *json_lab(const struct lab_spec *lab, const char *about)
{
	json_t *nodes = json_array();

	for (size_t i = 0; i < lab->n_nodes; i++)
		json_array_append_new(nodes, json_string(lab->nodes[i].name));
	return json_pack("{s:s, s:s?, s:o, s:I}", "name", lab->name, "about", about, "nodes", nodes,
			 "links", (json_int_t)lab->n_links);
}

static json_t *json_suite(const char *word)
{
	struct suite *suite;
	struct err err;
	json_t *cases, *doc;

	if (suite_open(word, &suite, &err))
		return json_pack("{s:s, s:s}", "name", word, "error", err.text);
	cases = json_array();
	for (size_t i = 0; i < suite->n_cases; i++)
		json_array_append_new(cases,
				      json_pack("{s:s, s:s, s:s}", "name", suite->cases[i].name,
						"load", suite->cases[i].main.load->kind.name, "lab",
						suite->labs[suite->cases[i].lab].name));
	doc = json_pack("{s:s, s:s?, s:o}", "name", word, "about", suite->about, "cases", cases);
	suite_free(suite);
	return doc;
}

static json_t *json_lab_file(const char *word)
{
	struct suite *suite;
	struct err err;
	json_t *doc;

	if (suite_open_lab(word, &suite, &err))
		return json_pack("{s:s, s:s}", "name", word, "error", err.text);
	doc = json_lab(&suite->labs[0], suite->about);
	suite_free(suite);
	return doc;
}

/* A part of the list that is made of files: what is embedded, then what the user names. */
struct files {
	const char *key, *title;
	const struct embedded *embedded;
	int (*add)(struct columns *table, const char *word, bool verbose);
	json_t *(*json)(const char *word);
};

static const struct files suite_files = {"suites", "Suites:", embedded_suites, add_suite,
					 json_suite};
static const struct files lab_files = {"labs", "Labs:", embedded_labs, add_lab, json_lab_file};

static int print_files(const struct files *files, int argc, char **argv, bool verbose)
{
	struct columns *table = new_rows();
	int code = EXIT_GOOD, r;

	if (!table)
		return cmd_complain(EXIT_FAILED, "out of memory");
	puts(files->title);
	for (const struct embedded *e = files->embedded; e->name; e++) {
		r = files->add(table, e->name, verbose);
		code = r ? r : code;
	}
	for (int i = 0; i < argc; i++) {
		r = files->add(table, argv[i], verbose);
		code = r ? r : code;
	}
	r = end_rows(table);
	return r ? r : code;
}

static json_t *json_files(const struct files *files, int argc, char **argv)
{
	json_t *list = json_array();

	for (const struct embedded *e = files->embedded; e->name; e++)
		json_array_append_new(list, files->json(e->name));
	for (int i = 0; i < argc; i++)
		json_array_append_new(list, files->json(argv[i]));
	return list;
}

static int print_json(const char *part, int argc, char **argv)
{
	json_t *doc = json_object(), *list;
	int r;

	if (!part || !strcmp(part, "loads")) {
		list = json_array();
		for (size_t i = 0; loads[i]; i++)
			json_array_append_new(list, json_load(loads[i]));
		json_object_set_new(doc, "loads", list);
	}
	if (!part || !strcmp(part, "filters"))
		json_object_set_new(doc, "filters", stages_json());
	if (!part || !strcmp(part, "suites"))
		json_object_set_new(doc, "suites", json_files(&suite_files, argc, argv));
	if (!part || !strcmp(part, "labs"))
		json_object_set_new(doc, "labs", json_files(&lab_files, argc, argv));
	r = json_dumpf(doc, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(doc);
	return r ? cmd_complain(EXIT_FAILED, "cannot print the list") : EXIT_GOOD;
}

/* Bare names, for scripts; and for the shell, what may follow the words of a command line. */
static int print_names(const char *part, int n, char **words)
{
	if (!strcmp(part, "loads")) {
		for (size_t i = 0; loads[i]; i++)
			puts(loads[i]->kind.name);
	} else if (!strcmp(part, "filters")) {
		for (size_t i = 0; filters[i]; i++)
			puts(filters[i]->kind.name);
	} else if (!strcmp(part, "suites") || !strcmp(part, "labs")) {
		const struct embedded *e = *part == 's' ? embedded_suites : embedded_labs;

		for (; e->name; e++)
			puts(e->name);
	} else if (!strcmp(part, "commands")) {
		for (size_t i = 0; cmds[i]; i++)
			puts(cmds[i]->name);
	} else if (!strcmp(part, "completion")) {
		complete_words(n, words, stdout);
	} else {
		return cmd_complain(EXIT_USAGE, "no names of '%s' to list", part);
	}
	return EXIT_GOOD;
}

static int print_text(const char *part, int argc, char **argv, bool verbose)
{
	int code = EXIT_GOOD, r;

	if (!part || !strcmp(part, "loads"))
		code = print_loads(verbose);
	if (part && argc && !strcmp(part, "filters"))
		return stages_detail(argc, argv);
	if (!part || !strcmp(part, "filters")) {
		r = stages_print(verbose);
		code = r ? r : code;
	}
	if (!part || !strcmp(part, "suites")) {
		r = print_files(&suite_files, argc, argv, verbose);
		code = r ? r : code;
	}
	if (!part || !strcmp(part, "labs")) {
		r = print_files(&lab_files, argc, argv, verbose);
		code = r ? r : code;
	}
	return code;
}

static int list_run(const struct cmd *self, int argc, char **argv)
{
	static const char *const parts[] = {"loads", "filters", "suites", "labs"};
	struct list_cfg cfg = {0};
	const char *part, *near;
	int n, code;
	size_t i;

	n = cmd_parse(self, &cfg, argc, argv, false, &code);
	if (n < 0)
		return code;
	part = n ? argv[0] : NULL;
	if (part && !strcmp(part, "filter"))
		part = "filters";
	if (cfg.names)
		return print_names(part ? part : "commands", n > 1 ? n - 1 : 0, argv + 1);
	for (i = 0; part && i < sizeof(parts) / sizeof(parts[0]) && strcmp(part, parts[i]); i++)
		;
	if (part && i == sizeof(parts) / sizeof(parts[0])) {
		near = name_nearest(parts, i, part);
		return cmd_complain(EXIT_USAGE, "cannot list '%s'%s%s%s", part,
				    near ? "; did you mean '" : " (loads, filters, suites or labs)",
				    near ? near : "", near ? "'?" : "");
	}
	if (n > 1 && i == 0)
		return cmd_complain(EXIT_USAGE, "loads are not read from files, such as '%s'",
				    argv[1]);
	n = n ? n - 1 : 0;
	if (cfg.common.json)
		return print_json(part, n, argv + 1);
	return print_text(part, n, argv + 1, cfg.common.verbose);
}

const struct cmd cmd_list = {
	.name = "list",
	.help = "list what can be run, and what cannot run here and why",
	.synopsis = "[loads]\nfilters [STAGE…]\nsuites [FILE…]\nlabs [FILE…]\n--names WHAT",
	.opts = list_opts,
	.details = "With -v also the options of loads and filters and the cases of the suites; "
		   "with a STAGE "
		   "what\nthat stage takes. --names "
		   "prints bare\n"
		   "names of: commands, loads, filters, suites, labs; or, for `completion -- "
		   "WORD…`, what "
		   "may be\n"
		   "typed as the last of the words.",
	.run = list_run,
};
