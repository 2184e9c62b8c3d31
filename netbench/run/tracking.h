/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The proof that connection tracking was at work where a filter of the lab asks for it. */
#ifndef RUN_TRACKING_H
#define RUN_TRACKING_H

#include <stddef.h>

#include "base/err.h"

struct lab;
struct ledger_snap;
struct load_run;
struct result_case;
struct route;

/*
 * Before the first packet: is there room in the tables of the way for all flows of the loads?
 * -EINVAL with both numbers when a full table would drop what was to be measured.
 */
int tracking_room(struct lab *lab, const struct route *route, const struct ledger_snap *before,
		  const struct load_run *runs, size_t n_runs, struct err *err);
/*
 * After the drain: a node that tracks, and lets packets pass, holds an entry for every flow.
 * Else the case is void. 0 or -ENOMEM.
 */
int tracking_proof(struct lab *lab, const struct route *route, const struct ledger_snap *before,
		   const struct ledger_snap *after, struct load_run *runs, size_t n_runs,
		   struct result_case *c);

#endif
