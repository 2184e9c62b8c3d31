/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether the filters of an arm make sense where they are, and can run here. */
#ifndef SUITE_FILTER_CHECK_H
#define SUITE_FILTER_CHECK_H

#include <stddef.h>

struct err;
struct lab_plan;
struct lab_spec;

/* What stages have said so far; zeroed memory is empty. A check may be dear, and arms repeat them. */
struct filter_checks {
	void *tree;
};
void filter_checks_release(struct filter_checks *checks);

/*
 * Fill in the node that the filter of the lab leaves out, and ask its stage. plan may be that of the
 * lab before its filters were changed. -EOPNOTSUPP with the reason when it cannot run here; -EINVAL,
 * starting with the filter's mark, or with the place in the user's own ruleset.
 */
int filter_check_arm(struct lab_spec *lab, size_t i, const struct lab_plan *plan,
		     struct filter_checks *checks, struct err *err);

#endif
