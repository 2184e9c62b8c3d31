/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The counters of connection tracking in a namespace. */
#ifndef TOPO_CONNTRACK_H
#define TOPO_CONNTRACK_H

#include "topo/lab.h"

/*
 * Fill in the ct_ members for the calling thread's namespace. What the kernel does not have or does
 * not show stays 0.
 */
void conntrack_read(struct node_counters *counters);

#endif
