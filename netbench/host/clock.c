/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the measurement of the CPU clock. */
#include "host/clock.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdint.h>
#include <time.h>

/*
 * ADDS additions, each of which needs the result of the one before. Every core that Linux runs on
 * does one such addition per cycle, no more and no less: wide cores cannot overlap them, and the
 * instructions of the loop fit beside them (ADDS is large for the narrow, in-order ones). The
 * addend is in a register because some cores fold small constants into the next instruction.
 */
enum { ADDS = 256 };

static void add_chain(uint64_t rounds)
{
	unsigned long sum = 0, addend = rounds & 1 ? 3 : 5;

	while (rounds--) {
#if defined(__x86_64__) || defined(__i386__)
		__asm__ volatile(".rept 256\n\tadd %1, %0\n\t.endr"
				 : "+r"(sum)
				 : "r"(addend)
				 : "cc");
#elif defined(__aarch64__) || defined(__arm__)
		__asm__ volatile(".rept 256\n\tadd %0, %0, %1\n\t.endr" : "+r"(sum) : "r"(addend));
#else
#pragma GCC unroll 256
		for (unsigned int i = 0; i < ADDS; i++) {
			sum += addend;
			/* Keeps the compiler from adding up; costs no instruction. */
			__asm__ volatile("" : "+r"(sum));
		}
#endif
	}
}

/* In time this thread had the CPU: others that wait for it must not make it look slow. */
static double seconds_of(uint64_t rounds)
{
	struct timespec start, end;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
	add_chain(rounds);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
	return (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) / 1e9;
}

/*
 * The best of some pieces, which elsewhere would be cheating: interrupts and other virtual machines
 * can only make the clock look slower than it is, nothing makes it look faster. Six pieces are
 * enough on a quiet machine. Where the best is not borne out by a second one, all of them may have
 * been disturbed, and it goes on for a while.
 */
static double measure(void)
{
	enum { PIECES = 6, PIECES_MAX = 30 };
	const double piece_s = 0.00025, agreement = 0.998;
	double best = 0, second = 0, seconds;
	uint64_t rounds = 16;

	/* How much work a piece of time is; this also wakes the CPU from a low clock. */
	while ((seconds = seconds_of(rounds)) < piece_s / 2 && rounds < UINT64_C(1) << 30)
		rounds *= 2;
	rounds = (uint64_t)((double)rounds * piece_s / seconds) + 1;
	for (unsigned int i = 0; i < PIECES_MAX; i++) {
		double hz = (double)rounds * ADDS / seconds_of(rounds);

		if (hz > best) {
			second = best;
			best = hz;
		} else if (hz > second) {
			second = hz;
		}
		if (i + 1 >= PIECES && second >= best * agreement)
			break;
	}
	return best;
}

int clock_measure(int cpu, double *ret_hz, struct err *err)
{
	size_t size = CPU_ALLOC_SIZE(8192);
	cpu_set_t *before = CPU_ALLOC(8192), *only = CPU_ALLOC(8192);
	int error = 0;

	if (!before || !only)
		error = ENOMEM;
	else if (sched_getaffinity(0, size, before) < 0)
		error = errno;
	if (!error && cpu < 0)
		cpu = sched_getcpu();
	if (!error && (cpu < 0 || cpu >= 8192))
		error = EINVAL;
	if (!error) {
		CPU_ZERO_S(size, only);
		CPU_SET_S((size_t)cpu, size, only);
		if (sched_setaffinity(0, size, only) < 0)
			error = errno;
	}
	if (!error) {
		*ret_hz = measure();
		sched_setaffinity(0, size, before);
	}
	CPU_FREE(before);
	CPU_FREE(only);
	return error ? err_sys(err, error, "cannot measure the clock of CPU %d", cpu) : 0;
}

double clock_change(double before_hz, double after_hz)
{
	if (!(before_hz > 0) || !(after_hz > 0))
		return NAN;
	return after_hz / before_hz - 1;
}

bool clock_same(double before_hz, double after_hz, double tolerance)
{
	double change = clock_change(before_hz, after_hz);

	return isnan(change) || fabs(change) <= tolerance;
}
