/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A small seeded generator (xoshiro256**, seeded by splitmix64): the same seed, the same order. */
#ifndef BASE_RNG_H
#define BASE_RNG_H

#include <stdint.h>

struct rng {
	uint64_t s[4];
};

void rng_seed(struct rng *rng, uint64_t seed);
uint64_t rng_next(struct rng *rng);
/* Uniform in 0 … below-1, without modulo bias; below must not be 0. */
uint64_t rng_below(struct rng *rng, uint64_t below);

#endif
