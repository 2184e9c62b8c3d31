/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Interrupts taken by each CPU, all sources together, local timer included. */
#ifndef HOST_INTERRUPTS_H
#define HOST_INTERRUPTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct interrupts {
	uint64_t at_ns; /* CLOCK_MONOTONIC */
	size_t n_cpus;	/* counts[i] is CPU i */
	uint64_t *counts;
};

/* Allocates; to be called just outside the window. */
int interrupts_read(const char *root, struct interrupts *ret, struct err *err);
void interrupts_release(struct interrupts *interrupts);
/* Interrupts per second on one CPU, or on all of them when cpu is -1; NaN when unknown. */
double interrupts_rate(const struct interrupts *before, const struct interrupts *after, int cpu);

#endif
