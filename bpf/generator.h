/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a generator program and its lane share: the constants before loading, the state after. */
#ifndef BPF_GENERATOR_H
#define BPF_GENERATOR_H

#include "bpf/frames.h"

struct generator_config {
	struct frames_shape shape;
	struct frames_flows flows;
	struct frames_size sizes[FRAMES_SIZES];
	__u32 n_sizes;
	__u32 seed;    /* of the tuples */
	__u32 longest; /* bytes of a live frame before it is cut to its size */
	__u32 action;  /* XDP_REDIRECT, XDP_TX or XDP_PASS */
	__u32 ifindex;
	__u16 stream;
	__u64 count;	/* 0: until the end */
	__u64 interval; /* between bursts, << FRAMES_DUE_SHIFT; 0: as fast as it goes */
	__u64 first;	/* of the first burst after the start, << FRAMES_DUE_SHIFT */
	__u32 burst;
	__u8 plain; /* IPv4 and UDP, untagged, one flow, one size, untouched, at full rate, no count */
};

/* Written by the lane while the program rests, by the program while it runs; anyone may read. */
struct generator_state {
	__u64 start_ns, begin_ns, end_ns; /* start_ns 0: not yet */
	__u64 due; /* of the next burst, from start_ns, << FRAMES_DUE_SHIFT */
	__u32 in_burst;
	__u16 mark;	/* FRAMES_MEASURED, or 0 */
	__u32 size;	/* the next of the sizes */
	__u64 stamp_at; /* the number of the next frame that carries its time, at full rate */
	__u64 first_ns; /* the departure of the first frame */
	__u64 sent;
	__u64 early;  /* sent before the window; valid once mark is set */
	__u64 unsent; /* due, but not made good after a hold-up */
};

#endif
