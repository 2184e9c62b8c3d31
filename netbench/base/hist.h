/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A log-linear histogram of times: 1 ns … 100 s, relative error below 0.1 %. */
#ifndef BASE_HIST_H
#define BASE_HIST_H

#include <stdint.h>

/* 1024 linear steps per octave: a bucket is at most 1/1024 of its value wide. */
enum {
	HIST_STEP_BITS = 10,
	HIST_OCTAVES = 27,
	HIST_BUCKETS = (HIST_OCTAVES + 1) << HIST_STEP_BITS
};
#define HIST_MAX_NS UINT64_C(100000000000)

/*
 * Plain memory without pointers, so that it can live in shared memory; zeroed memory is an empty
 * histogram. One writer; readers see a consistent picture once the writer has stopped.
 */
struct hist {
	uint64_t count;		 /* all values, the overflow included */
	uint64_t overflow;	 /* values above HIST_MAX_NS: counted, and kept in max */
	uint64_t min_ns, max_ns; /* exact; 0 when count is 0 */
	uint64_t bucket[HIST_BUCKETS];
};

void hist_add(struct hist *hist, uint64_t value_ns);
void hist_merge(struct hist *into, const struct hist *from);
/*
 * The smallest recorded value v such that at least ratio (0 … 1) of all values are ≤ v, to bucket
 * precision (middle of the bucket, clamped to min and max). 0 when empty. If the rank falls into
 * the overflow the result is max_ns.
 */
uint64_t hist_quantile(const struct hist *hist, double ratio);

#endif
