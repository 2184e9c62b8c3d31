/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The suites and labs of configs/, compiled into the program, and how a user's word finds one. */
#ifndef SUITE_EMBEDDED_H
#define SUITE_EMBEDDED_H

#include <stddef.h>

#include "base/err.h"

struct suite;

struct embedded {
	const char *name; /* file name without ".yaml"; NULL ends the list */
	const char *text; /* ends with NUL, which len does not count */
	size_t len;
};

extern const struct embedded embedded_suites[], embedded_labs[];

/* NULL when there is none of that name. */
const struct embedded *embedded_find(const struct embedded *list, const char *name);

/*
 * Read a suite by the name of an embedded one, or from a file: a word with a '/' or a ".yaml" or
 * ".yml" ending is a path. -ENOENT with a "did you mean"; else as suite_parse and suite_read.
 */
int suite_open(const char *word, struct suite **ret, struct err *err);
/* The same for labs: the result is as from suite_read_lab. */
int suite_open_lab(const char *word, struct suite **ret, struct err *err);

#endif
