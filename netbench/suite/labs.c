/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the reading of labs: nodes, links and filters. Whether they fit together is lab_plan_make's to say. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "suite/read.h"
#include "topo/filter/filter.h"

enum { FILTERS_MAX = 64 };

/* NULL is -ENOMEM. */
static struct node_spec *add_node(struct lab_spec *lab, const char *name, struct mark mark,
				  struct err *err)
{
	struct node_spec *nodes = reallocarray(lab->nodes, lab->n_nodes + 1, sizeof(*nodes));
	struct node_spec *node;

	if (!nodes) {
		err_set(err, ENOMEM, "out of memory");
		return NULL;
	}
	lab->nodes = nodes;
	node = memset(&nodes[lab->n_nodes++], 0, sizeof(*node));
	node->mark = mark;
	node->name = strdup(name);
	if (!node->name)
		err_set(err, ENOMEM, "out of memory");
	return node->name && !opts_default(node_opts, node, err) ? node : NULL;
}

static struct link_spec *add_link(struct lab_spec *lab, struct mark mark, struct err *err)
{
	struct link_spec *links = reallocarray(lab->links, lab->n_links + 1, sizeof(*links));
	struct link_spec *link;

	if (!links) {
		err_set(err, ENOMEM, "out of memory");
		return NULL;
	}
	lab->links = links;
	link = memset(&links[lab->n_links++], 0, sizeof(*link));
	link->mark = mark;
	return opts_default(link_opts, link, err) ? NULL : link;
}

/* key: {options}, from a map of nodes or as the only entry of a map in a list of nodes. */
static int read_node(const struct tree_entry *entry, struct lab_spec *lab, struct err *err)
{
	struct node_spec *node = add_node(lab, entry->key, entry->key_mark, err);
	char where[TREE_KEY_MAX + 16];
	int ret;

	if (!node)
		return -ENOMEM;
	if (entry->value->kind == TREE_NOTHING)
		return 0;
	ret = read_kind(entry, TREE_MAP, entry->key, err);
	if (ret)
		return ret;
	snprintf(where, sizeof(where), "node '%s'", entry->key);
	return read_options(entry->value, node_opts, node, NULL, where, err);
}

static int read_node_item(const struct tree_value *item, struct lab_spec *lab, struct err *err)
{
	if (item->kind == TREE_TEXT)
		return add_node(lab, item->text, item->mark, err) ? 0 : -ENOMEM;
	if (item->kind == TREE_MAP && item->n == 1)
		return read_node(&item->entries[0], lab, err);
	return err_at(err, item->mark, EINVAL, "a node is a name or '{name: {options}}', not %s",
		      item->kind == TREE_MAP ? "this map" : tree_kind_name(item->kind));
}

static int read_nodes(const struct tree_entry *entry, struct lab_spec *lab, struct err *err)
{
	const struct tree_value *nodes = entry->value;
	int ret = 0;

	if (nodes->kind != TREE_LIST && nodes->kind != TREE_MAP)
		return err_at(err, nodes->mark, EINVAL, "'nodes' wants a list or a map, not %s",
			      tree_kind_name(nodes->kind));
	if (!nodes->n)
		return err_at(err, nodes->mark, EINVAL, "lab '%s' has no nodes", lab->name);
	if (nodes->n > LAB_NODES_MAX)
		return err_at(err, nodes->mark, EINVAL, "lab '%s' has more than %d nodes",
			      lab->name, LAB_NODES_MAX);
	for (size_t i = 0; i < nodes->n && !ret; i++)
		ret = nodes->kind == TREE_MAP ? read_node(&nodes->entries[i], lab, err)
					      : read_node_item(nodes->entries[i].value, lab, err);
	return ret;
}

static int read_link(const struct tree_entry *entry, struct lab_spec *lab, struct err *err)
{
	static const char *const keys[] = {"name", NULL};
	const struct tree_entry *name;
	struct link_spec *link;
	int ret;

	ret = read_kind(entry, TREE_MAP, "links", err);
	if (ret)
		return ret;
	link = add_link(lab, entry->value->mark, err);
	if (!link)
		return -ENOMEM;
	name = tree_find(entry->value, "name");
	if (name) {
		ret = read_kind(name, TREE_TEXT, "name", err);
		if (!ret)
			ret = read_name(name->value->text, name->value->mark, "link", "",
					&link->name, err);
		if (ret)
			return ret;
	}
	ret = read_options(entry->value, link_opts, link, keys, "link", err);
	if (!ret && !link->ends)
		ret = err_at(err, link->mark, EINVAL, "a link needs 'ends'");
	return ret;
}

