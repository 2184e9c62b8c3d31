/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the measurement of the CPU clock. */
#include "host/clock.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdbool.h>
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

static double seconds_between(const struct timespec *start, const struct timespec *end)
{
	return (double)(end->tv_sec - start->tv_sec) +
	       (double)(end->tv_nsec - start->tv_nsec) / 1e9;
}

/*
 * Runs one piece and returns how long it took. False when this thread did not have the CPU all that
 * time: its CPU time is less than what passed. The CPU time itself is no measure, since a kernel
 * with CONFIG_PARAVIRT_TIME_ACCOUNTING takes stolen time off late and in lumps, also from pieces
 * that nothing was stolen from. The system calls that read it stay outside of the interval.
 */
static bool run_piece(uint64_t rounds, double *ret_seconds)
{
	const double undisturbed = 0.99;
	struct timespec start, end, cpu_start, cpu_end;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu_start);
	clock_gettime(CLOCK_MONOTONIC, &start);
	add_chain(rounds);
	clock_gettime(CLOCK_MONOTONIC, &end);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu_end);
	*ret_seconds = seconds_between(&start, &end);
	return seconds_between(&cpu_start, &cpu_end) >= undisturbed * *ret_seconds;
}

/*
 * The best of some undisturbed pieces, which elsewhere would be cheating: interrupts, and a
 * hypervisor whose steal the kernel cannot see, make the clock look slower than it is, and nothing
 * makes it look faster against the time that passed. Six pieces are enough on a quiet machine.
 * Where the best is not borne out by a second one, all of them may have been disturbed, and it goes
 * on until its time is up. 0 when there was no undisturbed piece.
 */
static double measure(void)
{
	enum { PIECES = 6 };
	const double piece_s = 0.00015, limit_s = 0.02, agreement = 0.998;
	double best = 0, second = 0, seconds;
	unsigned int kept = 0;
	uint64_t rounds = 16;
	struct timespec begin, now;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	do {
		bool undisturbed = run_piece(rounds, &seconds);

		clock_gettime(CLOCK_MONOTONIC, &now);
		/* The short ones find out how much work a piece is, and wake a slow CPU up. */
		if (seconds < piece_s) {
			rounds *= 2;
		} else if (undisturbed) {
			double hz = (double)rounds * ADDS / seconds;

			kept++;
			second = hz > best ? best : fmax(hz, second);
			best = fmax(hz, best);
		}
	} while ((kept < PIECES || second < best * agreement) &&
		 seconds_between(&begin, &now) < limit_s);
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
