/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the drawing of a lab. Everything is read from the plan, so it needs no privilege. */
#include "cmd/show.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/columns.h"
#include "cmd/output.h"
#include "topo/filter/filter.h"
#include "topo/lab.h"

/* Deeper branches are drawn at this depth; and as many paths are shown without being asked. */
enum { DEPTH_MAX = 16, PATHS_MAX = 12 };

static size_t other_node(const struct wire *wire, size_t node)
{
	return wire->end[wire->end[0].node == node].node;
}

static bool touches(const struct wire *wire, size_t node)
{
	return wire->end[0].node == node || wire->end[1].node == node;
}

/* One line of the tree: a node, and the link over which it was reached. */
struct branch {
	size_t node, link;
	unsigned int depth; /* 0: no link, a root */
	bool again;	    /* the node is drawn further up */
};

struct tree {
	const struct lab_plan *plan;
	const struct lab_spec *spec;
	bool *node_drawn, *link_drawn;
	struct branch *stack, *lines;
	size_t n, n_lines;
};

/* Depth first, without recursion: a chain may have thousands of nodes. */
static void walk(struct tree *tree, size_t root)
{
	tree->stack[tree->n++] = (struct branch){.node = root};
	while (tree->n) {
		struct branch b = tree->stack[--tree->n];

		if (b.depth && tree->link_drawn[b.link])
			continue;
		if (b.depth)
			tree->link_drawn[b.link] = true;
		b.again = tree->node_drawn[b.node];
		tree->lines[tree->n_lines++] = b;
		if (b.again)
			continue;
		tree->node_drawn[b.node] = true;
		/* Backwards, so that the first link comes off the stack first. */
		for (size_t i = tree->spec->n_links; i-- > 0;) {
			const struct wire *wire = lab_plan_wire(tree->plan, i);

			if (touches(wire, b.node) && !tree->link_drawn[i])
				tree->stack[tree->n++] =
					(struct branch){.node = other_node(wire, b.node),
							.link = i,
							.depth = b.depth + 1};
		}
	}
}

/* True when a line at `depth` follows before the branch it hangs on ends. */
static bool more_follows(const struct tree *tree, size_t line, unsigned int depth)
{
	for (size_t i = line + 1; i < tree->n_lines && tree->lines[i].depth >= depth; i++)
		if (tree->lines[i].depth == depth)
			return true;
	return false;
}

static void print_line(const struct tree *tree, size_t line, FILE *out)
{
	const struct branch *b = &tree->lines[line];
	const struct node_spec *node = &tree->spec->nodes[b->node];
	unsigned int first = b->depth > DEPTH_MAX ? b->depth - DEPTH_MAX : 1;

	fputs("  ", out);
	for (unsigned int d = first; d < b->depth; d++)
		fputs(more_follows(tree, line, d) ? "│   " : "    ", out);
	if (b->depth)
		fprintf(out, "%s── %s ── ", more_follows(tree, line, b->depth) ? "├" : "└",
			lab_plan_wire(tree->plan, b->link)->name);
	fprintf(out, "%s%s%s\n", node->name, node->forward ? " (forwards)" : "",
		b->again ? " (see above)" : "");
}

static int draw_tree(const struct lab_plan *plan, const struct lab_spec *spec, FILE *out)
{
	struct tree tree = {.plan = plan, .spec = spec};
	int r = -ENOMEM;

	tree.node_drawn = calloc(spec->n_nodes, sizeof(*tree.node_drawn));
	tree.link_drawn = calloc(spec->n_links + 1, sizeof(*tree.link_drawn));
	/* A link is pushed at most once from each of its ends, and drawn once. */
	tree.stack = calloc(2 * spec->n_links + 1, sizeof(*tree.stack));
	tree.lines = calloc(spec->n_nodes + spec->n_links, sizeof(*tree.lines));
	if (tree.node_drawn && tree.link_drawn && tree.stack && tree.lines) {
		for (size_t i = 0; i < spec->n_nodes; i++)
			if (!tree.node_drawn[i])
				walk(&tree, i);
		for (size_t i = 0; i < tree.n_lines; i++)
			print_line(&tree, i, out);
		r = 0;
	}
	free(tree.node_drawn);
	free(tree.link_drawn);
	free(tree.stack);
	free(tree.lines);
	return r;
}

struct end_text {
	char where[NODE_NAME_MAX + IF_NAME_MAX + 1];
	char addr[INET_ADDRSTRLEN + 4], addr6[INET6_ADDRSTRLEN + 4], mac[18];
};

static void end_text(const struct lab_spec *spec, const struct wire *wire, unsigned int side,
		     struct end_text *ret)
{
	const struct end *end = &wire->end[side];
	char addr[INET6_ADDRSTRLEN];
	const uint8_t *m = end->mac;

