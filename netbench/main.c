/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of contents: every command, and what netbench does without one. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/output.h"
#include "version.h"

const struct cmd *const cmds[] = {
	&cmd_run, &cmd_bench, &cmd_lab, &cmd_list, &cmd_doctor, NULL,
};

static const struct cmd *find(const char *name)
{
	size_t i;

	for (i = 0; cmds[i]; i++)
		if (!strcmp(cmds[i]->name, name))
			return cmds[i];
	return NULL;
}

static int unknown(const char *word)
{
	const char *names[sizeof(cmds) / sizeof(cmds[0])] = {NULL}, *near;
	size_t i;

	for (i = 0; cmds[i]; i++)
		names[i] = cmds[i]->name;
	near = name_nearest(names, i, word);
	if (near)
		return cmd_complain(EXIT_USAGE, "unknown command '%s'; did you mean '%s'?", word,
				    near);
	return cmd_complain(EXIT_USAGE, "unknown command '%s' (see: netbench --help)", word);
}

static void contents(FILE *out)
{
	size_t i;

	fputs("Usage: netbench COMMAND [ARGUMENT…]\n\n"
	      "Measures what this machine can route, in networks of its own making, and "
	      "proves\n"
	      "every number it prints.\n\nCommands:\n",
	      out);
	for (i = 0; cmds[i]; i++)
		fprintf(out, "  %-8s  %s\n", cmds[i]->name, cmds[i]->help);
	fputs("\n`netbench help COMMAND` explains a command. `netbench doctor` says what this\n"
	      "machine can do. Manual: netbench(1), netbench-suite(5).\n",
	      out);
}

static int help(int argc, char **argv)
{
	const struct cmd *cmd;

	if (argc == 0) {
		contents(stdout);
		return EXIT_GOOD;
	}
	cmd = find(argv[0]);
	if (!cmd)
		return unknown(argv[0]);
	/* `help bench tcp` and `help lab up` are `bench tcp --help` and `lab up --help`. */
	if (argc > 1 && argv[1][0] != '-') {
		char *words[] = {argv[1], (char[]){"--help"}, NULL};

		return cmd->run(cmd, 2, words);
	}
	cmd_help(cmd, 0, NULL, stdout);
	return EXIT_GOOD;
}

static int dispatch(int argc, char **argv)
{
	const struct cmd *cmd;

	if (argc == 0) {
		contents(stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[0], "help") || !strcmp(argv[0], "--help") || !strcmp(argv[0], "-h"))
		return help(argc - 1, argv + 1);
	if (!strcmp(argv[0], "--version") || !strcmp(argv[0], "-V")) {
		printf("netbench %s\nbuilt by %s with %s\n", NETBENCH_VERSION, NETBENCH_COMPILER,
		       NETBENCH_LIBS);
		return EXIT_GOOD;
	}
	if (argv[0][0] == '-')
		return cmd_complain(EXIT_USAGE, "unknown option '%s' (see: netbench --help)",
				    argv[0]);
	cmd = find(argv[0]);
	if (!cmd)
		return unknown(argv[0]);
	return cmd->run(cmd, argc - 1, argv + 1);
}

/*
 * A standard stream that the caller closed must not be the place of the next file that is opened:
 * a message would land in it. What is put there fails to be written, as a closed stream would.
 */
static void hold_standard_streams(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

int main(int argc, char **argv)
{
	struct err err;
	int code;

	hold_standard_streams();
	code = dispatch(argc - 1, argv + (argc > 0));
	if (output_flush(stdout, &err) && code == EXIT_GOOD)
		code = cmd_fail(EXIT_FAILED, &err);
	return code;
}
