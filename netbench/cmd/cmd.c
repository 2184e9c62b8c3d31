/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns how a command reads its words, prints its help and reports its failure. */
#include "cmd/cmd.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/columns.h"
#include "cmd/output.h"

int cmd_complain(int code, const char *fmt, ...)
{
	va_list ap;

	fflush(stdout);
	fputs("netbench: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	return code;
}

int cmd_fail(int code, const struct err *err)
{
	return cmd_complain(code, "%s", err->text);
}

enum exit_code cmd_exit_code(int error)
{
	switch (-error) {
	case 0:
		return EXIT_GOOD;
	case EPERM:
	case EACCES:
	case EOPNOTSUPP:
		return EXIT_NOTHING;
	case EINTR:
		return EXIT_INTERRUPTED;
	case EINVAL:
	case ENOENT:
	case EEXIST:
	case EISDIR:
	case ENOTDIR:
	case EFBIG:
	case ENETUNREACH:
		return EXIT_USAGE;
	default:
		return EXIT_FAILED;
	}
}

static void print_synopsis(const struct cmd *self, FILE *out)
{
	const char *form = self->synopsis ? self->synopsis : "", *lead = "Usage:";

	do {
		int len = (int)strcspn(form, "\n");

		fprintf(out, "%-6s netbench %s%s%.*s\n", lead, self->name, len ? " " : "", len,
			form);
		form += len;
		lead = "";
	} while (*form++);
}

/* Paragraphs end at empty lines; other line ends are those of the source. */
static void print_details(const char *text, FILE *out)
{
	static const struct column column = {NULL, true};
	struct columns *table = columns_new(&column, 1);

	while (table && *text) {
		const char *end = strstr(text, "\n\n"), *cell;
		char *paragraph = strndup(text, end ? (size_t)(end - text) : strlen(text));

		for (char *at = paragraph; at && *at; at++)
			*at = *at == '\n' ? ' ' : *at;
		cell = paragraph;
		columns_add(table, &cell);
		free(paragraph);
		text += end ? (size_t)(end - text) + 2 : strlen(text);
		cell = "";
		if (*text)
			columns_add(table, &cell);
	}
	if (table)
		columns_print(table, 0, 80, false, out);
	columns_free(table);
}

void cmd_help(const struct cmd *self, int n, char **operands, FILE *out)
{
	print_synopsis(self, out);
	fprintf(out, "\n%c%s.\n", toupper((unsigned char)self->help[0]), self->help + 1);
	if (self->details) {
		fputc('\n', out);
		print_details(self->details, out);
	}
	fputs("\nOptions:\n", out);
	opts_help(self->opts, out);
	if (self->more_help)
		self->more_help(n, operands, out);
}

int cmd_parse(const struct cmd *self, void *cfg, int argc, char **argv, bool stop_at_operand,
	      int *ret_exit)
{
	struct err err;
	int n;

	n = opts_default(self->opts, cfg, &err);
	if (!n)
		n = opts_argv(self->opts, cfg, argc, argv, stop_at_operand, &err);
	if (n < 0) {
		*ret_exit = cmd_complain(EXIT_USAGE, "%s: %s (see: netbench %s --help)", self->name,
					 err.text, self->name);
	} else if (((struct common_cfg *)cfg)->help) {
		cmd_help(self, n, argv, stdout);
		*ret_exit = EXIT_GOOD;
	} else {
		return n;
	}
	opts_release(self->opts, cfg);
	return -1;
}
