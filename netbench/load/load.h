/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A load: anything that runs on nodes of a lab and yields metrics. A new load is one file with one
 * struct load, one line in loads[] and one test.
 *
 * The runner opens a load (sockets, shared memory), forks one pinned process per lane, and collects
 * the metrics from shared memory after the drain. A lane only runs its hot loop; see load/lane.h.
 */
#ifndef LOAD_LOAD_H
#define LOAD_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/kind.h"

struct lab;
struct load_run;
struct result_case;

/* The config of every traffic load starts with this. */
struct traffic_cfg {
	char *from, *to; /* node names; NULL: the first and the last node of the lab */
	int family;	 /* index: 0 IPv4, 1 IPv6 */
};

/* The options of struct traffic_cfg, to be placed first in a load's table. */
/* clang-format off */
#define TRAFFIC_OPTS \
	{.name = "from", \
	 .type = OPT_TEXT, \
	 .offset = offsetof(struct traffic_cfg, from), \
	 .metavar = "NODE", \
	 .help = "node that starts the conversation; default: the first"}, \
	{.name = "to", \
	 .type = OPT_TEXT, \
	 .offset = offsetof(struct traffic_cfg, to), \
	 .metavar = "NODE", \
	 .help = "node that answers; default: the last"}, \
	{.name = "family", \
	 .type = OPT_CHOICE, \
	 .offset = offsetof(struct traffic_cfg, family), \
	 .def = "ipv4", \
	 .choices = load_families, \
	 .help = "address family"}
/* clang-format on */

extern const char *const load_families[];

/*
 * What a load knows about its own packets over the whole trial, warm-up and drain included.
 * The runner adds what the nodes and links dropped, and closes the ledger.
 */
struct account {
	bool present;
	uint64_t sent, delivered, duplicates;
	uint64_t socket_drops;	     /* dropped at the receiving sockets, in kernel buffers */
	uint64_t packets_per_buffer; /* 1, or up to how many packets one dropped buffer can hold */
	uint64_t packets_per_frame;  /* 1, or up to how many packets one frame on a link can hold */
	bool fragmented;	     /* packets travel as several link frames */
	uint64_t flows;		     /* different flows among those sent; 0: not known */
};

struct load {
	struct kind kind;
	bool traffic;	   /* cfg starts with struct traffic_cfg */
	bool to_test_port; /* its packets are those that the rules of filters hit */
	size_t lane_size;  /* shared memory of a lane; starts with struct lane_shared */
	/* Does what it sends fit through links of this MTU? -EINVAL with the reason. NULL: always. */
	int (*check_mtu)(const void *cfg, uint64_t mtu, struct err *err);
	/* In the runner: make the sockets, then the lanes with load_lanes(). */
	int (*open)(struct load_run *run, struct err *err);
	/* In the runner, right at the begin (false) and end (true) of the window; must be quick. May be NULL. */
	void (*mark)(struct load_run *run, bool end);
	/* After the drain: add one sample per metric to the case. window_s is the measured length. */
	int (*collect)(struct load_run *run, struct result_case *c, struct err *err);
	/* After the drain, for loads that number their packets. May be NULL. */
	int (*account)(struct load_run *run, struct account *ret, struct err *err);
	/* Undo open; also on a half-opened run. */
	void (*close)(struct load_run *run);
	/* What the receiver has got so far: progress_unit is "byte", "packet" or "transaction". */
	uint64_t (*progress)(const struct load_run *run);
	const char *progress_unit;
};

extern const struct load load_tcp, load_udp, load_frames, load_rr, load_ping;

/* NULL-terminated. */
extern const struct load *const loads[];
/* -EINVAL with a "did you mean". */
int load_find(const char *name, const struct load **ret, struct err *err);

#endif
