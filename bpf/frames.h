/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The test frame: what it looks like and how it is written. The BPF programs and the engines in user
 * space share this code, so that all of them send the same frames.
 *
 *   Ethernet [VLAN] IPv4|IPv6 UDP|TCP   payload: u64 sequence, u64 ns, u16 stream   body   (FCS)
 *
 * Numbers in the payload are in network byte order.
 */
#ifndef BPF_FRAMES_H
#define BPF_FRAMES_H

#include <linux/types.h>

#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif

enum {
	FRAMES_PAYLOAD = 18, /* bytes of struct frames_payload */
	FRAMES_FCS = 4,
	FRAMES_PLAIN_PAYLOAD = 42, /* where it begins behind Ethernet, IPv4 and UDP */
	FRAMES_HEADER_WORDS = 10,  /* 78 bytes: Ethernet, VLAN, IPv6, TCP */
	FRAMES_SIZES = 64,	   /* sizes in a genome */
	FRAMES_STREAMS = 64,
	FRAMES_FLOWS_MAX = 1000000,
	/*
	 * At full rate one frame in so many carries its time: reading the clock costs a third of a frame.
	 * A prime, so that every place in a batch has its turn.
	 */
	FRAMES_STAMP_EVERY = 251,
};

/* In the stream number: the frame left inside the measured window. */
#define FRAMES_MEASURED 0x8000
/* Fixed point of the schedule: 1/65536 ns, which lasts for three days. */
#define FRAMES_DUE_SHIFT 16
/* A generator that was held up makes good at most this much; the rest stays unsent. */
#define FRAMES_CATCH_UP_NS 100000000ULL

struct frames_payload {
	__u64 seq; /* from 0 in each stream */
	__u64 ns;  /* CLOCK_MONOTONIC of the departure; 0: not taken */
	__u16 stream;
} __attribute__((packed));

enum frames_order { FRAMES_SEQUENTIAL, FRAMES_RANDOM, FRAMES_ONE };

/* The flows of one stream: first … first + n - 1 of those of the load. */
struct frames_flows {
	__u32 first, n;
	__u32 order; /* enum frames_order */
	__u32 seed;
};

/* What all frames of a load have in common. */
struct frames_shape {
	__u64 header[FRAMES_HEADER_WORDS]; /* for flow 0 and the first size */
	__u16 l3, l4, payload;		   /* offsets */
	__u8 v6, tcp;
	__u8 many_flows, many_sizes; /* what must be written anew for every frame */
	__u8 untouched; /* nobody on the way writes to a frame: its header stays as it was made */
	__u32 tuple;	/* of flow 0: in the header already */
};

/* What differs with the size. Sums are partial ones' complement sums (RFC 1071), not folded. */
struct frames_size {
	__u32 bytes;  /* in memory, without the FCS */
	__u16 ip_len; /* the length fields of both headers, network byte order */
	__u16 l4_len;
	__u32 ip_sum; /* IPv4 header without source address and checksum */
	__u32 l4_sum; /* pseudo header, header, body; without source address and port, and payload */
};

static __always_inline __u32 frames_mix(__u32 x)
{
	x ^= x >> 16;
	x *= 0x85ebca6b;
	x ^= x >> 13;
	x *= 0xc2b2ae35;
	return x ^ x >> 16;
}

/* The flow of a frame within its stream, from its number alone: generator and sink agree on it. */
static __always_inline __u32 frames_flow(const struct frames_flows *flows, __u64 seq)
{
	if (flows->order == FRAMES_RANDOM)
		return (__u32)((__u64)frames_mix((__u32)seq ^ (__u32)(seq >> 32) * 0x9e3779b1 ^
						 flows->seed) *
				       flows->n >>
			       32);
	return flows->order == FRAMES_SEQUENTIAL ? (__u32)(seq % flows->n) : 0;
}

/*
 * A tuple of 31 bits for a flow: every step is a bijection on them, so no two flows share one, and a
 * million flows need no memory.
 */
static __always_inline __u32 frames_tuple(__u32 flow, __u32 seed)
{
	__u32 x = (flow ^ seed) & 0x7fffffff;

	x = x * 0x2c1b3c6d & 0x7fffffff;
	x ^= x >> 16;
	x = x * 0x297a2d39 & 0x7fffffff;
	return x ^ x >> 15;
}

/* Source ports of a tuple, host byte order: the upper half of all ports. */
static __always_inline __u16 frames_port(__u32 tuple)
{
	return (__u16)(0x8000 | (tuple & 0x7fff));
}

/* The lower bits of the source address, host byte order: in 198.19.0.0/16 or 2001:2:0:8000::/64. */
static __always_inline __u32 frames_host(__u32 tuple)
{
	return tuple >> 15;
}

static __always_inline __u64 frames_sum64(__u64 sum, __u64 word)
{
	return sum + (word >> 32) + (__u32)word;
}

