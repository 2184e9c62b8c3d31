/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From a case to its arms: one for every combination of its matrix, with --set on top. */
#ifndef SUITE_MATRIX_H
#define SUITE_MATRIX_H

#include <stdbool.h>
#include <stddef.h>

#include "suite/filter_check.h"
#include "suite/plan.h"

struct setting { /* one --set */
	char *path;
	const char *value;
	bool used;
	struct err why; /* when nothing used it: the most helpful refusal */
};

/* A plan while it grows case by case. */
struct builder {
	struct plan *plan;
	const struct plan_options *options;
	struct setting *settings; /* options->n_set */
	size_t *first;		  /* of every case: where its arms begin; one more for the end */
	struct lab_plan **bases;  /* of the suite's labs as written, made when first needed */
	struct filter_checks checks;
	size_t room, trials, objects;
	char names[384]; /* of the arms that --only left out */
	struct err *err;
};

/* Add the arms of a case to the plan. -EINVAL at what is wrong or too much; -ENOMEM. */
int matrix_expand(struct builder *b, const struct case_spec *c);
void arm_release(struct arm *arm);

#endif
