/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the plan of a lab: checks the spec, names its links and interfaces, ties up the graph. */
#include "topo/plan.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Well above the tunnel devices (sit0, ip6tnl0 …) that some kernels put into every namespace. */
enum { IFINDEX_FIRST = 64 };

bool plan_name_ok(const char *name, size_t max)
{
	size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				  "0123456789-_.");

	return len && !name[len] && len < max && name[0] != '-' && name[0] != '.';
}

static int bad_name(struct mark mark, const char *what, const char *name, size_t max,
		    struct err *err)
{
	if (!name || !*name)
		return err_at(err, mark, EINVAL, "%s without a name", what);
	if (strlen(name) >= max)
		return err_at(err, mark, EINVAL,
			      "name of %s '%.40s…' is longer than %zu characters", what, name,
			      max - 1);
	return err_at(err, mark, EINVAL,
		      "name of %s '%s' may only have letters, digits, '-', '_' and '.', and must "
		      "begin with a letter, digit or '_'",
		      what, name);
}

static int by_node_name(const void *a, const void *b, void *spec)
{
	const struct node_spec *nodes = ((const struct lab_spec *)spec)->nodes;
	size_t x = *(const size_t *)a, y = *(const size_t *)b;
	int order = strcmp(nodes[x].name, nodes[y].name);

	return order ? order : (x > y) - (x < y);
}

static int check_nodes(struct lab_plan *plan, struct err *err)
{
	const struct lab_spec *spec = plan->spec;
	size_t i, twice = SIZE_MAX;

	if (!spec->n_nodes)
		return err_at(err, spec->mark, EINVAL, "lab '%s' has no nodes",
			      spec->name ? spec->name : "");
	if (spec->n_nodes > LAB_NODES_MAX)
		return err_at(err, spec->nodes[LAB_NODES_MAX].mark, EINVAL,
			      "lab '%s' has %zu nodes, more than %d", spec->name ? spec->name : "",
			      spec->n_nodes, LAB_NODES_MAX);
	if (spec->n_links > LAB_LINKS_MAX)
		return err_at(err, spec->links[LAB_LINKS_MAX].mark, EINVAL,
			      "lab '%s' has %zu links, more than %d", spec->name ? spec->name : "",
			      spec->n_links, LAB_LINKS_MAX);
	for (i = 0; i < spec->n_nodes; i++) {
		const struct node_spec *node = &spec->nodes[i];

		if (!node->name || !plan_name_ok(node->name, NODE_NAME_MAX))
			return bad_name(node->mark, "node", node->name, NODE_NAME_MAX, err);
		plan->by_name[i] = i;
	}
	qsort_r(plan->by_name, spec->n_nodes, sizeof(*plan->by_name), by_node_name, (void *)spec);
	for (i = 1; i < spec->n_nodes; i++) {
		size_t last = plan->by_name[i - 1], this = plan->by_name[i];

		if (this < twice && !strcmp(spec->nodes[last].name, spec->nodes[this].name))
			twice = this;
	}
	if (twice != SIZE_MAX)
		return err_at(err, spec->nodes[twice].mark, EINVAL, "node '%s' is there twice",
			      spec->nodes[twice].name);
	return 0;
}

static size_t find_node(const struct lab_plan *plan, const char *name)
{
	size_t low = 0, high = plan->spec->n_nodes;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		int order = strcmp(name, plan->spec->nodes[plan->by_name[mid]].name);

		if (!order)
			return plan->by_name[mid];
		if (order < 0)
			high = mid;
		else
			low = mid + 1;
	}
	return SIZE_MAX;
}

static const char *nearest_node(const struct lab_plan *plan, const char *name)
{
	const char **names = calloc(plan->spec->n_nodes, sizeof(*names));
	const char *near = NULL;
	size_t i;

	if (!names)
		return NULL;
	for (i = 0; i < plan->spec->n_nodes; i++)
		names[i] = plan->spec->nodes[i].name;
	near = name_nearest(names, plan->spec->n_nodes, name);
	free(names);
	return near;
}

