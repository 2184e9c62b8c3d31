/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Validity: did the machine stay the same while a trial ran? What disturbed it makes a case
 * suspect, with the reason; the limits are in docs/method.md.
 */
#ifndef RUN_VALIDITY_H
#define RUN_VALIDITY_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "host/cpuuse.h"

struct load_run;
struct result_case;

struct validity;

int validity_new(struct validity **ret, struct err *err);
void validity_free(struct validity *validity);

/*
 * Just before the start and just after the drain: the clock of the CPUs that the runs' lanes have,
 * heat, other processes. The lanes may be gone by the second time.
 */
int validity_before(struct validity *validity, const struct load_run *runs, size_t n_runs,
		    struct err *err);
int validity_after(struct validity *validity, struct err *err);
/*
 * Add the checks to the case. delta is the CPU use of the window, late_ns the most by which the runner
 * missed a moment that it had set: then the two do not cover the same time.
 */
int validity_judge(const struct validity *validity, const struct cpuuse_delta *delta,
		   uint64_t late_ns, struct result_case *c, struct err *err);

#endif
