/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the question whether an arm makes sense, and whether it can run here. */
#include "suite/arm.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "load/load.h"
#include "search/search.h"
#include "suite/filter_check.h"
#include "suite/plan.h"

static int no_memory(struct err *err)
{
	return err_set(err, ENOMEM, "out of memory");
}

/* RFC 8200 §5: a link that carries less than 1280 bytes has no IPv6. */
static int check_family(struct arm *arm, const struct load_spec *spec, const struct hop *hops,
			int n, const struct lab_plan *plan, struct err *err)
{
	const struct traffic_cfg *cfg = spec->cfg;

	for (int i = 0; cfg->family && !arm->skip && i < n; i++) {
		const uint64_t mtu = arm->lab.links[hops[i].link].mtu;

		if (mtu >= 1280)
			continue;
		if (asprintf(&arm->skip, "%s: IPv6 needs an MTU of 1280, link '%s' has %u",
			     spec->load->kind.name, lab_plan_wire(plan, hops[i].link)->name,
			     (unsigned int)mtu) < 0) {
			arm->skip = NULL;
			return no_memory(err);
		}
	}
	return 0;
}

/* Do the packets fit through the narrowest link? */
static int check_mtu(const struct arm *arm, const struct load_spec *spec, const struct hop *hops,
		     int n, struct err *err)
{
	const uint64_t mtu = lab_path_mtu(&arm->lab, hops, n);
	struct err why;

	if (spec->load->check_mtu && spec->load->check_mtu(spec->cfg, mtu, &why))
		return err_at(err, spec->mark, EINVAL, "%s", why.text);
	return 0;
}

/* The ends of a traffic load: written down where left out, different, and joined by a path. */
static int check_path(struct arm *arm, const struct load_spec *spec, const struct lab_plan *plan,
		      struct err *err)
{
	const struct lab_spec *lab = &arm->lab;
	struct traffic_cfg *cfg = spec->cfg;
	struct hop *hops = NULL;
	struct err why;
	int from, to, ret, r;

	if (!spec->load->traffic)
		return 0;
	if (!lab->n_nodes)
		return err_at(err, spec->mark, EINVAL, "lab '%s' has no nodes", lab->name);
	if (!cfg->from)
		cfg->from = strdup(lab->nodes[0].name);
	if (!cfg->to)
		cfg->to = strdup(lab->nodes[lab->n_nodes - 1].name);
	if (!cfg->from || !cfg->to)
		return no_memory(err);
	from = lab_plan_node(plan, cfg->from, &why);
	if (from < 0)
		return err_at(err, spec->mark, EINVAL, "%s", why.text);
	to = lab_plan_node(plan, cfg->to, &why);
	if (to < 0)
		return err_at(err, spec->mark, EINVAL, "%s", why.text);
	if (from == to)
		return err_at(err, spec->mark, EINVAL, "load '%s' wants two nodes, not '%s' twice",
			      spec->load->kind.name, cfg->from);
	ret = lab_plan_path(plan, (size_t)from, (size_t)to, &hops, &why);
	if (ret < 0)
		return err_at(err, spec->mark, EINVAL, "%s", why.text);
	r = check_family(arm, spec, hops, ret, plan, err);
	if (!r)
		r = check_mtu(arm, spec, hops, ret, err);
	free(hops);
	return r;
}

static int check_load(struct arm *arm, const struct load_spec *spec, const char *prefix,
		      struct err *err)
{
	const struct kind *kind = &spec->load->kind;
	struct err why = {0};
	int ret = kind->check ? kind->check(spec->cfg, &why) : 0;

	if (!ret)
		return 0;
	if (ret != -EOPNOTSUPP)
		return err_at(err, spec->mark, EINVAL, "%s", why.text);
	if (arm->skip)
		return 0;
	err_prefix(&why, "%s%s", prefix, kind->name);
	arm->skip = strdup(why.text);
	return arm->skip ? 0 : no_memory(err);
}

/* plan may be that of the lab as written: its nodes are the same. */
static int check_filters(struct arm *arm, const struct lab_plan *plan, struct filter_checks *checks,
			 struct err *err)
{
	struct err why = {0};
	int ret = 0;

	for (size_t i = 0; i < arm->lab.n_filters && !ret; i++) {
		ret = filter_check_arm(&arm->lab, i, plan, checks, &why);
		if (ret == -EOPNOTSUPP) {
			ret = 0;
			if (!arm->skip)
				arm->skip = strdup(why.text);
			if (!arm->skip)
				return no_memory(err);
		}
	}
	return ret ? err_set(err, ret, "%s", why.text) : 0;
}

int arm_check(struct arm *arm, const struct lab_plan *plan, struct filter_checks *checks,
	      struct err *err)
{
	int ret = check_path(arm, &arm->main, plan, err);

	for (size_t i = 0; i < arm->n_beside && !ret; i++)
		ret = check_path(arm, &arm->beside[i], plan, err);
	if (!ret)
		ret = check_load(arm, &arm->main, "", err);
	for (size_t i = 0; i < arm->n_beside && !ret; i++)
		ret = check_load(arm, &arm->beside[i], "beside: ", err);
	return ret ? ret : check_filters(arm, plan, checks, err);
}

/* A search sets the rate of the main load. */
int arm_check_search(const struct arm *arm, struct mark mark, struct err *err)
{
	const struct kind *kind = &arm->main.load->kind;
	const struct opt *rate = opts_find(kind->opts, "rate");
	struct err why;
	int ret;

	if (!rate || rate->type != OPT_RATE)
		return err_at(err, mark, EINVAL, "load '%s' has no rate that a search could set",
			      kind->name);
	ret = search_check(arm->search, &why);
	return ret ? err_at(err, mark, ret, "%s", why.text) : 0;
}
