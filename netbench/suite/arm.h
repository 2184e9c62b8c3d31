/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What has to hold for an arm before anything is built. */
#ifndef SUITE_ARM_H
#define SUITE_ARM_H

#include "base/err.h"

struct arm;
struct filter_checks;
struct lab_plan;

/*
 * Fill in the nodes that traffic loads and filters leave out, and ask each whether it can run:
 * arm->skip is set if one cannot. -EINVAL at its mark when its nodes do not exist, are the same or
 * have no path between them, or when its options contradict each other. plan is that of arm->lab.
 */
int arm_check(struct arm *arm, const struct lab_plan *plan, struct filter_checks *checks,
	      struct err *err);
/* The search of the arm, written at mark: -EINVAL when its options or its load will not do. */
int arm_check_search(const struct arm *arm, struct mark mark, struct err *err);

#endif
