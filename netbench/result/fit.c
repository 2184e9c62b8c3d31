/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the straight line through several cases.
 *
 * Least squares, not Theil–Sen: the points are medians already, so one disturbed trial moves none
 * of them, and what is varied is usually spaced by powers (1, 10, 100, 1000 rules). The slope
 * between 1 and 10 rules is all noise, and would count as much as that between 1 and 1000 in a
 * median of slopes; least squares weighs each point by its distance from the centre.
 */
#include "result/fit.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "base/stats.h"
#include "result/append.h"
#include "result/result.h"

void fit_release(struct fit *fit)
{
	free(fit->name);
	free(fit->per);
}

int result_add_fit(struct result *result, const struct fit *fit)
{
	struct fit *added = APPEND(result->fits, result->n_fits);

	if (!added)
		return -ENOMEM;
	*added = *fit;
	added->name = strdup(fit->name);
	added->per = strdup(fit->per);
	if (!added->name || !added->per) {
		fit_release(added);
		return -ENOMEM;
	}
	result->n_fits++;
	return 0;
}

/* A point that is known, and how much its median weighs in the slope. */
struct weighed {
	const struct fit_point *point;
	double weight, median;
	size_t n; /* samples that are known */
};

static size_t known_points(const struct fit_point *points, size_t n, uint64_t seed,
			   struct weighed *ret)
{
	size_t known = 0;

	for (size_t i = 0; i < n; i++) {
		struct stats stats;

		stats_of(points[i].samples, points[i].n, seed, &stats);
		if (stats.n && isfinite(points[i].x))
			ret[known++] = (struct weighed){
				.point = &points[i], .median = stats.median, .n = stats.n};
	}
	return known;
}

/* The slope is the sum of weight × median. False where it has none: fewer than two different x. */
static bool weigh(struct weighed *points, size_t n)
{
	double centre = 0, square = 0;
	bool differ = false;

	for (size_t i = 0; i < n; i++) {
		centre += points[i].point->x / (double)n;
		differ |= points[i].point->x != points[0].point->x;
	}
	if (!differ)
		return false;
	for (size_t i = 0; i < n; i++)
		square += pow(points[i].point->x - centre, 2);
	for (size_t i = 0; i < n; i++)
		points[i].weight = (points[i].point->x - centre) / square;
	return true;
}

static int interval(const struct weighed *points, size_t n, uint64_t seed, struct fit *ret)
{
	double *medians, *slopes = calloc(2 * STATS_RESAMPLES, sizeof(*slopes));
	struct rng rng;
	int r = 0;

	if (!slopes)
		return -ENOMEM;
	medians = slopes + STATS_RESAMPLES;
	rng_seed(&rng, seed);
	for (size_t i = 0; !r && i < n; i++) {
		r = stats_resample(points[i].point->samples, points[i].point->n, &rng, medians);
		for (size_t k = 0; !r && k < STATS_RESAMPLES; k++)
			slopes[k] += points[i].weight * medians[k];
	}
	if (!r)
		stats_interval(slopes, &ret->lo, &ret->hi);
	free(slopes);
	return r;
}

int fit_line(const struct fit_point *points, size_t n, uint64_t seed, struct fit *ret)
{
	struct weighed *known = calloc(n + 1, sizeof(*known));
	bool repeated = true;
	int r = 0;

	if (!known)
		return -ENOMEM;
	ret->slope = ret->lo = ret->hi = NAN;
	ret->n = known_points(points, n, seed, known);
	if (!weigh(known, ret->n))
		goto free_known;
	ret->slope = 0;
	for (size_t i = 0; i < ret->n; i++) {
		ret->slope += known[i].weight * known[i].median;
		repeated &= known[i].n >= 2;
	}
	if (repeated)
		r = interval(known, ret->n, seed, ret);
free_known:
	free(known);
	return r;
}