	snprintf(ret->where, sizeof(ret->where), "%s:%s", spec->nodes[end->node].name, end->ifname);
	inet_ntop(AF_INET, &end->addr, addr, sizeof(addr));
	snprintf(ret->addr, sizeof(ret->addr), "%.15s/%u", addr, wire->prefix);
	inet_ntop(AF_INET6, &end->addr6, addr, sizeof(addr));
	*ret->addr6 = '\0';
	if (wire->prefix6) /* 0: the link is too narrow for IPv6 */
		snprintf(ret->addr6, sizeof(ret->addr6), "%s/%u", addr, wire->prefix6);
	snprintf(ret->mac, sizeof(ret->mac), "%02x:%02x:%02x:%02x:%02x:%02x", m[0], m[1], m[2],
		 m[3], m[4], m[5]);
}

/* The options of a link that are not what they would be by themselves. */
static void link_settings(const struct link_spec *link, char *buf, size_t len)
{
	char value[128];
	size_t at = 0;

	*buf = '\0';
	for (const struct opt *opt = link_opts; opt->name && at < len; opt++) {
		if (opt->type == OPT_TEXT || opt->type == OPT_LIST)
			continue;
		opt_text(opt, link, value, sizeof(value));
		at += (size_t)snprintf(buf + at, len - at, "%s%s %s", at ? ", " : "", opt->name,
				       value);
	}
}

static void add_end(struct columns *table, const struct lab_spec *spec, const struct wire *wire,
		    unsigned int side, const char *name, const char *settings)
{
	struct end_text text = {0};
	const char *cells[] = {name, text.where, text.addr, text.addr6, settings};

	end_text(spec, wire, side, &text);
	columns_add(table, cells);
}

static int print_links(const struct lab_plan *plan, const struct lab_spec *spec, FILE *out)
{
	static const struct column column[] = {{"link", false},
					       {"end", false},
					       {"IPv4", false},
					       {"IPv6", false},
					       {"settings", true}};
	struct columns *table = columns_new(column, sizeof(column) / sizeof(column[0]));
	char settings[256];
	int r;

	if (!table)
		return -ENOMEM;
	for (size_t i = 0; i < spec->n_links; i++) {
		const struct wire *wire = lab_plan_wire(plan, i);

		link_settings(&spec->links[i], settings, sizeof(settings));
		add_end(table, spec, wire, 0, wire->name, settings);
		add_end(table, spec, wire, 1, "", "");
	}
	r = spec->n_links ? columns_print(table, 0, output_width(out), false, out) : 0;
	columns_free(table);
	return r;
}

/* What is not as it would be by itself: "drop, rules 100, hit first". */
static void filter_settings(const struct filter_spec *filter, char *buf, size_t len)
{
	struct filter_spec plain;
	char value[512], usual[512];
	size_t at;

	at = (size_t)snprintf(buf, len, "%s",
			      filter_of(filter)->attach ? "" : "nothing, to compare with");
	if (!filter_of(filter)->attach || filter_spec_init(&plain, NULL))
		return;
	for (const struct opt *opt = filter_opts; opt->name && at < len; opt++) {
		bool named = !strcmp(opt->name, "stage") || !strcmp(opt->name, "node");
		bool always = !strcmp(opt->name, "action") || !strcmp(opt->name, "rules");

		opt_text(opt, filter, value, sizeof(value));
		opt_text(opt, &plain, usual, sizeof(usual));
		if (!named && (always || strcmp(value, usual) != 0))
			at += (size_t)snprintf(buf + at, len - at, "%s%s %s", at ? ", " : "",
					       opt->name, value);
	}
	filter_spec_release(&plain);
}

static int print_filters(const struct lab_plan *plan, const struct lab_spec *spec, FILE *out)
{
	static const struct column column[] = {
		{"filter", false}, {"node", false}, {"settings", true}};
	struct columns *table;
	int r = 0;

	if (!spec->n_filters)
		return 0;
	table = columns_new(column, sizeof(column) / sizeof(column[0]));
	if (!table)
		return -ENOMEM;
	for (size_t i = 0; i < spec->n_filters && !r; i++) {
		const struct filter_spec *filter = &spec->filters[i];
		int node = lab_plan_filter_node(plan, i, NULL);
		char settings[4200];
		const char *cells[] = {filter_of(filter)->kind.name,
				       node < 0 ? filter->node : spec->nodes[node].name, settings};

		filter_settings(filter, settings, sizeof(settings));
		columns_add(table, cells);
	}
	fputc('\n', out);
	r = columns_print(table, 0, output_width(out), false, out);
	columns_free(table);
	return r;
}

