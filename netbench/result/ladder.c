/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what a case costs more than its baseline. */
#include "result/ladder.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "base/stats.h"
#include "result/result.h"

void versus_release(struct versus *versus)
{
	free(versus->baseline);
	*versus = (struct versus){0};
}

static const struct metric *known_metric(const struct result_case *c, const char *name)
{
	const struct metric *metric = case_metric(c, name);

	for (size_t i = 0; metric && i < metric->n; i++)
		if (!isnan(metric->samples[i]))
			return metric;
	return NULL;
}

/* The first measure of time per packet that both have; what failed or is void has none. */
static bool common_metric(const struct result_case *c, const struct result_case *baseline,
			  const struct metric **ret_ours, const struct metric **ret_theirs)
{
	static const char *const names[] = {"time_per_frame", "cost"};

	if (c->status == CASE_FAILED || c->status == CASE_VOID || baseline->status == CASE_FAILED ||
	    baseline->status == CASE_VOID)
		return false;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		*ret_ours = known_metric(c, names[i]);
		*ret_theirs = known_metric(baseline, names[i]);
		if (*ret_ours && *ret_theirs)
			return true;
	}
	return false;
}

static int interval(const struct metric *ours, const struct metric *theirs, uint64_t seed,
		    struct versus *versus)
{
	double *medians, *differences = calloc(2 * STATS_RESAMPLES, sizeof(*differences));
	struct rng rng;
	int r;

	if (!differences)
		return -ENOMEM;
	medians = differences + STATS_RESAMPLES;
	rng_seed(&rng, seed);
	r = stats_resample(ours->samples, ours->n, &rng, differences);
	if (!r)
		r = stats_resample(theirs->samples, theirs->n, &rng, medians);
	for (size_t i = 0; !r && i < STATS_RESAMPLES; i++)
		differences[i] -= medians[i];
	if (!r)
		stats_interval(differences, &versus->lo, &versus->hi);
	free(differences);
	return r;
}

/* Sample k of either is from round k: no trial failed, and none is unknown. */
static bool in_rounds(const struct metric *ours, const struct metric *theirs)
{
	if (ours->n != theirs->n || ours->n < 2)
		return false;
	for (size_t i = 0; i < ours->n; i++)
		if (isnan(ours->samples[i]) || isnan(theirs->samples[i]))
			return false;
	return true;
}

/* A machine that was slow for some rounds was so for both: their differences know nothing of it. */
static int compare_rounds(const struct metric *ours, const struct metric *theirs, uint64_t seed,
			  struct versus *versus)
{
	double *differences = calloc(ours->n, sizeof(*differences));
	struct stats stats;

	if (!differences)
		return -ENOMEM;
	for (size_t i = 0; i < ours->n; i++)
		differences[i] = ours->samples[i] - theirs->samples[i];
	stats_of(differences, ours->n, seed, &stats);
	versus->difference = stats.median;
	versus->lo = stats.ci_lo;
	versus->hi = stats.ci_hi;
	free(differences);
	return 0;
}

static int compare_medians(const struct metric *ours, const struct metric *theirs, uint64_t seed,
			   struct versus *versus)
{
	struct stats our_stats, their_stats;

	stats_of(ours->samples, ours->n, seed, &our_stats);
	stats_of(theirs->samples, theirs->n, seed, &their_stats);
	versus->difference = our_stats.median - their_stats.median;
	return our_stats.n > 1 && their_stats.n > 1 ? interval(ours, theirs, seed, versus) : 0;
}

int result_compare_case(struct result *result, size_t at, size_t baseline)
{
	struct result_case *c = &result->cases[at], *base = &result->cases[baseline];
	struct versus versus = {.lo = NAN, .hi = NAN};
	const struct metric *ours, *theirs;
	int r;

	if (at == baseline)
		return -EINVAL;
	if (!common_metric(c, base, &ours, &theirs))
		return -ENOENT;
	versus.def = ours->def;
	r = in_rounds(ours, theirs) ? compare_rounds(ours, theirs, result->seed, &versus)
				    : compare_medians(ours, theirs, result->seed, &versus);
	if (r)
		return r;
	versus.baseline = strdup(base->name);
	if (!versus.baseline)
		return -ENOMEM;
	versus_release(&c->versus);
	c->versus = versus;
	return 0;
}
