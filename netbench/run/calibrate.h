/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a frame generator does when there is nothing to measure: the same engine and options, at full
 * speed, over one bare link into the sink. A result near that says more of the generator than of
 * what is under test.
 */
#ifndef RUN_CALIBRATE_H
#define RUN_CALIBRATE_H

#include <stddef.h>

#include "base/err.h"

struct arm;
struct ceiling;
struct result_case;
struct trial_watch;

/* The ceilings of a run; zeroed memory has none yet. */
struct calibration {
	struct ceiling *ceilings;
	size_t n;
};

/*
 * Measure the ceiling of an arm's main load, once for all arms whose options are the same. Does
 * nothing for loads that are no generators of test frames, or that have a rate of their own. That it could not be measured is kept and
 * told by calibrate_judge(); only -ECANCELED and -ENOMEM are errors here.
 */
int calibrate(struct calibration *calibration, const struct arm *arm,
	      const struct trial_watch *watch, struct err *err);
/*
 * When its trials are done: a case that sent more than 80 % of the ceiling is limited by the
 * generator.
 */
int calibrate_judge(const struct calibration *calibration, const struct arm *arm,
		    struct result_case *c);
void calibration_release(struct calibration *calibration);

#endif
