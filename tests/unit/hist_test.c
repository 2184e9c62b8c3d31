/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Holds the histogram to its promise: exact ends, less than 0.1 % error, nothing lost. */
#include "base/hist.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"

/* 220 KiB: too large for the stack of a small machine. */
static struct hist hist, other;

static int setup(void **state)
{
	(void)state;
	memset(&hist, 0, sizeof(hist));
	memset(&other, 0, sizeof(other));
	return 0;
}

static void empty(void **state)
{
	(void)state;
	assert_true(hist_quantile(&hist, 0.5) == 0);
	hist_merge(&hist, &other);
	assert_true(hist.count == 0 && hist.min_ns == 0 && hist.max_ns == 0);
}

/*
 * What the histogram makes of a value that is neither its smallest nor its largest, which are known
 * exactly. Clears what it added bucket by bucket: all 220 KiB for each value would take minutes.
 */
static uint64_t through(uint64_t value)
{
	uint64_t seen, left = 2;

	hist_add(&hist, 0);
	hist_add(&hist, value);
	hist_add(&hist, UINT64_MAX);
	seen = hist_quantile(&hist, 0.5);
	for (unsigned int i = 0; left; i++) {
		left -= hist.bucket[i];
		hist.bucket[i] = 0;
	}
	hist.count = hist.overflow = hist.min_ns = hist.max_ns = 0;
	return seen;
}

static void assert_close(uint64_t value)
{
	uint64_t seen = through(value), off = seen > value ? seen - value : value - seen;

	if (off * 1000 >= value && off)
		fail_msg("%llu came back as %llu", (unsigned long long)value,
			 (unsigned long long)seen);
}

static void small_values_are_exact(void **state)
{
	(void)state;
	for (uint64_t value = 0; value < 2048; value++)
		assert_true(through(value) == value);
}

/* Every bucket's first and last value, its neighbours, and the ends of the range. */
static void error_below_a_thousandth_everywhere(void **state)
{
	(void)state;
	for (uint64_t low = 2048, step = 2; low <= HIST_MAX_NS; low += step) {
		if ((low & (low - 1)) == 0)
			step = low >> HIST_STEP_BITS;
		/* The far octaves have the same 1024 steps: a seventh of them is enough there. */
		if (low > 1 << 20 && low / step % 7)
			continue;
		assert_close(low - 1);
		assert_close(low);
		if (low + step - 1 <= HIST_MAX_NS)
			assert_close(low + step - 1);
	}
	assert_close(HIST_MAX_NS);
}

static void overflow_is_counted_and_kept_in_max(void **state)
{
	(void)state;
	hist_add(&hist, HIST_MAX_NS);
	assert_true(hist.overflow == 0);
	hist_add(&hist, HIST_MAX_NS + 1);
	hist_add(&hist, UINT64_MAX);
	assert_true(hist.overflow == 2);
	assert_true(hist.count == 3);
	assert_true(hist.min_ns == HIST_MAX_NS);
	assert_true(hist.max_ns == UINT64_MAX);
	assert_true(hist_quantile(&hist, 0.3) == HIST_MAX_NS);
	assert_true(hist_quantile(&hist, 0.5) == UINT64_MAX);
}

static void nothing_but_overflow(void **state)
{
	(void)state;
	hist_add(&hist, HIST_MAX_NS + 5);
	hist_add(&hist, HIST_MAX_NS + 9);
	assert_true(hist_quantile(&hist, 0) == HIST_MAX_NS + 9);
}

static void ends_are_exact(void **state)
{
	(void)state;
	hist_add(&hist, 1000001);
	hist_add(&hist, 5000);
	hist_add(&hist, 77777777);
	assert_true(hist_quantile(&hist, 0) == 5000);
	assert_true(hist_quantile(&hist, -1) == 5000);
	assert_true(hist_quantile(&hist, 1) == 77777777);
	assert_true(hist_quantile(&hist, 2) == 77777777);
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void quantiles_match_a_sorted_array(void **state)
{
	enum { N = 10000 };
	/* With the rank each must have: the smallest k with k / N ≥ ratio. */
	static const struct {
		double ratio;
		unsigned int rank;
	} wanted[] = {{0.0001, 1},  {0.07, 700},   {0.25, 2500},   {0.5, 5000},
		      {0.99, 9900}, {0.999, 9990}, {0.9999, 9999}, {0.99991, 10000}};
	static uint64_t values[N];
	struct rng rng;

	(void)state;
	rng_seed(&rng, 42);
	for (unsigned int i = 0; i < N; i++) {
		/* All magnitudes alike: 2^0 … 2^36. */
		values[i] = rng_next(&rng) >> (28 + rng_below(&rng, 36));
		hist_add(&hist, values[i]);
	}
	qsort(values, N, sizeof(*values), by_value);
	for (unsigned int i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		double exact = (double)values[wanted[i].rank - 1];
		double seen = (double)hist_quantile(&hist, wanted[i].ratio);

		assert_true(seen >= exact * 0.999 && seen <= exact * 1.001);
	}
}

static void merged_is_as_if_added(void **state)
{
	static struct hist both;
	struct rng rng;

	(void)state;
	memset(&both, 0, sizeof(both));
	rng_seed(&rng, 43);
	for (unsigned int i = 0; i < 5000; i++) {
		uint64_t value = rng_next(&rng) >> (20 + rng_below(&rng, 44));

		hist_add(i % 3 ? &hist : &other, value);
		hist_add(&both, value);
	}
	assert_true(both.overflow > 0);
	hist_merge(&hist, &other);
	assert_memory_equal(&hist, &both, sizeof(both));
}

static void merged_into_empty_keeps_min(void **state)
{
	(void)state;
	hist_add(&other, 500);
	hist_merge(&hist, &other);
	assert_memory_equal(&hist, &other, sizeof(hist));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(empty, setup),
		cmocka_unit_test_setup(small_values_are_exact, setup),
		cmocka_unit_test_setup(error_below_a_thousandth_everywhere, setup),
		cmocka_unit_test_setup(overflow_is_counted_and_kept_in_max, setup),
		cmocka_unit_test_setup(nothing_but_overflow, setup),
		cmocka_unit_test_setup(ends_are_exact, setup),
		cmocka_unit_test_setup(quantiles_match_a_sorted_array, setup),
		cmocka_unit_test_setup(merged_is_as_if_added, setup),
		cmocka_unit_test_setup(merged_into_empty_keeps_min, setup),
	};

	return cmocka_run_group_tests_name("hist", tests, NULL, NULL);
}
