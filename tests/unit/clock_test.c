/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Holds the clock measurement to what no machine can contradict. */
#include "host/clock.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void comparison(void **state)
{
	(void)state;
	assert_true(fabs(clock_change(2e9, 2.1e9) - 0.05) < 1e-12);
	assert_true(fabs(clock_change(2e9, 1.5e9) + 0.25) < 1e-12);
	assert_true(isnan(clock_change(0, 1e9)) && isnan(clock_change(1e9, NAN)));
	assert_true(clock_same(2e9, 2.05e9, CLOCK_TOLERANCE));
	assert_false(clock_same(2e9, 2.1e9, CLOCK_TOLERANCE));
	assert_false(clock_same(2e9, 1.9e9, CLOCK_TOLERANCE));
	/* What is unknown has not changed as far as anybody can tell. */
	assert_true(clock_same(0, 2e9, CLOCK_TOLERANCE) && clock_same(NAN, NAN, 0));
}

/*
 * Between the slowest board and the fastest server: a chain that the compiler or the CPU had
 * shortened, or cycles counted twice, would lie far outside on most machines.
 */
static void plausible(void **state)
{
	struct err err;
	double hz = 0;

	(void)state;
	if (clock_measure(-1, &hz, &err) < 0)
		fail_msg("%s", err.text);
	assert_true(hz > 1e6 && hz < 8e9);
}

static void the_affinity_comes_back(void **state)
{
	cpu_set_t before, after;
	struct err err;
	double hz;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	assert_int_equal(clock_measure(sched_getcpu(), &hz, &err), 0);
	assert_int_equal(sched_getaffinity(0, sizeof(after), &after), 0);
	assert_true(CPU_EQUAL(&before, &after));
}

static void a_cpu_that_is_not_there(void **state)
{
	struct err err;
	double hz = 7;

	(void)state;
	assert_int_equal(clock_measure(8000, &hz, &err), -EINVAL);
	assert_string_equal(err.text, "cannot measure the clock of CPU 8000: Invalid argument");
	assert_int_equal(clock_measure(9000, &hz, &err), -EINVAL);
	assert_true(hz == 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comparison),
		cmocka_unit_test(plausible),
		cmocka_unit_test(the_affinity_comes_back),
		cmocka_unit_test(a_cpu_that_is_not_there),
	};

	return cmocka_run_group_tests_name("clock", tests, NULL, NULL);
}
