/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The histogram of base/hist.h, filled by BPF programs. */
#ifndef BPF_HISTOGRAM_H
#define BPF_HISTOGRAM_H

#include <linux/types.h>

/* As in base/hist.h; load/frames_sink.c asserts that they are the same. */
enum { HISTOGRAM_STEP_BITS = 10, HISTOGRAM_BUCKETS = 28 << HISTOGRAM_STEP_BITS };
#define HISTOGRAM_MAX_NS 100000000000ULL

struct histogram {
	__u64 count, overflow, min_ns, max_ns;
	__u64 bucket[HISTOGRAM_BUCKETS];
};

static inline __attribute__((always_inline)) __u32 histogram_bucket(__u64 value)
{
	__u64 rest = value >> HISTOGRAM_STEP_BITS;
	__u32 shift = 0;

	/* BPF has no instruction to count zeros. */
	if (rest >> 16) {
		shift += 16;
		rest >>= 16;
	}
	if (rest >> 8) {
		shift += 8;
		rest >>= 8;
	}
	if (rest >> 4) {
		shift += 4;
		rest >>= 4;
	}
	if (rest >> 2) {
		shift += 2;
		rest >>= 2;
	}
	shift += (__u32)(rest >> 1);
	if (!(value >> HISTOGRAM_STEP_BITS))
		return (__u32)value;
	return ((shift + 1) << HISTOGRAM_STEP_BITS) +
	       (__u32)((value >> shift) & ((1u << HISTOGRAM_STEP_BITS) - 1));
}

static inline __attribute__((always_inline)) void histogram_add(struct histogram *h, __u64 value)
{
	__u32 bucket;

	if (!h->count || value < h->min_ns)
		h->min_ns = value;
	if (value > h->max_ns)
		h->max_ns = value;
	h->count++;
	if (value > HISTOGRAM_MAX_NS) {
		h->overflow++;
		return;
	}
	bucket = histogram_bucket(value);
	/* The compiler knows that this holds, the verifier does not. */
	__asm__ volatile("" : "+r"(bucket));
	if (bucket < HISTOGRAM_BUCKETS)
		h->bucket[bucket]++;
}

#endif
