/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Programs that run in a node and never outlive the thread that started them. */
#ifndef TOPO_SPAWN_H
#define TOPO_SPAWN_H

#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

struct spawn {
	char *const *argv; /* argv[0] is looked up in PATH */
	int netns;	   /* lab_netns(lab, node); -1: where the caller is */
	int in, out, err;  /* become its standard streams; -1: /dev/null */
};

struct child {
	pid_t pid; /* 0: none */
	int pidfd; /* readable when it has ended: for poll() */
};

/*
 * Start a program. It gets no descriptor but the three, default signals, and SIGKILL when the
 * calling *thread* ends. Returns when the program runs; -ENOENT … if it cannot be executed.
 */
int child_start(const struct spawn *spawn, struct child *ret, struct err *err);
/*
 * Wait for its end and write its wait(2) status. -ETIMEDOUT when it still runs after timeout_ns
 * (UINT64_MAX: wait for ever); otherwise the child is reaped and released.
 */
int child_wait(struct child *child, uint64_t timeout_ns, int *ret_status, struct err *err);
/* SIGTERM, after grace_ns SIGKILL; reaped and released. No child (zeroed memory) is fine. */
void child_stop(struct child *child, uint64_t grace_ns);

#endif
