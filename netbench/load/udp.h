/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the two halves of the udp load share: its options, its lanes and its packet. */
#ifndef LOAD_UDP_H
#define LOAD_UDP_H

#include <stdbool.h>
#include <stdint.h>

#include "load/flow.h"
#include "load/seq.h"

struct udp_cfg {
	struct flow_cfg flow;
	uint64_t size; /* UDP payload */
	uint64_t batch, segment;
	struct rate rate;
	bool gro;
};

/* Every packet starts with this, in network byte order. */
struct udp_header {
	uint64_t seq;	  /* from 0 in each stream */
	uint64_t sent_ns; /* CLOCK_MONOTONIC, taken before the send call that carries it */
};

struct udp_lane {
	struct lane_shared shared;
	/* Sender: packets handed to the kernel with a time inside the window, and refused ones. */
	uint64_t window_sent, window_refused, refused;
	/* Receiver: arrivals inside the window; and unique packets that were sent inside the window. */
	uint64_t window_packets, window_bytes, window_unique;
	uint64_t unique, duplicates, reordered, ancient, malformed;
	double jitter_ns; /* RFC 3550 §6.4.1, mean over the lane's streams */
	struct hist latency;
};

struct udp_state {
	struct pair *pairs;
	size_t n_pairs;
};

int udp_send(struct lane *lane, struct err *err);
int udp_receive(struct lane *lane, struct err *err);

#endif
