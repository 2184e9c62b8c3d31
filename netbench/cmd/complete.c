/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what may follow on a command line, all read from the tables that also parse it. */
#include "cmd/complete.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "load/load.h"
#include "search/search.h"
#include "suite/embedded.h"
#include "suite/suite.h"
#include "topo/filter/filter.h"
#include "topo/pin.h"

static void put_embedded(const struct embedded *list, FILE *out)
{
	for (; list->name; list++)
		fprintf(out, "%s\n", list->name);
	fputs("<yaml>\n", out);
}

static void put_loads(FILE *out)
{
	for (size_t i = 0; loads[i]; i++)
		fprintf(out, "%s\n", loads[i]->kind.name);
}

static void put_stages(const char *lead, FILE *out)
{
	for (size_t i = 0; filters[i]; i++)
		fprintf(out, "%s%s\n", lead, filters[i]->kind.name);
}

static void put_commands(FILE *out)
{
	for (size_t i = 0; cmds[i]; i++)
		fprintf(out, "%s\n", cmds[i]->name);
}

/* The labs that are up, or the nodes of one of them. */
static void put_pinned(const char *of, FILE *out)
{
	struct pinned_lab *list;
	size_t n;

	if (lab_pinned_list(&list, &n, NULL))
		return;
	for (size_t i = 0; i < n; i++) {
		if (!of)
			fprintf(out, "%s\n", list[i].name);
		for (size_t j = 0; of && !strcmp(list[i].name, of) && j < list[i].spec.n_nodes; j++)
			fprintf(out, "%s\n", list[i].spec.nodes[j].name);
	}
	lab_pinned_free(list, n);
}

/* "streams=" of each option that can be given as a key; lead: "link.*." */
static void put_keys(const char *lead, const struct opt *opts, FILE *out)
{
	for (; opts->name; opts++)
		fprintf(out, "%s%s=\n", lead, opts->name);
}

/* Those of links and nodes that tell netbench what to build cannot be set. */
static void put_lab_keys(const char *lead, const struct opt *opts, FILE *out)
{
	for (; opts->name; opts++)
		if (opts->type != OPT_TEXT && opts->type != OPT_LIST)
			fprintf(out, "%s%s=\n", lead, opts->name);
}

static void put_values(const char *lead, const struct opt *opt, FILE *out)
{
	static const char *const bools[] = {"yes", "no", NULL}, *const sets[] = {"on", "off", NULL};
	const char *const *fixed = opt->type == OPT_BOOL  ? bools
				   : opt->type == OPT_SET ? sets
							  : NULL;

	if (opt->metavar && !strcmp(opt->metavar, "FILE"))
		fputs("<files>\n", out);
	for (; fixed && *fixed; fixed++)
		fprintf(out, "%s%s\n", lead, *fixed);
	for (const char *const *choice = opt->choices; choice && *choice; choice++)
		fprintf(out, "%s%s\n", lead, *choice);
}

/* The option that a key means: of the load, of timing, or the last part of a path. */
static const struct opt *find_key(const struct load *load, const char *key)
{
	const char *dot = strrchr(key, '.'), *last = dot ? dot + 1 : key;
	const struct opt *opt = NULL;

	if (!strncmp(key, "link.", 5))
		return opts_find(link_opts, last);
	if (!strncmp(key, "node.", 5))
		return opts_find(node_opts, last);
	if (!strncmp(key, "filter.", 7))
		return opts_find(filter_opts, last);
	if (!strncmp(key, "search.", 7))
		return opts_find(search_opts, last);
	if (load)
		opt = opts_find(load->kind.opts, last);
	for (size_t i = 0; !load && !opt && loads[i]; i++)
		opt = opts_find(loads[i]->kind.opts, last);
	return opt ? opt : opts_find(timing_opts, last);
}

