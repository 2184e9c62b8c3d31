/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The bench command: one load, alone, in a lab of two nodes. */
#include "cmd/run.h"

#include <errno.h>

#include "suite/suite.h"

struct words {
	char **list;
	size_t n;
};

static int open_adhoc(void *context, size_t i, struct suite **ret, struct err *err)
{
	const struct words *words = context;

	(void)i;
	if (!words->n)
		return err_set(err, EINVAL, "bench: which load? (see: netbench list)");
	return suite_adhoc(words->list[0], words->list + 1, words->n - 1, ret, err);
}

static const struct opt opts[] = {RUN_OPTS, COMMON_OPTS, {0}};

static int run(const struct cmd *self, int argc, char **argv)
{
	struct run_cfg cfg = {0};
	struct words words;
	int n, code;

	n = run_parse(self, &cfg, argc, argv, &code);
	if (n < 0)
		return code;
	words = (struct words){argv, (size_t)n};
	code = run_suites(&cfg, 1, open_adhoc, &words);
	opts_release(opts, &cfg);
	return code;
}

const struct cmd cmd_bench = {
	.name = "bench",
	.help = "measure one load between two nodes",
	.synopsis = "[OPTION…] LOAD [KEY=VALUE…]",
	.opts = opts,
	.details = "KEY is an option of the load (see: netbench list -v), duration, warmup or "
		   "repeat, or the path\n"
		   "of an option of the lab such as link.mtu or link.offloads.\n"
		   "Example: netbench bench tcp streams=4 link.offloads=on duration=5s",
	.run = run,
};
