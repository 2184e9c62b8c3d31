/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where output goes: result files that appear whole or not at all, and what a terminal can show. */
#ifndef CMD_OUTPUT_H
#define CMD_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"

/*
 * Open a file that replaces `path` only when it is committed. Until then it has no name where the
 * filesystem can do that (O_TMPFILE), so that a killed process leaves nothing. "-" is standard
 * output; a pipe or device is written directly. Root under sudo gives the file to the caller.
 */
int output_open(const char *path, FILE **ret_file, struct err *err);
/* Whether output_open is likely to succeed later; touches nothing, so that it can be asked at once. */
int output_check(const char *path, struct err *err);
/* Flush, put the file in place, close it. Same path as for output_open. Closes in any case. */
int output_commit(FILE *file, const char *path, struct err *err);
/* Close without a trace. NULL is fine. */
void output_abandon(FILE *file, const char *path);

/* A terminal that takes ANSI colours: isatty, TERM is not "dumb", NO_COLOR is unset or empty. */
bool output_color(FILE *stream);
/* Columns of the terminal, 0 when the stream is not one. */
unsigned int output_width(FILE *stream);
/* For text that people read: flush stdout and report a full disk or a closed pipe. 0 or -errno. */
int output_flush(FILE *stream, struct err *err);

#endif
