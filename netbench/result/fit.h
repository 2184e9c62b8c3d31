/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A straight line through several cases: what one more of something costs. */
#ifndef RESULT_FIT_H
#define RESULT_FIT_H

#include <stddef.h>
#include <stdint.h>

struct fit;

/* One case: how many of what is varied, and what it cost in each trial. */
struct fit_point {
	double x;
	const double *samples; /* borrowed; NaN: unknown */
	size_t n;
};

/*
 * Fill slope, lo, hi and n of the fit: the least-squares line through the medians and the 95 % percentile
 * bootstrap interval of its slope, every point resampled on its own. Points without a known sample are left
 * out. The slope is NaN with fewer than two different x, the interval if a point has fewer than two samples.
 * -ENOMEM or 0.
 */
int fit_line(const struct fit_point *points, size_t n, uint64_t seed, struct fit *ret);
/* Free what the struct holds, not the struct. */
void fit_release(struct fit *fit);

#endif