int lab_plan_node(const struct lab_plan *plan, const char *name, struct err *err)
{
	size_t node = find_node(plan, name);
	const char *near;

	if (node != SIZE_MAX)
		return (int)node;
	near = nearest_node(plan, name);
	if (near)
		return err_set(err, ENOENT, "no node '%.64s'; did you mean '%s'", name, near);
	return err_set(err, ENOENT, "no node '%.64s'", name);
}

/* "NODE" or "NODE:IF", blanks around it allowed. The interface name stays empty if left out. */
static int parse_end(struct lab_plan *plan, size_t l, unsigned int side, const char *text,
		     size_t len, struct err *err)
{
	const struct link_spec *link = &plan->spec->links[l];
	struct end *end = &plan->wires[l].end[side];
	char name[NODE_NAME_MAX], *ifname;
	struct err why;
	int node;

	for (; len && isspace((unsigned char)*text); text++)
		len--;
	while (len && isspace((unsigned char)text[len - 1]))
		len--;
	if (!len)
		return err_at(err, link->mark, EINVAL,
			      "ends '%.64s' of a link must read 'node:interface,node:interface'",
			      link->ends);
	ifname = memchr(text, ':', len);
	if (ifname) {
		size_t if_len = len - (size_t)(ifname + 1 - text);

		if (if_len < IF_NAME_MAX)
			memcpy(end->ifname, ifname + 1, if_len);
		if (if_len >= IF_NAME_MAX || !plan_name_ok(end->ifname, IF_NAME_MAX) ||
		    !strcmp(end->ifname, "lo") || !strcmp(end->ifname, "all") ||
		    !strcmp(end->ifname, "default"))
			return err_at(err, link->mark, EINVAL, "'%.*s' is no name for an interface",
				      (int)(if_len < 64 ? if_len : 64), ifname + 1);
		len = (size_t)(ifname - text);
	}
	if (!len || len >= sizeof(name))
		return err_at(err, link->mark, EINVAL, "'%.*s' is no name for a node",
			      (int)(len < 64 ? len : 64), text);
	memcpy(name, text, len);
	name[len] = '\0';
	node = lab_plan_node(plan, name, &why);
	if (node < 0)
		return err_at(err, link->mark, EINVAL, "link to a missing node: %s", why.text);
	end->node = (size_t)node;
	return 0;
}

static int parse_ends(struct lab_plan *plan, size_t l, struct err *err)
{
	const struct link_spec *link = &plan->spec->links[l];
	const char *ends = link->ends ? link->ends : "";
	const char *comma = strchr(ends, ',');
	struct wire *wire = &plan->wires[l];
	int rc;

	if (!comma || strchr(comma + 1, ','))
		return err_at(err, link->mark, EINVAL,
			      "ends '%.64s' of a link must read 'node:interface,node:interface'",
			      ends);
	rc = parse_end(plan, l, 0, ends, (size_t)(comma - ends), err);
	if (!rc)
		rc = parse_end(plan, l, 1, comma + 1, strlen(comma + 1), err);
	if (rc)
		return rc;
	if (wire->end[0].node == wire->end[1].node)
		return err_at(err, link->mark, EINVAL, "both ends of the link are in node '%s'",
			      plan->spec->nodes[wire->end[0].node].name);
	return 0;
}

static int check_link(struct lab_plan *plan, size_t l, struct err *err)
{
	const struct link_spec *link = &plan->spec->links[l];
	struct wire *wire = &plan->wires[l];
	unsigned int side;
	int rc;

	if (link->name && !plan_name_ok(link->name, sizeof(wire->name)))
		return bad_name(link->mark, "link", link->name, sizeof(wire->name), err);
	rc = parse_ends(plan, l, err);
	if (rc)
		return rc;
	if (link->mtu < 68 || link->mtu > 65535)
		return err_at(err, link->mark, EINVAL,
			      "mtu %" PRIu64 " is not between 68 and 65535", link->mtu);
	if (link->queues < 1 || link->queues > 64)
		return err_at(err, link->mark, EINVAL, "queues %" PRIu64 " is not between 1 and 64",
			      link->queues);
	for (side = 0; side < 2; side++) {
		struct end *end = &wire->end[side];

		/*
		 * Unique in the whole lab, not only in the node. A veth whose peer has the same
		 * index looks to the kernel like a device without a lower one, and its carrier
		 * change is then put off for up to a second.
		 */
		end->ifindex = (int)(IFINDEX_FIRST + 2 * l + side);
		memcpy(end->mac,
		       ((uint8_t[6]){0x02, 0, 0, (uint8_t)(l >> 8), (uint8_t)l,
				     (uint8_t)(side + 1)}),
		       sizeof(end->mac));
	}
	return 0;
}

