/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Holds the statistics to figures worked out by hand. */
#include "base/stats.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/rng.h"

static void odd(void **state)
{
	static const double samples[] = {9, 1, 1, 2, 6, 4, 2};
	struct stats s;

	(void)state;
	/* Sorted 1 1 2 2 4 6 9; deviations from 2: 1 1 0 0 2 4 7, their median 1 (raw, not × 1.4826). */
	stats_of(samples, 7, 1, &s);
	assert_int_equal(s.n, 7);
	assert_true(s.median == 2 && s.mad == 1 && s.min == 1 && s.max == 9);
}

static void even(void **state)
{
	static const double samples[] = {4, 1, 3, 2};
	struct stats s;

	(void)state;
	stats_of(samples, 4, 1, &s);
	assert_true(s.median == 2.5 && s.mad == 1);
}

/*
 * The bootstrap median of seven samples is the k-th or less with the chance of at least four hits
 * of k/7: 1 % for the first and 11 % for the second. So the 2.5th percentile is the second sample.
 */
static void interval_of_seven(void **state)
{
	static const double samples[] = {70, 10, 60, 20, 50, 30, 40};
	struct stats s;

	(void)state;
	for (uint64_t seed = 0; seed < 20; seed++) {
		stats_of(samples, 7, seed, &s);
		assert_true(s.ci_lo == 20 && s.ci_hi == 60);
	}
}

/* With three samples the smallest is the median of 7 in 27 resamples: it cannot be left out. */
static void interval_of_three(void **state)
{
	static const double samples[] = {3, 1, 2};
	struct stats s;

	(void)state;
	stats_of(samples, 3, 7, &s);
	assert_true(s.ci_lo == 1 && s.ci_hi == 3);
}

static void same_seed_same_interval(void **state)
{
	double samples[40];
	struct stats a, b;

	(void)state;
	for (unsigned int i = 0; i < 40; i++)
		samples[i] = (double)(i * i % 41) * 1.37;
	stats_of(samples, 40, 5, &a);
	stats_of(samples, 40, 5, &b);
	assert_memory_equal(&a, &b, sizeof(a));
	assert_true(a.min < a.ci_lo && a.ci_lo < a.median);
	assert_true(a.median < a.ci_hi && a.ci_hi < a.max);
}

static void one_sample(void **state)
{
	static const double samples[] = {12.5};
	struct stats s;

	(void)state;
	stats_of(samples, 1, 1, &s);
	assert_int_equal(s.n, 1);
	assert_true(s.median == 12.5 && s.mad == 0 && s.ci_lo == 12.5 && s.ci_hi == 12.5);
}

static void unknown_is_left_out(void **state)
{
	const double samples[] = {NAN, 3, NAN, 5, 4}, unknown[] = {NAN, NAN};
	struct stats s;

	(void)state;
	stats_of(samples, 5, 1, &s);
	assert_int_equal(s.n, 3);
	assert_true(s.median == 4 && s.min == 3 && s.max == 5);
	stats_of(unknown, 2, 1, &s);
	assert_int_equal(s.n, 0);
	assert_true(isnan(s.median) && isnan(s.mad) && isnan(s.min) && isnan(s.max));
	assert_true(isnan(s.ci_lo) && isnan(s.ci_hi));
	stats_of(NULL, 0, 1, &s);
	assert_int_equal(s.n, 0);
	assert_true(isnan(s.median));
}

static void equal_samples_have_no_width(void **state)
{
	static const double samples[] = {0.1, 0.1, 0.1, 0.1, 0.1, 0.1};
	struct stats s;

	(void)state;
	stats_of(samples, 6, 1, &s);
	assert_true(s.median == 0.1 && s.mad == 0 && s.ci_lo == 0.1 && s.ci_hi == 0.1);
}

/* The medians that stats_resample draws are those whose interval stats_of gives. */
static void resamples_have_the_interval_of_the_median(void **state)
{
	static const double samples[] = {70, NAN, 10, 60, 20, 50, 30, 40};
	double medians[STATS_RESAMPLES], lo, hi;
	struct stats s;
	struct rng rng;

	(void)state;
	stats_of(samples, 8, 3, &s);
	rng_seed(&rng, 3);
	assert_int_equal(stats_resample(samples, 8, &rng, medians), 0);
	stats_interval(medians, &lo, &hi);
	assert_true(lo == s.ci_lo && hi == s.ci_hi);
	assert_int_equal(stats_resample(samples + 1, 1, &rng, medians), 0);
	assert_true(isnan(medians[0]) && isnan(medians[STATS_RESAMPLES - 1]));
	assert_int_equal(stats_resample(NULL, 0, &rng, medians), 0);
	assert_true(isnan(medians[0]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(odd),
		cmocka_unit_test(even),
		cmocka_unit_test(interval_of_seven),
		cmocka_unit_test(interval_of_three),
		cmocka_unit_test(same_seed_same_interval),
		cmocka_unit_test(one_sample),
		cmocka_unit_test(unknown_is_left_out),
		cmocka_unit_test(equal_samples_have_no_width),
		cmocka_unit_test(resamples_have_the_interval_of_the_median),
	};

	return cmocka_run_group_tests_name("stats", tests, NULL, NULL);
}
