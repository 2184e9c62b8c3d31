/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run: all trials of a plan, in its order, into one result. */
#ifndef RUN_RUN_H
#define RUN_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/err.h"

struct plan;
struct result;

struct run_options {
	bool strict;	    /* suspect is void */
	bool verbose;	    /* a line per interval and trial on log */
	bool progress;	    /* log is a terminal: keep a progress line on it */
	FILE *log;	    /* usually stderr */
	int interrupt_fd;   /* readable when the user wants to stop; -1: none */
	const char *prefix; /* put in front of case names, with a '/'; NULL: none */
};

/*
 * Trials that fail, are void or suspect are noted in their cases and the run goes on. -ECANCELED
 * when interrupted: what is in the result then is whole. Other errors end the run too.
 */
int run_plan(const struct plan *plan, const struct run_options *options, struct result *result,
	     struct err *err);

/*
 * Where the case of an arm stands in the result: cases stand in arm order from first_case on, each
 * followed by those of its side loads.
 */
size_t run_case_index(const struct plan *plan, size_t first_case, size_t arm);

#endif
