/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Holds the reading of /proc/interrupts to recorded files. */
#include "host/interrupts.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define DATA "tests/unit/data/host/"

static void totals_per_cpu(void **state)
{
	struct interrupts interrupts;
	struct err err;

	(void)state;
	if (interrupts_read(DATA "stat-before", &interrupts, &err) < 0)
		fail_msg("%s", err.text);
	/* CPU 2 is offline and has no column; ERR and MIS belong to no CPU. */
	assert_int_equal(interrupts.n_cpus, 4);
	assert_true(interrupts.counts[0] == 72728);
	assert_true(interrupts.counts[1] == 50818 + 70826);
	assert_true(interrupts.counts[2] == 0);
	assert_true(interrupts.counts[3] == 102);
	interrupts_release(&interrupts);
}

static void rates(void **state)
{
	struct interrupts before, after;
	struct err err;

	(void)state;
	assert_int_equal(interrupts_read(DATA "stat-before", &before, &err), 0);
	assert_int_equal(interrupts_read(DATA "stat-after", &after, &err), 0);
	before.at_ns = 1000000000;
	after.at_ns = 3000000000;
	assert_true(interrupts_rate(&before, &after, 0) == 250);
	assert_true(interrupts_rate(&before, &after, 1) == 550);
	assert_true(interrupts_rate(&before, &after, 3) == 0);
	assert_true(interrupts_rate(&before, &after, -1) == 800);
	assert_true(isnan(interrupts_rate(&before, &after, 4)));
	assert_true(isnan(interrupts_rate(&after, &before, -1)));
	interrupts_release(&before);
	interrupts_release(&after);
}

static void a_missing_file_is_named(void **state)
{
	struct interrupts interrupts;
	struct err err;

	(void)state;
	assert_int_equal(interrupts_read(DATA "nowhere", &interrupts, &err), -ENOENT);
	assert_string_equal(err.text, "cannot read '/proc/interrupts': No such file or directory");
}

static void the_machine_itself(void **state)
{
	struct interrupts interrupts;
	uint64_t sum = 0;
	struct err err;

	(void)state;
	if (interrupts_read(NULL, &interrupts, &err) < 0)
		fail_msg("%s", err.text);
	for (size_t i = 0; i < interrupts.n_cpus; i++)
		sum += interrupts.counts[i];
	assert_true(sum > 0);
	interrupts_release(&interrupts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(totals_per_cpu),
		cmocka_unit_test(rates),
		cmocka_unit_test(a_missing_file_is_named),
		cmocka_unit_test(the_machine_itself),
	};

	return cmocka_run_group_tests_name("interrupts", tests, NULL, NULL);
}
