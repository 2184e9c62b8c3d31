/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the course of a search in a lab, and what of it goes into the result. */
#include "run/hunt.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/cpuuse.h"
#include "load/lane.h"
#include "result/result.h"
#include "run/around.h"
#include "run/probe.h"
#include "run/stand.h"
#include "run/trial.h"
#include "run/validity.h"
#include "suite/plan.h"

struct hunt {
	struct stand stand;
	struct probe probe;
	struct search_outcome outcome;
	struct cpuuse *cpuuse;
	struct cpuuse_snap window[2]; /* the whole search */
	struct validity *validity;
	uint64_t begin_ns, end_ns;
};

/* A metric refers to its definition for as long as the program runs; goals may have any name. */
static const struct metric_def *goal_def(const char *name)
{
	static struct goal_metric {
		struct metric_def def;
		char name[GOAL_NAME_MAX];
		struct goal_metric *next;
	} * known;
	struct goal_metric *goal;

	for (goal = known; goal; goal = goal->next)
		if (!strcmp(goal->name, name))
			return &goal->def;
	goal = calloc(1, sizeof(*goal));
	if (!goal)
		return NULL;
	snprintf(goal->name, sizeof(goal->name), "%s", name);
	goal->def = (struct metric_def){goal->name, "packet/s", BETTER_HIGHER, "receiver", "L2"};
	goal->next = known;
	known = goal;
	return &goal->def;
}

static int add_metrics(const struct search_outcome *outcome, struct result_case *c)
{
	int r = 0;

	for (size_t i = 0; !r && i < outcome->n_found; i++) {
		const struct metric_def *def = goal_def(outcome->found[i].goal.name);

		r = def ? case_add_sample(c, def, outcome->found[i].throughput) : -ENOMEM;
	}
	return r;
}

static int add_search(const struct hunt *hunt, struct result_case *c)
{
	const struct search_outcome *outcome = &hunt->outcome;
	struct search_result result = {
		.goals = calloc(outcome->n_found + 1, sizeof(*result.goals)),
		.trials = calloc(outcome->n_attempts + 1, sizeof(*result.trials)),
		.n_goals = outcome->n_found,
		.n_trials = outcome->n_attempts,
		.duration_s = (double)(hunt->end_ns - hunt->begin_ns) / 1e9,
		.capped = outcome->end != SEARCH_DONE,
	};
	int r = result.goals && result.trials ? 0 : -ENOMEM;

	for (size_t i = 0; !r && i < result.n_goals; i++) {
		struct search_found *found = &outcome->found[i];

		result.goals[i] = (struct search_goal_result){
			.name = found->goal.name,
			.loss_ratio = found->goal.loss_ratio,
			.exceed_ratio = found->goal.exceed_ratio,
			.width = found->goal.width,
			.final_s = found->goal.final_s,
			.sum_s = found->goal.sum_s,
			.lower = found->lower,
			.upper = found->upper,
			.throughput = found->throughput,
		};
	}
	for (size_t i = 0; !r && i < result.n_trials; i++)
		result.trials[i] = (struct search_trial){
			.load = outcome->attempts[i].load,
			.duration_s = outcome->attempts[i].duration_s,
			.loss_ratio = outcome->attempts[i].loss_ratio,
		};
	if (!r)
		r = case_add_search(c, &result);
	free(result.goals);
	free(result.trials);
	return r;
}

/* Why there is no number, or why it is not the limit of what is under test. */
static int remark_goal(const struct search_found *found, struct result_case *c)
{
	const char *name = found->goal.name;

	if (found->below_min && found->generator_limit)
		return case_set_remark(c, "%s: not even %.0f packets/s are sent", name,
				       found->upper);
	if (found->below_min)
		return case_set_remark(c, "%s: %.0f packets/s are too many", name, found->upper);
	if (found->at_max)
		return case_set_remark(c, "%s: the highest load works", name);
	if (found->generator_limit)
		return case_set_remark(c, "%s: above that the sender falls behind, nothing is lost",
				       name);
	return 0;
}

