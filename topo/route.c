/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns routes: the next hop to every link, reduced to a default and a few aggregated prefixes. */
#include "topo/route.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "topo/nl.h"

static unsigned int bytes_of(int family)
{
	return family == AF_INET ? 4 : 16;
}

/* The first end's address is the prefix plus one. */
static void prefix_of(const struct wire *wire, int family, struct route *ret)
{
	memset(ret->dst, 0, sizeof(ret->dst));
	if (family == AF_INET)
		memcpy(ret->dst, &wire->end[0].addr, 4);
	else
		memcpy(ret->dst, &wire->end[0].addr6, 16);
	ret->dst[bytes_of(family) - 1]--;
	ret->len = family == AF_INET ? wire->prefix : wire->prefix6;
}

static int by_prefix(const void *a, const void *b, void *router)
{
	const struct router *r = router;
	struct route x, y;

	prefix_of(&r->plan->wires[*(const size_t *)a], r->family, &x);
	prefix_of(&r->plan->wires[*(const size_t *)b], r->family, &y);
	return memcmp(x.dst, y.dst, sizeof(x.dst));
}

int router_init(struct router *router, const struct lab_plan *plan, int family, struct err *err)
{
	size_t n = plan->spec->n_links + 1, l;
	int rc;

	*router = (struct router){.plan = plan, .family = family};
	rc = tree_init(&router->tree, plan, err);
	if (rc)
		return rc;
	router->sorted = malloc(n * sizeof(*router->sorted));
	router->via = malloc(n * sizeof(*router->via));
	router->count = malloc(n * sizeof(*router->count));
	router->routes = malloc(n * sizeof(*router->routes));
	if (!router->sorted || !router->via || !router->count || !router->routes) {
		router_release(router);
		return err_sys(err, ENOMEM, "cannot work out routes");
	}
	for (l = 0; l < plan->spec->n_links; l++)
		if (plan_link_has(plan, l, family))
			router->sorted[router->n_sorted++] = l;
	qsort_r(router->sorted, router->n_sorted, sizeof(*router->sorted), by_prefix, router);
	return 0;
}

void router_release(struct router *router)
{
	tree_release(&router->tree);
	free(router->sorted);
	free(router->via);
	free(router->count);
	free(router->routes);
	*router = (struct router){0};
}

/*
 * The end of a link at which packets for its prefix should arrive: one that can hand them on to
 * the other end, then the nearer one. -1: neither is reachable.
 */
static int entrance(const struct router *router, size_t link)
{
	const struct end *end = router->plan->wires[link].end;
	const struct node_spec *nodes = router->plan->spec->nodes;
	uint32_t d0 = router->tree.distance[end[0].node], d1 = router->tree.distance[end[1].node];
	bool f0 = nodes[end[0].node].forward, f1 = nodes[end[1].node].forward;

	if (d0 == UINT32_MAX)
		return d1 == UINT32_MAX ? -1 : 1;
	if (d1 == UINT32_MAX)
		return 0;
	if (f0 != f1)
		return f1;
	return d1 < d0;
}

static bool siblings(const struct route *a, const struct route *b)
{
	unsigned int byte, bit;

	if (a->len != b->len || !a->len || a->via.link != b->via.link)
		return false;
	byte = (a->len - 1) / 8;
	bit = 0x80U >> (a->len - 1) % 8;
	return !(a->dst[byte] & bit) && (a->dst[byte] | bit) == b->dst[byte] &&
	       !memcmp(a->dst, b->dst, byte);
}

/* Prefixes come in order, so two halves of a larger one stand side by side when both are there. */
static void add_merged(struct router *router, const struct route *route)
{
	struct route *top;

	router->routes[router->n_routes++] = *route;
	while (router->n_routes > 1) {
		top = &router->routes[router->n_routes - 1];
		if (!siblings(top - 1, top))
			return;
		top[-1].len--;
		router->n_routes--;
	}
}

static void add_default(struct router *router, struct hop via)
{
	router->routes[router->n_routes++] = (struct route){.via = via};
}

/* A node with one neighbour needs no thought: whatever there is lies behind it. */
static bool work_leaf(struct router *router, size_t node)
{
	const struct lab_plan *plan = router->plan;
	const struct hop *only = NULL;
	size_t i, far;

	for (i = plan->ends_from[node]; i < plan->ends_from[node + 1]; i++) {
		if (!plan_link_has(plan, plan->ends[i].link, router->family))
			continue;
		if (only)
			return false;
		only = &plan->ends[i];
	}
	if (!only)
		return true;
	far = plan->wires[only->link].end[!only->side].node;
	if (plan->spec->nodes[far].forward && plan->ends_from[far + 1] - plan->ends_from[far] > 1)
		add_default(router, *only);
	return true;
}

void router_work(struct router *router, size_t node)
{
	const struct lab_plan *plan = router->plan;
	size_t i, l, common = SIZE_MAX;
	struct hop common_via = {0};

	router->n_routes = 0;
	if (work_leaf(router, node))
		return;
	tree_grow(&router->tree, node, router->family, SIZE_MAX);
	memset(router->count, 0, plan->spec->n_links * sizeof(*router->count));
	for (i = 0; i < router->n_sorted; i++) {
		const struct end *end = plan->wires[router->sorted[i]].end;
		int side;

		l = router->sorted[i];
		router->via[l].link = SIZE_MAX;
		if (end[0].node == node || end[1].node == node)
			continue;
		side = entrance(router, l);
		if (side < 0)
			continue;
		router->via[l] = router->tree.first[end[side].node];
		if (++router->count[router->via[l].link] >
		    (common == SIZE_MAX ? 0 : router->count[common])) {
			common_via = router->via[l];
			common = common_via.link;
		}
	}
	if (common == SIZE_MAX)
		return;
	for (i = 0; i < router->n_sorted; i++) {
		struct route route;

		l = router->sorted[i];
		if (router->via[l].link == SIZE_MAX || router->via[l].link == common)
			continue;
		prefix_of(&plan->wires[l], router->family, &route);
		route.via = router->via[l];
		add_merged(router, &route);
	}
	add_default(router, common_via);
}

void route_put(struct nl_batch *batch, const struct lab_plan *plan, int family,
	       const struct route *route)
{
	const struct end *out = &plan->wires[route->via.link].end[route->via.side];
	const struct end *gateway = &plan->wires[route->via.link].end[!route->via.side];
	struct nlmsghdr *nlh = nl_put(batch, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL,
				      "add a route through", out->ifname);
	struct rtmsg *rtm = mnl_nlmsg_put_extra_header(nlh, sizeof(*rtm));

	rtm->rtm_family = (unsigned char)family;
	rtm->rtm_dst_len = (unsigned char)route->len;
	rtm->rtm_table = RT_TABLE_MAIN;
	rtm->rtm_protocol = RTPROT_STATIC;
	rtm->rtm_scope = RT_SCOPE_UNIVERSE;
	rtm->rtm_type = RTN_UNICAST;
	if (route->len)
		mnl_attr_put(nlh, RTA_DST, bytes_of(family), route->dst);
	if (family == AF_INET)
		mnl_attr_put(nlh, RTA_GATEWAY, 4, &gateway->addr);
	else
		mnl_attr_put(nlh, RTA_GATEWAY, 16, &gateway->addr6);
	mnl_attr_put_u32(nlh, RTA_OIF, (uint32_t)out->ifindex);
}
