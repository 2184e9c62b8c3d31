/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Makes a manual page from its template: copies stdin to stdout and fills in, for a line that is
 * one of the @NAMES@ below, what the program's own tables say. Run by the Makefile only.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "load/load.h"
#include "search/search.h"
#include "suite/suite.h"
#include "topo/filter/filter.h"
#include "topo/lab.h"
#include "version.h"

/* A text line of mdoc: nothing in it may be taken for a request or an escape. */
static void put_text(const char *text)
{
	if (*text == '.' || *text == '\'')
		fputs("\\&", stdout);
	for (; *text; text++) {
		if (*text == '\\') {
			fputs("\\e", stdout);
		} else if (*text == '.' && text[1] == ' ' && isupper((unsigned char)text[2])) {
			/* A sentence starts on a line of its own. */
			fputs(".\n", stdout);
			text++;
		} else {
			putchar(*text);
		}
	}
}

/* The one-line help of a kind or command, as a sentence. */
static void put_sentence(const char *help)
{
	putchar(toupper((unsigned char)*help));
	put_text(help + 1);
	puts(".");
}

static void put_option(const struct opt *opt, bool command_line)
{
	const char *type = opt_type_text(opt);
	char range[512];

	if (!command_line)
		printf(".It Cm %s", opt->name);
	else if (opt->letter)
		printf(".It Fl %c , -%s", opt->letter, opt->name);
	else
		printf(".It Fl -%s", opt->name);
	if (*type)
		printf(" Ar %s", type);
	putchar('\n');
	opt_range_text(opt, range, sizeof(range));
	put_text(opt->help ? opt->help : "");
	if (*range) {
		fputs("; ", stdout);
		put_text(range);
	}
	if (opt->def && *opt->def && opt->type != OPT_BOOL) {
		fputs("; default ", stdout);
		put_text(opt->def);
	}
	fputs(".\n", stdout);
}

static void put_options(const struct opt *opts, bool command_line)
{
	if (!opts || !opts->name)
		return;
	puts(".Bl -tag -width Ds");
	for (; opts->name; opts++)
		put_option(opts, command_line);
	puts(".El");
}

/* One form per line: literal words bold, the rest as it is. */
static void put_synopsis(const struct cmd *cmd)
{
	const char *form = cmd->synopsis ? cmd->synopsis : "";

	puts(".Bd -literal");
	do {
		int len = (int)strcspn(form, "\n");

		printf("netbench %s%s%.*s\n", cmd->name, len ? " " : "", len, form);
		form += len;
	} while (*form++);
	puts(".Ed\n.Pp");
}

static void put_paragraphs(const char *text)
{
	while (*text) {
		size_t len = strcspn(text, "\n");
		char line[512];

		snprintf(line, sizeof(line), "%.*s", (int)len, text);
		if (len)
			put_text(line);
		else
			fputs(".Pp", stdout);
		putchar('\n');
		text += len + (text[len] == '\n');
	}
}

static void put_commands(void)
{
	for (size_t i = 0; cmds[i]; i++) {
		printf(".Ss %s\n", cmds[i]->name);
		put_synopsis(cmds[i]);
		put_sentence(cmds[i]->help);
		if (cmds[i]->details)
			put_paragraphs(cmds[i]->details);
		put_options(cmds[i]->opts, true);
	}
}

static void put_loads(void)
{
	for (size_t i = 0; loads[i]; i++) {
		printf(".Ss %s\n", loads[i]->kind.name);
		put_sentence(loads[i]->kind.help);
		put_options(loads[i]->kind.opts, false);
	}
}

/* Their options are the same, and stand elsewhere. */
static void put_filters(void)
{
	puts(".Bl -tag -width Ds");
	for (size_t i = 0; filters[i]; i++) {
		printf(".It Cm %s\n", filters[i]->kind.name);
		put_sentence(filters[i]->kind.help);
		if (filters[i]->attach && !filters[i]->lasting)
			puts("Ends with netbench, so that\n.Nm netbench lab up\nrefuses it.");
	}
	puts(".El");
}

static bool fill_in(const char *line)
{
	if (!strcmp(line, "@COMMANDS@\n"))
		put_commands();
	else if (!strcmp(line, "@LOADS@\n"))
		put_loads();
	else if (!strcmp(line, "@NODE@\n"))
		put_options(node_opts, false);
	else if (!strcmp(line, "@LINK@\n"))
		put_options(link_opts, false);
	else if (!strcmp(line, "@FILTERS@\n"))
		put_filters();
	else if (!strcmp(line, "@FILTER@\n"))
		put_options(filter_opts, false);
	else if (!strcmp(line, "@SEARCH@\n"))
		put_options(search_opts, false);
	else if (!strcmp(line, "@TIMING@\n"))
		put_options(timing_opts, false);
	else if (!strcmp(line, "@OS@\n"))
		printf(".Os netbench %s\n", NETBENCH_VERSION);
	else
		return false;
	return true;
}

int main(void)
{
	char line[4096];

	while (fgets(line, sizeof(line), stdin)) {
		if (fill_in(line))
			continue;
		if (*line == '@') {
			fprintf(stderr, "mangen: no such part: %s", line);
			return 1;
		}
		fputs(line, stdout);
	}
	return ferror(stdin) || fflush(stdout) ? 1 : 0;
}