static int read_links(const struct tree_entry *entry, struct lab_spec *lab, struct err *err)
{
	int ret = read_kind(entry, TREE_LIST, "links", err);

	if (!ret && entry->value->n > LAB_LINKS_MAX)
		return err_at(err, entry->value->mark, EINVAL, "lab '%s' has more than %d links",
			      lab->name, LAB_LINKS_MAX);
	for (size_t i = 0; !ret && i < entry->value->n; i++)
		ret = read_link(&entry->value->entries[i], lab, err);
	return ret;
}

struct filter_spec *lab_add_filter(struct lab_spec *lab, const char *stage, struct mark mark,
				   struct err *err)
{
	struct filter_spec *list = reallocarray(lab->filters, lab->n_filters + 1, sizeof(*list));
	struct filter_spec *filter;

	if (!list) {
		err_set(err, ENOMEM, "out of memory");
		return NULL;
	}
	lab->filters = list;
	filter = &list[lab->n_filters];
	if (filter_spec_init(filter, err))
		return NULL;
	lab->n_filters++;
	filter->mark = mark;
	return !stage || !opt_set(opts_find(filter_opts, "stage"), filter, stage, err) ? filter
										       : NULL;
}

/* "xdp" or {stage: xdp, rules: 100}. */
static int read_filter(const struct tree_value *value, struct lab_spec *lab, struct err *err)
{
	const char *stage = value->kind == TREE_TEXT ? value->text : NULL;
	struct filter_spec *filter;
	struct err why;

	if (!stage && value->kind != TREE_MAP)
		return err_at(err, value->mark, EINVAL,
			      "a filter is a stage or a map of options, not %s",
			      tree_kind_name(value->kind));
	filter = lab_add_filter(lab, stage, value->mark, &why);
	if (!filter)
		return err_at(err, value->mark, EINVAL, "%s", why.text);
	return stage ? 0 : read_options(value, filter_opts, filter, NULL, "filter", err);
}

static int read_filters(const struct tree_entry *entry, struct lab_spec *lab, struct err *err)
{
	int ret = read_kind(entry, TREE_LIST, "filters", err);

	if (!ret && entry->value->n > FILTERS_MAX)
		return err_at(err, entry->value->mark, EINVAL, "lab '%s' has more than %d filters",
			      lab->name, FILTERS_MAX);
	for (size_t i = 0; !ret && i < entry->value->n; i++)
		ret = read_filter(entry->value->entries[i].value, lab, err);
	return ret;
}

int read_lab(const struct tree_value *map, const char *const *more, struct lab_spec *lab,
	     struct err *err)
{
	const char *keys[8] = {"nodes", "links", "filters"};
	const struct tree_entry *nodes = tree_find(map, "nodes");
	const struct tree_entry *links = tree_find(map, "links");
	const struct tree_entry *filters_of = tree_find(map, "filters");
	char where[TREE_KEY_MAX + 16];
	size_t n = 3;
	int ret;

	for (; more && *more && n < 7; more++)
		keys[n++] = *more;
	snprintf(where, sizeof(where), "lab '%s'", lab->name);
	ret = read_options(map, NULL, NULL, keys, where, err);
	if (ret)
		return ret;
	if (!nodes)
		return err_at(err, map->mark, EINVAL, "lab '%s' has no 'nodes'", lab->name);
	ret = read_nodes(nodes, lab, err);
	if (!ret && links)
		ret = read_links(links, lab, err);
	return ret || !filters_of ? ret : read_filters(filters_of, lab, err);
}

int lab_pair(struct lab_spec *lab, struct err *err)
{
	struct mark nowhere = {0};
	struct link_spec *link;

	lab->name = strdup("pair");
	if (!lab->name)
		return err_set(err, ENOMEM, "out of memory");
	if (!add_node(lab, "a", nowhere, err) || !add_node(lab, "b", nowhere, err))
		return -ENOMEM;
	link = add_link(lab, nowhere, err);
	return link ? opt_set(opts_find(link_opts, "ends"), link, "a,b", err) : -ENOMEM;
}
