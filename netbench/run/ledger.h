/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Packet conservation: what was sent was delivered or dropped by somebody who counted it.
 *
 * The counters of every link and node on the way are read before the first packet and after the
 * drain; the difference, sorted by name, must explain what is missing. See docs/method.md.
 */
#ifndef RUN_LEDGER_H
#define RUN_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "run/route.h"

struct lab;
struct load_run;
struct result_case;

struct ledger_snap;
struct node_counters;

int ledger_snap(struct lab *lab, const struct route *route, struct ledger_snap **ret,
		struct err *err);
void ledger_snap_free(struct ledger_snap *snap);

/*
 * Add the trial to the case's ledger. Does nothing when no load numbers its packets. A residual
 * voids the case, with the reason.
 */
int ledger_close(struct lab *lab, const struct route *route, const struct ledger_snap *before,
		 const struct ledger_snap *after, struct load_run *runs, size_t n_runs,
		 struct result_case *c, struct err *err);

/* The arithmetic alone, for any set of drops. */
struct named_drop {
	char name[96];
	uint64_t min, max; /* packets that these counters stand for */
	uint64_t count;	   /* out: what is put down to it */
};

/*
 * Put `lost` packets down to the drops, each within its min and max: first the mins, then what is
 * missing in order. If even the maxs do not reach, or the mins exceed it, the rest is the residual
 * (> 0: vanished without a trace; < 0: more drops than losses). The counts plus residual are lost.
 */
int64_t ledger_attribute(uint64_t lost, struct named_drop *drops, size_t n);

/* The bytes that went in at either end of a link between two snaps; for proofs. */
uint64_t ledger_link_bytes(const struct ledger_snap *before, const struct ledger_snap *after,
			   size_t i);
uint64_t ledger_link_packets(const struct ledger_snap *before, const struct ledger_snap *after,
			     size_t i);
/* The counters of a node; NULL when it is not on the route. Owned by the snap. */
const struct node_counters *ledger_node(const struct ledger_snap *snap, const struct route *route,
					size_t node);
/* Does the filter count all that it drops? */
bool ledger_filter_exact(const struct ledger_snap *snap, size_t filter);
/* What a filter of the lab counted between two snaps; 0 when it is not on the route. */
uint64_t ledger_filter_matched(const struct ledger_snap *before, const struct ledger_snap *after,
			       size_t filter);
uint64_t ledger_filter_dropped(const struct ledger_snap *before, const struct ledger_snap *after,
			       size_t filter);

#endif
