/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * CPU time that other processes took in a window: everything but one process and its descendants.
 * To be read just outside the window, twice.
 */
#ifndef HOST_OTHERS_H
#define HOST_OTHERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

enum { OTHERS_MAX = 32768 }; /* processes remembered; 2.5 MiB when all are there */

struct other {
	pid_t pid, parent;
	bool ours, kernel;
	uint64_t start;	    /* ticks since boot: tells a reused pid apart */
	uint64_t used_ns;   /* itself */
	uint64_t reaped_ns; /* children it waited for */
	char comm[16];
};

struct others {
	uint64_t at_ns; /* CLOCK_MONOTONIC */
	size_t n, room;
	struct other *list; /* sorted by pid */
	bool cut;	    /* there were more than OTHERS_MAX */
};

struct others_use {
	uint64_t window_ns;
	uint64_t user_ns;   /* other user processes, those born and died in between included */
	uint64_t kernel_ns; /* kernel threads: mostly work done for us (ksoftirqd, kworker) */
	char busiest[16];   /* the other process that used most; "" when none did */
	pid_t busiest_pid;
	uint64_t busiest_ns;
};

/* *ret must be zeroed the first time; its memory is used again by later calls. */
int others_read(const char *root, pid_t self, struct others *ret, struct err *err);
void others_release(struct others *others);
void others_compare(const struct others *before, const struct others *after,
		    struct others_use *ret);

#endif
