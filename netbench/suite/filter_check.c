/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the checks of filters, each asked of its stage once a plan, and whose fault a refusal is. */
#include "suite/filter_check.h"

#include <errno.h>
#include <search.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "topo/filter/filter.h"
#include "topo/lab.h"

struct answer {
	char *key; /* every option as text: equal for equal filters */
	int ret;
	struct err why;
};

static int compare(const void *a, const void *b)
{
	return strcmp(((const struct answer *)a)->key, ((const struct answer *)b)->key);
}

static void answer_free(void *answer)
{
	free(((struct answer *)answer)->key);
	free(answer);
}

void filter_checks_release(struct filter_checks *checks)
{
	tdestroy(checks->tree, answer_free);
	checks->tree = NULL;
}

static int no_memory(struct err *err)
{
	return err_set(err, ENOMEM, "out of memory");
}

/* filter_check(), asked once for equal filters. */
static int ask(const struct filter_spec *spec, struct filter_checks *checks, struct err *err)
{
	struct answer *answer = calloc(1, sizeof(*answer)), **found;

	if (!answer)
		return no_memory(err);
	answer->key = opts_text(filter_opts, spec, NULL);
	found = answer->key ? tsearch(answer, &checks->tree, compare) : NULL;
	if (!found) {
		answer_free(answer);
		return no_memory(err);
	}
	if (*found == answer)
		answer->ret = filter_check(spec, &answer->why);
	else
		answer_free(answer);
	*err = (*found)->why;
	return (*found)->ret;
}

/* "FILE:LINE:COL: …", FILE being the user's ruleset or one that it includes. */
static bool starts_with_place(const char *text)
{
	size_t n = strcspn(text, " :"), digits;

	for (int i = 0; i < 2; i++) {
		if (!n || text[n] != ':')
			return false;
		digits = strspn(text + n + 1, "0123456789");
		if (!digits)
			return false;
		n += 1 + digits;
	}
	return text[n] == ':';
}

/* The place in the user's own ruleset tells more than that of the filter, so it stands alone. */
static int refuse(const struct filter_spec *spec, const struct err *why, struct err *err)
{
	const char *colon = strstr(why->text, ": ");

	if (spec->file && starts_with_place(why->text))
		return err_set(err, EINVAL, "%s", why->text);
	if (spec->file && colon && starts_with_place(colon + 2))
		return err_set(err, EINVAL, "%s", colon + 2);
	return err_at(err, spec->mark, EINVAL, "%s", why->text);
}

/* A chain at forward sees nothing where nothing is forwarded. */
static int check_forwards(const struct lab_spec *lab, const struct filter_spec *spec, size_t node,
			  struct err *err)
{
	if (strcmp(filter_of(spec)->kind.name, "nft-forward") != 0 || lab->nodes[node].forward)
		return 0;
	return err_at(
		err, spec->mark, EINVAL,
		"filter 'nft-forward': node '%s' does not forward; it wants a router, as in the "
		"lab 'routed'",
		lab->nodes[node].name);
}

static int fill_in_node(struct lab_spec *lab, struct filter_spec *spec, size_t i,
			const struct lab_plan *plan, struct err *err)
{
	struct err why;
	int node;

	if (!spec->node) {
		node = lab_plan_filter_node(plan, i, err);
		if (node < 0)
			return node;
		spec->node = strdup(lab->nodes[node].name);
		return spec->node ? node : no_memory(err);
	}
	node = lab_plan_node(plan, spec->node, &why);
	return node < 0 ? err_at(err, spec->mark, EINVAL, "filter '%s': %s",
				 filter_of(spec)->kind.name, why.text)
			: node;
}

static int check_interface(const struct lab_spec *lab, const struct filter_spec *spec, size_t node,
			   const struct lab_plan *plan, struct err *err)
{
	const char *names[64], *near;
	size_t n = 0;

	if (!spec->on)
		return 0;
	for (size_t i = 0; i < lab->n_links; i++) {
		const struct wire *wire = lab_plan_wire(plan, i);

		for (unsigned int side = 0; side < 2; side++) {
			if (wire->end[side].node != node)
				continue;
			if (!strcmp(wire->end[side].ifname, spec->on))
				return 0;
			if (n < 64)
				names[n++] = wire->end[side].ifname;
		}
	}
	near = name_nearest(names, n, spec->on);
	return err_at(err, spec->mark, EINVAL, "filter '%s': node '%s' has no interface '%s'%s%s%s",
		      filter_of(spec)->kind.name, spec->node, spec->on,
		      near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

int filter_check_arm(struct lab_spec *lab, size_t i, const struct lab_plan *plan,
		     struct filter_checks *checks, struct err *err)
{
	struct filter_spec *spec = &lab->filters[i];
	struct err why = {0};
	int ret = fill_in_node(lab, spec, i, plan, err);

	if (ret >= 0) {
		const size_t node = (size_t)ret;

		ret = check_interface(lab, spec, node, plan, err);
		if (!ret)
			ret = check_forwards(lab, spec, node, err);
	}
	if (ret < 0)
		return ret;
	ret = ask(spec, checks, &why);
	if (!ret)
		return 0;
	if (ret == -EOPNOTSUPP || ret == -ENOMEM)
		return err_set(err, ret, "%s", why.text);
	return refuse(spec, &why, err);
}
