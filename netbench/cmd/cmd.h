/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A command of netbench, and the few things all commands share. A new command is one file with one
 * struct cmd, one line in cmds[] and one test.
 */
#ifndef CMD_CMD_H
#define CMD_CMD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/err.h"
#include "base/opt.h"

enum exit_code {
	EXIT_GOOD = 0,
	EXIT_FAILED = 1,  /* a case failed or is void */
	EXIT_USAGE = 2,	  /* the command line or a file is wrong */
	EXIT_NOTHING = 3, /* nothing could run on this machine */
	EXIT_INTERRUPTED = 130,
};

struct cmd {
	const char *name;
	const char *help;	/* one line, lower case, no full stop */
	const char *synopsis;	/* after the name, one form per line: "[SUITE…]"; may be NULL */
	const struct opt *opts; /* of a struct that starts with struct common_cfg */
	const char *details;	/* paragraphs for --help and the manual; may be NULL */
	/* argv[0] is the first word after the command's name. Returns the exit code. */
	int (*run)(const struct cmd *self, int argc, char **argv);
	/* Ends the help, with the operands that were given beside --help. May be NULL. */
	void (*more_help)(int n, char **operands, FILE *out);
};

/* NULL-terminated, in main.c. */
extern const struct cmd *const cmds[];
extern const struct cmd cmd_run, cmd_bench, cmd_lab, cmd_list, cmd_doctor;

/* What every command takes. The config of every command starts with this. */
struct common_cfg {
	bool help, verbose, json;
};

/* The options of struct common_cfg, to be placed last in a command's table. */
/* clang-format off */
#define COMMON_OPTS \
	{.name = "json", .type = OPT_BOOL, .offset = offsetof(struct common_cfg, json), \
	 .help = "print JSON instead of text"}, \
	{.name = "verbose", .type = OPT_BOOL, .offset = offsetof(struct common_cfg, verbose), \
	 .letter = 'v', .help = "say more"}, \
	{.name = "help", .type = OPT_BOOL, .offset = offsetof(struct common_cfg, help), \
	 .letter = 'h', .help = "print this help and exit"}
/* clang-format on */

/*
 * Fill cfg (zeroed memory) with the defaults and parse argv. Returns the number of operands, now in
 * argv[0…], or -1 when the command is over: help was printed, or the usage error was reported;
 * *ret_exit is then the exit code and cfg is released. Otherwise the caller releases cfg.
 */
int cmd_parse(const struct cmd *self, void *cfg, int argc, char **argv, bool stop_at_operand,
	      int *ret_exit);

void cmd_help(const struct cmd *self, int n, char **operands, FILE *out);

/* Print "netbench: sentence" to stderr and return code, so that `return cmd_fail(…)` reads well. */
int cmd_fail(int code, const struct err *err);
int cmd_complain(int code, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* "%zu node%s", n, PLURAL(n) */
#define PLURAL(n) ((n) == 1 ? "" : "s")

/* The exit code that suits a -errno of reading a suite, planning or building a lab. */
enum exit_code cmd_exit_code(int error);

#endif
