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

/* The interval of 4000 medians moves by less than a tenth of its width from seed to seed. */
enum { STATS_RESAMPLES = 4000 };

struct rng;

/*
 * For the interval of what is computed from several medians: the medians of STATS_RESAMPLES
 * resamples of the known samples, NaN when there is none. 0 or -ENOMEM.
 */
int stats_resample(const double *samples, size_t n, struct rng *rng, double *ret_medians);
/* The 95 % interval of STATS_RESAMPLES values, which are sorted by it. */
void stats_interval(double *values, double *ret_lo, double *ret_hi);

#endif
