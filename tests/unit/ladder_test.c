/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Holds the comparison of cases to differences known beforehand. */
#include "result/ladder.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "result/result.h"

static const struct metric_def per_frame = {"time_per_frame", "ns", BETTER_LOWER, NULL, NULL};
static const struct metric_def cost = {"cost", "ns", BETTER_LOWER, "kernel", NULL};
static const struct metric_def rate = {"delivered", "packet/s", BETTER_HIGHER, NULL, NULL};

static int setup(void **state)
{
	struct result *result = result_new();

	if (!result || !result_add_case(result, "base") || !result_add_case(result, "filter"))
		return -1;
	result->seed = 1;
	result->cases[0].status = result->cases[1].status = CASE_OK;
	*state = result;
	return 0;
}

static int teardown(void **state)
{
	result_free(*state);
	return 0;
}

static void add(struct result *result, size_t at, const struct metric_def *def,
		const double *samples, size_t n)
{
	for (size_t i = 0; i < n; i++)
		assert_int_equal(case_add_sample(&result->cases[at], def, samples[i]), 0);
}

static void a_constant_difference_has_no_width(void **state)
{
	static const double base[] = {141, 141, 141}, filter[] = {562, NAN, 562, 562};
	struct result *result = *state;
	const struct versus *versus = &result->cases[1].versus;

	add(result, 0, &per_frame, base, 3);
	add(result, 1, &per_frame, filter, 4);
	assert_int_equal(result_compare_case(result, 1, 0), 0);
	assert_string_equal(versus->baseline, "base");
	assert_ptr_equal(versus->def, &per_frame);
	assert_true(versus->difference == 421 && versus->lo == 421 && versus->hi == 421);
	/* Again, as after more trials: it replaces the first. */
	assert_int_equal(result_compare_case(result, 1, 0), 0);
	assert_null(result->cases[0].versus.baseline);
}

/* The machine was half as fast in the second round: both were, and their difference is what it was. */
static void rounds_are_compared_round_by_round(void **state)
{
	static const double base[] = {100, 200, 104}, filter[] = {150, 251, 154};
	struct result *result = *state;
	const struct versus *versus = &result->cases[1].versus;

	add(result, 0, &per_frame, base, 3);
	add(result, 1, &per_frame, filter, 3);
	assert_int_equal(result_compare_case(result, 1, 0), 0);
	assert_true(versus->difference == 50);
	assert_true(versus->lo == 50 && versus->hi == 51);
}

/*
 * With a trial that failed there are no rounds to compare. The medians of two samples a and b are a, (a + b) / 2 and b with the chances 1/4, 1/2, 1/4. So the least
 * difference, the lower of one less the upper of the other, has the chance 1/16, more than 2.5 %:
 * the interval is the whole range. Were both sides drawn with the same numbers, it would be narrower.
 */
static void both_sides_are_drawn_on_their_own(void **state)
{
	static const double base[] = {100, 110}, filter[] = {200, NAN, 220};
	struct result *result = *state;
	const struct versus *versus = &result->cases[1].versus;

	add(result, 0, &per_frame, base, 2);
	add(result, 1, &per_frame, filter, 3);
	assert_int_equal(result_compare_case(result, 1, 0), 0);
	assert_true(versus->difference == 105);
	assert_true(versus->lo == 90 && versus->hi == 120);
}

static void one_sample_has_no_interval(void **state)
{
	static const double base[] = {100, 101, 102}, filter[] = {NAN, 90};
	struct result *result = *state;
	const struct versus *versus = &result->cases[1].versus;

	add(result, 0, &per_frame, base, 3);
	add(result, 1, &per_frame, filter, 2);
	assert_int_equal(result_compare_case(result, 1, 0), 0);
	assert_true(versus->difference == -11);
	assert_true(isnan(versus->lo) && isnan(versus->hi));
}

/* Unknown throughout is as good as missing: then the CPU time of both is compared. */
static void cost_stands_in_for_the_time_of_a_frame(void **state)
{
	static const double unknown[] = {NAN, NAN}, base[] = {3000, 3000}, filter[] = {3500, 3500};
	struct result *result = *state;

	add(result, 0, &per_frame, base, 2);
	add(result, 1, &per_frame, unknown, 2);
	add(result, 0, &cost, base, 2);
	add(result, 1, &cost, filter, 2);
	assert_int_equal(result_compare_case(result, 1, 0), 0);
	assert_ptr_equal(result->cases[1].versus.def, &cost);
	assert_true(result->cases[1].versus.difference == 500);
}

static void what_cannot_be_compared_is_not(void **state)
{
	static const double samples[] = {1e6, 1e6};
	struct result *result = *state;

	add(result, 0, &rate, samples, 2);
	add(result, 1, &rate, samples, 2);
	/* Rates have no difference that means anything. */
	assert_int_equal(result_compare_case(result, 1, 0), -ENOENT);
	add(result, 0, &cost, samples, 2);
	assert_int_equal(result_compare_case(result, 1, 0), -ENOENT);
	add(result, 1, &cost, samples, 2);
	assert_int_equal(result_compare_case(result, 1, 1), -EINVAL);
	result->cases[0].status = CASE_VOID;
	assert_int_equal(result_compare_case(result, 1, 0), -ENOENT);
	result->cases[0].status = CASE_SUSPECT;
	result->cases[1].status = CASE_FAILED;
	assert_int_equal(result_compare_case(result, 1, 0), -ENOENT);
	assert_null(result->cases[1].versus.baseline);
}

#define UNIT(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		UNIT(a_constant_difference_has_no_width),
		UNIT(rounds_are_compared_round_by_round),
		UNIT(both_sides_are_drawn_on_their_own),
		UNIT(one_sample_has_no_interval),
		UNIT(cost_stands_in_for_the_time_of_a_frame),
		UNIT(what_cannot_be_compared_is_not),
	};

	return cmocka_run_group_tests_name("ladder", tests, NULL, NULL);
}
