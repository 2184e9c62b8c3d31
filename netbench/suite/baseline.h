/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What every arm of a plan is compared with. */
#ifndef SUITE_BASELINE_H
#define SUITE_BASELINE_H

#include <stddef.h>

struct err;
struct plan;

/*
 * Set the baselines of all arms as the cases of the suite ask for them. first: for every case where
 * its arms begin, with the end as one more. -EINVAL at the mark of `against` when several arms would
 * do.
 */
int baselines_find(struct plan *plan, const size_t *first, struct err *err);

#endif
