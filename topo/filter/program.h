/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The BPF program of a stage: this project's with the rules of the filter, or the user's own. */
#ifndef TOPO_FILTER_PROGRAM_H
#define TOPO_FILTER_PROGRAM_H

#include "topo/filter/drop.h"
#include "topo/filter/filter.h"

struct own;

struct program {
	struct drop *drop; /* one of the two */
	struct own *own;
};

/*
 * The part of a stage's check() that is the same wherever a program runs. Objects are only for the
 * hooks DROP_ON_XDP and DROP_ON_TC. stage is the name for error texts.
 */
int program_check(const struct filter_spec *spec, enum drop_hook hook, const char *stage,
		  struct err *err);
/* Zeroed memory is a program that can be released. */
int program_load(struct program *program, const struct filter_spec *spec, enum drop_hook hook,
		 const char *stage, struct err *err);
void program_release(struct program *program);
int program_fd(const struct program *program);
/* A user's program counts nothing that we know of: zero, and not exact. */
void program_read(const struct program *program, struct filter_counters *ret);

#endif
