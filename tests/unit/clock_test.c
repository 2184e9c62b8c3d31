/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Holds the clock measurement to what no machine can contradict. */
#include "host/clock.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static void comparison(void **state)
{
	(void)state;
	assert_true(fabs(clock_change(2e9, 2.1e9) - 0.05) < 1e-12);
	assert_true(fabs(clock_change(2e9, 1.5e9) + 0.25) < 1e-12);
	assert_true(isnan(clock_change(0, 1e9)) && isnan(clock_change(1e9, NAN)));
	assert_true(clock_same(2e9, 2.19e9, CLOCK_TOLERANCE));
	assert_false(clock_same(2e9, 2.3e9, CLOCK_TOLERANCE));
	assert_false(clock_same(2e9, 1.7e9, CLOCK_TOLERANCE));
	/* What is unknown has not changed as far as anybody can tell. */
	assert_true(clock_same(0, 2e9, CLOCK_TOLERANCE) && clock_same(NAN, NAN, 0));
}

/*
 * Between the slowest board and the fastest server: a chain that the compiler or the CPU had
 * shortened, or cycles counted twice, would lie far outside on most machines. A machine that is too
 * busy may say that it does not know.
 */
static bool is_plausible(double hz)
{
	return hz == 0 || (hz > 1e6 && hz < 7e9);
}

static void plausible(void **state)
{
	struct err err;
	unsigned int known = 0;

	(void)state;
	for (unsigned int i = 0; i < 20; i++) {
		double hz = -1;

		if (clock_measure(-1, &hz, &err) < 0)
			fail_msg("%s", err.text);
		assert_true(is_plausible(hz));
		known += hz > 0;
	}
	assert_true(known > 0);
}

/* A competitor takes the CPU away again and again: that must not make the clock look faster. */
static void beside_a_busy_neighbour(void **state)
{
	const int cpu = sched_getcpu();
	struct err err;
	pid_t child;
	double hz = 0;

	(void)state;
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		cpu_set_t only;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		CPU_ZERO(&only);
		CPU_SET((size_t)cpu, &only);
		sched_setaffinity(0, sizeof(only), &only);
		for (;;)
			__asm__ volatile("" ::: "memory");
	}
	for (unsigned int i = 0; i < 10; i++) {
		assert_int_equal(clock_measure(cpu, &hz, &err), 0);
		assert_true(is_plausible(hz));
	}
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
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
		cmocka_unit_test(beside_a_busy_neighbour),
		cmocka_unit_test(the_affinity_comes_back),
		cmocka_unit_test(a_cpu_that_is_not_there),
	};

	return cmocka_run_group_tests_name("clock", tests, NULL, NULL);
}
