/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shortest paths through a plan, from one node to all others. */
#ifndef TOPO_PATH_H
#define TOPO_PATH_H

#include "topo/plan.h"

/*
 * Breadth first over forwarding nodes, a node's ends always in the same order: the path found is
 * the first of all shortest ones in that order, and so is what remains of it at every node on the
 * way. Each node can therefore work out its routes alone, and packets follow lab_plan_path.
 */
struct tree {
	const struct lab_plan *plan;
	int family;
	size_t from;
	uint32_t *distance; /* in links; UINT32_MAX: not reachable */
	struct hop *last;   /* the hop that arrives at the node; not set for from */
	struct hop *first;  /* the hop that leaves from on the way to the node */
	size_t *queue;
};

int tree_init(struct tree *tree, const struct lab_plan *plan, struct err *err);
void tree_release(struct tree *tree);
/* Grow it anew from a node. With until other than SIZE_MAX, stop when that node is reached. */
void tree_grow(struct tree *tree, size_t from, int family, size_t until);
/* As lab_plan_addresses, from tree->from. */
int tree_addresses(const struct tree *tree, size_t to, struct sockaddr_storage *ret_from,
		   struct sockaddr_storage *ret_to, struct err *err);

#endif