static __always_inline __u16 frames_fold(__u64 sum)
{
	sum = (sum >> 32) + (__u32)sum;
	sum = (sum >> 32) + (__u32)sum;
	sum = (sum >> 16) + (sum & 0xffff);
	sum = (sum >> 16) + (sum & 0xffff);
	return (__u16)~sum;
}

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define FRAMES_BE16(x) __builtin_bswap16(x)
#define FRAMES_BE32(x) __builtin_bswap32(x)
#define FRAMES_BE64(x) __builtin_bswap64(x)
#else
#define FRAMES_BE16(x) (x)
#define FRAMES_BE32(x) (x)
#define FRAMES_BE64(x) (x)
#endif

/*
 * Fields of a frame are not aligned. The verifier wants whole stores, which live frames allow on
 * every machine that a BPF JIT compiles such stores for; user space goes the portable way.
 */
#ifdef __bpf__
#define FRAMES_PUT(type, at, value) (*(type *)(at) = (value))
#else
#define FRAMES_PUT(type, at, value)                          \
	do {                                                 \
		const type put_ = (value);                   \
		__builtin_memcpy((at), &put_, sizeof(put_)); \
	} while (0)
#endif

static __always_inline void frames_write_word(const struct frames_shape *shape, char *frame, int i)
{
	FRAMES_PUT(__u64, frame + 8 * i, shape->header[i]);
}

static __always_inline void frames_write_header(const struct frames_shape *shape, char *frame)
{
	frames_write_word(shape, frame, 0);
	frames_write_word(shape, frame, 1);
	frames_write_word(shape, frame, 2);
	frames_write_word(shape, frame, 3);
	frames_write_word(shape, frame, 4);
	frames_write_word(shape, frame, 5);
	if (shape->payload > 48)
		frames_write_word(shape, frame, 6);
	if (shape->payload > 56)
		frames_write_word(shape, frame, 7);
	if (shape->payload > 64) {
		frames_write_word(shape, frame, 8);
		frames_write_word(shape, frame, 9);
	}
}

/* The source address, or its last four bytes, as it stands in the frame. */
static __always_inline __u32 frames_address(const struct frames_shape *shape, __u32 tuple)
{
	return FRAMES_BE32(frames_host(tuple) | (shape->v6 ? 0 : 0xc6130000));
}

static __always_inline void frames_write_lengths(const struct frames_shape *shape,
						 const struct frames_size *size, char *frame)
{
	FRAMES_PUT(__u16, frame + shape->l3 + (shape->v6 ? 4 : 2), size->ip_len);
	if (!shape->tcp)
		FRAMES_PUT(__u16, frame + shape->l4 + 4, size->l4_len);
}

static __always_inline void frames_write_source(const struct frames_shape *shape, __u32 tuple,
						char *frame)
{
	FRAMES_PUT(__u32, frame + shape->l3 + (shape->v6 ? 20 : 12), frames_address(shape, tuple));
	FRAMES_PUT(__u16, frame + shape->l4, FRAMES_BE16(frames_port(tuple)));
}

/* IPv4 leaves UDP without a checksum, which RFC 768 allows; all others must be right. */
static __always_inline void frames_write_l4_sum(const struct frames_shape *shape,
						const struct frames_size *size, __u32 tuple,
						__u64 seq, __u64 ns, __u16 stream, char *frame)
{
	__u64 sum = (__u64)size->l4_sum + frames_address(shape, tuple) +
		    FRAMES_BE16(frames_port(tuple)) + stream;
	__u16 folded;

	sum = frames_sum64(frames_sum64(sum, seq), ns);
	folded = frames_fold(sum);
	if (shape->tcp)
		FRAMES_PUT(__u16, frame + shape->l4 + 16, folded);
	else
		FRAMES_PUT(__u16, frame + shape->l4 + 6, folded ? folded : 0xffff);
}

/* All three in network byte order. */
static __always_inline void frames_write_payload(char *payload, __u64 seq, __u64 ns, __u16 stream)
{
	FRAMES_PUT(__u64, payload, seq);
	FRAMES_PUT(__u64, payload + 8, ns);
	FRAMES_PUT(__u16, payload + 16, stream);
}

/*
 * Write what may differ from the last journey of this page. One that was forwarded comes back with
 * another TTL and other MAC addresses, so the whole header is written, but on a way where nobody touches
 * it: then half of the cache lines stay clean. seq, ns and stream are in network byte order already.
 */
static __always_inline void frames_write(const struct frames_shape *shape,
					 const struct frames_size *size, __u32 tuple, __u64 seq,
					 __u64 ns, __u16 stream, void *to)
{
	char *frame = to;

	if (!shape->untouched)
		frames_write_header(shape, frame);
	if (shape->many_sizes)
		frames_write_lengths(shape, size, frame);
	if (shape->many_flows)
		frames_write_source(shape, tuple, frame);
	if (!shape->v6 && (shape->many_flows || shape->many_sizes))
		FRAMES_PUT(__u16, frame + shape->l3 + 10,
			   frames_fold((__u64)size->ip_sum + frames_address(shape, tuple)));
	if (shape->v6 || shape->tcp)
		frames_write_l4_sum(shape, size, tuple, seq, ns, stream, frame);
	frames_write_payload(frame + shape->payload, seq, ns, stream);
}

#endif
