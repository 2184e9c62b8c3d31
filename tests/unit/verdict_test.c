/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Holds which cases of a plan are compared, and which lie on one line. */
#include "run/verdict.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "result/result.h"
#include "suite/plan.h"

static const struct metric_def per_frame = {"time_per_frame", "ns", BETTER_LOWER, NULL, NULL};
static const struct metric_def cost = {"cost", "ns", BETTER_LOWER, "kernel", NULL};

enum { ARMS = 8 };

/* The arms of "rules", on whose second a load runs beside, and one of another case. */
static struct arm_label labels[ARMS][2] = {
	{{"filter.shape", "linear"}, {"filter.rules", "1"}},
	{{"filter.shape", "linear"}, {"filter.rules", "10"}},
	{{"filter.shape", "linear"}, {"filter.rules", "100"}},
	{{"filter.shape", "set"}, {"filter.rules", "1"}},
	{{"filter.shape", "set"}, {"filter.rules", "10"}},
	{{"filter.shape", "set"}, {"filter.rules", "100"}},
};

struct fixture {
	struct arm arms[ARMS];
	struct plan plan;
	struct result *result;
};

static void add_case(struct result *result, const char *name)
{
	struct result_case *c = result_add_case(result, name);

	assert_non_null(c);
	case_worsen(c, CASE_OK, NULL);
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	char name[64];

	*state = f;
	f->result = result_new();
	f->result->seed = 1;
	add_case(f->result, "of another suite");
	for (size_t i = 0; i < ARMS; i++) {
		struct arm *arm = &f->arms[i];

		arm->baseline = NO_BASELINE;
		snprintf(name, sizeof(name), "vm/plain %zu", i);
		if (labels[i][0].name) {
			arm->labels = labels[i];
			arm->n_labels = 2;
			arm->slope = labels[i][1].name;
			snprintf(name, sizeof(name), "vm/rules/lab,shape=%s,rules=%s",
				 labels[i][0].value, labels[i][1].value);
		}
		add_case(f->result, name);
		arm->n_beside = i == 1;
		if (i == 1)
			add_case(f->result, "vm/rules beside: hash");
	}
	f->plan = (struct plan){.arms = f->arms, .n_arms = ARMS};
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	result_free(f->result);
	free(f);
	return 0;
}

/* Two equal samples for the case of an arm. */
static struct result_case *add(struct fixture *f, size_t arm, const struct metric_def *def,
			       double value)
{
	struct result_case *c = &f->result->cases[1 + arm + (arm > 1)];

	assert_int_equal(case_add_sample(c, def, value), 0);
	assert_int_equal(case_add_sample(c, def, value), 0);
	return c;
}

static void arms_with_a_baseline_are_compared(void **state)
{
	struct fixture *f = *state;
	const struct result_case *filtered, *plain, *skipped;

	f->arms[2].baseline = 6;
	f->arms[4].baseline = 7;
	filtered = add(f, 2, &per_frame, 500);
	plain = add(f, 6, &per_frame, 140);
	skipped = add(f, 4, &per_frame, 600);
	assert_int_equal(verdict_draw(&f->plan, 1, f->result), 0);
	assert_string_equal(filtered->versus.baseline, "vm/plain 6");
	assert_true(filtered->versus.difference == 360);
	assert_null(plain->versus.baseline);
	/* Its baseline did not run: nothing to compare with, and no failure. */
	assert_null(skipped->versus.baseline);
	assert_null(f->result->cases[0].versus.baseline);
}

static void arms_that_differ_along_the_slope_are_on_one_line(void **state)
{
	struct fixture *f = *state;
	const struct fit *fits;

	for (size_t i = 0; i < 3; i++) {
		add(f, i, &per_frame, 300 + 4 * pow(10, (double)i));
		add(f, i, &cost, 9999);
		add(f, 3 + i, &per_frame, 320);
	}
	add(f, 6, &per_frame, 140);
	assert_int_equal(verdict_draw(&f->plan, 1, f->result), 0);
	assert_int_equal(f->result->n_fits, 2);
	fits = f->result->fits;
	assert_string_equal(fits[0].name, "vm/rules/lab,shape=linear");
	assert_string_equal(fits[0].per, "filter.rules");
	assert_ptr_equal(fits[0].def, &per_frame);
	assert_int_equal(fits[0].n, 3);
	assert_true(fabs(fits[0].slope - 4) < 1e-9 && fabs(fits[0].lo - 4) < 1e-9);
	assert_string_equal(fits[1].name, "vm/rules/lab,shape=set");
	assert_true(fabs(fits[1].slope) < 1e-9);
}

/* A suspect case is a measurement all the same. */
static void what_is_no_measurement_is_no_point(void **state)
{
	struct fixture *f = *state;

	for (size_t i = 0; i < 3; i++)
		add(f, i, &per_frame, 300 + 4 * pow(10, (double)i));
	add(f, 3, &per_frame, 320);
	case_worsen(add(f, 4, &per_frame, 320), CASE_FAILED, "no route");
	case_worsen(add(f, 5, &per_frame, 320), CASE_VOID, "bypassed");
	case_worsen(&f->result->cases[2], CASE_SUSPECT, "steal 4 %%");
	assert_int_equal(verdict_draw(&f->plan, 1, f->result), 0);
	assert_int_equal(f->result->n_fits, 1);
	assert_string_equal(f->result->fits[0].name, "vm/rules/lab,shape=linear");
	assert_int_equal(f->result->fits[0].n, 3);
}

static void cost_stands_in_where_no_frame_was_timed(void **state)
{
	struct fixture *f = *state;

	add(f, 0, &cost, 3000);
	add(f, 1, &cost, 3090);
	add(f, 2, &per_frame, 100);
	assert_int_equal(verdict_draw(&f->plan, 1, f->result), 0);
	assert_int_equal(f->result->n_fits, 1);
	assert_ptr_equal(f->result->fits[0].def, &cost);
	assert_true(fabs(f->result->fits[0].slope - 10) < 1e-9);
}

#define UNIT(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		UNIT(arms_with_a_baseline_are_compared),
		UNIT(arms_that_differ_along_the_slope_are_on_one_line),
		UNIT(what_is_no_measurement_is_no_point),
		UNIT(cost_stands_in_where_no_frame_was_timed),
	};

	return cmocka_run_group_tests_name("verdict", tests, NULL, NULL);
}
