/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The clock a CPU really runs at, measured by counting dependent additions, one per cycle. */
#ifndef HOST_CLOCK_H
#define HOST_CLOCK_H

#include <stdbool.h>

#include "base/err.h"

/*
 * How far two measurements may lie apart before the machine counts as changed. Turbo clocks of
 * shared hosts wander by 4 to 6 % from second to second, which is part of the spread that repeats
 * show; a board that throttles, or a governor that switches, moves by more than a tenth.
 */
#define CLOCK_TOLERANCE 0.10

/*
 * Takes about 2 ms on the given CPU (-1: wherever the thread is), or some 20 ms when it is
 * disturbed, and puts the thread's affinity back. *ret_hz is 0, for unknown, when the thread never
 * had the CPU to itself for long enough. -EINVAL when the thread may not run there.
 */
int clock_measure(int cpu, double *ret_hz, struct err *err);
/* after / before - 1; NaN when one of them is unknown (0 or NaN). */
double clock_change(double before_hz, double after_hz);
/* False only when both are known and lie further apart than the tolerance. */
bool clock_same(double before_hz, double after_hz, double tolerance);

#endif
