/* SPDX-License-Identifier: GPL-3.0-or-later */
/* netbench lab: labs for use by hand, which stay up until they are taken down. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/show.h"
#include "suite/embedded.h"
#include "suite/filter_check.h"
#include "suite/suite.h"
#include "topo/filter/filter.h"
#include "topo/pin.h"

/* As shells and env(1) report a command that could not be run. */
enum { EXIT_NO_EXEC = 126, EXIT_NO_COMMAND = 127 };

struct lab_cfg {
	struct common_cfg common;
	char *name;
};

static const struct opt lab_opts[] = {
	{.name = "name",
	 .type = OPT_TEXT,
	 .offset = offsetof(struct lab_cfg, name),
	 .metavar = "NAME",
	 .letter = 'n',
	 .help = "up: name of the lab that is up; default: that of the file"},
	COMMON_OPTS,
	{0},
};

static int print_json(json_t *doc)
{
	int r = doc ? json_dumpf(doc, stdout, JSON_INDENT(2)) : -1;

	putchar('\n');
	json_decref(doc);
	return r ? cmd_complain(EXIT_FAILED, "cannot print the lab") : EXIT_GOOD;
}

static int print_lab(const struct lab_spec *spec, const char *name, const struct lab_cfg *cfg)
{
	struct err err;
	json_t *doc;
	int r;

	if (cfg->common.json) {
		doc = show_json(spec, name, &err);
		return doc ? print_json(doc) : cmd_fail(EXIT_USAGE, &err);
	}
	r = show_text(spec, name, cfg->common.verbose, stdout, &err);
	return r ? cmd_fail(cmd_exit_code(r), &err) : EXIT_GOOD;
}

/* How many nodes answered the first one over IPv4 and IPv6: all that have a way to it. */
struct answers {
	size_t ipv4, ipv6;
};

#define REACH_NS UINT64_C(10000000000)

/* Only what the namespaces hold themselves is still there when this process ends. */
static int check_lasting(const struct lab_spec *spec, struct err *err)
{
	for (size_t i = 0; i < spec->n_filters; i++) {
		const struct filter *filter = filter_of(&spec->filters[i]);

		if (!filter->lasting)
			return err_at(err, spec->filters[i].mark, EINVAL,
				      "filter '%s' ends with the process that made it: 'lab up' "
				      "cannot leave it in place",
				      filter->kind.name);
	}
	return 0;
}

/* Whatever can be said of the filters before anything is built. Fills in their nodes. */
static int check_filters(struct lab_spec *spec, struct err *err)
{
	struct filter_checks checks = {0};
	struct lab_plan *plan;
	int r;

	r = check_lasting(spec, err);
	if (!r)
		r = lab_plan_make(spec, &plan, err);
	if (r)
		return r;
	for (size_t i = 0; !r && i < spec->n_filters; i++)
		r = filter_check_arm(spec, i, plan, &checks, err);
	filter_checks_release(&checks);
	lab_plan_free(plan);
	return r;
}

/* Build the lab, prove that it works, filter and give it a name; nothing of it stays when that fails. */
static int raise_lab(struct lab_spec *spec, const char *name, struct answers *ret, struct err *err)
{
	struct lab *lab;
	int r;

	r = lab_pin_check(name, err);
	if (!r)
		r = check_filters(spec, err);
	if (!r)
		r = lab_build(spec, &lab, err);
	if (r)
		return r;
	r = lab_reach_all(lab, 0, AF_INET, REACH_NS, &ret->ipv4, err);
	if (!r)
		r = lab_reach_all(lab, 0, AF_INET6, REACH_NS, &ret->ipv6, err);
	if (!r)
		r = lab_filter(lab, err);
	if (!r)
		r = lab_pin(lab, name, err);
	lab_free(lab);
	return r;
}

/* Refusals of the system get the remedy; words: the command line, to be typed again. */
static int fail_verb(int r, const char *verb, const char *words, const struct err *err)
{
	if ((r == -EPERM || r == -EACCES) && geteuid())
		return cmd_complain(EXIT_NOTHING, "lab %s needs root: sudo netbench lab %s %s (%s)",
				    verb, verb, words, err->text);
	return cmd_fail(cmd_exit_code(r), err);
}