/* "client → server  198.18.0.1 → 198.18.1.2  through router" */
static void print_path(const struct lab_plan *plan, const struct lab_spec *spec, size_t from,
		       size_t to, FILE *out)
{
	struct sockaddr_storage a, b;
	char text_a[INET_ADDRSTRLEN], text_b[INET_ADDRSTRLEN];
	struct hop *hops = NULL;
	struct err err;
	int n;

	n = lab_plan_path(plan, from, to, &hops, &err);
	if (n < 0 || lab_plan_addresses(plan, from, to, AF_INET, &a, &b, &err)) {
		fprintf(out, "  %s → %s: no way\n", spec->nodes[from].name, spec->nodes[to].name);
		free(hops);
		return;
	}
	inet_ntop(AF_INET, &((struct sockaddr_in *)&a)->sin_addr, text_a, sizeof(text_a));
	inet_ntop(AF_INET, &((struct sockaddr_in *)&b)->sin_addr, text_b, sizeof(text_b));
	fprintf(out, "  %s → %s  %s → %s", spec->nodes[from].name, spec->nodes[to].name, text_a,
		text_b);
	for (int i = 0; i + 1 < n; i++) {
		const struct wire *wire = lab_plan_wire(plan, hops[i].link);

		fprintf(out, "%s%s", i ? ", " : "  through ",
			spec->nodes[wire->end[!hops[i].side].node].name);
	}
	fputc('\n', out);
	free(hops);
}

/* Between nodes that do not forward: those are where loads run. */
static void print_paths(const struct lab_plan *plan, const struct lab_spec *spec, bool all,
			FILE *out)
{
	size_t shown = 0, left = 0;

	for (size_t i = 0; i < spec->n_nodes; i++) {
		for (size_t j = i + 1; j < spec->n_nodes; j++) {
			if (spec->nodes[i].forward || spec->nodes[j].forward)
				continue;
			if (!all && shown == PATHS_MAX) {
				left++;
				continue;
			}
			if (!shown++)
				fputs("\nPaths:\n", out);
			print_path(plan, spec, i, j, out);
		}
	}
	if (left)
		fprintf(out, "  … and %zu more (-v shows all)\n", left);
}

int show_text(const struct lab_spec *spec, const char *name, bool all, FILE *out, struct err *err)
{
	struct lab_plan *plan;
	int r;

	r = lab_plan_make(spec, &plan, err);
	if (r)
		return r;
	fprintf(out, "Lab '%s': %zu node%s, %zu link%s", name, spec->n_nodes, PLURAL(spec->n_nodes),
		spec->n_links, PLURAL(spec->n_links));
	if (spec->n_filters)
		fprintf(out, ", %zu filter%s", spec->n_filters, PLURAL(spec->n_filters));
	fputs("\n\n", out);
	r = draw_tree(plan, spec, out);
	fputc('\n', out);
	if (!r)
		r = print_links(plan, spec, out);
	if (!r)
		r = print_filters(plan, spec, out);
	if (!r)
		print_paths(plan, spec, all, out);
	lab_plan_free(plan);
	return r ? err_sys(err, r, "cannot draw lab '%s'", name) : 0;
}

static json_t *json_end(const struct lab_spec *spec, const struct wire *wire, unsigned int side)
{
	struct end_text text = {0};

	end_text(spec, wire, side, &text);
	return json_pack("{s:s, s:s, s:s, s:s, s:s}", "node",
			 spec->nodes[wire->end[side].node].name, "interface",
			 wire->end[side].ifname, "address", text.addr, "address6", text.addr6,
			 "mac", text.mac);
}

static json_t *json_filter(const struct lab_spec *spec, size_t i, const struct lab_plan *plan)
{
	json_t *doc = json_object();
	int node = lab_plan_filter_node(plan, i, NULL);
	char value[4200];

	for (const struct opt *opt = filter_opts; opt->name; opt++) {
		opt_text(opt, &spec->filters[i], value, sizeof(value));
		json_object_set_new(doc, opt->name, json_string(value));
	}
	if (node >= 0)
		json_object_set_new(doc, "node", json_string(spec->nodes[node].name));
	return doc;
}

json_t *show_json(const struct lab_spec *spec, const char *name, struct err *err)
{
	json_t *nodes, *links, *filters_list, *doc;
	struct lab_plan *plan;

	if (lab_plan_make(spec, &plan, err))
		return NULL;
	nodes = json_array();
	for (size_t i = 0; i < spec->n_nodes; i++)
		json_array_append_new(nodes, json_pack("{s:s, s:b}", "name", spec->nodes[i].name,
						       "forward", spec->nodes[i].forward));
	links = json_array();
	for (size_t i = 0; i < spec->n_links; i++) {
		const struct wire *wire = lab_plan_wire(plan, i);
		json_t *link = json_pack("{s:s, s:[o, o]}", "name", wire->name, "ends",
					 json_end(spec, wire, 0), json_end(spec, wire, 1));
		char value[128];

		for (const struct opt *opt = link_opts; opt->name; opt++) {
			if (opt->type == OPT_TEXT || opt->type == OPT_LIST)
				continue;
			opt_text(opt, &spec->links[i], value, sizeof(value));
			json_object_set_new(link, opt->name, json_string(value));
		}
		json_array_append_new(links, link);
	}
	filters_list = json_array();
	for (size_t i = 0; i < spec->n_filters; i++)
		json_array_append_new(filters_list, json_filter(spec, i, plan));
	lab_plan_free(plan);
	doc = json_pack("{s:s, s:o, s:o, s:o}", "name", name, "nodes", nodes, "links", links,
			"filters", filters_list);
	if (!doc)
		err_set(err, ENOMEM, "out of memory");
	return doc;
}
