/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Robust statistics of a few samples: median, MAD and the bootstrap interval of the median. */
#ifndef BASE_STATS_H
#define BASE_STATS_H

#include <stddef.h>
#include <stdint.h>

struct stats {
	size_t n;
	double median, mad, min, max;
	double ci_lo, ci_hi; /* 95 % percentile bootstrap of the median; = median when n < 2 */
};

/* NaN samples (unknown) are left out; with none left, n is 0 and all figures are NaN. */
void stats_of(const double *samples, size_t n, uint64_t seed, struct stats *ret);

#endif
