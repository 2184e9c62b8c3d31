/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Holds the counting of test frames to a model that remembers every number, and to several threads. */
#include "bpf/sink.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hist.h"
#include "base/rng.h"
#include "bpf/histogram.h"

struct box {
	struct sink_count count;
	struct sink_stream stream;
	struct sink_memory memory;
};

static int fresh(void **state)
{
	struct box *box = malloc(sizeof(*box));

	if (!box)
		return -1;
	memset(box, 0, sizeof(*box));
	box->memory = (struct sink_memory){.count = &box->count, .stream = &box->stream};
	*state = box;
	return 0;
}

static int done(void **state)
{
	free(*state);
	return 0;
}

static void test_order(void **state)
{
	struct box *box = *state;

	assert_true(sink_take(&box->memory, 0, 0, 0));
	assert_true(sink_take(&box->memory, 3, 1, 0));
	assert_true(sink_take(&box->memory, 1, 1, 0));
	assert_false(sink_take(&box->memory, 3, 1, 0));
	assert_true(sink_take(&box->memory, 3 + SINK_WINDOW, 0, 0));
	assert_false(sink_take(&box->memory, 3, 0, 0));
	assert_int_equal(box->count.fresh[0], 2);
	assert_int_equal(box->count.fresh[1], 2);
	assert_int_equal(box->count.duplicates, 1);
	assert_int_equal(box->count.ancient, 1);
	assert_int_equal(box->count.reordered, 1);
	assert_int_equal(box->count.gaps, 2);
}

/* Shuffled within half a window, some lost, some twice: the same as the model, in both ways of counting. */
static void model(struct box *box, int concurrent)
{
	enum { N = 1 << 19, SPREAD = SINK_WINDOW / 4 };
	unsigned char *seen = calloc(N, 1);
	uint64_t unique = 0, twice = 0;
	struct rng rng;

	assert_non_null(seen);
	rng_seed(&rng, 5);
	for (uint64_t i = SPREAD; i < N; i++) {
		const uint64_t seq = i - rng_below(&rng, SPREAD);
		const bool new = !seen[seq];

		seen[seq] = 1;
		unique += new;
		twice += !new;
		assert_int_equal(!!sink_take(&box->memory, seq, 0, concurrent), new);
	}
	assert_int_equal(sink_unique(&box->count), unique);
	assert_int_equal(box->count.duplicates, twice);
	assert_int_equal(box->count.ancient, 0);
	free(seen);
}

static void test_model(void **state)
{
	model(*state, 0);
}

static void test_model_concurrent(void **state)
{
	model(*state, 1);
}

static void test_reordering_of_a_flow(void **state)
{
	struct box *box = *state;
	__u64 last[2] = {0};
	struct sink_memory one = box->memory, two = box->memory;

	one.last = &last[0];
	two.last = &last[1];
	sink_take(&one, 0, 0, 0);
	sink_take(&two, 5, 0, 0);
	sink_take(&one, 2, 0, 0); /* late in the stream, not in its flow */
	assert_int_equal(box->count.reordered, 0);
	sink_take(&two, 3, 0, 0);
	assert_int_equal(box->count.reordered, 1);
}

enum { THREADS = 4, EACH = 200000 };

struct part {
	struct box *box;
	struct sink_count count;
};

/* Every thread gives every number once: each must be new exactly once. */
static void *give(void *argument)
{
	struct part *part = argument;
	const struct sink_memory memory = {.count = &part->count, .stream = &part->box->stream};

	for (uint64_t seq = 0; seq < EACH; seq++)
		sink_take(&memory, seq, 0, 1);
	return NULL;
}

static void test_concurrent(void **state)
{
	struct part *parts = malloc(THREADS * sizeof(*parts));
	pthread_t threads[THREADS];
	uint64_t unique = 0, others = 0;

	assert_non_null(parts);
	memset(parts, 0, THREADS * sizeof(*parts));
	for (size_t i = 0; i < THREADS; i++) {
		parts[i].box = *state;
		assert_int_equal(pthread_create(&threads[i], NULL, give, &parts[i]), 0);
	}
	for (size_t i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		unique += sink_unique(&parts[i].count);
		others += parts[i].count.duplicates + parts[i].count.ancient;
	}
	/* A thread may lag behind by more than the window: its numbers are then ancient, never new again. */
	assert_true(unique <= EACH);
	assert_int_equal(unique + others, (uint64_t)THREADS * EACH);
	assert_int_equal(parts[0].box->stream.next, EACH);
	free(parts);
}

static void test_histogram_is_the_same(void **state)
{
	struct histogram *ours = calloc(1, sizeof(*ours));
	struct hist *base = calloc(1, sizeof(*base));
	struct rng rng;

	(void)state;
	assert_non_null(ours);
	assert_non_null(base);
	rng_seed(&rng, 9);
	for (int i = 0; i < 200000; i++) {
		const uint64_t value = rng_next(&rng) >> (20 + i % 44);

		histogram_add(ours, value);
		hist_add(base, value);
	}
	assert_memory_equal(ours, base, sizeof(*base));
	free(ours);
	free(base);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_order, fresh, done),
		cmocka_unit_test_setup_teardown(test_model, fresh, done),
		cmocka_unit_test_setup_teardown(test_model_concurrent, fresh, done),
		cmocka_unit_test_setup_teardown(test_reordering_of_a_flow, fresh, done),
		cmocka_unit_test_setup_teardown(test_concurrent, fresh, done),
		cmocka_unit_test(test_histogram_is_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
