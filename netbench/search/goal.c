/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the verdict of a goal on a load, and the throughput that a load comes to. */
#include "search/goal.h"

#include <math.h>
#include <stdbool.h>

/* Durations are sums of measured times; this much, in relation, is no difference. */
#define EPSILON 1e-9

/* Effective durations at one load: full-length or short, high-loss or low-loss. */
struct sums {
	double full_high, full_low, short_high, short_low;
};

static bool full_length(const struct goal *goal, const struct attempt *attempt)
{
	return attempt->duration_s >= goal->final_s * (1 - EPSILON);
}

static struct sums add_up(const struct goal *goal, const struct attempt *attempts, size_t n,
			  double load)
{
	struct sums sums = {0};

	for (size_t i = 0; i < n; i++) {
		const struct attempt *a = &attempts[i];
		const bool high = a->loss_ratio > goal->loss_ratio;

		if (a->load < load || a->load > load)
			continue;
		if (full_length(goal, a))
			*(high ? &sums.full_high : &sums.full_low) += a->effective_s;
		else
			*(high ? &sums.short_high : &sums.short_low) += a->effective_s;
	}
	return sums;
}

struct verdict goal_judge(const struct goal *goal, const struct attempt *attempts, size_t n,
			  double load)
{
	const struct sums sums = add_up(goal, attempts, n, load);
	const double e = goal->exceed_ratio;
	/* Short trials cannot speak for a load, only against it. */
	const double balancing = sums.short_low * e / (1 - e);
	const double high = sums.full_high + fmax(0, sums.short_high - balancing);
	const double whole = fmax(sums.full_low + high, goal->sum_s);
	struct verdict verdict = {.optimistic = high / whole,
				  .pessimistic = (whole - sums.full_low) / whole};

	if (verdict.optimistic > e + EPSILON)
		verdict.bound = BOUND_UPPER;
	else if (verdict.pessimistic <= e + EPSILON)
		verdict.bound = BOUND_LOWER;
	return verdict;
}

/* The full-length trial with the next higher loss, and of those with the same loss the next one. */
static const struct attempt *next_worse(const struct goal *goal, const struct attempt *attempts,
					size_t n, double load, const struct attempt *after)
{
	const struct attempt *best = NULL;

	for (size_t i = 0; i < n; i++) {
		const struct attempt *a = &attempts[i];

		if (a->load < load || a->load > load || !full_length(goal, a))
			continue;
		if (after && (a->loss_ratio < after->loss_ratio ||
			      (a->loss_ratio <= after->loss_ratio && a <= after)))
			continue;
		if (!best || a->loss_ratio < best->loss_ratio)
			best = a;
	}
	return best;
}

double goal_throughput(const struct goal *goal, const struct attempt *attempts, size_t n,
		       double load)
{
	const struct sums sums = add_up(goal, attempts, n, load);
	const double wanted = (1 - goal->exceed_ratio) *
			      fmax(goal->sum_s, sums.full_high + sums.full_low) * (1 - EPSILON);
	const struct attempt *at = NULL;
	double covered = 0;

	while (covered < wanted) {
		at = next_worse(goal, attempts, n, load, at);
		if (!at)
			return 0;
		covered += at->effective_s;
	}
	return at ? load * (1 - at->loss_ratio) : 0;
}

struct bounds goal_bounds(const struct goal *goal, const struct attempt *attempts, size_t n)
{
	struct bounds bounds = {NAN, NAN};

	for (size_t i = 0; i < n; i++)
		if (!(attempts[i].load >= bounds.upper) &&
		    goal_judge(goal, attempts, n, attempts[i].load).bound == BOUND_UPPER)
			bounds.upper = attempts[i].load;
	for (size_t i = 0; i < n; i++)
		if (!(attempts[i].load >= bounds.upper) && !(attempts[i].load <= bounds.lower) &&
		    goal_judge(goal, attempts, n, attempts[i].load).bound == BOUND_LOWER)
			bounds.lower = attempts[i].load;
	return bounds;
}
