/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the robust statistics: median, MAD and the percentile bootstrap of the median. */
#include "base/stats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Of sorted values. Halves before adding, so that huge values do not overflow. */
static double middle(const double *sorted, size_t n)
{
	return n % 2 ? sorted[n / 2] : sorted[n / 2 - 1] / 2 + sorted[n / 2] / 2;
}

/* The raw median of the absolute deviations: not multiplied by 1.4826 to resemble a sigma. */
static double deviation(const double *sorted, size_t n, double median, double *scratch)
{
	for (size_t i = 0; i < n; i++)
		scratch[i] = fabs(sorted[i] - median);
	qsort(scratch, n, sizeof(*scratch), by_value);
	return middle(scratch, n);
}

/*
 * The median of one resample with replacement. Sorting a resample is counting how often each
 * (already sorted) sample was drawn.
 */
static double resample(const double *sorted, size_t n, struct rng *rng, uint32_t *drawn)
{
	size_t low = (n - 1) / 2, high = n / 2, seen = 0;
	double at_low = 0;

	memset(drawn, 0, n * sizeof(*drawn));
	for (size_t i = 0; i < n; i++)
		drawn[rng_below(rng, n)]++;
	for (size_t i = 0; i < n; i++) {
		if (seen <= low && low < seen + drawn[i])
			at_low = sorted[i];
		if (high < seen + drawn[i])
			return at_low == sorted[i] ? at_low : at_low / 2 + sorted[i] / 2;
		seen += drawn[i];
	}
	return at_low;
}

void stats_interval(double *values, double *ret_lo, double *ret_hi)
{
	qsort(values, STATS_RESAMPLES, sizeof(*values), by_value);
	*ret_lo = values[STATS_RESAMPLES * 25 / 1000];
	*ret_hi = values[STATS_RESAMPLES * 975 / 1000 - 1];
}

static void bootstrap(const double *sorted, size_t n, uint64_t seed, double *medians,
		      uint32_t *drawn, struct stats *ret)
{
	struct rng rng;

	rng_seed(&rng, seed);
	for (size_t i = 0; i < STATS_RESAMPLES; i++)
		medians[i] = resample(sorted, n, &rng, drawn);
	stats_interval(medians, &ret->ci_lo, &ret->ci_hi);
}

static size_t copy_known(const double *samples, size_t n, double *ret)
{
	size_t known = 0;

	for (size_t i = 0; i < n; i++)
		if (!isnan(samples[i]))
			ret[known++] = samples[i];
	return known;
}

int stats_resample(const double *samples, size_t n, struct rng *rng, double *ret_medians)
{
	double *sorted = malloc(n * (sizeof(*sorted) + sizeof(uint32_t)) + 1);
	void *drawn;

	if (!sorted)
		return -ENOMEM;
	drawn = sorted + n;
	n = copy_known(samples, n, sorted);
	qsort(sorted, n, sizeof(*sorted), by_value);
	for (size_t i = 0; i < STATS_RESAMPLES; i++)
		ret_medians[i] = n ? resample(sorted, n, rng, drawn) : NAN;
	free(sorted);
	return 0;
}

void stats_of(const double *samples, size_t n, uint64_t seed, struct stats *ret)
{
	double *sorted, *scratch;
	void *drawn;

	*ret = (struct stats){
		.median = NAN, .mad = NAN, .min = NAN, .max = NAN, .ci_lo = NAN, .ci_hi = NAN};
	/* One piece of memory, so that there is one way to fail: nothing is known then. */
	sorted = malloc((2 * n + STATS_RESAMPLES) * sizeof(*sorted) + n * sizeof(uint32_t));
	if (!sorted)
		return;
	scratch = sorted + n;
	drawn = scratch + n + STATS_RESAMPLES;
	ret->n = copy_known(samples, n, sorted);
	if (!ret->n)
		goto free_scratch;
	qsort(sorted, ret->n, sizeof(*sorted), by_value);
	ret->median = middle(sorted, ret->n);
	ret->mad = deviation(sorted, ret->n, ret->median, scratch);
	ret->min = sorted[0];
	ret->max = sorted[ret->n - 1];
	ret->ci_lo = ret->ci_hi = ret->median;
	if (ret->n > 1)
		bootstrap(sorted, ret->n, seed, scratch, drawn, ret);
free_scratch:
	free(sorted);
}
