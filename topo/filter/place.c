/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the filters of a lab in their places: where each goes, and what it holds while it is there. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "topo/filter/filter.h"
#include "topo/node.h"
#include "topo/plan.h"

struct filter_place {
	const struct filter *filter;
	size_t node;
	struct filter_device *devices;
	size_t n_devices;
	void *state;
	bool attached;
};

/* The first router, else the last node. */
static int default_node(const struct lab_spec *spec)
{
	for (size_t i = 0; i < spec->n_nodes; i++)
		if (spec->nodes[i].forward)
			return (int)i;
	return (int)spec->n_nodes - 1;
}

int lab_plan_filter_node(const struct lab_plan *plan, size_t filter, struct err *err)
{
	const struct filter_spec *spec = &plan->spec->filters[filter];
	struct err why;
	int node;

	if (!spec->node)
		return default_node(plan->spec);
	node = lab_plan_node(plan, spec->node, &why);
	return node < 0 ? err_at(err, spec->mark, EINVAL, "filter '%s': %s",
				 filter_of(spec)->kind.name, why.text)
			: node;
}

/* Every link end of the node, or the one that the spec names. */
static int find_devices(const struct lab *lab, const struct filter_spec *spec,
			struct filter_place *place, struct err *err)
{
	const struct lab_plan *plan = lab->plan;
	const char *node = lab->spec.nodes[place->node].name;
	const size_t first = plan->ends_from[place->node], end = plan->ends_from[place->node + 1];

	place->devices = calloc(end - first + 1, sizeof(*place->devices));
	if (!place->devices)
		return err_sys(err, ENOMEM, "cannot place a filter in node '%s'", node);
	for (size_t e = first; e < end; e++) {
		const struct hop *hop = &plan->ends[e];
		const struct end *dev = &plan->wires[hop->link].end[hop->side];

		if (spec->on && strcmp(spec->on, dev->ifname) != 0)
			continue;
		place->devices[place->n_devices++] = (struct filter_device){
			.ifname = dev->ifname,
			.ifindex = dev->ifindex,
			.mac = dev->mac,
			.link = hop->link,
			.side = hop->side,
		};
	}
	if (spec->on && !place->n_devices)
		return err_at(err, spec->mark, EINVAL,
			      "filter '%s': node '%s' has no interface '%s'",
			      filter_of(spec)->kind.name, node, spec->on);
	return 0;
}

/* The addresses of the last node, and the device towards it. */
struct target {
	char addr[INET_ADDRSTRLEN], addr6[INET6_ADDRSTRLEN];
	const char *out;
};

static void find_target(const struct lab *lab, size_t node, struct target *ret)
{
	const struct lab_plan *plan = lab->plan;
	const size_t last = lab->spec.n_nodes - 1;
	struct sockaddr_storage from, to;
	struct hop *hops;
	int n;

	*ret = (struct target){0};
	if (node == last)
		return;
	if (!lab_plan_addresses(plan, node, last, AF_INET, &from, &to, NULL))
		inet_ntop(AF_INET, &((struct sockaddr_in *)&to)->sin_addr, ret->addr,
			  sizeof(ret->addr));
	if (!lab_plan_addresses(plan, node, last, AF_INET6, &from, &to, NULL))
		inet_ntop(AF_INET6, &((struct sockaddr_in6 *)&to)->sin6_addr, ret->addr6,
			  sizeof(ret->addr6));
	n = lab_plan_path(plan, node, last, &hops, NULL);
	if (n > 0)
		ret->out = plan->wires[hops[0].link].end[hops[0].side].ifname;
	if (n >= 0)
		free(hops);
}

static int attach(struct lab *lab, size_t i, struct err *err)
{
	const struct filter_spec *spec = &lab->spec.filters[i];
	struct filter_place *place = &lab->places[i];
	struct filter_site site = {.spec = spec};
	struct target target;
	int r = lab_plan_filter_node(lab->plan, i, err);

	if (r < 0)
		return r;
	place->node = (size_t)r;
	place->filter = filter_of(spec);
	if (!place->filter->attach)
		return 0;
	r = find_devices(lab, spec, place, err);
	if (!r)
		r = lab_enter(lab, place->node, err);
	if (r)
		return r;
	find_target(lab, place->node, &target);
	site.node = lab->spec.nodes[place->node].name;
	site.devices = place->devices;
	site.n_devices = place->n_devices;
	site.forwards = lab->spec.nodes[place->node].forward;
	site.dnat = target.addr[0] ? target.addr : NULL;
	site.dnat6 = target.addr6[0] ? target.addr6 : NULL;
	site.out = target.out;
	r = place->filter->attach(&site, &place->state, err);
	place->attached = !r;
	if (r)
		err_prefix(err, "filter '%s' in node '%s'", place->filter->kind.name, site.node);
	return r;
}

int lab_filter(struct lab *lab, struct err *err)
{
	int back, r = 0;
	struct err lost;

	if (!lab->spec.n_filters)
		return 0;
	lab->places = calloc(lab->spec.n_filters, sizeof(*lab->places));
	if (!lab->places)
		return err_sys(err, ENOMEM, "cannot place the filters of lab '%s'", lab->spec.name);
	back = netns_open_current(err);
	if (back < 0)
		return back;
	for (size_t i = 0; !r && i < lab->spec.n_filters; i++)
		r = attach(lab, i, err);
	if (netns_enter(back, "the namespace of the caller again", &lost) && !r) {
		r = -EPERM;
		*err = lost;
	}
	close(back);
	return r;
}

void lab_unfilter(struct lab *lab)
{
	for (size_t i = lab->places ? lab->spec.n_filters : 0; i-- > 0;) {
		struct filter_place *place = &lab->places[i];

		if (place->state)
			place->filter->detach(place->state);
		free(place->devices);
	}
	free(lab->places);
	lab->places = NULL;
}

int lab_filter_counters(struct lab *lab, size_t filter, struct filter_counters *ret,
			struct err *err)
{
	const struct filter_place *place = lab->places ? &lab->places[filter] : NULL;

	*ret = (struct filter_counters){.exact = true};
	if (!place || !place->attached || !place->filter->read)
		return 0;
	return place->filter->read(place->state, ret, err);
}

int lab_filter_socket(const struct lab *lab, size_t filter)
{
	const struct filter_place *place = lab->places ? &lab->places[filter] : NULL;

	return place && place->attached && place->filter->socket
		       ? place->filter->socket(place->state)
		       : -1;
}

enum xdp_hook lab_xdp_hook(const struct lab *lab, size_t link, unsigned int side)
{
	for (size_t i = 0; lab->places && i < lab->spec.n_filters; i++) {
		const struct filter_place *place = &lab->places[i];

		for (size_t d = 0; place->attached && place->filter->xdp && d < place->n_devices;
		     d++)
			if (place->devices[d].link == link && place->devices[d].side == side)
				return place->filter->xdp;
	}
	return XDP_HOOK_FREE;
}
