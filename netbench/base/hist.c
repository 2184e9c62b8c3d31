/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the layout of the log-linear histogram: which value falls into which bucket. */
#include "base/hist.h"

#include <math.h>

#define STEPS (UINT64_C(1) << HIST_STEP_BITS)

/*
 * Values below STEPS have a bucket each. From there on every octave [2^k, 2^(k+1)) is cut into
 * STEPS buckets of 2^(k - HIST_STEP_BITS). HIST_MAX_NS lies in the 27th octave, the last one.
 */
_Static_assert(HIST_MAX_NS >> HIST_STEP_BITS < UINT64_C(1) << HIST_OCTAVES,
	       "the largest value must have a bucket");

static unsigned int bucket_of(uint64_t value)
{
	unsigned int shift;

	if (value < STEPS)
		return value;
	shift = 63 - __builtin_clzll(value) - HIST_STEP_BITS;
	return ((shift + 1) << HIST_STEP_BITS) + (unsigned int)((value >> shift) - STEPS);
}

static uint64_t bucket_middle(unsigned int bucket)
{
	unsigned int shift = bucket >> HIST_STEP_BITS;
	uint64_t low;

	if (!shift)
		return bucket;
	shift--;
	low = (STEPS + (bucket & (STEPS - 1))) << shift;
	return low + ((UINT64_C(1) << shift) >> 1);
}

void hist_add(struct hist *hist, uint64_t value_ns)
{
	if (!hist->count || value_ns < hist->min_ns)
		hist->min_ns = value_ns;
	if (value_ns > hist->max_ns)
		hist->max_ns = value_ns;
	hist->count++;
	if (value_ns > HIST_MAX_NS)
		hist->overflow++;
	else
		hist->bucket[bucket_of(value_ns)]++;
}

void hist_merge(struct hist *into, const struct hist *from)
{
	if (!from->count)
		return;
	if (!into->count || from->min_ns < into->min_ns)
		into->min_ns = from->min_ns;
	if (from->max_ns > into->max_ns)
		into->max_ns = from->max_ns;
	into->count += from->count;
	into->overflow += from->overflow;
	for (unsigned int i = 0; i < HIST_BUCKETS; i++)
		into->bucket[i] += from->bucket[i];
}

/* The rank of the wanted value: 1 … count. */
static uint64_t rank_of(uint64_t count, double ratio)
{
	double rank;

	if (!(ratio > 0))
		return 1;
	/* 0.999 × 1000 is 999.0000000000001 to a double, and must not become rank 1000. */
	rank = ceil(ratio * (double)count * (1 - 1e-15));
	if (rank < 1)
		return 1;
	return rank >= (double)count ? count : (uint64_t)rank;
}

uint64_t hist_quantile(const struct hist *hist, double ratio)
{
	uint64_t rank, seen = 0, value;

	if (!hist->count)
		return 0;
	rank = rank_of(hist->count, ratio);
	/* The ends are known exactly, so the answer need not be the middle of a bucket. */
	if (rank == hist->count || rank > hist->count - hist->overflow)
		return hist->max_ns;
	if (rank == 1)
		return hist->min_ns;
	for (unsigned int i = 0; i < HIST_BUCKETS; i++) {
		seen += hist->bucket[i];
		if (seen >= rank) {
			value = bucket_middle(i);
			if (value < hist->min_ns)
				return hist->min_ns;
			return value > hist->max_ns ? hist->max_ns : value;
		}
	}
	return hist->max_ns;
}
