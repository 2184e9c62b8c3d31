// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * holdup SECONDS CPU: how late a schedule is met by a loop that only reads the clock, 99 % of the time.
 * What takes the CPU away (timer ticks, interrupts, a hypervisor) takes it from any generator.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { GAPS_MAX = 1 << 20 };

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* The share of the time after which it takes more than `late` to the end of a gap. */
static double share_later(const uint64_t *gaps, size_t n, double late, double span)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += (double)gaps[i] > late ? (double)gaps[i] - late : 0;
	return sum / span;
}

int main(int argc, char **argv)
{
	static uint64_t gaps[GAPS_MAX];
	const double span = argc == 3 ? atof(argv[1]) * 1e9 : 0;
	uint64_t begin, before, now;
	double low = 0, high = 1e9;
	cpu_set_t set;
	size_t n = 0;

	CPU_ZERO(&set);
	CPU_SET(argc == 3 ? atoi(argv[2]) : 0, &set);
	if (!(span > 0) || sched_setaffinity(0, sizeof(set), &set)) {
		fputs("usage: holdup SECONDS CPU\n", stderr);
		return 2;
	}
	for (begin = before = now = now_ns(); (double)(now - begin) < span && n < GAPS_MAX;
	     before = now) {
		now = now_ns();
		if (now - before > 1000)
			gaps[n++] = now - before;
	}
	while (high - low > 1) {
		const double middle = (low + high) / 2;

		*(share_later(gaps, n, middle, span) > 0.01 ? &low : &high) = middle;
	}
	printf("%.0f\n", high);
	return 0;
}
