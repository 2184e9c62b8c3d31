/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Lanes: the processes of a load. One lane = one process in one node, pinned to one CPU, running
 * one loop. It shares memory with the runner and nothing else.
 *
 *   runner   open → fork lanes → wait ready → publish the clock, go → window → end → reap → collect
 *   lane     touch memory → lane_ready() … loop until clock->end_ns … exit
 */
#ifndef LOAD_LANE_H
#define LOAD_LANE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/err.h"
#include "base/hist.h"
#include "base/now.h"
#include "load/load.h"

enum { LANES_MAX = 256 };

/* One per trial, in shared memory; the runner writes everything but the lanes' ready signal. */
struct trial_clock {
	_Atomic uint32_t go;   /* futex: 0 = wait, 1 = go, 2 = give up */
	_Atomic uint32_t stop; /* leave at once: interrupted, or another lane failed */
	/* CLOCK_MONOTONIC, valid once go is 1. Traffic runs from start to end; the window is begin … end. */
	uint64_t start_ns, begin_ns, end_ns;
	uint64_t drain_ns; /* receivers give up here */
	int ready_fd;	   /* eventfd: each lane adds 1 when it is ready */
};

/* What every lane shares with the runner; one writer, the lane. A load's own struct starts with it. */
struct lane_shared {
	_Alignas(64) _Atomic uint64_t bytes; /* payload moved so far */
	_Atomic uint64_t packets;	     /* packets or transactions so far */
	_Atomic uint32_t done;		     /* its loop has ended in good order */
	_Atomic uint32_t failed;	     /* err is valid */
	struct err err;
};

struct lane {
	struct load_run *run;
	const char *role; /* "sender", "receiver", … for messages */
	bool receives;	  /* its shared bytes and packets went over every link on the way */
	size_t node;
	int cpu;
	size_t index; /* the load's own numbering */
	int (*work)(struct lane *lane, struct err *err);
	struct lane_shared *shared;
};

struct load_run {
	const struct load *load;
	const void *cfg;
	struct lab *lab;
	size_t from, to; /* nodes, for traffic loads */
	bool injected;	 /* set by open: the traffic appears at the far end of the first link */
	unsigned int ordinal; /* 0 = main load, 1 … = side loads: keeps their ports apart */
	unsigned int twin;    /* how many loads of its kind come before it */
	struct trial_clock *clock;
	struct lane *lanes;
	size_t n_lanes;
	size_t threads; /* lanes per end and direction, for loads that spread streams over them */
	void *memory;	/* shared */
	size_t memory_size;
	void *state; /* the load's own, made by open, freed by close */
};

static inline double run_window_s(const struct load_run *run)
{
	return (double)(run->clock->end_ns - run->clock->begin_ns) / 1e9;
}

/* Allocate n lanes with shared memory of load->lane_size each. */
int load_lanes(struct load_run *run, size_t n, struct err *err);
void load_lanes_free(struct load_run *run);

/* lane_ready() without the sleep, for lanes that wait for start_ns in a way of their own. */
int lane_go(struct lane *lane);
/*
 * In the lane, when everything is allocated and touched: report ready, wait for go, sleep until
 * start_ns. -ECANCELED when the trial was given up.
 */
int lane_ready(struct lane *lane);

static inline bool lane_stopped(const struct lane *lane)
{
	return atomic_load_explicit(&lane->run->clock->stop, memory_order_relaxed) != 0;
}

/* Until a time of CLOCK_MONOTONIC. */
void lane_sleep_until(uint64_t when_ns);

/* Publish a total; only the lane writes it, so a plain relaxed store is enough. */
static inline void lane_publish(_Atomic uint64_t *total, uint64_t value)
{
	atomic_store_explicit(total, value, memory_order_relaxed);
}

/* The same for a total that no loop keeps a copy of. */
static inline void lane_add(_Atomic uint64_t *total, uint64_t more)
{
	lane_publish(total, atomic_load_explicit(total, memory_order_relaxed) + more);
}

enum side { SIDE_FROM, SIDE_TO };

/*
 * The CPU for lane i of a side. list ("0,2-3") is the user's choice; NULL: the allowed CPUs are
 * halved between the two sides, so that a sender and its receiver do not share one if possible.
 */
int lane_cpu(const char *list, enum side side, size_t i, int *ret_cpu, struct err *err);
/* For a load's check(): -EINVAL when it is no list, -EOPNOTSUPP when it asks for a CPU we may not use. */
int lane_cpus_check(const char *list, struct err *err);

/* A page-aligned, touched buffer with pseudo-random content; NULL when out of memory. */
void *lane_buffer(size_t size);

/* Add latency_p50, _p99, _p999, _min and _max (prefix "latency_" or "rtt_") to the case. */
enum latency_kind { LATENCY_ONE_WAY, LATENCY_TRANSACTION, LATENCY_RTT };
int latency_metrics(struct result_case *c, const struct hist *hist, enum latency_kind kind);

#endif
