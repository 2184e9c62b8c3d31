/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The part of a lab that a trial's traffic crosses: every link and node on the way, once each. */
#ifndef RUN_ROUTE_H
#define RUN_ROUTE_H

#include <stddef.h>

#include "base/err.h"

struct lab;
struct load_run;

struct route {
	size_t *links, *nodes; /* indices into the lab, ascending */
	size_t n_links, n_nodes;
};

int route_of(const struct lab *lab, const struct load_run *runs, size_t n_runs, struct route *ret,
	     struct err *err);
void route_release(struct route *route);
/* The node of a filter in place, if it lies on the route; else -1. */
int route_filter_node(const struct route *route, const struct lab *lab, size_t filter);

#endif
