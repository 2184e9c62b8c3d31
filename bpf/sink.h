/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Counting test frames at the receiver: the same code at the XDP hook, as a socket filter, and in the
 * user-space receiver. Exact also when frames of a stream arrive on several CPUs at once.
 */
#ifndef BPF_SINK_H
#define BPF_SINK_H

#include "bpf/frames.h"

enum {
	SINK_CPUS = 1024,
	/* Frames later than this many numbers behind cannot be told from duplicates. */
	SINK_WINDOW = 1 << 16,
	SINK_WORDS = SINK_WINDOW / 32,
	SINK_TRIES = 64,
};

/* One per CPU, so that nobody waits for a cache line. */
struct sink_count {
	__u64 fresh[2]; /* new frames: [1] those sent inside the measured window */
	__u64 duplicates, ancient, reordered, gaps;
	__u64 unknown; /* of streams that nobody sends */
	__u64 odd;     /* not of the size that all frames have */
};
_Static_assert(sizeof(struct sink_count) == 64, "one cache line");

/* What arrived, each frame once. */
static __always_inline __u64 sink_unique(const struct sink_count *count)
{
	return count->fresh[0] + count->fresh[1];
}

struct sink_stream {
	__u64 next; /* one above the highest number seen */
	/*
	 * Which numbers were seen. A word holds 32 of them in its lower half, and in its upper half which
	 * round of the window these are of: so a word is never cleared, only replaced.
	 */
	__u64 seen[SINK_WORDS];
};

struct sink_config {
	struct frames_flows
		flows[FRAMES_STREAMS]; /* per stream; first: index into the flow memory */
	__u32 n_streams;
	__u32 bytes;	   /* of every frame in memory, tag included; 0: they differ */
	__u32 address;	   /* IPv4 destination, network byte order */
	__u16 port;	   /* destination, network byte order */
	__u16 l4, payload; /* offsets in an untagged frame */
	__u8 v6, tcp, vlan;
	__u8 concurrent; /* more than one CPU may be in the program at once */
	__u8 many_flows; /* keep the last number of every flow */
	__u8 plain;	 /* IPv4 and UDP, no tag, one flow a stream, one CPU at a time */
	__u8 skip;	 /* socket filter: bytes in front of the transport header */
};

/* The memory of a sink, wherever it is. */
struct sink_memory {
	struct sink_count *count; /* of this CPU */
	struct sink_stream *stream;
	__u64 *last; /* of the frame's flow: one above its highest number; NULL: one flow only */
};

enum sink_verdict { SINK_NEW, SINK_DUPLICATE, SINK_ANCIENT };

/* What a word becomes when `bit` of `round` arrives. */
static __always_inline enum sink_verdict sink_mark(__u64 word, __u32 round, __u32 bit,
						   __u64 *ret_word)
{
	const __u32 of = (__u32)(word >> 32);

	if (of == round) {
		*ret_word = word | bit;
		return word & bit ? SINK_DUPLICATE : SINK_NEW;
	}
	*ret_word = (__u64)round << 32 | bit;
	return (__s32)(round - of) > 0 ? SINK_NEW : SINK_ANCIENT;
}

static __always_inline enum sink_verdict sink_see(struct sink_stream *stream, __u64 seq,
						  int concurrent)
{
	__u64 *word = &stream->seen[seq / 32 & (SINK_WORDS - 1)];
	const __u32 bit = 1u << (seq & 31);
	enum sink_verdict verdict = SINK_ANCIENT;
	__u64 old = *word, new;

	if (!concurrent) {
		verdict = sink_mark(old, (__u32)(seq / SINK_WINDOW), bit, &new);
		if (verdict == SINK_NEW)
			*word = new;
		return verdict;
	}
	for (int i = 0; i < SINK_TRIES; i++) {
		__u64 found;

		verdict = sink_mark(old, (__u32)(seq / SINK_WINDOW), bit, &new);
		if (verdict != SINK_NEW)
			return verdict;
		found = __sync_val_compare_and_swap(word, old, new);
		if (found == old)
			return verdict;
		old = found;
	}
	return verdict;
}

/* Raise *top to at least value; what it was before. */
static __always_inline __u64 sink_raise(__u64 *top, __u64 value, int concurrent)
{
	__u64 old = *top;

	if (!concurrent) {
		if (old < value)
			*top = value;
		return old;
	}
	for (int i = 0; i < SINK_TRIES && old < value; i++) {
		const __u64 found = __sync_val_compare_and_swap(top, old, value);

		if (found == old)
			break;
		old = found;
	}
	return old;
}

/* Count one frame of a known stream; seq in host byte order, measured 0 or 1. Is it new? */
static __always_inline int sink_take(const struct sink_memory *m, __u64 seq, __u32 measured,
				     int concurrent)
{
	struct sink_count *count = m->count;
	enum sink_verdict verdict;
	__u64 next, before;

	verdict = sink_see(m->stream, seq, concurrent);
	if (verdict != SINK_NEW) {
		if (verdict == SINK_DUPLICATE)
			count->duplicates++;
		else
			count->ancient++;
		return 0;
	}
	next = sink_raise(&m->stream->next, seq + 1, concurrent);
	before = m->last ? sink_raise(m->last, seq + 1, concurrent) : next;
	if (seq > next)
		count->gaps++;
	if (seq < before)
		count->reordered++;
	count->fresh[measured]++;
	return 1;
}

#endif
