/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The settings of a node that only /proc/sys reaches. They act on the thread's own namespace. */
#ifndef TOPO_SYSCTL_H
#define TOPO_SYSCTL_H

#include <stdbool.h>

#include "base/err.h"

/*
 * Where /proc/sys is read from. The kernel keeps what it has looked up of all namespaces in one
 * list per file system, and searches all of it: with a thousand nodes that alone would take most of
 * the time to build a lab. So an instance of proc of our own, mounted nowhere, serves a few nodes
 * and is then replaced. Where that is not allowed, /proc has to do.
 */
struct sysctl_source {
	int proc;	   /* -1: to be opened */
	unsigned int uses; /* nodes it may still serve */
};

#define SYSCTL_SOURCE_INIT \
	{                  \
		-1, 0      \
	}
void sysctl_source_release(struct sysctl_source *source);

/* Is IPv6 compiled in and not switched off at boot? */
bool sysctl_has_inet6(void);
/* Before the node has links: quiet, and nothing inherited from the host. */
int sysctl_quiet(struct sysctl_source *source, const char *node, bool inet6, struct err *err);
/* After the node's links exist, see link.c: make it a router of both families. */
int sysctl_forward(struct sysctl_source *source, const char *node, bool inet6, struct err *err);

#endif
