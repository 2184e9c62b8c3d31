/* SPDX-License-Identifier: GPL-3.0-or-later */
/* netbench list: what can be run, and what cannot run here and why. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "load/load.h"
#include "suite/embedded.h"
#include "suite/suite.h"
#include "topo/pin.h"

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

/* As they are written in a suite and for bench: key and value. */
static void print_settings(const struct opt *opts)
{
	char left[96], range[256];

	for (; opts->name; opts++) {
		const char *type = opt_type_text(opts);

		snprintf(left, sizeof(left), "%s=%s", opts->name, *type ? type : "yes|no");
		opt_range_text(opts, range, sizeof(range));
		printf("    %-20s %s", left, opts->help);
		if (*range)
			printf("; %s", range);
		if (opts->def && *opts->def)
			printf("; default %s", opts->def);
		putchar('\n');
	}
}

static void print_loads(bool verbose)
{
	struct err err;

	puts("Loads:");
	for (size_t i = 0; loads[i]; i++) {
		const struct kind *kind = &loads[i]->kind;

		printf("  %-10s %s\n", kind->name, kind->help);
		if (check_kind(kind, &err))
			printf("  %-10s cannot run here: %s\n", "", err.text);
		if (verbose)
			print_settings(kind->opts);
	}
}

static void print_lab(const struct lab_spec *lab)
{
	printf("  %-10s   lab %s: %zu nodes, %zu links\n", "", lab->name, lab->n_nodes,
	       lab->n_links);
}

static int print_suite(const char *word, bool verbose)
{
	struct suite *suite;
	struct err err;

	if (suite_open(word, &suite, &err)) {
		printf("  %-10s cannot be read: %s\n", word, err.text);
		return EXIT_USAGE;
	}
	printf("  %-10s %s\n", word, suite->about ? suite->about : "");
	for (size_t i = 0; verbose && i < suite->n_labs; i++)
		print_lab(&suite->labs[i]);
	for (size_t i = 0; verbose && i < suite->n_cases; i++)
		printf("  %-10s   %s: %s in lab %s\n", "", suite->cases[i].name,
		       suite->cases[i].main.load->kind.name, suite->labs[suite->cases[i].lab].name);
	suite_free(suite);
	return EXIT_GOOD;
}

static int print_lab_file(const char *word, bool verbose)
{
	struct suite *suite;
	struct err err;

	(void)verbose;
	if (suite_open_lab(word, &suite, &err)) {
		printf("  %-10s cannot be read: %s\n", word, err.text);
		return EXIT_USAGE;
	}
	printf("  %-10s %s (%zu nodes, %zu links)\n", word, suite->about ? suite->about : "",
	       suite->labs[0].n_nodes, suite->labs[0].n_links);
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
	int (*print)(const char *word, bool verbose);
	json_t *(*json)(const char *word);
};

static const struct files suite_files = {"suites", "Suites:", embedded_suites, print_suite,
					 json_suite};
static const struct files lab_files = {"labs", "Labs:", embedded_labs, print_lab_file,
				       json_lab_file};

static int print_files(const struct files *files, int argc, char **argv, bool verbose)
{
	int code = EXIT_GOOD, r;

	puts(files->title);
	for (const struct embedded *e = files->embedded; e->name; e++) {
		r = files->print(e->name, verbose);
		code = r ? r : code;
	}
	for (int i = 0; i < argc; i++) {
		r = files->print(argv[i], verbose);
		code = r ? r : code;
	}
	return code;
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
	if (!part || !strcmp(part, "suites"))
		json_object_set_new(doc, "suites", json_files(&suite_files, argc, argv));
	if (!part || !strcmp(part, "labs"))
		json_object_set_new(doc, "labs", json_files(&lab_files, argc, argv));
	r = json_dumpf(doc, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(doc);
	return r ? cmd_complain(EXIT_FAILED, "cannot print the list") : EXIT_GOOD;
}

static void print_opt_names(const struct opt *opts, const char *before, const char *after)
{
	for (; opts->name; opts++)
		printf("%s%s%s\n", before, opts->name, after);
}

/* The labs that are up, or the nodes of one of them. */
static void print_pinned(const char *of)
{
	struct pinned_lab *list;
	size_t n;

	if (lab_pinned_list(&list, &n, NULL))
		return;
	for (size_t i = 0; i < n; i++) {
		if (!of)
			puts(list[i].name);
		for (size_t j = 0; of && !strcmp(list[i].name, of) && j < list[i].spec.n_nodes; j++)
			puts(list[i].spec.nodes[j].name);
	}
	lab_pinned_free(list, n);
}

/* For completion: also the commands, a command's options, and what a load can be told. */
static int print_names(const char *part, const char *of)
{
	const struct load *load;
	struct err err;

	if (!strcmp(part, "loads")) {
		for (size_t i = 0; loads[i]; i++)
			puts(loads[i]->kind.name);
	} else if (!strcmp(part, "suites") || !strcmp(part, "labs")) {
		const struct embedded *e = *part == 's' ? embedded_suites : embedded_labs;

		for (; e->name; e++)
			puts(e->name);
	} else if (!strcmp(part, "commands")) {
		for (size_t i = 0; cmds[i]; i++)
			puts(cmds[i]->name);
	} else if (!strcmp(part, "pinned")) {
		print_pinned(NULL);
	} else if (!strcmp(part, "nodes") && of) {
		print_pinned(of);
	} else if (!strcmp(part, "options") && of) {
		for (size_t i = 0; cmds[i]; i++)
			if (!strcmp(cmds[i]->name, of))
				print_opt_names(cmds[i]->opts, "--", "");
	} else if (!strcmp(part, "settings") && of) {
		if (load_find(of, &load, &err))
			return cmd_fail(EXIT_USAGE, &err);
		print_opt_names(load->kind.opts, "", "=");
	} else {
		return cmd_complain(EXIT_USAGE, "no names of '%s' to list", part);
	}
	return EXIT_GOOD;
}

static int print_text(const char *part, int argc, char **argv, bool verbose)
{
	int code = EXIT_GOOD, r;

	if (!part || !strcmp(part, "loads"))
		print_loads(verbose);
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
	static const char *const parts[] = {"loads", "suites", "labs"};
	struct list_cfg cfg = {0};
	const char *part, *near;
	int n, code;
	size_t i;

	n = cmd_parse(self, &cfg, argc, argv, false, &code);
	if (n < 0)
		return code;
	part = n ? argv[0] : NULL;
	if (cfg.names)
		return print_names(part ? part : "commands", n > 1 ? argv[1] : NULL);
	for (i = 0; part && i < sizeof(parts) / sizeof(parts[0]) && strcmp(part, parts[i]); i++)
		;
	if (part && i == sizeof(parts) / sizeof(parts[0])) {
		near = name_nearest(parts, i, part);
		return cmd_complain(EXIT_USAGE, "cannot list '%s'%s%s%s", part,
				    near ? "; did you mean '" : " (loads, suites or labs)",
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
	.help = "list loads, suites and labs, and what cannot run here and why",
	.synopsis = "[loads]\nsuites [FILE…]\nlabs [FILE…]\n--names WHAT [OF]",
	.opts = list_opts,
	.details =
		"With -v also the options of the loads and the cases of the suites. --names prints "
		"bare\n"
		"names of: commands, loads, suites, labs, pinned (labs that are up), nodes LAB,\n"
		"options COMMAND, settings LOAD.",
	.run = list_run,
};