/* Values behind a '=' that has been typed; false when it has not. */
static bool put_key_values(const struct load *load, const char *word, FILE *out)
{
	const char *equals = strchr(word, '=');
	const struct opt *opt;
	char lead[256], key[256];

	if (!equals)
		return false;
	snprintf(lead, sizeof(lead), "%.*s", (int)(equals + 1 - word), word);
	snprintf(key, sizeof(key), "%.*s", (int)(equals - word), word);
	opt = find_key(load, key);
	if (opt)
		put_values(lead, opt, out);
	return true;
}

/* STAGE, and behind a comma the options of a filter; lead: what stands before. */
static void put_filter(const char *lead, const char *word, FILE *out)
{
	const char *comma = strrchr(word, ','), *part = comma ? comma + 1 : word;
	const char *equals = strchr(part, '=');
	const struct opt *opt;
	char before[512], key[64];

	snprintf(before, sizeof(before), "%s%.*s", lead, (int)((equals ? equals + 1 : part) - word),
		 word);
	if (!comma && !equals) {
		put_stages(before, out);
	} else if (!equals) {
		put_keys(before, filter_opts, out);
	} else {
		snprintf(key, sizeof(key), "%.*s", (int)(equals - part), part);
		opt = opts_find(filter_opts, key);
		if (opt)
			put_values(before, opt, out);
	}
}

/* A setting of bench. */
static void put_settings(const char *load_name, const char *word, FILE *out)
{
	const struct load *load;

	if (load_find(load_name, &load, NULL) || put_key_values(load, word, out))
		return;
	put_keys("", load->kind.opts, out);
	put_keys("", timing_opts, out);
	put_lab_keys("link.", link_opts, out);
	put_lab_keys("node.", node_opts, out);
	put_keys("filter.", filter_opts, out);
	put_keys("search.", search_opts, out);
}

/* A path for --set. */
static void put_paths(const char *word, FILE *out)
{
	if (put_key_values(NULL, word, out))
		return;
	put_keys("", timing_opts, out);
	for (size_t i = 0; loads[i]; i++)
		put_keys("load.", loads[i]->kind.opts, out);
	put_lab_keys("link.*.", link_opts, out);
	put_lab_keys("node.*.", node_opts, out);
	put_keys("filter.", filter_opts, out);
	put_keys("search.", search_opts, out);
}

/* The value of a command's option; word: what there is of it. */
static void put_option_value(const struct opt *opt, const char *lead, const char *word, FILE *out)
{
	if (!strcmp(opt->name, "output"))
		fputs("<files>\n", out);
	else if (!strcmp(opt->name, "lab"))
		put_embedded(embedded_labs, out);
	else if (!strcmp(opt->name, "set"))
		put_paths(word, out);
	else if (!strcmp(opt->name, "filter"))
		put_filter(lead, word, out);
	else if (!strcmp(opt->name, "search"))
		put_values(lead, opts_find(search_opts, "preset"), out);
	else
		put_values(lead, opt, out);
}

/* The option of a word that starts with '-', if its value is the next word. */
static const struct opt *wants_next(const struct opt *opts, const char *word)
{
	size_t len = strlen(word);

	if (!strncmp(word, "--", 2)) {
		opts = opts_find(opts, word + 2);
		return opts && opts->type != OPT_BOOL ? opts : NULL;
	}
	for (; opts->name; opts++)
		if (opts->letter && opts->letter == word[len - 1] && opts->type != OPT_BOOL)
			return opts;
	return NULL;
}

static void put_options(const struct opt *opts, const char *word, FILE *out)
{
	const char *equals = strchr(word, '=');
	char name[64], lead[72];

	if (!equals) {
		for (; opts->name; opts++)
			fprintf(out, "--%s\n", opts->name);
		return;
	}
	snprintf(name, sizeof(name), "%.*s", (int)(equals - word), word);
	snprintf(lead, sizeof(lead), "%s=", name);
	opts = wants_next(opts, name);
	if (opts)
		put_option_value(opts, lead, equals + 1, out);
}

static const char *const lab_verbs[] = {"up", "down", "list", "exec", "show"};

