/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A test stand: the lab of an arm, built and proven, in which any number of shots are fired. What
 * an ordinary trial and a search have in common before the first packet.
 */
#ifndef RUN_STAND_H
#define RUN_STAND_H

#include <stddef.h>

#include "base/err.h"
#include "run/route.h"

struct arm;
struct lab;
struct load_run;
struct result_case;

struct stand {
	const struct arm *arm;
	struct lab *lab;
	struct load_run *runs; /* main and side loads between their nodes, none of them open */
	size_t n_runs;
	struct route route;
};

/*
 * Build the lab, prove that every load's nodes reach each other and that the offloads are as asked,
 * put the filters in place. The proofs go to the cases, one per run. Release it also after a failure.
 */
int stand_build(struct stand *stand, const struct arm *arm, struct result_case *const *cases,
		struct err *err);
void stand_release(struct stand *stand);

#endif