static int by_node_pair(const void *a, const void *b, void *wires)
{
	size_t x = *(const size_t *)a, y = *(const size_t *)b;
	const struct end *p = ((const struct wire *)wires)[x].end;
	const struct end *q = ((const struct wire *)wires)[y].end;

	if (p[0].node != q[0].node)
		return p[0].node < q[0].node ? -1 : 1;
	if (p[1].node != q[1].node)
		return p[1].node < q[1].node ? -1 : 1;
	return (x > y) - (x < y);
}

static int by_wire_name(const void *a, const void *b, void *wires)
{
	size_t x = *(const size_t *)a, y = *(const size_t *)b;
	int order =
		strcmp(((const struct wire *)wires)[x].name, ((const struct wire *)wires)[y].name);

	return order ? order : (x > y) - (x < y);
}

static int name_links(struct lab_plan *plan, size_t *order, struct err *err)
{
	const struct lab_spec *spec = plan->spec;
	size_t i, run = 0, twice = SIZE_MAX;

	qsort_r(order, spec->n_links, sizeof(*order), by_node_pair, plan->wires);
	for (i = 0; i < spec->n_links; i++) {
		struct wire *wire = &plan->wires[order[i]];
		const struct end *end = wire->end, *last = i ? plan->wires[order[i - 1]].end : end;
		const char *a = spec->nodes[end[0].node].name, *b = spec->nodes[end[1].node].name;

		run = last[0].node == end[0].node && last[1].node == end[1].node ? run + 1 : 1;
		if (spec->links[order[i]].name)
			snprintf(wire->name, sizeof(wire->name), "%s", spec->links[order[i]].name);
		else if (run == 1)
			snprintf(wire->name, sizeof(wire->name), "%s-%s", a, b);
		else
			snprintf(wire->name, sizeof(wire->name), "%s-%s-%zu", a, b, run);
	}
	qsort_r(order, spec->n_links, sizeof(*order), by_wire_name, plan->wires);
	for (i = 1; i < spec->n_links; i++)
		if (order[i] < twice &&
		    !strcmp(plan->wires[order[i - 1]].name, plan->wires[order[i]].name))
			twice = order[i];
	if (twice != SIZE_MAX)
		return err_at(err, spec->links[twice].mark, EINVAL, "link '%s' is there twice",
			      plan->wires[twice].name);
	return 0;
}

static struct end *end_of(const struct lab_plan *plan, const struct hop *hop)
{
	return &plan->wires[hop->link].end[hop->side];
}

/* Sort ends into their nodes, links in order: a counting sort. */
static void tie_up(struct lab_plan *plan)
{
	size_t n_nodes = plan->spec->n_nodes, n_links = plan->spec->n_links, l, i;
	unsigned int side;

	for (l = 0; l < n_links; l++)
		for (side = 0; side < 2; side++)
			plan->ends_from[plan->wires[l].end[side].node + 1]++;
	for (i = 0; i < n_nodes; i++)
		plan->ends_from[i + 1] += plan->ends_from[i];
	/* Filling from the back leaves ends_from[i + 1] at the start of node i: shift it down. */
	for (l = n_links; l-- > 0;)
		for (side = 2; side-- > 0;) {
			size_t node = plan->wires[l].end[side].node;

			plan->ends[--plan->ends_from[node + 1]] = (struct hop){l, side};
		}
	memmove(plan->ends_from, plan->ends_from + 1, n_nodes * sizeof(*plan->ends_from));
	plan->ends_from[n_nodes] = 2 * n_links;
}

static int by_ifname(const void *a, const void *b, void *plan)
{
	const struct hop *x = a, *y = b;
	int order = strcmp(end_of(plan, x)->ifname, end_of(plan, y)->ifname);

	return order ? order : (x->link > y->link) - (x->link < y->link);
}

