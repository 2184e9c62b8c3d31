/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the seeded generator: xoshiro256** 1.0 and splitmix64 by Blackman and Vigna. */
#include "base/rng.h"

static uint64_t rotate(uint64_t x, unsigned int by)
{
	return x << by | x >> (64 - by);
}

static uint64_t splitmix(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

void rng_seed(struct rng *rng, uint64_t seed)
{
	for (unsigned int i = 0; i < 4; i++)
		rng->s[i] = splitmix(&seed);
}

uint64_t rng_next(struct rng *rng)
{
	uint64_t *s = rng->s, result = rotate(s[1] * 5, 7) * 9, shifted = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= shifted;
	s[3] = rotate(s[3], 45);
	return result;
}

uint64_t rng_below(struct rng *rng, uint64_t below)
{
	/* 2^64 mod below: values under it would make the low remainders more likely. */
	uint64_t uneven = -below % below, value;

	do
		value = rng_next(rng);
	while (value < uneven);
	return value % below;
}
