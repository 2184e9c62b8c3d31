/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The inside of a lab: what lab.h keeps private and the files of topo/ share. */
#ifndef TOPO_NODE_H
#define TOPO_NODE_H

#include "topo/lab.h"
#include "topo/nl.h"
#include "topo/offload.h"

struct node {
	int netns; /* keeps the namespace alive; -1 until it exists */
	struct nl nl;
};

struct filter_place; /* a filter in its place: topo/filter/place.c */

struct lab {
	struct lab_spec spec;
	struct lab_plan *plan;
	struct node *nodes;
	int home;   /* the namespace of the thread that built the lab */
	bool inet6; /* the kernel has IPv6 */
	struct offload_map offloads;
	struct filter_place *places; /* spec.n_filters; NULL until lab_filter() */
};

/* Undo lab_filter(); also what a failed one left. */
void lab_unfilter(struct lab *lab);

/* A descriptor of the calling thread's network namespace, or -errno. */
int netns_open_current(struct err *err);
/* Move the calling thread. what is named in the error: "node 'a'". */
int netns_enter(int netns, const char *what, struct err *err);

#endif
