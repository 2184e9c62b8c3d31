/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Holds the line through several cases to slopes known beforehand. */
#include "result/fit.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "result/result.h"

static struct fit line(const struct fit_point *points, size_t n)
{
	struct fit fit = {0};

	assert_int_equal(fit_line(points, n, 1, &fit), 0);
	return fit;
}

static void assert_near(double value, double want)
{
	if (!(fabs(value - want) < 1e-9))
		fail_msg("%.12g instead of %.12g", value, want);
}

static void an_exact_line(void **state)
{
	static const double one[] = {304, 304}, ten[] = {340, 340, NAN}, hundred[] = {700, 700};
	const struct fit_point points[] = {{1, one, 2}, {100, hundred, 2}, {10, ten, 3}};
	struct fit fit = line(points, 3);

	(void)state;
	assert_int_equal(fit.n, 3);
	assert_near(fit.slope, 4);
	assert_near(fit.lo, 4);
	assert_near(fit.hi, 4);
}

/* Through (0, 1) (1, 2) (2, 6): mean x 1, Sxx 2, Sxy (−1)(−2) + 0 + (1)(3) = 5. */
static void least_squares(void **state)
{
	static const double y[] = {1, 1, 2, 2, 6, 6};
	const struct fit_point points[] = {{0, y, 2}, {1, y + 2, 2}, {2, y + 4, 2}};

	(void)state;
	assert_near(line(points, 3).slope, 2.5);
}

/* The line goes through medians: the wild trial moves nothing but the interval. */
static void one_disturbed_trial_does_not_bend_it(void **state)
{
	static const double low[] = {100, 100, 9000}, high[] = {200, 200, 200};
	const struct fit_point points[] = {{0, low, 3}, {10, high, 3}};
	struct fit fit = line(points, 2);

	(void)state;
	assert_near(fit.slope, 10);
	/* Two or three of three draws are the wild one with a chance of 7/27. */
	assert_near(fit.lo, -880);
	assert_near(fit.hi, 10);
}

/* As for two cases: with two samples each, the interval is the whole range (see ladder_test.c). */
static void points_are_drawn_on_their_own(void **state)
{
	static const double low[] = {100, 110}, high[] = {200, 220};
	const struct fit_point points[] = {{0, low, 2}, {10, high, 2}};
	struct fit fit = line(points, 2);

	(void)state;
	assert_near(fit.slope, 10.5);
	assert_near(fit.lo, 9);
	assert_near(fit.hi, 12);
}

static void too_little_has_no_slope(void **state)
{
	static const double y[] = {1, 2}, unknown[] = {NAN, NAN};
	const struct fit_point points[] = {{5, y, 2}, {5, y, 2}, {7, unknown, 2}, {NAN, y, 2}};
	struct fit fit;

	(void)state;
	for (size_t n = 0; n <= 4; n++) {
		fit = line(points, n);
		assert_int_equal(fit.n, n < 2 ? n : 2);
		assert_true(isnan(fit.slope) && isnan(fit.lo) && isnan(fit.hi));
	}
}

static void one_trial_has_no_interval(void **state)
{
	static const double low[] = {1, 1}, high[] = {21, NAN};
	const struct fit_point points[] = {{0, low, 2}, {10, high, 2}};
	struct fit fit = line(points, 2);

	(void)state;
	assert_near(fit.slope, 2);
	assert_true(isnan(fit.lo) && isnan(fit.hi));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_exact_line),
		cmocka_unit_test(least_squares),
		cmocka_unit_test(one_disturbed_trial_does_not_bend_it),
		cmocka_unit_test(points_are_drawn_on_their_own),
		cmocka_unit_test(too_little_has_no_slope),
		cmocka_unit_test(one_trial_has_no_interval),
	};

	return cmocka_run_group_tests_name("fit", tests, NULL, NULL);
}