static int verb_up(const struct lab_cfg *cfg, int argc, char **argv)
{
	struct suite *suite;
	struct lab_spec *spec;
	struct answers answers;
	const char *name;
	struct err err;
	int code, r;

	(void)argc;
	r = suite_open_lab(argv[0], &suite, &err);
	if (r)
		return cmd_fail(cmd_exit_code(r), &err);
	spec = &suite->labs[0];
	name = cfg->name ? cfg->name : spec->name;
	r = raise_lab(spec, name, &answers, &err);
	if (r) {
		code = fail_verb(r, "up", argv[0], &err);
	} else if (cfg->common.json) {
		code = print_lab(spec, name, cfg);
	} else {
		printf("Lab '%s' is up: %zu node%s, %zu link%s. From '%s', %zu node%s answer%s "
		       "over "
		       "IPv4 and %zu over IPv6.\n"
		       "Use it: netbench lab exec %s %s ip address\n"
		       "Remove: netbench lab down %s\n",
		       name, spec->n_nodes, PLURAL(spec->n_nodes), spec->n_links,
		       PLURAL(spec->n_links), spec->nodes[0].name, answers.ipv4,
		       PLURAL(answers.ipv4), answers.ipv4 == 1 ? "s" : "", answers.ipv6, name,
		       spec->nodes[0].name, name);
		code = EXIT_GOOD;
	}
	suite_free(suite);
	return code;
}

static int verb_down(const struct lab_cfg *cfg, int argc, char **argv)
{
	int code = EXIT_GOOD, r;
	struct err err;
	bool removed;

	for (int i = 0; i < argc; i++) {
		r = lab_unpin(argv[i], &removed, &err);
		if (r)
			code = fail_verb(r, "down", argv[i], &err);
		else if (cfg->common.verbose)
			printf("Lab '%s' %s.\n", argv[i], removed ? "is down" : "was not up");
	}
	return code;
}

static int verb_list(const struct lab_cfg *cfg, int argc, char **argv)
{
	struct pinned_lab *list;
	json_t *doc = NULL;
	struct err err;
	size_t n;
	int r;

	(void)argc;
	(void)argv;
	r = lab_pinned_list(&list, &n, &err);
	if (r)
		return cmd_fail(cmd_exit_code(r), &err);
	if (cfg->common.json)
		doc = json_array();
	for (size_t i = 0; i < n; i++) {
		const struct lab_spec *spec = &list[i].spec;

		if (doc)
			json_array_append_new(
				doc, json_pack("{s:s, s:I, s:I, s:b}", "name", list[i].name,
					       "nodes", (json_int_t)spec->n_nodes, "links",
					       (json_int_t)spec->n_links, "whole", list[i].whole));
		else
			printf("%-16s %zu node%s, %zu link%s%s\n", list[i].name, spec->n_nodes,
			       PLURAL(spec->n_nodes), spec->n_links, PLURAL(spec->n_links),
			       list[i].whole ? "" : ", incomplete: take it down");
	}
	lab_pinned_free(list, n);
	return doc ? print_json(doc) : EXIT_GOOD;
}

static int verb_exec(const struct lab_cfg *cfg, int argc, char **argv)
{
	char **words, line[256];
	struct err err;
	int r;

	(void)cfg;
	r = lab_pinned_enter(argv[0], argv[1], &err);
	if (r) {
		snprintf(line, sizeof(line), "%s %s %s", argv[0], argv[1], argv[2]);
		return fail_verb(r, "exec", line, &err);
	}
	/* Behind the operands argv holds what the options were, not NULL. */
	words = calloc((size_t)argc - 1, sizeof(*words));
	if (!words)
		return cmd_complain(EXIT_FAILED, "out of memory");
	memcpy(words, argv + 2, ((size_t)argc - 2) * sizeof(*words));
	execvp(words[0], words);
	r = errno;
	free(words);
	return cmd_complain(r == ENOENT ? EXIT_NO_COMMAND : EXIT_NO_EXEC, "cannot run '%s': %s",
			    argv[2], strerror(r));
}

/* A lab that is up by that name, or as `up` would build it. */
static int verb_show(const struct lab_cfg *cfg, int argc, char **argv)
{
	struct pinned_lab *list;
	struct suite *suite;
	struct err err;
	int code = -1, r;
	size_t n;

	(void)argc;
	if (!lab_pinned_list(&list, &n, &err)) {
		for (size_t i = 0; i < n && code < 0; i++)
			if (!strcmp(list[i].name, argv[0]))
				code = print_lab(&list[i].spec, list[i].name, cfg);
		lab_pinned_free(list, n);
	}
	if (code >= 0)
		return code;
	r = suite_open_lab(argv[0], &suite, &err);
	if (r)
		return cmd_fail(cmd_exit_code(r), &err);
	code = print_lab(&suite->labs[0], suite->labs[0].name, cfg);
	suite_free(suite);
	return code;
}