static bool taken(const struct lab_plan *plan, const struct hop *sorted, size_t n, const char *name)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		int order = strcmp(name, end_of(plan, &sorted[mid])->ifname);

		if (!order)
			return true;
		if (order < 0)
			high = mid;
		else
			low = mid + 1;
	}
	return false;
}

/* sorted: room for all ends of the node. */
static int name_interfaces(struct lab_plan *plan, size_t node, struct hop *sorted, struct err *err)
{
	const struct hop *ends = plan->ends + plan->ends_from[node];
	size_t n = plan->ends_from[node + 1] - plan->ends_from[node], given = 0, i;
	unsigned int next = 0;

	for (i = 0; i < n; i++)
		if (*end_of(plan, &ends[i])->ifname)
			sorted[given++] = ends[i];
	qsort_r(sorted, given, sizeof(*sorted), by_ifname, plan);
	for (i = 1; i < given; i++)
		if (!strcmp(end_of(plan, &sorted[i - 1])->ifname, end_of(plan, &sorted[i])->ifname))
			return err_at(err, plan->spec->links[sorted[i].link].mark, EINVAL,
				      "node '%s' has two interfaces '%s'",
				      plan->spec->nodes[node].name,
				      end_of(plan, &sorted[i])->ifname);
	for (i = 0; i < n; i++) {
		char name[IF_NAME_MAX];

		if (*end_of(plan, &ends[i])->ifname)
			continue;
		do
			snprintf(name, sizeof(name), "eth%u", next++);
		while (taken(plan, sorted, given, name));
		memcpy(end_of(plan, &ends[i])->ifname, name, sizeof(name));
	}
	return 0;
}

static int check_links(struct lab_plan *plan, struct err *err)
{
	size_t n_links = plan->spec->n_links, i, *order;
	struct hop *sorted;
	int rc = 0;

	for (i = 0; i < n_links && !rc; i++)
		rc = check_link(plan, i, err);
	if (rc)
		return rc;
	order = malloc((n_links + 1) * sizeof(*order));
	sorted = malloc((2 * n_links + 1) * sizeof(*sorted));
	if (!order || !sorted) {
		rc = err_sys(err, ENOMEM, "cannot plan the lab");
		goto out;
	}
	for (i = 0; i < n_links; i++)
		order[i] = i;
	rc = name_links(plan, order, err);
	if (rc)
		goto out;
	tie_up(plan);
	for (i = 0; i < plan->spec->n_nodes && !rc; i++)
		rc = name_interfaces(plan, i, sorted, err);
	if (!rc)
		rc = plan_map(plan, err);
out:
	free(order);
	free(sorted);
	return rc;
}

int lab_plan_make(const struct lab_spec *spec, struct lab_plan **ret_plan, struct err *err)
{
	struct lab_plan *plan = calloc(1, sizeof(*plan));
	int rc = -ENOMEM;

	if (!plan)
		return err_sys(err, ENOMEM, "cannot plan the lab");
	plan->spec = spec;
	plan->wires = calloc(spec->n_links + 1, sizeof(*plan->wires));
	plan->by_name = calloc(spec->n_nodes + 1, sizeof(*plan->by_name));
	plan->ends_from = calloc(spec->n_nodes + 2, sizeof(*plan->ends_from));
	plan->ends = calloc(2 * spec->n_links + 1, sizeof(*plan->ends));
	if (!plan->wires || !plan->by_name || !plan->ends_from || !plan->ends)
		err_sys(err, ENOMEM, "cannot plan the lab");
	else
		rc = check_nodes(plan, err);
	if (!rc)
		rc = check_links(plan, err);
	if (!rc)
		rc = plan_subnets(plan, err);
	if (rc) {
		lab_plan_free(plan);
		return rc;
	}
	*ret_plan = plan;
	return 0;
}

void lab_plan_free(struct lab_plan *plan)
{
	if (!plan)
		return;
	free(plan->wires);
	free(plan->by_name);
	free(plan->ends_from);
	free(plan->ends);
	free(plan);
}

const struct wire *lab_plan_wire(const struct lab_plan *plan, size_t link)
{
	return &plan->wires[link];
}

bool plan_link_has(const struct lab_plan *plan, size_t link, int family)
{
	return family == AF_INET || plan->spec->links[link].mtu >= IPV6_MTU_MIN;
}
