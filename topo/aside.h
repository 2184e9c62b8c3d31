/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A function run aside, in a child process: for what may crash, hang or move into another
 * namespace, or must not touch this process.
 */
#ifndef TOPO_ASIDE_H
#define TOPO_ASIDE_H

#include <stdint.h>

#include "base/err.h"

/*
 * Run fn(arg, err) in a child that starts in the caller's namespaces and never outlives the calling
 * thread, and hand back what it returned and wrote to err. -ETIMEDOUT: it was killed after
 * timeout_ns; -ECHILD: it crashed.
 */
int aside_run(int (*fn)(const void *arg, struct err *err), const void *arg, uint64_t timeout_ns,
	      struct err *err);

#endif
