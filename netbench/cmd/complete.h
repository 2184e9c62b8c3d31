/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What may follow on a command line: the half of shell completion that knows netbench. */
#ifndef CMD_COMPLETE_H
#define CMD_COMPLETE_H

#include <stdio.h>

/*
 * words: after "netbench", up to the one being typed, which may be "". Prints one candidate a line,
 * whether or not it starts like the last word; "key=" wants a value. "<files>", "<yaml>" and
 * "<commands>" stand for what the shell itself completes.
 */
void complete_words(int n, char **words, FILE *out);

#endif
