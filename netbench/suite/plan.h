/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a run will do: the suite with its matrices expanded, every value in effect, everything that
 * cannot run here marked with the reason, and the trials in a shuffled, interleaved, recorded order.
 */
#ifndef SUITE_PLAN_H
#define SUITE_PLAN_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "suite/suite.h"

struct arm_label {
	char *name, *value; /* path and value of one axis other than "lab" */
};

enum { NO_BASELINE = -1 };

struct arm {
	char *name; /* "case" or "case/lab,option=value" */
	char *lab_name;
	struct lab_spec lab;
	struct load_spec main;
	struct load_spec *beside;
	size_t n_beside;
	struct timing timing;
	struct arm_label *labels;
	size_t n_labels;
	/*
	 * The arm that it is compared with, as an index into the plan's arms, which may be skipped; or
	 * NO_BASELINE: none was asked for, --only or --set left it out, or the arm is it itself.
	 */
	int baseline;
	const char *slope;	   /* name of the label over which a line is fitted; NULL: none */
	struct search_cfg *search; /* NULL: trials at the rate of the load */
	char *skip;		   /* why it cannot run here; NULL: it runs */
};

struct plan {
	const struct suite *suite; /* borrowed */
	uint64_t seed;
	struct arm *arms;
	size_t n_arms;
	/*
	 * Indices into arms, one per trial; skipped arms do not appear. Rounds over all arms of the
	 * suite, every round a shuffle of its own.
	 */
	size_t *order;
	size_t n_order;
};

struct plan_options {
	uint64_t seed;
	char *const *set; /* "path=value" */
	size_t n_set;
	const char *only; /* glob on arm names; NULL: all */
};

/*
 * Every path that --set or a matrix names must exist somewhere, else -EINVAL with "did you mean".
 * Paths: those of path_set, and "lab", whose values are names of labs. With a choice of labs, an axis
 * that a lab does not have makes no arms there; one that none of them has is an error.
 */
int plan_make(const struct suite *suite, const struct plan_options *options, struct plan **ret,
	      struct err *err);
void plan_free(struct plan *plan);
/* --dry-run: every effective value, every skip with its reason, the order of the trials. */
void plan_print(const struct plan *plan, FILE *out);
uint64_t
plan_duration_ns(const struct plan *plan); /* warm-ups and windows; of searches: the most */

#endif
