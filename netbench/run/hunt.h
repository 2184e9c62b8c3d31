/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One search: build the lab once, find the highest rates of the main load, run an ordinary trial at
 * the first of them, and whatever else the search was asked for.
 */
#ifndef RUN_HUNT_H
#define RUN_HUNT_H

#include "base/err.h"

struct arm;
struct result_case;
struct trial_watch;

/*
 * As trial_run, for an arm with a search. cases[0] gets a sample of each goal, the search itself,
 * the ledger of every shot, and then what a trial at the lower bound of its strictest goal reports.
 */
int hunt_run(const struct arm *arm, unsigned int number, const struct trial_watch *watch,
	     struct result_case *const *cases, struct err *err);

#endif
