/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The settings of a node that only /proc/sys reaches. They act on the thread's own namespace. */
#ifndef TOPO_SYSCTL_H
#define TOPO_SYSCTL_H

#include <stdbool.h>

#include "base/err.h"

/* Is IPv6 compiled in and not switched off at boot? */
bool sysctl_has_inet6(void);
/* Before the node has links: quiet, and nothing inherited from the host. */
int sysctl_quiet(const char *node, bool inet6, struct err *err);
/* After the node's links exist, see link.c: make it a router of both families. */
int sysctl_forward(const char *node, bool inet6, struct err *err);

#endif
