/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The routes of a node: few, because all nets behind one neighbour share a default route. */
#ifndef TOPO_ROUTE_H
#define TOPO_ROUTE_H

#include "topo/path.h"

struct nl_batch;

struct route {
	uint8_t dst[16];  /* IPv4 uses the first four bytes */
	unsigned int len; /* prefix length; 0: the default route */
	struct hop via;	  /* leaves through end[side]; the gateway is end[!side] */
};

/* Works out the routes of one node after the other, for one family. */
struct router {
	const struct lab_plan *plan;
	int family;
	struct tree tree;
	size_t *sorted; /* links that carry the family, by prefix */
	size_t n_sorted;
	struct hop *via; /* per link: scratch */
	uint32_t *count;
	struct route *routes; /* result of the last router_work */
	size_t n_routes;
};

int router_init(struct router *router, const struct lab_plan *plan, int family, struct err *err);
void router_release(struct router *router);
/* Fills in routes and n_routes. */
void router_work(struct router *router, size_t node);

/* Add the message that installs the route. */
void route_put(struct nl_batch *batch, const struct lab_plan *plan, int family,
	       const struct route *route);

#endif
