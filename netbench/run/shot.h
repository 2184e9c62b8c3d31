/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A shot: the loads of a stand run once, over one window, between two readings of all counters.
 *
 *   shot_load     open the loads, read the counters, start the workers; they wait at the barrier
 *   shot_fire     go, warm up, window, drain
 *   shot_count    give late drops their time, read the counters again
 *   shot_release  also after a failure, at any point
 */
#ifndef RUN_SHOT_H
#define RUN_SHOT_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "host/cpuuse.h"
#include "run/crew.h"
#include "run/proof.h"

struct interval;
struct ledger_snap;
struct load_run;
struct result_case;
struct stand;
struct trial_watch;

/* What to fire. */
struct shot_plan {
	uint64_t warmup_ns, duration_ns;
	const void *main_cfg; /* in place of the main load's own; NULL: that one */
	const struct trial_watch *watch;
};

struct shot {
	const struct stand *stand;
	struct shot_plan plan;
	struct load_run *runs; /* as stand->runs, open */
	size_t n_runs;
	struct trial_clock *clock;
	struct ledger_snap *before, *after;
	struct crew crew;
	struct taps taps;	    /* those that the caller opens between load and fire */
	struct cpuuse *cpuuse;	    /* the caller's; NULL: the CPU use is not taken */
	struct cpuuse_snap *window; /* two of them, at the begin and the end */
	struct interval *intervals; /* room for every second of the window, begun or whole */
	size_t n_intervals;
	uint64_t tick_ns, tick_count; /* where the last interval ended */
	uint64_t late_ns;	      /* the most by which a moment of the clock was missed */
};

int shot_load(struct shot *shot, const struct stand *stand, const struct shot_plan *plan,
	      struct err *err);
int shot_fire(struct shot *shot, struct err *err);
int shot_count(struct shot *shot, struct err *err);
/* After the count: the ledger of the shot and the proofs that its counters give, into the case. */
int shot_close_books(struct shot *shot, struct result_case *c, struct err *err);
void shot_release(struct shot *shot);

#endif