static const struct verb {
	const char *name, *words;
	int min, max; /* operands */
	int (*run)(const struct lab_cfg *cfg, int argc, char **argv);
	const char *help, *details;
} verbs[] = {
	{"up", "FILE|LAB", 1, 1, verb_up, "build a lab that stays up until it is taken down",
	 "The lab is that of a file, or one of `netbench list labs`. Its nodes get the names\n"
	 "NAME.NODE for ip-netns(8). All nodes must answer, or nothing stays."},
	{"down", "NAME…", 1, 1 << 20, verb_down, "remove exactly what up made",
	 "A lab that is not up is no mistake: -v tells."},
	{"list", "", 0, 0, verb_list, "list the labs that are up", NULL},
	{"exec", "NAME NODE COMMAND…", 3, 1 << 20, verb_exec,
	 "run a command in a node of a lab that is up",
	 "The exit code is that of the command; 126 and 127 if it cannot be run."},
	{"show", "FILE|LAB|NAME", 1, 1, verb_show, "draw a lab with its addresses and paths",
	 "A lab that is up by that name, or as up would build it. Needs no privilege."},
};
enum { VERBS = sizeof(verbs) / sizeof(verbs[0]) };

static const struct verb *find_verb(const char *word, int *ret_code)
{
	const char *names[VERBS], *near;

	for (size_t i = 0; i < VERBS; i++) {
		names[i] = verbs[i].name;
		if (!strcmp(names[i], word))
			return &verbs[i];
	}
	near = name_nearest(names, VERBS, word);
	if (near)
		*ret_code = cmd_complain(EXIT_USAGE, "lab: cannot '%s'; did you mean '%s'?", word,
					 near);
	else
		*ret_code = cmd_complain(EXIT_USAGE, "lab: cannot '%s' (see: netbench lab --help)",
					 word);
	return NULL;
}

static int lab_run(const struct cmd *self, int argc, char **argv)
{
	struct cmd narrowed = *self;
	const struct verb *verb = NULL;
	struct lab_cfg cfg = {0};
	char synopsis[64];
	int n, code = EXIT_USAGE;

	/* The verb comes first, so that `exec` can leave the options of its command alone. */
	if (argc && argv[0][0] != '-') {
		verb = find_verb(argv[0], &code);
		if (!verb)
			return code;
		argc--;
		argv++;
		snprintf(synopsis, sizeof(synopsis), "%s%s%s%s", verb->name,
			 *verb->words ? " " : "", verb->run == verb_up ? "[--name NAME] " : "",
			 verb->words);
		narrowed.synopsis = synopsis;
		narrowed.help = verb->help;
		narrowed.details = verb->details;
	}
	n = cmd_parse(&narrowed, &cfg, argc, argv, verb && verb->run == verb_exec, &code);
	if (n < 0)
		return code;
	if (!verb)
		code = cmd_complain(EXIT_USAGE, "lab: up, down, list, exec or show? "
						"(see: netbench lab --help)");
	else if (n < verb->min || n > verb->max)
		code = cmd_complain(EXIT_USAGE, "usage: netbench lab %s %s", verb->name,
				    verb->words);
	else
		code = verb->run(&cfg, n, argv);
	opts_release(self->opts, &cfg);
	return code;
}

const struct cmd cmd_lab = {
	.name = "lab",
	.help = "keep labs for use by hand",
	.synopsis = "up [--name NAME] FILE|LAB\ndown NAME…\nlist\nexec NAME NODE COMMAND…\n"
		    "show FILE|LAB|NAME",
	.opts = lab_opts,
	.details =
		"up builds the lab of a file, or one of `netbench list labs`, and names its nodes\n"
		"NAME.NODE for ip-netns(8); it stays until down removes exactly what up made. exec "
		"runs\n"
		"a command in a node. show draws a lab with its addresses and paths, and needs no\n"
		"privilege. down of a lab that is not up is no mistake, so that scripts may repeat "
		"it.",
	.run = lab_run,
};