static void put_lab_verbs(FILE *out)
{
	for (size_t i = 0; i < sizeof(lab_verbs) / sizeof(lab_verbs[0]); i++)
		fprintf(out, "%s\n", lab_verbs[i]);
}

/* Operand number n (from 0) of a verb of lab. */
static void put_lab_operand(const char *verb, char **operands, int n, FILE *out)
{
	bool up = !strcmp(verb, "up"), show = !strcmp(verb, "show"), exec = !strcmp(verb, "exec");

	if (exec && n == 1)
		put_pinned(operands[0], out);
	else if (exec && n > 1)
		fputs("<commands>\n", out);
	else if (exec || show || !strcmp(verb, "down"))
		put_pinned(NULL, out);
	if ((up || show) && !n)
		put_embedded(embedded_labs, out);
}

/* part: what is to be listed, if that is known. */
static void put_list_operand(const char *part, FILE *out)
{
	if (!part)
		fputs("loads\nfilters\nsuites\nlabs\n", out);
	else if (!strncmp(part, "filter", 6))
		put_stages("", out);
	else if (strcmp(part, "loads") != 0)
		fputs("<yaml>\n", out);
}

static void put_operand(const char *command, char **operands, int n, const char *word, FILE *out)
{
	if (!strcmp(command, "run"))
		put_embedded(embedded_suites, out);
	else if (!strcmp(command, "bench") && !n)
		put_loads(out);
	else if (!strcmp(command, "bench"))
		put_settings(operands[0], word, out);
	else if (!strcmp(command, "list"))
		put_list_operand(n ? operands[0] : NULL, out);
}

/* operands: room for n; the words between the command and the one being typed. */
static void complete_command(const struct cmd *cmd, const char *verb, int n, char **words,
			     char **operands, FILE *out)
{
	const bool exec = verb && !strcmp(verb, "exec");
	const struct opt *value_of = NULL;
	const char *word = words[n - 1];
	bool ended = false; /* no options from here on */
	int n_operands = 0;

	for (int i = 0; i < n - 1; i++) {
		if (value_of)
			value_of = NULL;
		else if (!ended && !strcmp(words[i], "--"))
			ended = true;
		else if (!ended && words[i][0] == '-')
			value_of = wants_next(cmd->opts, words[i]);
		else
			operands[n_operands++] = words[i];
		ended |= exec && n_operands;
	}
	if (value_of)
		put_option_value(value_of, "", word, out);
	else if (*word == '-' && !ended)
		put_options(cmd->opts, word, out);
	else if (verb)
		put_lab_operand(verb, operands, n_operands, out);
	else
		put_operand(cmd->name, operands, n_operands, word, out);
}

/* help COMMAND, and what of it. */
static void complete_help(int n, char **words, FILE *out)
{
	if (n == 1)
		put_commands(out);
	else if (n == 2 && !strcmp(words[0], "bench"))
		put_loads(out);
	else if (n == 2 && !strcmp(words[0], "lab"))
		put_lab_verbs(out);
}

void complete_words(int n, char **words, FILE *out)
{
	const struct cmd *cmd = NULL;
	char **operands;
	bool lab;

	if (n <= 1) {
		put_commands(out);
		fputs("help\n--help\n--version\n", out);
		return;
	}
	if (!strcmp(words[0], "help")) {
		complete_help(n - 1, words + 1, out);
		return;
	}
	for (size_t i = 0; cmds[i]; i++)
		if (!strcmp(cmds[i]->name, words[0]))
			cmd = cmds[i];
	if (!cmd)
		return;
	lab = cmd == &cmd_lab;
	if (lab && n == 2 && words[1][0] != '-') {
		put_lab_verbs(out);
		return;
	}
	operands = calloc((size_t)n, sizeof(*operands));
	if (!operands)
		return;
	if (lab && n > 2)
		complete_command(cmd, words[1], n - 2, words + 2, operands, out);
	else
		complete_command(cmd, NULL, n - 1, words + 1, operands, out);
	free(operands);
}
