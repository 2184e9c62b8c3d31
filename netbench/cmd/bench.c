/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The bench command: one load, alone or against the same with filters. */
#include "cmd/run.h"

#include <errno.h>
#include <stddef.h>

#include "cmd/keys.h"
#include "load/load.h"
#include "suite/embedded.h"
#include "suite/suite.h"

struct words {
	char **list;
	size_t n;
	const struct run_cfg *cfg;
};

static int open_adhoc(void *context, size_t i, struct suite **ret, struct err *err)
{
	const struct words *words = context;
	struct adhoc adhoc = {.filters = words->cfg->filters.list,
			      .n_filters = words->cfg->filters.n,
			      .search = words->cfg->search};
	struct suite *lab = NULL;
	int r = 0;

	(void)i;
	if (!words->n)
		return err_set(err, EINVAL, "bench: which load? (see: netbench list)");
	if (words->cfg->lab)
		r = suite_open_lab(words->cfg->lab, &lab, err);
	if (r)
		return r;
	adhoc.load = words->list[0];
	adhoc.settings = words->list + 1;
	adhoc.n_settings = words->n - 1;
	return suite_adhoc(&adhoc, lab, ret, err);
}

static const struct opt opts[] = {
	RUN_OPTS,
	{.name = "lab",
	 .type = OPT_TEXT,
	 .offset = offsetof(struct run_cfg, lab),
	 .letter = 'l',
	 .metavar = "LAB",
	 .help = "a lab that comes with netbench, or a file; default: two nodes and a link"},
	{.name = "filter",
	 .type = OPT_LIST,
	 .offset = offsetof(struct run_cfg, filters),
	 .letter = 'f',
	 .metavar = "STAGE[,KEY=VALUE…]",
	 .help = "measure the lab without and with this filter, and what it costs; repeatable"},
	{.name = "search",
	 .type = OPT_TEXT,
	 .offset = offsetof(struct run_cfg, search),
	 .metavar = "PRESET",
	 .help = "search for the highest rate without loss: quick, csit, rfc2544 or tst009"},
	COMMON_OPTS,
	{0},
};

static int run(const struct cmd *self, int argc, char **argv)
{
	struct run_cfg cfg = {0};
	struct words words;
	int n, code;

	n = run_parse(self, &cfg, argc, argv, &code);
	if (n < 0)
		return code;
	words = (struct words){argv, (size_t)n, &cfg};
	code = run_suites(&cfg, 1, open_adhoc, &words);
	opts_release(opts, &cfg);
	return code;
}

/* The options of a load are not flags: they are words of the form key=value. */
static void help_load(const struct load *load, FILE *out)
{
	fprintf(out, "\nOptions of %s, as KEY=VALUE:\n", load->kind.name);
	keys_print(load->kind.opts, 2, 80, out);
}

static void more_help(int n, char **operands, FILE *out)
{
	const struct load *load;

	if (n && !load_find(operands[0], &load, NULL)) {
		help_load(load, out);
		return;
	}
	fputs("\nLoads (netbench bench LOAD --help shows the options of one):\n", out);
	for (size_t i = 0; loads[i]; i++)
		fprintf(out, "  %-6s %s\n", loads[i]->kind.name, loads[i]->kind.help);
}

const struct cmd cmd_bench = {
	.name = "bench",
	.help = "measure one load between two nodes",
	.synopsis = "[OPTION…] LOAD [KEY=VALUE…]",
	.opts = opts,
	.details =
		"KEY is an option of the load, duration, warmup or repeat, or the path of an "
		"option\n"
		"of the lab such as link.mtu, filter.rules or search.width. With --filter the lab "
		"is\n"
		"measured without and with the filters, trial by trial in turn; `netbench list "
		"filters`\n"
		"shows the stages. The value of a KEY may hold commas if no '=' follows them.\n\n"
		"Example: netbench bench tcp streams=4 link.offloads=on duration=5s\n\n"
		"Example: netbench bench frames --lab routed --filter nft-file,file=my.nft",
	.run = run,
	.more_help = more_help,
};
