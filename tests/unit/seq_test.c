/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Holds the tracking of sequence numbers to a model that remembers every number. */
#include "load/seq.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"

static int fresh(void **state)
{
	*state = calloc(1, sizeof(struct seq));
	return *state ? 0 : -1;
}

static int done(void **state)
{
	free(*state);
	return 0;
}

static void assert_counts(const struct seq *seq, uint64_t unique, uint64_t reordered,
			  uint64_t duplicates, uint64_t ancient)
{
	assert_int_equal(seq->unique, unique);
	assert_int_equal(seq->reordered, reordered);
	assert_int_equal(seq->duplicates, duplicates);
	assert_int_equal(seq->ancient, ancient);
}

static void in_order(void **state)
{
	struct seq *seq = *state;

	for (uint64_t i = 0; i < 5 * SEQ_WINDOW + 7; i++)
		assert_int_equal(seq_add(seq, i), SEQ_NEW);
	assert_counts(seq, 5 * SEQ_WINDOW + 7, 0, 0, 0);
	assert_int_equal(seq->next, 5 * SEQ_WINDOW + 7);
}

static void gap_and_late_arrival(void **state)
{
	struct seq *seq = *state;

	assert_int_equal(seq_add(seq, 0), SEQ_NEW);
	assert_int_equal(seq_add(seq, 3), SEQ_NEW);
	assert_int_equal(seq_add(seq, 1), SEQ_REORDERED);
	assert_int_equal(seq_add(seq, 1), SEQ_DUPLICATE);
	assert_int_equal(seq_add(seq, 3), SEQ_DUPLICATE);
	assert_int_equal(seq_add(seq, 4), SEQ_NEW);
	assert_counts(seq, 4, 1, 2, 0);
	/* Number 2 never came: next - unique is the loss. */
	assert_int_equal(seq->next - seq->unique, 1);
}

/* The stream may begin anywhere: what came before is lost, or late. */
static void begins_late(void **state)
{
	struct seq *seq = *state;

	assert_int_equal(seq_add(seq, 10), SEQ_NEW);
	assert_int_equal(seq_add(seq, 0), SEQ_REORDERED);
	assert_counts(seq, 2, 1, 0, 0);
}

static void edge_of_the_window(void **state)
{
	struct seq *seq = *state;

	assert_int_equal(seq_add(seq, SEQ_WINDOW), SEQ_NEW);
	/* next is WINDOW + 1: number 1 is the oldest that can be told apart. */
	assert_int_equal(seq_add(seq, 0), SEQ_ANCIENT);
	assert_int_equal(seq_add(seq, 1), SEQ_REORDERED);
	assert_int_equal(seq_add(seq, 1), SEQ_DUPLICATE);
	assert_int_equal(seq_add(seq, SEQ_WINDOW + 1), SEQ_NEW);
	assert_int_equal(seq_add(seq, 1), SEQ_ANCIENT);
	assert_counts(seq, 3, 1, 1, 2);
}

/* A place in the ring is taken over by the number one window later, which has not been seen. */
static void ring_is_wiped(void **state)
{
	struct seq *seq = *state;

	for (uint64_t i = 0; i < SEQ_WINDOW; i++)
		seq_add(seq, i);
	assert_int_equal(seq_add(seq, SEQ_WINDOW + 100), SEQ_NEW);
	for (uint64_t i = 0; i < 100; i++)
		assert_int_equal(seq_add(seq, SEQ_WINDOW + i), SEQ_REORDERED);
	assert_int_equal(seq_add(seq, SEQ_WINDOW - 1), SEQ_DUPLICATE);
	assert_counts(seq, SEQ_WINDOW + 101, 100, 1, 0);
}

static void jumps(void **state)
{
	static const uint64_t far[] = {SEQ_WINDOW - 1,	  SEQ_WINDOW,
				       SEQ_WINDOW + 1,	  64 * (uint64_t)SEQ_WINDOW,
				       UINT64_C(1) << 32, UINT64_C(1) << 63};
	struct seq *seq = *state;
	uint64_t at = 5;

	seq_add(seq, at);
	for (size_t i = 0; i < sizeof(far) / sizeof(*far); i++) {
		at += far[i];
		assert_int_equal(seq_add(seq, at), SEQ_NEW);
		assert_int_equal(seq_add(seq, at), SEQ_DUPLICATE);
		assert_int_equal(seq_add(seq, at - 1), SEQ_REORDERED);
		assert_int_equal(seq_add(seq, at - SEQ_WINDOW), SEQ_ANCIENT);
	}
}

enum { NUMBERS = 8 * SEQ_WINDOW };

/* Any mixture of steps, jumps, late and repeated packets. */
static void like_the_model(void **state)
{
	struct seq *seq = *state;
	bool *seen = calloc(NUMBERS, sizeof(*seen));
	uint64_t next = 0;
	struct rng rng;

	assert_non_null(seen);
	rng_seed(&rng, 7);
	while (next < NUMBERS - 3 * SEQ_WINDOW) {
		uint64_t kind = rng_below(&rng, 100), number = next;
		enum seq_verdict want;

		if (kind < 30 && next)
			number = next - 1 - rng_below(&rng, next < 200 ? next : 200);
		else if (kind < 35 && next)
			number = rng_below(&rng, next);
		else if (kind < 60)
			number = next + rng_below(&rng, 100);
		else if (kind == 99)
			number = next + rng_below(&rng, SEQ_WINDOW / 8);
		want = number >= next		    ? SEQ_NEW
		       : next - number > SEQ_WINDOW ? SEQ_ANCIENT
		       : seen[number]		    ? SEQ_DUPLICATE
						    : SEQ_REORDERED;
		assert_int_equal(seq_add(seq, number), want);
		seen[number] |= want != SEQ_ANCIENT;
		next = number >= next ? number + 1 : next;
	}
	assert_int_equal(seq->next, next);
	free(seen);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(in_order, fresh, done),
		cmocka_unit_test_setup_teardown(gap_and_late_arrival, fresh, done),
		cmocka_unit_test_setup_teardown(begins_late, fresh, done),
		cmocka_unit_test_setup_teardown(edge_of_the_window, fresh, done),
		cmocka_unit_test_setup_teardown(ring_is_wiped, fresh, done),
		cmocka_unit_test_setup_teardown(jumps, fresh, done),
		cmocka_unit_test_setup_teardown(like_the_model, fresh, done),
	};

	return cmocka_run_group_tests_name("seq", tests, NULL, NULL);
}
