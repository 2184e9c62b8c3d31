/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Streams in one or two directions, spread over lanes: the layout that tcp and udp share.
 *
 * Each direction has `streams` socket pairs of its own and `threads` sender and receiver lanes;
 * lane t of a direction serves the streams s with s % threads == t at either end.
 */
#ifndef LOAD_FLOW_H
#define LOAD_FLOW_H

#include <stddef.h>
#include <stdint.h>

#include "load/lane.h"
#include "load/load.h"
#include "load/pair.h"

enum { FLOW_THREADS_MAX = 64 };

enum flow_direction { FLOW_FORWARD, FLOW_REVERSE, FLOW_BOTH };

struct flow_cfg {
	struct traffic_cfg traffic;
	uint64_t streams;
	uint64_t threads; /* 0: one per stream, as far as allowed */
	int direction;
	uint64_t dscp, sndbuf, rcvbuf;
	char *cpus_from, *cpus_to;
};

extern const char *const flow_directions[];

/* clang-format off */
#define FLOW_OPTS \
	TRAFFIC_OPTS, \
		{.name = "streams", \
		 .type = OPT_COUNT, \
		 .offset = offsetof(struct flow_cfg, streams), \
		 .def = "1", \
		 .min = 1, \
		 .max = 128, \
		 .help = "sockets in each direction"}, \
		{.name = "threads", \
		 .type = OPT_COUNT, \
		 .offset = offsetof(struct flow_cfg, threads), \
		 .def = "0", \
		 .max = 64, \
		 .help = "pinned workers at each end; 0: one per stream"}, \
		{.name = "direction", \
		 .type = OPT_CHOICE, \
		 .offset = offsetof(struct flow_cfg, direction), \
		 .def = "forward", \
		 .choices = flow_directions, \
		 .help = "who sends: from, to, or both at once"}, \
		{.name = "dscp", \
		 .type = OPT_COUNT, \
		 .offset = offsetof(struct flow_cfg, dscp), \
		 .def = "0", \
		 .max = 63, \
		 .help = "differentiated services code point (RFC 2474)"}, \
		{.name = "sndbuf", \
		 .type = OPT_SIZE, \
		 .offset = offsetof(struct flow_cfg, sndbuf), \
		 .def = "0", \
		 .max = 1u << 30, \
		 .help = "send buffer of a socket as the kernel counts it; 0: the kernel's " \
			 "choice"}, \
		{.name = "rcvbuf", \
		 .type = OPT_SIZE, \
		 .offset = offsetof(struct flow_cfg, rcvbuf), \
		 .def = "0", \
		 .max = 1u << 30, \
		 .help = "receive buffer of a socket as the kernel counts it; 0: the load's " \
			 "choice"}, \
		{.name = "cpus_from", \
		 .type = OPT_TEXT, \
		 .offset = offsetof(struct flow_cfg, cpus_from), \
		 .metavar = "LIST", \
		 .help = "CPUs for the workers in `from`, such as 0,2-3; default: the first " \
			 "half"}, \
	{ \
		.name = "cpus_to", .type = OPT_TEXT, .offset = offsetof(struct flow_cfg, cpus_to), \
		.metavar = "LIST", \
		.help = "CPUs for the workers in `to`; default: the second half" \
	}
/* clang-format on */

/* The part of a load's check() that is about these options. */
int flow_check(const struct flow_cfg *cfg, struct err *err);

/* Socket pairs of all directions together. */
size_t flow_pairs(const struct flow_cfg *cfg);

/*
 * Open all pairs into pairs[flow_pairs()] and lay out the lanes: the senders of the first
 * direction, its receivers, then the same for the second direction if there is one.
 */
int flow_open(struct load_run *run, const struct pair_options *options, struct pair *pairs,
	      int (*send)(struct lane *, struct err *), int (*receive)(struct lane *, struct err *),
	      struct err *err);

/* What a lane serves. */
struct flow_part {
	bool receives, reverse;
	size_t n_streams;
	size_t first, step; /* pair indices first, first + step, … */
	size_t peer;	    /* lane index of the other end */
};
void flow_part(const struct lane *lane, struct flow_part *ret);
/* The lane's own fd of its i-th stream. */
int flow_fd(const struct lane *lane, const struct pair *pairs, size_t i);

/* Sum of the totals of all receivers, for progress. */
uint64_t flow_received_bytes(const struct load_run *run);
uint64_t flow_received_packets(const struct load_run *run);

#endif
