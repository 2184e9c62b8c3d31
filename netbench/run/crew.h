/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The crew of a trial: one child process per lane, tied to the runner's life. */
#ifndef RUN_CREW_H
#define RUN_CREW_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

struct lab;
struct lane;
struct load_run;
struct pollfd;
struct trial_clock;

struct worker {
	pid_t pid;
	int pidfd; /* -1 when reaped */
	struct lane *lane;
};

struct crew {
	struct worker *workers;
	size_t n;
	struct pollfd *fds; /* what a wait looks at */
	struct trial_clock *clock;
	int interrupt_fd; /* readable when the user wants to stop; -1: none */
};

/* Fork a worker for every lane of every run. On failure none is left. */
int crew_start(struct crew *crew, struct lab *lab, struct load_run *runs, size_t n_runs,
	       struct trial_clock *clock, int interrupt_fd, struct err *err);
/* Until every lane has said that it is ready. -ETIMEDOUT, -ECANCELED (interrupted) or a lane's error. */
int crew_await_ready(struct crew *crew, uint64_t deadline_ns, struct err *err);
/* Release the barrier; the clock's times must be set. */
void crew_go(struct crew *crew);
/*
 * Sleep until when_ns, or until something happens: -ECANCELED when interrupted, or the error of a
 * lane that ended early in failure.
 */
int crew_watch(struct crew *crew, uint64_t when_ns, struct err *err);
/* Wait for all lanes to end; those that run past the deadline are killed: -ETIMEDOUT. */
int crew_reap(struct crew *crew, uint64_t deadline_ns, struct err *err);
/* Stop whoever is left, at once; free everything. */
void crew_release(struct crew *crew);

#endif
