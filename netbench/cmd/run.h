/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What `run` and `bench` share: their options, and running suites into a result. */
#ifndef CMD_RUN_H
#define CMD_RUN_H

#include "cmd/cmd.h"

struct suite;

struct run_cfg {
	struct common_cfg common;
	char *duration, *warmup, *repeat; /* as written: they become settings of the plan */
	struct texts set;
	uint64_t seed; /* 0: chosen and recorded */
	char *only, *output, *lab, *search;
	struct texts filters;
	bool strict, dry_run;
};

#define RUN_OPTS                                                                                   \
	{.name = "duration",                                                                       \
	 .type = OPT_TEXT,                                                                         \
	 .offset = offsetof(struct run_cfg, duration),                                             \
	 .letter = 't',                                                                            \
	 .metavar = "TIME",                                                                        \
	 .help = "measured window of every trial, such as 5s"},                                    \
		{.name = "warmup",                                                                 \
		 .type = OPT_TEXT,                                                                 \
		 .offset = offsetof(struct run_cfg, warmup),                                       \
		 .metavar = "TIME",                                                                \
		 .help = "traffic before the window, not counted"},                                \
		{.name = "repeat",                                                                 \
		 .type = OPT_TEXT,                                                                 \
		 .offset = offsetof(struct run_cfg, repeat),                                       \
		 .letter = 'n',                                                                    \
		 .metavar = "N",                                                                   \
		 .help = "trials of every case"},                                                  \
		{.name = "set",                                                                    \
		 .type = OPT_LIST,                                                                 \
		 .offset = offsetof(struct run_cfg, set),                                          \
		 .letter = 's',                                                                    \
		 .metavar = "PATH=VALUE",                                                          \
		 .help = "set an option wherever it occurs, such as link.*.mtu=9000; repeatable"}, \
		{.name = "seed",                                                                   \
		 .type = OPT_COUNT,                                                                \
		 .offset = offsetof(struct run_cfg, seed),                                         \
		 .def = "0",                                                                       \
		 .metavar = "N",                                                                   \
		 .help = "seed of the order of trials and of the statistics; 0: a new one, "       \
			 "recorded"},                                                              \
		{.name = "output",                                                                 \
		 .type = OPT_TEXT,                                                                 \
		 .offset = offsetof(struct run_cfg, output),                                       \
		 .letter = 'o',                                                                    \
		 .metavar = "FILE",                                                                \
		 .help = "write the JSON result to this file"},                                    \
		{.name = "strict",                                                                 \
		 .type = OPT_BOOL,                                                                 \
		 .offset = offsetof(struct run_cfg, strict),                                       \
		 .help = "a suspect case is void"},                                                \
	{                                                                                          \
		.name = "dry-run", .type = OPT_BOOL, .offset = offsetof(struct run_cfg, dry_run),  \
		.help = "print the plan with every effective value (JSON with --json), and stop"   \
	}

/* cmd_parse; a usage error is also told as a JSON document when that was asked for. */
int run_parse(const struct cmd *self, struct run_cfg *cfg, int argc, char **argv, int *ret_exit);

/*
 * Plan and run the suites and report as configured. open(context, i, …) gives the i-th of n suites;
 * what it gives is freed here. Returns the exit code.
 */
int run_suites(struct run_cfg *cfg, size_t n,
	       int (*open)(void *context, size_t i, struct suite **ret, struct err *err),
	       void *context);

#endif
