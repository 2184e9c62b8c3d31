/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the option map, and the names that it gives to the interfaces of a plan. */
#include "topo/filter/map.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "topo/filter/filter.h"
#include "topo/plan.h"

static bool take_name(char to[IF_NAME_MAX], const char *from, size_t len)
{
	if (len >= IF_NAME_MAX)
		return false;
	memcpy(to, from, len);
	to[len] = '\0';
	return plan_name_ok(to, IF_NAME_MAX) && strcmp(to, "lo") != 0 && strcmp(to, "all") != 0 &&
	       strcmp(to, "default") != 0;
}

static bool take_pair(struct filter_rename *to, const char *text, size_t len)
{
	const char *equals = memchr(text, '=', len);
	size_t first = equals ? (size_t)(equals - text) : len;

	return equals && take_name(to->from, text, first) &&
	       take_name(to->to, equals + 1, len - first - 1);
}

int filter_map(const struct filter_spec *spec, struct filter_rename **ret, size_t *ret_n,
	       struct err *err)
{
	struct filter_rename *pairs = NULL, *more;
	size_t n = 0;

	for (size_t i = 0; i < spec->map.n; i++) {
		const char *at = spec->map.list[i], *end;

		for (;; at = end + 1, n++) {
			end = strchrnul(at, ',');
			more = reallocarray(pairs, n + 1, sizeof(*pairs));
			if (!more) {
				free(pairs);
				return err_sys(err, ENOMEM, "cannot map interfaces");
			}
			pairs = more;
			if (!take_pair(&pairs[n], at, (size_t)(end - at))) {
				free(pairs);
				return err_at(err, spec->mark, EINVAL,
					      "map '%.40s' must read 'interface=name'", at);
			}
			if (!*end)
				break;
		}
		n++;
	}
	*ret = pairs;
	*ret_n = n;
	return 0;
}

/* An interface and the name it is to get, collected before any gets one: names may be swapped. */
struct renamed {
	struct end *end;
	char name[IF_NAME_MAX];
	struct mark mark;
};

struct renames {
	struct renamed *list;
	size_t n;
};

static struct end *find_end(const struct lab_plan *plan, size_t node, const char *ifname)
{
	for (size_t e = plan->ends_from[node]; e < plan->ends_from[node + 1]; e++) {
		struct end *end = &plan->wires[plan->ends[e].link].end[plan->ends[e].side];

		if (!strcmp(end->ifname, ifname))
			return end;
	}
	return NULL;
}

static int no_interface(const struct lab_plan *plan, size_t node, const char *ifname,
			struct mark mark, struct err *err)
{
	char names[128] = "none";
	size_t at = 0;

	for (size_t e = plan->ends_from[node]; e < plan->ends_from[node + 1] && at < sizeof(names);
	     e++)
		at += (size_t)snprintf(
			names + at, sizeof(names) - at, "%s%s", at ? ", " : "",
			plan->wires[plan->ends[e].link].end[plan->ends[e].side].ifname);
	return err_at(err, mark, EINVAL, "map: node '%s' has no interface '%s'; it has: %s",
		      plan->spec->nodes[node].name, ifname, names);
}

static int add(const struct lab_plan *plan, struct renames *renames, size_t node,
	       const struct filter_rename *pair, struct mark mark, struct err *err)
{
	struct end *end = find_end(plan, node, pair->from);
	struct renamed *more;

	if (!end)
		return no_interface(plan, node, pair->from, mark, err);
	for (size_t i = 0; i < renames->n; i++)
		if (renames->list[i].end == end) {
			if (!strcmp(renames->list[i].name, pair->to))
				return 0;
			return err_at(err, mark, EINVAL,
				      "map: interface '%s' of node '%s' gets two names: '%s' and "
				      "'%s'",
				      pair->from, plan->spec->nodes[node].name,
				      renames->list[i].name, pair->to);
		}
	more = reallocarray(renames->list, renames->n + 1, sizeof(*more));
	if (!more)
		return err_sys(err, ENOMEM, "cannot map interfaces");
	renames->list = more;
	more += renames->n++;
	*more = (struct renamed){.end = end, .mark = mark};
	memcpy(more->name, pair->to, sizeof(more->name));
	return 0;
}

static int collect(const struct lab_plan *plan, size_t filter, struct renames *renames,
		   struct err *err)
{
	const struct filter_spec *spec = &plan->spec->filters[filter];
	int node = lab_plan_filter_node(plan, filter, err), r;
	struct filter_rename *pairs = NULL;
	size_t n = 0;

	if (node < 0)
		return node;
	r = filter_map(spec, &pairs, &n, err);
	for (size_t i = 0; !r && i < n; i++)
		r = add(plan, renames, (size_t)node, &pairs[i], spec->mark, err);
	free(pairs);
	return r;
}

static int apply(const struct lab_plan *plan, const struct renames *renames, struct err *err)
{
	for (size_t i = 0; i < renames->n; i++)
		memcpy(renames->list[i].end->ifname, renames->list[i].name, IF_NAME_MAX);
	/* Interfaces without a new name keep theirs, which may be the one that another gets. */
	for (size_t i = 0; i < renames->n; i++) {
		const struct renamed *this = &renames->list[i];
		const size_t node = this->end->node;
		size_t same = 0;

		for (size_t e = plan->ends_from[node]; e < plan->ends_from[node + 1]; e++) {
			const struct hop *hop = &plan->ends[e];

			same += !strcmp(plan->wires[hop->link].end[hop->side].ifname, this->name);
		}
		if (same > 1)
			return err_at(err, this->mark, EINVAL,
				      "map: node '%s' would have two interfaces '%s'",
				      plan->spec->nodes[node].name, this->name);
	}
	return 0;
}

int plan_map(struct lab_plan *plan, struct err *err)
{
	struct renames renames = {0};
	int r = 0;

	for (size_t f = 0; !r && f < plan->spec->n_filters; f++)
		if (plan->spec->filters[f].map.n)
			r = collect(plan, f, &renames, err);
	if (!r)
		r = apply(plan, &renames, err);
	free(renames.list);
	return r;
}
