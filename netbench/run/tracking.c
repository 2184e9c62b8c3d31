/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what is asked of connection tracking, before and after a shot. */
#include "run/tracking.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

#include "load/lane.h"
#include "result/result.h"
#include "run/ledger.h"
#include "run/route.h"
#include "topo/filter/filter.h"
#include "topo/lab.h"

static bool tracks(const struct filter_spec *spec)
{
	return spec->conntrack >= FILTER_CT_TRACKED;
}

/* Flows of all loads that know them; those that do not are few. */
static uint64_t sum_flows(struct load_run *runs, size_t n_runs)
{
	uint64_t flows = 0;

	for (size_t i = 0; i < n_runs; i++) {
		struct account account = {0};

		if (runs[i].load->account && !runs[i].load->account(&runs[i], &account, NULL))
			flows += account.flows;
	}
	return flows;
}

static uint64_t planned_flows(const struct load_run *runs, size_t n_runs)
{
	uint64_t flows = 0;

	for (size_t i = 0; i < n_runs; i++) {
		const struct opt *opt = opts_find(runs[i].load->kind.opts, "flows");

		if (opt && opt->type == OPT_COUNT)
			flows += *(const uint64_t *)((const char *)runs[i].cfg + opt->offset);
	}
	return flows;
}

/* The counters of a filter's node; NULL when it does not track or is not on the route. */
static const struct node_counters *counters_of(struct lab *lab, const struct route *route,
					       const struct ledger_snap *snap, size_t filter)
{
	const int node = route_filter_node(route, lab, filter);

	if (node < 0 || !tracks(&lab_spec(lab)->filters[filter]))
		return NULL;
	return ledger_node(snap, route, (size_t)node);
}

int tracking_room(struct lab *lab, const struct route *route, const struct ledger_snap *before,
		  const struct load_run *runs, size_t n_runs, struct err *err)
{
	const uint64_t flows = planned_flows(runs, n_runs);

	for (size_t i = 0; i < lab_spec(lab)->n_filters; i++) {
		const struct node_counters *node = counters_of(lab, route, before, i);

		if (node && node->ct_max && node->ct_entries + flows > node->ct_max)
			return err_set(
				err, EINVAL,
				"flows: %" PRIu64 " flows and the %" PRIu64
				" entries that are there do not fit into connection tracking "
				"(nf_conntrack_max is %" PRIu64 ")",
				flows, node->ct_entries, node->ct_max);
	}
	return 0;
}

int tracking_proof(struct lab *lab, const struct route *route, const struct ledger_snap *before,
		   const struct ledger_snap *after, struct load_run *runs, size_t n_runs,
		   struct result_case *c)
{
	const uint64_t flows = sum_flows(runs, n_runs);
	int r = 0;

	for (size_t i = 0; !r && i < lab_spec(lab)->n_filters; i++) {
		const struct node_counters *was = counters_of(lab, route, before, i);
		const struct node_counters *is = counters_of(lab, route, after, i);
		char what[64];
		bool ok;

		if (!is || !was || ledger_filter_dropped(before, after, i))
			continue;
		ok = is->ct_entries >= flows;
		snprintf(what, sizeof(what), "connection tracking at %s",
			 lab_spec(lab)->nodes[route_filter_node(route, lab, i)].name);
		r = findings_add(&c->proofs, ok, what,
				 "%" PRIu64 " entries, %" PRIu64 " before; %" PRIu64
				 " flows were sent; room for %" PRIu64,
				 is->ct_entries, was->ct_entries, flows, is->ct_max);
		if (!ok)
			case_worsen(c, CASE_VOID,
				    "%s holds %" PRIu64 " entries for %" PRIu64 " flows", what,
				    is->ct_entries, flows);
	}
	return r;
}