static int remark(const struct hunt *hunt, struct result_case *c)
{
	const struct search_outcome *outcome = &hunt->outcome;
	const struct search_found *first = &outcome->found[0];
	int r = 0;

	if (outcome->end != SEARCH_DONE)
		case_worsen(c, CASE_SUSPECT, "the search was cut off after %zu trials in %.0f s",
			    outcome->n_attempts, outcome->spent_s);
	/* Generators of test frames are held against their own ceiling, see run/calibrate.h. */
	if (!hunt->stand.runs[0].load->to_test_port)
		c->generator_limited |=
			first->at_max || (first->generator_limit && !first->below_min);
	for (size_t i = 0; !r && i < outcome->n_found; i++)
		r = remark_goal(&outcome->found[i], c);
	return r;
}

static int prepare(struct hunt *hunt, const struct arm *arm, const struct trial_watch *watch,
		   struct result_case *const *cases, struct err *err)
{
	int r;

	r = stand_build(&hunt->stand, arm, cases, err);
	if (!r)
		r = probe_open(&hunt->probe, &hunt->stand, watch, cases[0], err);
	if (!r)
		r = around_check(&hunt->probe, arm->search, err);
	if (!r)
		r = cpuuse_open(NULL, &hunt->cpuuse, err);
	if (!r && (cpuuse_snap_init(hunt->cpuuse, &hunt->window[0]) ||
		   cpuuse_snap_init(hunt->cpuuse, &hunt->window[1])))
		r = err_sys(err, ENOMEM, "cannot keep the CPU use");
	return r ? r : validity_new(&hunt->validity, err);
}

static int search(struct hunt *hunt, const struct search_cfg *cfg, struct err *err)
{
	const struct search_probe probe = {.measure = probe_measure, .context = &hunt->probe};
	int r;

	hunt->begin_ns = now_ns();
	hunt->probe.validity = hunt->validity;
	r = cpuuse_take(hunt->cpuuse, &hunt->window[0], err);
	if (!r)
		r = search_run(cfg, &probe, &hunt->outcome, err);
	hunt->end_ns = now_ns();
	if (!r)
		r = cpuuse_take(hunt->cpuuse, &hunt->window[1], err);
	return r ? r : validity_after(hunt->validity, err);
}

static int conclude(struct hunt *hunt, struct result_case *c, struct err *err)
{
	struct cpuuse_delta delta;
	int r;

	r = add_metrics(&hunt->outcome, c);
	if (!r)
		r = add_search(hunt, c);
	if (!r)
		r = remark(hunt, c);
	if (r)
		return err_sys(err, r, "cannot keep a search");
	if (cpuuse_delta(&hunt->window[0], &hunt->window[1], &delta))
		return err_set(err, EINVAL, "the search took no time");
	r = validity_judge(hunt->validity, &delta, hunt->probe.late_ns, c, err);
	cpuuse_delta_release(&delta);
	return r;
}

/* The strictest goal that is met by any load; else the lowest load. */
static double resting_load(const struct hunt *hunt, const struct search_cfg *cfg)
{
	for (size_t i = 0; i < hunt->outcome.n_found; i++)
		if (!isnan(hunt->outcome.found[i].lower))
			return hunt->outcome.found[i].lower;
	return (double)cfg->min.value;
}

int hunt_run(const struct arm *arm, unsigned int number, const struct trial_watch *watch,
	     struct result_case *const *cases, struct err *err)
{
	struct hunt hunt = {0};
	int r;

	r = prepare(&hunt, arm, watch, cases, err);
	if (!r)
		r = search(&hunt, arm->search, err);
	if (!r)
		r = conclude(&hunt, cases[0], err);
	if (!r && !number)
		r = around_measure(&hunt.probe, arm->search, &hunt.outcome, cases[0], err);
	if (!r)
		r = trial_on(&hunt.stand,
			     probe_config(&hunt.probe, resting_load(&hunt, arm->search)), number,
			     watch, cases, err);
	search_outcome_release(&hunt.outcome);
	probe_close(&hunt.probe);
	validity_free(hunt.validity);
	cpuuse_snap_release(&hunt.window[0]);
	cpuuse_snap_release(&hunt.window[1]);
	cpuuse_close(hunt.cpuuse);
	stand_release(&hunt.stand);
	return r;
}
