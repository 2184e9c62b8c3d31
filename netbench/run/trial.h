/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One trial: build the lab, prove that it works, start the loads, measure one window, drain, read
 * the counters, close the books.
 */
#ifndef RUN_TRIAL_H
#define RUN_TRIAL_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "suite/plan.h"

struct result_case;
struct stand;

/* What the outside hears of a running trial. */
struct trial_progress {
	double start_s, end_s; /* of the interval, from the begin of the window */
	double rate;	       /* in unit */
	const char *unit;      /* bit/s, packet/s or 1/s */
};

struct trial_watch {
	int interrupt_fd; /* readable when the user wants to stop; -1: none */
	void (*tick)(void *context,
		     const struct trial_progress *progress); /* once a second; may be NULL */
	void *context;
};

/*
 * Run trial `number` (from 0) of an arm. cases[0] takes what the main load reports, cases[1 + i]
 * what the i-th side load does. Returns 0 also when the trial turned out void or suspect: that is in
 * the case. Otherwise no figure was added: -ECANCELED when interrupted, else the reason it failed.
 */
int trial_run(const struct arm *arm, unsigned int number, const struct trial_watch *watch,
	      struct result_case *const *cases, struct err *err);
/* The same in a lab that stands, with another config for the main load (NULL: its own). */
int trial_on(const struct stand *stand, const void *main_cfg, unsigned int number,
	     const struct trial_watch *watch, struct result_case *const *cases, struct err *err);

#endif
