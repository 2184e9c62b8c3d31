/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the shared memory of lanes, their start, and their choice of CPU. */
#include "load/lane.h"

#include <errno.h>
#include <linux/futex.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/rng.h"
#include "result/result.h"

/* The runner gives up long before; this only bounds a lane whose runner hangs. */
#define GO_TIMEOUT_S 60

int load_lanes(struct load_run *run, size_t n, struct err *err)
{
	size_t size = (run->load->lane_size + 63) & ~(size_t)63;

	if (!n || n > LANES_MAX)
		return err_set(err, EINVAL, "%zu lanes: the limit is %d", n, LANES_MAX);
	run->lanes = calloc(n, sizeof(*run->lanes));
	if (!run->lanes)
		return err_sys(err, ENOMEM, "cannot allocate %zu lanes", n);
	run->memory =
		mmap(NULL, size * n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (run->memory == MAP_FAILED) {
		run->memory = NULL;
		free(run->lanes);
		run->lanes = NULL;
		return err_sys(err, ENOMEM, "cannot share memory with %zu lanes", n);
	}
	run->memory_size = size * n;
	run->n_lanes = n;
	for (size_t i = 0; i < n; i++) {
		run->lanes[i].run = run;
		run->lanes[i].index = i;
		run->lanes[i].shared = (struct lane_shared *)((char *)run->memory + i * size);
	}
	return 0;
}

void load_lanes_free(struct load_run *run)
{
	if (run->memory)
		munmap(run->memory, run->memory_size);
	run->memory = NULL;
	free(run->lanes);
	run->lanes = NULL;
	run->n_lanes = 0;
}

static long futex_wait(_Atomic uint32_t *word, uint32_t value, const struct timespec *timeout)
{
	return syscall(SYS_futex, word, FUTEX_WAIT, value, timeout, NULL, 0);
}

void lane_sleep_until(uint64_t when_ns)
{
	const struct timespec ts = {.tv_sec = (time_t)(when_ns / 1000000000u),
				    .tv_nsec = (long)(when_ns % 1000000000u)};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
}

int lane_go(struct lane *lane)
{
	struct trial_clock *clock = lane->run->clock;
	const struct timespec timeout = {.tv_sec = GO_TIMEOUT_S};
	const uint64_t one = 1;
	uint32_t go;

	if (write(clock->ready_fd, &one, sizeof(one)) != sizeof(one))
		return -ECANCELED;
	while (!(go = atomic_load_explicit(&clock->go, memory_order_acquire))) {
		if (futex_wait(&clock->go, 0, &timeout) && errno == ETIMEDOUT)
			return -ECANCELED;
	}
	return go == 1 ? 0 : -ECANCELED;
}

int lane_ready(struct lane *lane)
{
	int r = lane_go(lane);

	if (!r)
		lane_sleep_until(lane->run->clock->start_ns);
	return r;
}

/* "0,2-3" into an array of CPUs; returns how many, or -EINVAL. */
static int parse_cpus(const char *list, int *cpus, int room, struct err *err)
{
	const char *p = list;
	int n = 0;

	while (*p) {
		char *end;
		long first = strtol(p, &end, 10), last = first;

		if (end == p || first < 0 || first >= CPU_SETSIZE)
			return err_set(err, EINVAL, "'%s' is not a list of CPUs such as 0,2-3",
				       list);
		p = end;
		if (*p == '-') {
			last = strtol(p + 1, &end, 10);
			if (end == p + 1 || last < first || last >= CPU_SETSIZE)
				return err_set(err, EINVAL,
					       "'%s' is not a list of CPUs such as 0,2-3", list);
			p = end;
		}
		for (; first <= last && n < room; first++)
			cpus[n++] = (int)first;
		if (*p == ',')
			p++;
		else if (*p)
			return err_set(err, EINVAL, "'%s' is not a list of CPUs such as 0,2-3",
				       list);
	}
	return n;
}

static int allowed_cpus(int *cpus, int room)
{
	cpu_set_t set;
	int n = 0;

	if (sched_getaffinity(0, sizeof(set), &set))
		return 0;
	for (int cpu = 0; cpu < CPU_SETSIZE && n < room; cpu++)
		if (CPU_ISSET(cpu, &set))
			cpus[n++] = cpu;
	return n;
}

static int side_cpus(const char *list, enum side side, int *cpus, struct err *err)
{
	int all[CPU_SETSIZE], n, half;

	if (list)
		return parse_cpus(list, cpus, CPU_SETSIZE, err);
	n = allowed_cpus(all, CPU_SETSIZE);
	if (n < 2) {
		cpus[0] = n ? all[0] : 0;
		return 1;
	}
	half = n / 2;
	memcpy(cpus, side == SIDE_FROM ? all : all + half,
	       sizeof(int) * (size_t)(side == SIDE_FROM ? half : n - half));
	return side == SIDE_FROM ? half : n - half;
}

int lane_cpu(const char *list, enum side side, size_t i, int *ret_cpu, struct err *err)
{
	int cpus[CPU_SETSIZE], n;
	cpu_set_t set;

	n = side_cpus(list, side, cpus, err);
	if (n < 0)
		return n;
	if (!n)
		return err_set(err, EINVAL, "the list of CPUs is empty");
	*ret_cpu = cpus[i % (size_t)n];
	if (!sched_getaffinity(0, sizeof(set), &set) && !CPU_ISSET(*ret_cpu, &set))
		return err_set(err, EINVAL, "CPU %d is not available to this process", *ret_cpu);
	return 0;
}

int lane_cpus_check(const char *list, struct err *err)
{
	int cpus[CPU_SETSIZE], n = list ? parse_cpus(list, cpus, CPU_SETSIZE, err) : 0;
	cpu_set_t set;

	if (n <= 0 || sched_getaffinity(0, sizeof(set), &set))
		return n < 0 ? n : 0;
	for (int i = 0; i < n; i++)
		if (!CPU_ISSET(cpus[i], &set))
			return err_set(err, EOPNOTSUPP, "CPU %d is not available to this process",
				       cpus[i]);
	return 0;
}

void *lane_buffer(size_t size)
{
	size_t room = (size + 4095) & ~(size_t)4095;
	unsigned char *buffer = aligned_alloc(4096, room ? room : 4096);
	struct rng rng;

	if (!buffer)
		return NULL;
	rng_seed(&rng, 1);
	/* Not compressible, not one repeated page: what a tunnel or a cache sees of real data. */
	for (size_t i = 0; i + 8 <= room; i += 8) {
		uint64_t word = rng_next(&rng);

		memcpy(buffer + i, &word, 8);
	}
	return buffer;
}

#define LATENCY_DEFS(prefix, observer)                                       \
	{                                                                    \
		{prefix "p50", "ns", BETTER_LOWER, observer, NULL},          \
			{prefix "p99", "ns", BETTER_LOWER, observer, NULL},  \
			{prefix "p999", "ns", BETTER_LOWER, observer, NULL}, \
			{prefix "min", "ns", BETTER_LOWER, observer, NULL},  \
			{prefix "max", "ns", BETTER_LOWER, observer, NULL},  \
	}

int latency_metrics(struct result_case *c, const struct hist *hist, enum latency_kind kind)
{
	static const struct metric_def defs[][5] = {
		[LATENCY_ONE_WAY] = LATENCY_DEFS("latency_", "receiver"),
		[LATENCY_TRANSACTION] = LATENCY_DEFS("latency_", "client"),
		[LATENCY_RTT] = LATENCY_DEFS("rtt_", "client"),
	};
	/* With fewer samples a quantile would only be another name for the maximum. */
	static const uint64_t needed[] = {1, 100, 1000, 1, 1};
	const double figures[] = {
		(double)hist_quantile(hist, 0.5),
		(double)hist_quantile(hist, 0.99),
		(double)hist_quantile(hist, 0.999),
		(double)hist->min_ns,
		(double)hist->max_ns,
	};
	int r = 0;

	for (int i = 0; !r && i < 5; i++)
		r = case_add_sample(c, &defs[kind][i], hist->count >= needed[i] ? figures[i] : NAN);
	return r;
}
