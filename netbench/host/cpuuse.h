/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What every CPU did between two moments, as the kernel accounts for it: user, system, irq,
 * softirq, steal and idle, with interrupts, context switches and backlog drops.
 *
 *   cpuuse_open, cpuuse_snap_init twice      before the window: opens and allocates
 *   cpuuse_take, …window…, cpuuse_take       reads of open files, nothing allocated
 *   cpuuse_delta                             afterwards
 */
#ifndef HOST_CPUUSE_H
#define HOST_CPUUSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "result/result.h"

struct cpuuse;

/* Since boot. Times come in ticks of the user clock (10 ms). */
struct cpu_counts {
	bool online;
	uint64_t user_ns; /* nice and guests included */
	uint64_t system_ns, irq_ns, softirq_ns, steal_ns;
	uint64_t idle_ns;			    /* waiting for I/O included */
	uint32_t net_rx, net_tx;		    /* runs of the softirqs; wrap */
	uint32_t softnet_dropped, softnet_squeezed; /* backlog full, budget used up; wrap */
};

struct cpuuse_snap {
	uint64_t at_ns; /* CLOCK_MONOTONIC, the middle of reading /proc/stat */
	uint64_t context_switches, interrupts;
	size_t n_cpus; /* cpus[i] is CPU i; gaps are not online */
	struct cpu_counts *cpus;
};

struct cpu_delta {
	struct cpu_share share; /* all in 0 … 1, their sum is 1 */
	uint32_t net_rx, net_tx, softnet_dropped, softnet_squeezed;
};

struct cpuuse_delta {
	uint64_t window_ns;
	double busy_cpus; /* sum of the shares that are neither idle nor steal */
	double steal_cpus;
	uint64_t context_switches, interrupts;
	uint64_t softnet_dropped, softnet_squeezed;
	size_t n_cpus; /* CPUs that were online at both ends */
	struct cpu_delta *cpus;
};

/* /proc/stat must be there; softnet_stat and softirqs may be missing, their counts are 0 then. */
int cpuuse_open(const char *root, struct cpuuse **ret, struct err *err);
void cpuuse_close(struct cpuuse *use);
int cpuuse_snap_init(const struct cpuuse *use, struct cpuuse_snap *ret);
void cpuuse_snap_release(struct cpuuse_snap *snap);
int cpuuse_take(struct cpuuse *use, struct cpuuse_snap *snap, struct err *err);
/* -ENOMEM, or -EINVAL when no time passed between the two. */
int cpuuse_delta(const struct cpuuse_snap *before, const struct cpuuse_snap *after,
		 struct cpuuse_delta *ret);
void cpuuse_delta_release(struct cpuuse_delta *delta);

#endif
