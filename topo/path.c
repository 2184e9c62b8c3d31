/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns paths: which links packets cross between two nodes, and the addresses they carry. */
#include "topo/path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int tree_init(struct tree *tree, const struct lab_plan *plan, struct err *err)
{
	size_t n = plan->spec->n_nodes + 1;

	*tree = (struct tree){.plan = plan};
	tree->distance = malloc(n * sizeof(*tree->distance));
	tree->last = calloc(n, sizeof(*tree->last));
	tree->first = calloc(n, sizeof(*tree->first));
	tree->queue = malloc(n * sizeof(*tree->queue));
	if (tree->distance && tree->last && tree->first && tree->queue)
		return 0;
	tree_release(tree);
	err_sys(err, ENOMEM, "cannot work out paths");
	return -ENOMEM;
}

void tree_release(struct tree *tree)
{
	free(tree->distance);
	free(tree->last);
	free(tree->first);
	free(tree->queue);
	*tree = (struct tree){0};
}

void tree_grow(struct tree *tree, size_t from, int family, size_t until)
{
	const struct lab_plan *plan = tree->plan;
	size_t head = 0, tail = 0, at, i, next;

	tree->from = from;
	tree->family = family;
	memset(tree->distance, 0xff, plan->spec->n_nodes * sizeof(*tree->distance));
	tree->distance[from] = 0;
	tree->queue[tail++] = from;
	while (head < tail && (until == SIZE_MAX || tree->distance[until] == UINT32_MAX)) {
		at = tree->queue[head++];
		if (at != from && !plan->spec->nodes[at].forward)
			continue;
		for (i = plan->ends_from[at]; i < plan->ends_from[at + 1]; i++) {
			const struct hop *hop = &plan->ends[i];

			next = plan->wires[hop->link].end[!hop->side].node;
			if (tree->distance[next] != UINT32_MAX ||
			    !plan_link_has(plan, hop->link, family))
				continue;
			tree->distance[next] = tree->distance[at] + 1;
			tree->last[next] = *hop;
			tree->first[next] = at == from ? *hop : tree->first[at];
			tree->queue[tail++] = next;
		}
	}
}

static int no_path(const struct tree *tree, size_t to, struct err *err)
{
	const struct node_spec *nodes = tree->plan->spec->nodes;

	return err_set(err, ENETUNREACH, "no%s path from node '%s' to node '%s'",
		       tree->family == AF_INET6 ? " IPv6" : "", nodes[tree->from].name,
		       nodes[to].name);
}

int lab_plan_path(const struct lab_plan *plan, size_t from, size_t to, struct hop **ret_hops,
		  struct err *err)
{
	struct hop *hops = NULL;
	struct tree tree;
	size_t n, at;
	int rc = tree_init(&tree, plan, err);

	if (rc)
		return rc;
	tree_grow(&tree, from, AF_INET, to);
	if (tree.distance[to] == UINT32_MAX) {
		rc = no_path(&tree, to, err);
		goto out;
	}
	n = tree.distance[to];
	hops = malloc((n + 1) * sizeof(*hops));
	if (!hops) {
		rc = err_sys(err, ENOMEM, "cannot work out paths");
		goto out;
	}
	rc = (int)n;
	for (at = to; n--; at = plan->wires[hops[n].link].end[hops[n].side].node)
		hops[n] = tree.last[at];
	*ret_hops = hops;
out:
	tree_release(&tree);
	return rc;
}

static void set_address(struct sockaddr_storage *ret, int family, const struct end *end)
{
	*ret = (struct sockaddr_storage){.ss_family = (sa_family_t)family};
	if (family == AF_INET)
		((struct sockaddr_in *)ret)->sin_addr =
			end ? end->addr : (struct in_addr){htonl(INADDR_LOOPBACK)};
	else
		((struct sockaddr_in6 *)ret)->sin6_addr =
			end ? end->addr6 : (struct in6_addr)IN6ADDR_LOOPBACK_INIT;
}

int tree_addresses(const struct tree *tree, size_t to, struct sockaddr_storage *ret_from,
		   struct sockaddr_storage *ret_to, struct err *err)
{
	const struct wire *wires = tree->plan->wires;
	const struct hop *first = &tree->first[to], *last = &tree->last[to];

	if (tree->distance[to] == UINT32_MAX)
		return no_path(tree, to, err);
	if (to == tree->from) {
		set_address(ret_from, tree->family, NULL);
		set_address(ret_to, tree->family, NULL);
		return 0;
	}
	set_address(ret_from, tree->family, &wires[first->link].end[first->side]);
	set_address(ret_to, tree->family, &wires[last->link].end[!last->side]);
	return 0;
}

int lab_plan_addresses(const struct lab_plan *plan, size_t from, size_t to, int family,
		       struct sockaddr_storage *ret_from, struct sockaddr_storage *ret_to,
		       struct err *err)
{
	struct tree tree;
	int rc = tree_init(&tree, plan, err);

	if (rc)
		return rc;
	tree_grow(&tree, from, family, to);
	rc = tree_addresses(&tree, to, ret_from, ret_to, err);
	tree_release(&tree);
	return rc;
}

uint64_t lab_path_mtu(const struct lab_spec *spec, const struct hop *hops, int n)
{
	uint64_t mtu = UINT64_MAX;

	for (int i = 0; i < n; i++)
		if (spec->links[hops[i].link].mtu < mtu)
			mtu = spec->links[hops[i].link].mtu;
	return mtu;
}
