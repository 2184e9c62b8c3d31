/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what a user can say about a lab: the options of nodes and links, and copies of a spec. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "topo/filter/filter.h"
#include "topo/lab.h"

const char *const offload_names[] = {
	"tx", "rx", "tso", "gso", "gro", "udp-segmentation", "gro-list", NULL,
};

const struct opt node_opts[] = {
	{
		.name = "forward",
		.type = OPT_BOOL,
		.offset = offsetof(struct node_spec, forward),
		.def = "no",
		.help = "forward packets of both families: make the node a router",
	},
	{0},
};

const struct opt link_opts[] = {
	{
		.name = "ends",
		.type = OPT_TEXT,
		.offset = offsetof(struct link_spec, ends),
		.metavar = "NODE[:IF],NODE[:IF]",
		.help = "the two nodes, and the names of the interfaces in them (default eth0, "
			"eth1 …)",
	},
	{
		.name = "net",
		.type = OPT_TEXT,
		.offset = offsetof(struct link_spec, net),
		.metavar = "PREFIX",
		.help = "IPv4 prefix; the first end gets .1, the second .2 "
			"(default: planned from 198.18.0.0/15)",
	},
	{
		.name = "net6",
		.type = OPT_TEXT,
		.offset = offsetof(struct link_spec, net6),
		.metavar = "PREFIX",
		.help = "IPv6 prefix; the first end gets ::1, the second ::2 "
			"(default: planned from 2001:2::/48)",
	},
	{
		.name = "mtu",
		.type = OPT_COUNT,
		.offset = offsetof(struct link_spec, mtu),
		.def = "1500",
		.min = 68,
		.max = 65535,
		.help = "largest IP packet in bytes; below 1280 the link carries no IPv6",
	},
	{
		.name = "queues",
		.type = OPT_COUNT,
		.offset = offsetof(struct link_spec, queues),
		.def = "1",
		.min = 1,
		.max = 64,
		.help = "transmit and receive queues of either end",
	},
	{
		.name = "offloads",
		.type = OPT_SET,
		.offset = offsetof(struct link_spec, offloads),
		.def = "off",
		.choices = offload_names,
		.help = "what stays on at both ends: off, on, or a comma list",
	},
	{0},
};

void lab_spec_release(struct lab_spec *spec)
{
	size_t i;

	if (!spec)
		return;
	for (i = 0; spec->nodes && i < spec->n_nodes; i++) {
		opts_release(node_opts, &spec->nodes[i]);
		free(spec->nodes[i].name);
	}
	for (i = 0; spec->links && i < spec->n_links; i++) {
		opts_release(link_opts, &spec->links[i]);
		free(spec->links[i].name);
	}
	for (i = 0; spec->filters && i < spec->n_filters; i++)
		filter_spec_release(&spec->filters[i]);
	free(spec->nodes);
	free(spec->links);
	free(spec->filters);
	free(spec->name);
	*spec = (struct lab_spec){0};
}

/* opts_copy copies the whole struct, so what is not an option needs a duplicate of its own. */
static int copy_member(const struct opt *opts, size_t size, void *dst, const void *src, char **name)
{
	int rc = opts_copy(opts, size, dst, src);
	const char *borrowed = *name;

	*name = NULL;
	if (rc || !borrowed)
		return rc;
	*name = strdup(borrowed);
	return *name ? 0 : -ENOMEM;
}

int lab_spec_copy(struct lab_spec *dst, const struct lab_spec *src)
{
	struct lab_spec copy = {.mark = src->mark};
	int rc = 0;

	copy.name = src->name ? strdup(src->name) : NULL;
	copy.nodes = calloc(src->n_nodes + 1, sizeof(*copy.nodes));
	copy.links = calloc(src->n_links + 1, sizeof(*copy.links));
	copy.filters = calloc(src->n_filters + 1, sizeof(*copy.filters));
	if (!copy.nodes || !copy.links || !copy.filters || (src->name && !copy.name))
		rc = -ENOMEM;
	while (!rc && copy.n_nodes < src->n_nodes) {
		struct node_spec *node = &copy.nodes[copy.n_nodes];

		rc = copy_member(node_opts, sizeof(*node), node, &src->nodes[copy.n_nodes],
				 &node->name);
		copy.n_nodes++;
	}
	while (!rc && copy.n_links < src->n_links) {
		struct link_spec *link = &copy.links[copy.n_links];

		rc = copy_member(link_opts, sizeof(*link), link, &src->links[copy.n_links],
				 &link->name);
		copy.n_links++;
	}
	while (!rc && copy.n_filters < src->n_filters) {
		rc = filter_spec_copy(&copy.filters[copy.n_filters], &src->filters[copy.n_filters]);
		copy.n_filters++;
	}
	if (rc) {
		lab_spec_release(&copy);
		return rc;
	}
	*dst = copy;
	return 0;
}
