/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the cases of a plan come to when held against each other. */
#ifndef RUN_VERDICT_H
#define RUN_VERDICT_H

#include <stddef.h>

struct plan;
struct result;

/*
 * After the last trial: compare the case of every arm that has a baseline with that of the baseline, and
 * fit a line through those that differ only along their `slope`. What has no figures in common is
 * left uncompared. first_case: where the cases of the plan begin in the result. 0 or -ENOMEM.
 */
int verdict_draw(const struct plan *plan, size_t first_case, struct result *result);

#endif
