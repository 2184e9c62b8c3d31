/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the judgement whether the machine disturbed a trial. */
#include "run/validity.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "host/clock.h"
#include "host/others.h"
#include "host/thermal.h"
#include "load/lane.h"
#include "result/result.h"

/* A hypervisor that took more than this of the machine's CPU time, or other processes that did. */
#define STEAL_LIMIT  0.02
#define OTHERS_LIMIT 0.05
/* Of the window. Without real-time priority a runner waits for its turn on busy CPUs. */
#define LATE_LIMIT    0.02
#define LATE_FLOOR_NS 5e6
#define CLOCK_TRIES   5

struct validity {
	double clock_hz[2][CPU_SETSIZE]; /* 0: not measured */
	struct thermal thermal[2];
	struct others others[2];
};

int validity_new(struct validity **ret, struct err *err)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : err_sys(err, ENOMEM, "cannot watch the machine");
}

void validity_free(struct validity *validity)
{
	if (!validity)
		return;
	others_release(&validity->others[0]);
	others_release(&validity->others[1]);
	free(validity);
}

/*
 * A measurement may itself fall into a moment in which the hypervisor or an interrupt took the CPU;
 * a clock that really changed stays changed. So a figure that differs from the expected is taken
 * again, and the nearest counts. expected: 0 = nothing to compare with.
 */
static int measure_clock(int cpu, double expected, double *ret, struct err *err)
{
	double hz = 0;
	int r = 0;

	for (int i = 0; !r && i < CLOCK_TRIES; i++) {
		r = clock_measure(cpu, &hz, err);
		if (!r && (!i || fabs(hz - expected) < fabs(*ret - expected)))
			*ret = hz;
		if (!(expected > 0) || clock_same(expected, *ret, CLOCK_TOLERANCE))
			break;
	}
	return r;
}

/* Of every CPU that a lane runs on, once. */
int validity_before(struct validity *validity, const struct load_run *runs, size_t n_runs,
		    struct err *err)
{
	double *hz = validity->clock_hz[0];
	int r = 0;

	for (size_t i = 0; i < n_runs; i++)
		for (size_t k = 0; !r && k < runs[i].n_lanes; k++) {
			const int cpu = runs[i].lanes[k].cpu;

			if (cpu >= 0 && cpu < CPU_SETSIZE && !(hz[cpu] > 0))
				r = measure_clock(cpu, 0, &hz[cpu], err);
		}
	thermal_read(NULL, &validity->thermal[0]);
	return r ? r : others_read(NULL, getpid(), &validity->others[0], err);
}

int validity_after(struct validity *validity, struct err *err)
{
	int r = others_read(NULL, getpid(), &validity->others[1], err);

	thermal_read(NULL, &validity->thermal[1]);
	for (int cpu = 0; !r && cpu < CPU_SETSIZE; cpu++)
		if (validity->clock_hz[0][cpu] > 0)
			r = measure_clock(cpu, validity->clock_hz[0][cpu],
					  &validity->clock_hz[1][cpu], err);
	return r;
}

static int judge_clock(const struct validity *validity, struct result_case *c)
{
	double worst = 0, before = 0, after = 0;
	bool same = true;
	int where = 0;

	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		const double b = validity->clock_hz[0][cpu], a = validity->clock_hz[1][cpu];
		const double change = fabs(clock_change(b, a));

		if (!(b > 0) || !(a > 0) || (before > 0 && change <= worst))
			continue;
		worst = change;
		before = b;
		after = a;
		where = cpu;
		same = clock_same(b, a, CLOCK_TOLERANCE);
	}
	if (!(before > 0))
		return 0;
	if (!same)
		case_worsen(c, CASE_SUSPECT, "clock of CPU %d went from %.0f to %.0f MHz", where,
			    before / 1e6, after / 1e6);
	return findings_add(&c->validity, same, "clock",
			    "%.0f MHz before, %.0f MHz after on CPU %d", before / 1e6, after / 1e6,
			    where);
}

static int judge_steal(const struct cpuuse_delta *delta, struct result_case *c)
{
	const double share = delta->n_cpus ? delta->steal_cpus / (double)delta->n_cpus : 0;
	const bool ok = share <= STEAL_LIMIT;

	if (!ok)
		case_worsen(c, CASE_SUSPECT, "steal %.1f %%", share * 100);
	return findings_add(&c->validity, ok, "steal", "%.1f %% of all CPU time", share * 100);
}

static int judge_heat(const struct validity *validity, struct result_case *c)
{
	struct thermal_change change;
	int r = 0;

	thermal_compare(&validity->thermal[0], &validity->thermal[1], &change);
	if (change.temperature_known)
		r = findings_add(&c->validity, true, "temperature",
				 "%s %.1f °C after, rose by %.1f °C", change.hottest,
				 change.hottest_millidegrees / 1e3, change.rise_millidegrees / 1e3);
	if (r || !change.throttle_known)
		return r;
	if (change.throttled)
		case_worsen(c, CASE_SUSPECT, "throttled: %s", change.detail);
	return findings_add(&c->validity, !change.throttled, "throttling", "%s",
			    change.throttled ? change.detail : "none");
}

static int judge_others(const struct validity *validity, struct result_case *c)
{
	struct others_use use;
	double share;
	bool ok;

	others_compare(&validity->others[0], &validity->others[1], &use);
	if (!use.window_ns)
		return 0;
	share = (double)use.user_ns / (double)use.window_ns;
	ok = share <= OTHERS_LIMIT;
	if (!ok && use.busiest[0])
		case_worsen(c, CASE_SUSPECT,
			    "other processes used %.0f %% of a CPU, most of it '%s'", share * 100,
			    use.busiest);
	else if (!ok)
		case_worsen(c, CASE_SUSPECT, "other processes used %.0f %% of a CPU", share * 100);
	return findings_add(&c->validity, ok, "other processes", "%.0f %% of a CPU%s%s%s",
			    share * 100, use.busiest[0] ? ", most of it '" : "", use.busiest,
			    use.busiest[0] ? "'" : "");
}

static int describe_window(const struct cpuuse_delta *delta, struct result_case *c)
{
	const double s = (double)delta->window_ns / 1e9;

	return findings_add(&c->validity, true, "kernel activity",
			    "%.0f context switches/s, %.0f interrupts/s, %llu backlog drops, %llu "
			    "budget squeezes",
			    (double)delta->context_switches / s, (double)delta->interrupts / s,
			    (unsigned long long)delta->softnet_dropped,
			    (unsigned long long)delta->softnet_squeezed);
}

static int judge_timing(uint64_t late_ns, const struct cpuuse_delta *delta, struct result_case *c)
{
	const double limit = fmax((double)delta->window_ns * LATE_LIMIT, LATE_FLOOR_NS);
	const bool ok = (double)late_ns <= limit;

	if (!ok)
		case_worsen(c, CASE_SUSPECT, "the runner was held up for %.1f ms",
			    (double)late_ns / 1e6);
	return findings_add(&c->validity, ok, "timing", "the runner was at most %.2f ms late",
			    (double)late_ns / 1e6);
}

int validity_judge(const struct validity *validity, const struct cpuuse_delta *delta,
		   uint64_t late_ns, struct result_case *c, struct err *err)
{
	int r = judge_timing(late_ns, delta, c);

	if (!r)
		r = judge_clock(validity, c);
	if (!r)
		r = judge_steal(delta, c);
	if (!r)
		r = judge_heat(validity, c);
	if (!r)
		r = judge_others(validity, c);
	if (!r)
		r = describe_window(delta, c);
	return r ? err_sys(err, r, "cannot keep a validity check") : 0;
}
