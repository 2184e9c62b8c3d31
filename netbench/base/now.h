/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The one clock of a run: all nodes and workers of a machine share it. */
#ifndef BASE_NOW_H
#define BASE_NOW_H

#include <stdint.h>
#include <time.h>

/* CLOCK_MONOTONIC in nanoseconds. */
static inline uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * UINT64_C(1000000000) + (uint64_t)ts.tv_nsec;
}

#endif
