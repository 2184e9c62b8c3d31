/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Holds the generator to published output and its uniform draw to an even spread. */
#include "base/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* The first outputs of xoshiro256** 1.0 for the state 1, 2, 3, 4 (reference implementation). */
static void known_vector(void **state)
{
	static const uint64_t want[] = {
		UINT64_C(11520),
		UINT64_C(0),
		UINT64_C(1509978240),
		UINT64_C(1215971899390074240),
		UINT64_C(1216172134540287360),
		UINT64_C(607988272756665600),
	};
	struct rng rng = {{1, 2, 3, 4}};

	(void)state;
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++)
		assert_true(rng_next(&rng) == want[i]);
}

/* The first outputs of splitmix64 for the seed 1234567 fill the state. */
static void seeding(void **state)
{
	struct rng rng;

	(void)state;
	rng_seed(&rng, 1234567);
	assert_true(rng.s[0] == UINT64_C(6457827717110365317));
	assert_true(rng.s[1] == UINT64_C(3203168211198807973));
	assert_true(rng.s[2] == UINT64_C(9817491932198370423));
	assert_true(rng.s[3] == UINT64_C(4593380528125082431));
}

static void same_seed_same_order(void **state)
{
	struct rng a, b, c;
	unsigned int differ = 0;

	(void)state;
	rng_seed(&a, 4711);
	rng_seed(&b, 4711);
	rng_seed(&c, 4712);
	for (unsigned int i = 0; i < 1000; i++) {
		uint64_t value = rng_next(&a);

		assert_true(value == rng_next(&b));
		differ += value != rng_next(&c);
	}
	assert_int_equal(differ, 1000);
}

static void below_is_even(void **state)
{
	enum { FACES = 7, THROWS = 70000 };
	unsigned int seen[FACES] = {0};
	double chi2 = 0, expect = THROWS / FACES;
	struct rng rng;

	(void)state;
	rng_seed(&rng, 1);
	for (unsigned int i = 0; i < THROWS; i++) {
		uint64_t face = rng_below(&rng, FACES);

		assert_true(face < FACES);
		seen[face]++;
	}
	for (unsigned int i = 0; i < FACES; i++)
		chi2 += (seen[i] - expect) * (seen[i] - expect) / expect;
	/* 22.46: exceeded once in a thousand seeds with 6 degrees of freedom; this seed is fixed. */
	assert_true(chi2 < 22.46);
}

/* With 3 × 2^62 a plain remainder would put half of all values into the lowest third. */
static void below_has_no_modulo_bias(void **state)
{
	const uint64_t third = UINT64_C(1) << 62;
	unsigned int low = 0;
	struct rng rng;

	(void)state;
	rng_seed(&rng, 2);
	for (unsigned int i = 0; i < 30000; i++) {
		uint64_t value = rng_below(&rng, 3 * third);

		assert_true(value < 3 * third);
		low += value < third;
	}
	assert_in_range(low, 9600, 10400);
}

static void below_extremes(void **state)
{
	struct rng rng;

	(void)state;
	rng_seed(&rng, 3);
	for (unsigned int i = 0; i < 100; i++) {
		assert_true(rng_below(&rng, 1) == 0);
		assert_true(rng_below(&rng, UINT64_MAX) < UINT64_MAX);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_vector),
		cmocka_unit_test(seeding),
		cmocka_unit_test(same_seed_same_order),
		cmocka_unit_test(below_is_even),
		cmocka_unit_test(below_has_no_modulo_bias),
		cmocka_unit_test(below_extremes),
	};

	return cmocka_run_group_tests_name("rng", tests, NULL, NULL);
}
