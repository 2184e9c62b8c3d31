/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the way from an arm to a lab that stands and is proven. */
#include "run/stand.h"

#include <errno.h>
#include <stdlib.h>

#include "load/lane.h"
#include "result/result.h"
#include "run/proof.h"
#include "suite/plan.h"
#include "topo/lab.h"

#define REACH_NS UINT64_C(5000000000)

static int find_nodes(const struct stand *stand, struct load_run *run, struct err *err)
{
	const struct traffic_cfg *cfg = run->cfg;
	const size_t last = lab_spec(stand->lab)->n_nodes - 1;
	int from, to;

	if (!run->load->traffic)
		return 0;
	from = cfg->from ? lab_plan_node(lab_plan(stand->lab), cfg->from, err) : 0;
	if (from < 0)
		return from;
	to = cfg->to ? lab_plan_node(lab_plan(stand->lab), cfg->to, err) : (int)last;
	if (to < 0)
		return to;
	run->from = (size_t)from;
	run->to = (size_t)to;
	return 0;
}

static int make_runs(struct stand *stand, struct err *err)
{
	const struct arm *arm = stand->arm;
	int r = 0;

	stand->n_runs = 1 + arm->n_beside;
	stand->runs = calloc(stand->n_runs, sizeof(*stand->runs));
	if (!stand->runs)
		return err_sys(err, ENOMEM, "cannot allocate the loads");
	for (size_t i = 0; !r && i < stand->n_runs; i++) {
		const struct load_spec *spec = i ? &arm->beside[i - 1] : &arm->main;
		struct load_run *run = &stand->runs[i];

		run->load = spec->load;
		run->cfg = spec->cfg;
		run->lab = stand->lab;
		run->ordinal = (unsigned int)i;
		for (size_t k = 0; k < i; k++)
			run->twin += stand->runs[k].load == run->load;
		r = find_nodes(stand, run, err);
	}
	return r;
}

static int prove_reachability(const struct stand *stand, struct result_case *const *cases,
			      struct err *err)
{
	int r = 0;

	for (size_t i = 0; !r && i < stand->n_runs; i++) {
		const struct load_run *run = &stand->runs[i];
		const struct traffic_cfg *cfg = run->cfg;
		const struct lab_pair pair = {run->from, run->to};

		if (!run->load->traffic)
			continue;
		r = lab_reach(stand->lab, cfg->family ? AF_INET6 : AF_INET, &pair, 1, REACH_NS,
			      err);
		if (!r)
			r = findings_add(&cases[i]->proofs, true, "reachable",
					 "echo answered over %s", cfg->family ? "IPv6" : "IPv4");
	}
	return r;
}

int stand_build(struct stand *stand, const struct arm *arm, struct result_case *const *cases,
		struct err *err)
{
	int r;

	*stand = (struct stand){.arm = arm};
	r = lab_build(&arm->lab, &stand->lab, err);
	if (!r)
		r = make_runs(stand, err);
	if (!r)
		r = prove_reachability(stand, cases, err);
	if (!r) /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): stand owns what was allocated */
		r = route_of(stand->lab, stand->runs, stand->n_runs, &stand->route, err);
	if (!r)
		r = proof_offloads(stand->lab, &stand->route, cases[0], err);
	return r ? r : lab_filter(stand->lab, err);
}

void stand_release(struct stand *stand)
{
	free(stand->runs);
	route_release(&stand->route);
	lab_free(stand->lab);
	*stand = (struct stand){0};
}
