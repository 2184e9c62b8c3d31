/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The inside of a plan: what lab.h keeps private and the files of topo/ share. */
#ifndef TOPO_PLAN_H
#define TOPO_PLAN_H

#include "topo/lab.h"

/*
 * An end as seen from its node: the far node is wires[link].end[!side].node. The order of a node's
 * ends (by link) breaks ties between equally short paths, so that all nodes agree about them.
 */
struct lab_plan {
	const struct lab_spec *spec;
	struct wire *wires; /* one per link */
	size_t *by_name;    /* node indices sorted by name */
	size_t *ends_from;  /* node i owns ends[ends_from[i]] up to ends[ends_from[i + 1]] */
	struct hop *ends;
};

/* Fill in wire.end[].addr, .addr6 and the prefix lengths (topo/subnet.c). */
int plan_subnets(struct lab_plan *plan, struct err *err);

/* Give interfaces the names that the filters of their nodes ask for (topo/filter/map.c). */
int plan_map(struct lab_plan *plan, struct err *err);

/* Letters, digits, '-', '_', '.', not beginning with '-' or '.'; shorter than max. */
bool plan_name_ok(const char *name, size_t max);

/* A link with an MTU below what RFC 8200 demands carries no IPv6. */
enum { IPV6_MTU_MIN = 1280 };
bool plan_link_has(const struct lab_plan *plan, size_t link, int family);

#endif
