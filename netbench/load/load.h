/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A load: anything that runs on nodes of a lab and yields metrics. A new load is one file with one
 * struct load, one line in loads[] and one test.
 *
 * The runner opens a load (sockets, shared memory), forks one pinned process per lane, and collects
 * the metrics from the shared memory after the drain. A lane only runs its hot loop.
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
	char *from, *to;	/* node names; NULL: the first and the last node of the lab */
	int family;		/* index: 0 IPv4, 1 IPv6 */
};

/* The options of struct traffic_cfg, to be placed first in a load's table. */
#define TRAFFIC_OPTS                                                                               \
	{ .name = "from", .type = OPT_TEXT, .offset = offsetof(struct traffic_cfg, from),           \
	  .metavar = "NODE", .help = "node that starts the conversation; default: the first" },     \
	{ .name = "to", .type = OPT_TEXT, .offset = offsetof(struct traffic_cfg, to),               \
	  .metavar = "NODE", .help = "node that answers; default: the last" },                      \
	{ .name = "family", .type = OPT_CHOICE, .offset = offsetof(struct traffic_cfg, family),     \
	  .def = "ipv4", .choices = load_families, .help = "address family" }

extern const char *const load_families[];

struct load {
	struct kind kind;
	bool traffic;		/* cfg starts with struct traffic_cfg */
	int (*open)(struct load_run *run, struct err *err);
	/* After the drain: add one sample per metric to the case. */
	int (*collect)(struct load_run *run, struct result_case *c, struct err *err);
	/* What the receiver has got so far, for interval lines and progress: in progress_unit. */
	uint64_t (*progress)(const struct load_run *run);
	const char *progress_unit;	/* "byte" (shown as bit/s), "packet", "transaction" */
};

/* NULL-terminated. */
extern const struct load *const loads[];
/* -EINVAL with a "did you mean". */
int load_find(const char *name, const struct load **ret, struct err *err);

#endif
