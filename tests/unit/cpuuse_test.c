/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Holds the accounting of CPU time to recorded files and to its arithmetic. */
#include "host/cpuuse.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define DATA "tests/unit/data/host/"
#define MS   UINT64_C(1000000)

static void take(const char *root, struct cpuuse_snap *ret)
{
	struct cpuuse *use;
	struct err err;

	if (cpuuse_open(root, &use, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(cpuuse_snap_init(use, ret), 0);
	assert_int_equal(cpuuse_take(use, ret, &err), 0);
	cpuuse_close(use);
}

static void assert_share(const struct cpu_share *share, double user, double system, double irq,
			 double softirq, double steal, double idle)
{
	const double want[] = {user, system, irq, softirq, steal, idle};
	const double seen[] = {share->user,    share->system, share->irq,
			       share->softirq, share->steal,  share->idle};
	double sum = 0;

	for (unsigned int i = 0; i < 6; i++) {
		if (fabs(want[i] - seen[i]) > 1e-9)
			fail_msg("share %u is %g, not %g", i, seen[i], want[i]);
		assert_true(seen[i] >= 0 && seen[i] <= 1);
		sum += seen[i];
	}
	assert_true(fabs(sum - 1) < 1e-9);
}

static void counts_of_recorded_files(void **state)
{
	struct cpuuse_snap snap;

	(void)state;
	take(DATA "stat-before", &snap);
	assert_int_equal(snap.n_cpus, 4);
	assert_true(snap.interrupts == 281912 && snap.context_switches == 524613);
	assert_true(snap.cpus[0].online && snap.cpus[1].online && snap.cpus[3].online);
	assert_false(snap.cpus[2].online);
	assert_true(snap.cpus[0].user_ns == 10100 * MS);
	assert_true(snap.cpus[0].idle_ns == 400600 * MS);
	assert_true(snap.cpus[0].softnet_dropped == 0xfffffffe);
	assert_true(snap.cpus[3].softnet_dropped == 10);
	assert_true(snap.cpus[0].net_rx == 4294967290u && snap.cpus[3].net_rx == 5);
	assert_true(snap.cpus[0].net_tx == 4);
	cpuuse_snap_release(&snap);
}

/* Before Linux 5.10 the third line belongs to the third CPU that is online, which is CPU 3. */
static void softnet_without_cpu_numbers(void **state)
{
	struct cpuuse_snap snap;

	(void)state;
	take(DATA "stat-old", &snap);
	assert_true(snap.cpus[0].softnet_dropped == 1);
	assert_true(snap.cpus[1].softnet_dropped == 2);
	assert_true(snap.cpus[2].softnet_dropped == 0);
	assert_true(snap.cpus[3].softnet_dropped == 3);
	assert_true(snap.cpus[3].net_rx == 0);
	cpuuse_snap_release(&snap);
}

static void delta_of_recorded_files(void **state)
{
	struct cpuuse_snap before, after;
	struct cpuuse_delta delta;

	(void)state;
	take(DATA "stat-before", &before);
	take(DATA "stat-after", &after);
	before.at_ns = 5000 * MS;
	after.at_ns = 6000 * MS;
	assert_int_equal(cpuuse_delta(&before, &after, &delta), 0);
	assert_true(delta.window_ns == 1000 * MS);
	assert_true(delta.interrupts == 1000 && delta.context_switches == 250);
	assert_int_equal(delta.n_cpus, 3);
	assert_int_equal(delta.cpus[2].share.cpu, 3);
	/* 30 ticks idle; the other 70 are 30 user, 20 system, 1 irq, 9 softirq, 10 steal. */
	assert_share(&delta.cpus[0].share, 0.30, 0.20, 0.01, 0.09, 0.10, 0.30);
	/* 99 ticks idle and not one busy: it slept, and the hundredth fell to rounding. */
	assert_share(&delta.cpus[1].share, 0, 0, 0, 0, 0, 1);
	/* 60 ticks idle and not one busy: 40 worth of work between the ticks. */
	assert_share(&delta.cpus[2].share, 0, 0.4, 0, 0, 0, 0.6);
	assert_true(fabs(delta.busy_cpus - 1.0) < 1e-9);
	assert_true(fabs(delta.steal_cpus - 0.1) < 1e-9);
	/* 32-bit counters that went through zero. */
	assert_true(delta.cpus[0].softnet_dropped == 5 && delta.cpus[0].net_rx == 16);
	assert_true(delta.softnet_dropped == 7 && delta.softnet_squeezed == 16);
	cpuuse_delta_release(&delta);
	cpuuse_snap_release(&before);
	cpuuse_snap_release(&after);
}

/* One CPU, made up; times in ms. */
static struct cpu_share share_of(uint64_t window, uint64_t user, uint64_t system, uint64_t softirq,
				 uint64_t idle)
{
	struct cpu_counts zero = {.online = true, .idle_ns = 77 * MS};
	struct cpu_counts later = {.online = true,
				   .user_ns = user * MS,
				   .system_ns = system * MS,
				   .softirq_ns = softirq * MS,
				   .idle_ns = (77 + idle) * MS};
	struct cpuuse_snap before = {.at_ns = MS, .n_cpus = 1, .cpus = &zero};
	struct cpuuse_snap after = {.at_ns = MS + window * MS, .n_cpus = 1, .cpus = &later};
	struct cpuuse_delta delta;
	struct cpu_share share;

	assert_int_equal(cpuuse_delta(&before, &after, &delta), 0);
	share = delta.cpus[0].share;
	cpuuse_delta_release(&delta);
	return share;
}

static void ticks_only_divide_the_busy_time(void **state)
{
	struct cpu_share share;

	(void)state;
	/* Half idle, but only 10 ticks of 50 hit the work: the share is the half all the same. */
	share = share_of(1000, 80, 0, 20, 500);
	assert_share(&share, 0.4, 0, 0, 0.1, 0, 0.5);
	/* More ticks than time: 110 in a second. */
	share = share_of(1000, 550, 550, 0, 0);
	assert_share(&share, 0.5, 0.5, 0, 0, 0, 0);
	/* More idle time than time. */
	share = share_of(1000, 10, 0, 0, 1010);
	assert_share(&share, 0, 0, 0, 0, 0, 1);
	/* Two ticks missing are rounding, three are not. */
	share = share_of(1000, 0, 0, 0, 980);
	assert_share(&share, 0, 0, 0, 0, 0, 1);
	share = share_of(1000, 0, 0, 0, 970);
	assert_share(&share, 0, 0.03, 0, 0, 0, 0.97);
}

static void counters_that_step_back(void **state)
{
	struct cpu_counts old = {.online = true, .user_ns = 50 * MS, .steal_ns = 90 * MS};
	struct cpu_counts new = {.online = true, .user_ns = 60 * MS, .steal_ns = 80 * MS};
	struct cpuuse_snap before = {.at_ns = MS, .n_cpus = 1, .cpus = &old};
	struct cpuuse_snap after = {.at_ns = 101 * MS, .n_cpus = 1, .cpus = &new};
	struct cpuuse_delta delta;

	(void)state;
	assert_int_equal(cpuuse_delta(&before, &after, &delta), 0);
	assert_share(&delta.cpus[0].share, 1, 0, 0, 0, 0, 0);
	cpuuse_delta_release(&delta);
}

static void no_window_no_delta(void **state)
{
	struct cpuuse_snap snap = {.at_ns = MS};
	struct cpuuse_delta delta;

	(void)state;
	assert_int_equal(cpuuse_delta(&snap, &snap, &delta), -EINVAL);
}

static void a_missing_file_is_named(void **state)
{
	struct cpuuse *use;
	struct err err;

	(void)state;
	assert_int_equal(cpuuse_open(DATA "nowhere", &use, &err), -ENOENT);
	assert_string_equal(err.text, "cannot read '/proc/stat': No such file or directory");
}

/* The machine itself: two readings of the same files must agree with each other. */
static void the_machine_itself(void **state)
{
	struct cpuuse_snap before, after;
	struct cpuuse_delta delta;
	struct cpuuse *use;
	struct err err;
	size_t online = 0;

	(void)state;
	if (cpuuse_open(NULL, &use, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(cpuuse_snap_init(use, &before), 0);
	assert_int_equal(cpuuse_snap_init(use, &after), 0);
	assert_int_equal(cpuuse_take(use, &before, &err), 0);
	assert_int_equal(cpuuse_take(use, &after, &err), 0);
	for (size_t i = 0; i < before.n_cpus; i++) {
		online += before.cpus[i].online;
		assert_true(after.cpus[i].user_ns >= before.cpus[i].user_ns);
	}
	assert_true(online > 0 && before.interrupts > 0 && before.context_switches > 0);
	assert_int_equal(cpuuse_delta(&before, &after, &delta), 0);
	assert_int_equal(delta.n_cpus, online);
	cpuuse_delta_release(&delta);
	cpuuse_snap_release(&before);
	cpuuse_snap_release(&after);
	cpuuse_close(use);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_of_recorded_files),
		cmocka_unit_test(softnet_without_cpu_numbers),
		cmocka_unit_test(delta_of_recorded_files),
		cmocka_unit_test(ticks_only_divide_the_busy_time),
		cmocka_unit_test(counters_that_step_back),
		cmocka_unit_test(no_window_no_delta),
		cmocka_unit_test(a_missing_file_is_named),
		cmocka_unit_test(the_machine_itself),
	};

	return cmocka_run_group_tests_name("cpuuse", tests, NULL, NULL);
}
