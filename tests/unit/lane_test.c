/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Holds the choice of CPUs for lanes, from lists and by default, and what lanes share. */
#include "load/lane.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hist.h"
#include "result/result.h"

/* The CPUs of this machine that the test may use. */
static int cpus[CPU_SETSIZE], n_cpus;
static cpu_set_t allowed;

static int look(void **state)
{
	(void)state;
	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		return -1;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &allowed))
			cpus[n_cpus++] = cpu;
	return n_cpus ? 0 : -1;
}

static int restore(void **state)
{
	(void)state;
	return sched_setaffinity(0, sizeof(allowed), &allowed);
}

static int chosen(const char *list, enum side side, size_t i)
{
	struct err err = {0};
	int cpu = -1;

	if (lane_cpu(list, side, i, &cpu, &err))
		fail_msg("%s", err.text);
	return cpu;
}

static void lists(void **state)
{
	const int first = cpus[0], last = cpus[n_cpus - 1];
	char text[64];

	(void)state;
	snprintf(text, sizeof(text), "%d,%d", last, first);
	assert_int_equal(chosen(text, SIDE_FROM, 0), last);
	assert_int_equal(chosen(text, SIDE_FROM, 1), first);
	assert_int_equal(chosen(text, SIDE_TO, 2), last);
	snprintf(text, sizeof(text), "%d-%d", first, first);
	assert_int_equal(chosen(text, SIDE_TO, 5), first);
}

static void refused_lists(void **state)
{
	static const char *const bad[] = {"x",
					  "0,x",
					  "-1",
					  "1-",
					  "3-2",
					  "1,,2",
					  ",1",
					  "0-1024",
					  "1024",
					  "0;1",
					  "0-1-2",
					  "1 2",
					  "99999999999999999999"};
	struct err err;
	int cpu = -7;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		char want[128];

		snprintf(want, sizeof(want), "'%s' is not a list of CPUs such as 0,2-3", bad[i]);
		assert_int_equal(lane_cpu(bad[i], SIDE_FROM, 0, &cpu, &err), -EINVAL);
		assert_string_equal(err.text, want);
		assert_int_equal(lane_cpus_check(bad[i], &err), -EINVAL);
		assert_string_equal(err.text, want);
		assert_int_equal(cpu, -7);
	}
	assert_int_equal(lane_cpu("", SIDE_FROM, 0, &cpu, &err), -EINVAL);
	assert_string_equal(err.text, "the list of CPUs is empty");
}

/* A CPU that we may not use is no error of the list: elsewhere it may be there. */
static void cpus_out_of_reach(void **state)
{
	char text[64], want[64];
	struct err err;
	int cpu = -7, missing = CPU_SETSIZE - 1;

	(void)state;
	while (missing && CPU_ISSET(missing, &allowed))
		missing--;
	snprintf(text, sizeof(text), "%d,%d", cpus[0], missing);
	snprintf(want, sizeof(want), "CPU %d is not available to this process", missing);
	assert_int_equal(lane_cpus_check(text, &err), -EOPNOTSUPP);
	assert_string_equal(err.text, want);
	assert_int_equal(chosen(text, SIDE_FROM, 0), cpus[0]);
	assert_int_equal(lane_cpu(text, SIDE_FROM, 1, &cpu, &err), -EINVAL);
	assert_string_equal(err.text, want);
	assert_int_equal(lane_cpus_check(NULL, &err), 0);
	snprintf(text, sizeof(text), "%d", cpus[n_cpus - 1]);
	assert_int_equal(lane_cpus_check(text, &err), 0);
}

/* The two sides share no CPU, use each, and come back to the first; the larger half is that of the receivers. */
static void halves(void **state)
{
	const size_t from = (size_t)n_cpus / 2, to = (size_t)n_cpus - from;
	bool used[CPU_SETSIZE] = {false};

	(void)state;
	if (n_cpus < 2) {
		assert_int_equal(chosen(NULL, SIDE_FROM, 0), cpus[0]);
		assert_int_equal(chosen(NULL, SIDE_TO, 0), cpus[0]);
		return;
	}
	for (size_t i = 0; i < from + to; i++) {
		const int cpu =
			i < from ? chosen(NULL, SIDE_FROM, i) : chosen(NULL, SIDE_TO, i - from);

		assert_true(CPU_ISSET(cpu, &allowed));
		assert_false(used[cpu]);
		used[cpu] = true;
	}
	assert_int_equal(chosen(NULL, SIDE_FROM, from), chosen(NULL, SIDE_FROM, 0));
	assert_int_equal(chosen(NULL, SIDE_TO, to), chosen(NULL, SIDE_TO, 0));
}

