/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The look of test frames: sizes and their order, headers, flows. Computes only. */
#ifndef LOAD_FRAMES_SHAPE_H
#define LOAD_FRAMES_SHAPE_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/err.h"
#include "bpf/frames.h"

/* Sizes count the FCS, as RFC 2544 does; a frame of 64 bytes is 60 bytes in memory. */
enum { FRAME_SIZE_MIN = 64, FRAME_SIZE_MAX = 9018, FRAME_HEADER = 14 };

/* The part of the options that says what frames look like. */
struct frames_options {
	char *size; /* "64", "imix", or an RFC 6985 genome such as "aaafg" */
	uint64_t flows;
	int order; /* enum frames_order */
	int proto; /* 0 UDP, 1 TCP SYN */
	uint64_t vlan, dscp;
	uint64_t seed;
};

/* The way of the frames through the lab. */
struct frames_path {
	uint8_t source_mac[6], target_mac[6]; /* of the two ends of the first link */
	struct sockaddr_storage from, to;
	uint64_t mtu; /* the smallest on the way */
	size_t first_link, last_link;
	unsigned int first_side, last_side; /* sides that send */
	int out_ifindex;		    /* in `from` */
	size_t next_node;
	int next_ifindex; /* the far end of the first link, in the next node */
	int in_ifindex;	  /* the near end of the last link, in `to` */
	unsigned int hops;
};

struct frames_look {
	struct frames_shape shape;
	struct frames_size sizes[FRAMES_SIZES];
	uint32_t n_sizes;
	uint32_t longest;     /* bytes in memory */
	double mean;	      /* bytes with the FCS */
	unsigned char *frame; /* a frame of the longest size, body included */
	uint32_t seed;
	size_t n_streams;
	struct frames_flows flows[FRAMES_STREAMS];
};

/*
 * The sizes of a genome in their order, with the FCS. "imix" is 28 × 64, 16 × 570 and 4 × 1518, each
 * spread as evenly as it goes. mtu is for the letter z; 0: not known yet, z counts as the smallest.
 */
int frames_sizes(const char *option, uint64_t mtu, uint16_t ret[FRAMES_SIZES], size_t *ret_n,
		 struct err *err);
/* The smallest frame that holds headers and payload. */
unsigned int frames_size_min(const struct frames_options *options, bool v6);
/* All sizes are well formed and large enough; with an mtu, also small enough for the path. */
int frames_sizes_check(const struct frames_options *options, bool v6, uint64_t mtu,
		       struct err *err);

/* Split n flows into those of each stream; fewer flows than streams are shared. */
void frames_split(const struct frames_options *options, size_t streams,
		  struct frames_flows ret[FRAMES_STREAMS]);

/* port: destination, host byte order. The caller releases ret, also after a failure. */
int frames_look_make(const struct frames_options *options, const struct frames_path *path,
		     uint16_t port, size_t streams, struct frames_look *ret, struct err *err);
void frames_look_release(struct frames_look *look);

#endif
