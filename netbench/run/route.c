/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the set of links and nodes that the loads of a trial cross. */
#include "run/route.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "load/lane.h"
#include "topo/filter/filter.h"
#include "topo/lab.h"

static int mark_path(const struct lab *lab, size_t from, size_t to, bool *links, bool *nodes,
		     struct err *err)
{
	struct hop *hops;
	int n = lab_plan_path(lab_plan(lab), from, to, &hops, err);

	if (n < 0)
		return n;
	for (int i = 0; i < n; i++) {
		const struct wire *wire = lab_plan_wire(lab_plan(lab), hops[i].link);

		links[hops[i].link] = true;
		nodes[wire->end[0].node] = nodes[wire->end[1].node] = true;
	}
	free(hops);
	return 0;
}

static int gather(const bool *marks, size_t n, size_t **ret, size_t *ret_n)
{
	*ret = calloc(n ? n : 1, sizeof(**ret));
	if (!*ret)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		if (marks[i])
			(*ret)[(*ret_n)++] = i;
	return 0;
}

int route_of(const struct lab *lab, const struct load_run *runs, size_t n_runs, struct route *ret,
	     struct err *err)
{
	const struct lab_spec *spec = lab_spec(lab);
	bool *links = calloc(spec->n_links + 1, sizeof(*links));
	bool *nodes = calloc(spec->n_nodes + 1, sizeof(*nodes));
	int r = links && nodes
			? 0
			: err_sys(err, ENOMEM, "cannot list the links of lab '%s'", spec->name);

	*ret = (struct route){0};
	for (size_t i = 0; !r && i < n_runs; i++) {
		if (!runs[i].load->traffic)
			continue;
		r = mark_path(lab, runs[i].from, runs[i].to, links, nodes, err);
		if (!r)
			r = mark_path(lab, runs[i].to, runs[i].from, links, nodes, err);
	}
	if (!r && (gather(links, spec->n_links, &ret->links, &ret->n_links) ||
		   gather(nodes, spec->n_nodes, &ret->nodes, &ret->n_nodes)))
		r = err_sys(err, ENOMEM, "cannot list the links of lab '%s'", spec->name);
	free(links);
	free(nodes);
	if (r)
		route_release(ret);
	return r;
}

int route_filter_node(const struct route *route, const struct lab *lab, size_t filter)
{
	const struct filter_spec *spec = &lab_spec(lab)->filters[filter];
	const int node = lab_plan_filter_node(lab_plan(lab), filter, NULL);

	if (!filter_of(spec)->attach)
		return -1;
	for (size_t i = 0; i < route->n_nodes; i++)
		if ((int)route->nodes[i] == node)
			return node;
	return -1;
}

void route_release(struct route *route)
{
	free(route->links);
	free(route->nodes);
	*route = (struct route){0};
}