static void one_cpu(void **state)
{
	cpu_set_t one;

	(void)state;
	CPU_ZERO(&one);
	CPU_SET(cpus[n_cpus - 1], &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(chosen(NULL, SIDE_FROM, i), cpus[n_cpus - 1]);
		assert_int_equal(chosen(NULL, SIDE_TO, i), cpus[n_cpus - 1]);
	}
}

static void lanes(void **state)
{
	const struct load load = {.lane_size = sizeof(struct lane_shared) + 1};
	struct load_run run = {.load = &load};
	struct err err;

	(void)state;
	assert_int_equal(load_lanes(&run, 0, &err), -EINVAL);
	assert_int_equal(load_lanes(&run, LANES_MAX + 1, &err), -EINVAL);
	assert_string_equal(err.text, "257 lanes: the limit is 256");
	assert_null(run.lanes);
	assert_int_equal(load_lanes(&run, LANES_MAX, &err), 0);
	for (size_t i = 0; i < run.n_lanes; i++) {
		assert_int_equal((uintptr_t)run.lanes[i].shared % 64, 0);
		assert_ptr_equal(run.lanes[i].run, &run);
		assert_int_equal(run.lanes[i].index, i);
		memset(run.lanes[i].shared, 0xff, load.lane_size);
	}
	load_lanes_free(&run);
	assert_null(run.lanes);
	load_lanes_free(&run);
}

static void buffers(void **state)
{
	unsigned char *a = lane_buffer(5000), *b = lane_buffer(0);
	size_t same = 0;

	(void)state;
	assert_non_null(a);
	assert_non_null(b);
	assert_int_equal((uintptr_t)a % 4096, 0);
	/* No page repeats another: nothing on the way can save work on it. */
	for (size_t i = 0; i + 4096 < 5000; i++)
		same += a[i] == a[i + 4096];
	assert_true(same < 50);
	free(a);
	free(b);
}

/* Quantiles that the samples cannot carry are unknown; the median and the extremes are not. */
static void quantiles_need_samples(void **state)
{
	static const struct {
		unsigned int count;
		bool p99, p999; /* known */
	} wants[] = {
		{99, false, false}, {100, true, false}, {999, true, false}, {1000, true, true}};

	(void)state;
	for (size_t i = 0; i < sizeof(wants) / sizeof(*wants); i++) {
		struct result *result = result_new();
		struct result_case *c = result_add_case(result, "c");
		struct hist *hist = calloc(1, sizeof(*hist));

		assert_non_null(c);
		assert_non_null(hist);
		for (unsigned int k = 1; k <= wants[i].count; k++)
			hist_add(hist, k * 1000);
		assert_int_equal(latency_metrics(c, hist, LATENCY_ONE_WAY), 0);
		assert_int_equal(!isnan(case_metric(c, "latency_p99")->samples[0]), wants[i].p99);
		assert_int_equal(!isnan(case_metric(c, "latency_p999")->samples[0]), wants[i].p999);
		assert_true(case_metric(c, "latency_p50")->samples[0] > 0);
		assert_true(case_metric(c, "latency_min")->samples[0] == 1000);
		assert_true(case_metric(c, "latency_max")->samples[0] == wants[i].count * 1000);
		free(hist);
		result_free(result);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists),
		cmocka_unit_test(refused_lists),
		cmocka_unit_test(cpus_out_of_reach),
		cmocka_unit_test(halves),
		cmocka_unit_test_teardown(one_cpu, restore),
		cmocka_unit_test(lanes),
		cmocka_unit_test(buffers),
		cmocka_unit_test(quantiles_need_samples),
	};

	return cmocka_run_group_tests_name("lane", tests, look, NULL);
}
