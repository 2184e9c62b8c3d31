/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the lanes of the tcp load and the rest of it share: options, counters and sockets. */
#ifndef LOAD_TCP_H
#define LOAD_TCP_H

#include <stdbool.h>
#include <stdint.h>

#include "load/flow.h"

struct tcp_cfg {
	struct flow_cfg flow;
	char *congestion;
	uint64_t mss, buffer;
	bool nodelay, zerocopy, truncate;
	struct rate pacing;
};

struct tcp_lane {
	struct lane_shared shared;
	uint64_t window_bytes;
	uint64_t zerocopy_sent, zerocopy_copied; /* sends that the kernel copied after all */
};

struct tcp_mark {
	uint64_t segments, retransmits, rtt_ns, cwnd;
};

struct tcp_state {
	struct pair *pairs;
	size_t n_pairs;
	struct tcp_mark *begin, *end; /* one per pair, of its sending socket */
};

int tcp_send(struct lane *lane, struct err *err);
int tcp_receive(struct lane *lane, struct err *err);

#endif
