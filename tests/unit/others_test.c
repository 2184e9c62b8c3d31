/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Holds the account of other processes to recorded ones: births, deaths, heirs and reused pids. */
#include "host/others.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>

#define DATA "tests/unit/data/host/"
#define TICK UINT64_C(10000000)

enum { SELF = 102 };

static const struct other *process(const struct others *others, pid_t pid)
{
	for (size_t i = 0; i < others->n; i++)
		if (others->list[i].pid == pid)
			return &others->list[i];
	fail_msg("process %d is missing", (int)pid);
	return NULL;
}

static void who_is_ours(void **state)
{
	struct others others = {0};
	struct err err;

	(void)state;
	if (others_read(DATA "procs-after", SELF, &others, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(others.n, 10);
	for (size_t i = 1; i < others.n; i++)
		assert_true(others.list[i - 1].pid < others.list[i].pid);
	assert_true(process(&others, 102)->ours && process(&others, 103)->ours);
	assert_true(process(&others, 104)->ours);
	/* Not the shell we were started from. */
	assert_false(process(&others, 101)->ours || process(&others, 1)->ours);
	assert_true(process(&others, 15)->kernel && process(&others, 2)->kernel);
	assert_false(process(&others, 1)->kernel || process(&others, 100)->kernel);
	assert_string_equal(process(&others, 101)->comm, "sudo) R 9 (x");
	assert_int_equal(process(&others, 101)->parent, 100);
	others_release(&others);
}

static void what_the_others_used(void **state)
{
	struct others before = {0}, after = {0};
	struct others_use use;
	struct err err;

	(void)state;
	assert_int_equal(others_read(DATA "procs-before", SELF, &before, &err), 0);
	assert_int_equal(others_read(DATA "procs-after", SELF, &after, &err), 0);
	before.at_ns = 5;
	after.at_ns = 1000000005;
	others_compare(&before, &after, &use);
	assert_true(use.window_ns == 1000000000);
	/*
	 * init 1, bash 2, make 1 itself and 70 of the 390 its children brought in, since 320 of those
	 * were used before; the process that took over pid 300 is charged its own 20.
	 */
	assert_true(use.user_ns == (1 + 2 + 1 + 70 + 20) * TICK);
	assert_true(use.kernel_ns == 30 * TICK);
	assert_string_equal(use.busiest, "make");
	assert_int_equal(use.busiest_pid, 200);
	assert_true(use.busiest_ns == 71 * TICK);
	others_release(&before);
	others_release(&after);
}

static void memory_is_used_again(void **state)
{
	struct others others = {0};
	struct other *list;
	struct err err;

	(void)state;
	assert_int_equal(others_read(DATA "procs-before", SELF, &others, &err), 0);
	list = others.list;
	assert_int_equal(others_read(DATA "procs-after", SELF, &others, &err), 0);
	assert_ptr_equal(others.list, list);
	assert_int_equal(others.n, 10);
	others_release(&others);
}

static void the_machine_itself(void **state)
{
	struct others others = {0};
	struct err err;

	(void)state;
	if (others_read(NULL, getpid(), &others, &err) < 0)
		fail_msg("%s", err.text);
	assert_true(process(&others, getpid())->ours);
	assert_int_equal(process(&others, getpid())->parent, getppid());
	others_release(&others);
}

static void a_missing_folder_is_named(void **state)
{
	struct others others = {0};
	struct err err;

	(void)state;
	assert_int_equal(others_read(DATA "nowhere", SELF, &others, &err), -ENOENT);
	assert_string_equal(err.text, "cannot list '/proc': No such file or directory");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_is_ours),
		cmocka_unit_test(what_the_others_used),
		cmocka_unit_test(memory_is_used_again),
		cmocka_unit_test(the_machine_itself),
		cmocka_unit_test(a_missing_folder_is_named),
	};

	return cmocka_run_group_tests_name("others", tests, NULL, NULL);
}
