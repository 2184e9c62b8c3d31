/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Holds the arithmetic of packet conservation: which drop explains how many of the lost packets. */
#include "run/ledger.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"

enum { ROOM = 4 };

static void fill(struct named_drop *drops, size_t n, const uint64_t (*range)[2])
{
	memset(drops, 0, n * sizeof(*drops));
	for (size_t i = 0; i < n; i++) {
		drops[i].min = range[i][0];
		drops[i].max = range[i][1];
	}
}

static void nothing_lost(void **state)
{
	struct named_drop drops[2];

	(void)state;
	assert_int_equal(ledger_attribute(0, NULL, 0), 0);
	/* What may have dropped somebody else's packets is not forced upon ours. */
	fill(drops, 2, (const uint64_t[][2]){{0, 10}, {0, 0}});
	assert_int_equal(ledger_attribute(0, drops, 2), 0);
	assert_int_equal(drops[0].count, 0);
}

static void exact(void **state)
{
	struct named_drop drops[3];

	(void)state;
	fill(drops, 3, (const uint64_t[][2]){{3, 3}, {0, 0}, {4, 4}});
	assert_int_equal(ledger_attribute(7, drops, 3), 0);
	assert_int_equal(drops[0].count, 3);
	assert_int_equal(drops[1].count, 0);
	assert_int_equal(drops[2].count, 4);
}

/* A dropped buffer held one packet or many: the minimum first, then what is missing, in order. */
static void ranges(void **state)
{
	struct named_drop drops[3];

	(void)state;
	fill(drops, 3, (const uint64_t[][2]){{2, 64}, {5, 5}, {1, 32}});
	assert_int_equal(ledger_attribute(8, drops, 3), 0);
	assert_int_equal(drops[0].count, 2);
	assert_int_equal(drops[1].count, 5);
	assert_int_equal(drops[2].count, 1);

	assert_int_equal(ledger_attribute(80, drops, 3), 0);
	assert_int_equal(drops[0].count, 64);
	assert_int_equal(drops[1].count, 5);
	assert_int_equal(drops[2].count, 11);

	assert_int_equal(ledger_attribute(101, drops, 3), 0);
	assert_int_equal(drops[2].count, 32);
}

static void vanished(void **state)
{
	struct named_drop drops[2];

	(void)state;
	assert_int_equal(ledger_attribute(9, NULL, 0), 9);
	fill(drops, 2, (const uint64_t[][2]){{3, 3}, {1, 4}});
	assert_int_equal(ledger_attribute(8, drops, 2), 1);
	assert_int_equal(drops[0].count, 3);
	assert_int_equal(drops[1].count, 4);
}

static void more_drops_than_losses(void **state)
{
	struct named_drop drops[2];

	(void)state;
	fill(drops, 2, (const uint64_t[][2]){{3, 3}, {4, 8}});
	assert_int_equal(ledger_attribute(5, drops, 2), -2);
	/* The counters are shown as they are, and the residual says what is wrong. */
	assert_int_equal(drops[0].count, 3);
	assert_int_equal(drops[1].count, 4);
	assert_int_equal(ledger_attribute(0, drops, 2), -7);
}

/* Whatever the counters: the parts and the residual are the whole, each part within its range. */
static void always_adds_up(void **state)
{
	struct rng rng;

	(void)state;
	rng_seed(&rng, 3);
	for (int round = 0; round < 20000; round++) {
		const size_t n = rng_below(&rng, ROOM + 1);
		const uint64_t lost = rng_below(&rng, 40);
		uint64_t sum = 0, mins = 0, maxs = 0;
		struct named_drop drops[ROOM];
		int64_t residual;

		for (size_t i = 0; i < n; i++) {
			drops[i].min = rng_below(&rng, 12);
			drops[i].max =
				drops[i].min + (rng_below(&rng, 2) ? rng_below(&rng, 12) : 0);
			mins += drops[i].min;
			maxs += drops[i].max;
		}
		residual = ledger_attribute(lost, drops, n);
		for (size_t i = 0; i < n; i++) {
			assert_in_range(drops[i].count, drops[i].min, drops[i].max);
			sum += drops[i].count;
		}
		assert_int_equal((int64_t)sum + residual, lost);
		if (lost < mins)
			assert_int_equal(residual, (int64_t)lost - (int64_t)mins);
		else if (lost > maxs)
			assert_int_equal(residual, lost - maxs);
		else
			assert_int_equal(residual, 0);
	}
}

static void counts_beyond_32_bits(void **state)
{
	const uint64_t many = UINT64_C(5) << 32;
	struct named_drop drops[1];

	(void)state;
	fill(drops, 1, (const uint64_t[][2]){{many, many}});
	assert_int_equal(ledger_attribute(many, drops, 1), 0);
	assert_int_equal(ledger_attribute(many + 1, drops, 1), 1);
	assert_int_equal(ledger_attribute(many - 1, drops, 1), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_lost),
		cmocka_unit_test(exact),
		cmocka_unit_test(ranges),
		cmocka_unit_test(vanished),
		cmocka_unit_test(more_drops_than_losses),
		cmocka_unit_test(always_adds_up),
		cmocka_unit_test(counts_beyond_32_bits),
	};

	return cmocka_run_group_tests_name("ledger", tests, NULL, NULL);
}
