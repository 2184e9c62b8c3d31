/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what an ordinary trial makes of a shot: figures, books, proofs and a verdict. */
#include "run/trial.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "host/cpuuse.h"
#include "load/lane.h"
#include "result/result.h"
#include "run/ledger.h"
#include "run/proof.h"
#include "run/shot.h"
#include "run/stand.h"
#include "run/validity.h"

struct trial {
	const struct stand *stand;
	unsigned int number;
	struct result_case *const *cases;
	struct shot shot;
	struct cpuuse *cpuuse;
	struct cpuuse_snap window[2];
	struct validity *validity;
};

/* What a trial watches beside the packets. */
static int prepare(struct trial *t, struct err *err)
{
	int r = cpuuse_open(NULL, &t->cpuuse, err);

	if (!r && (cpuuse_snap_init(t->cpuuse, &t->window[0]) ||
		   cpuuse_snap_init(t->cpuuse, &t->window[1])))
		r = err_sys(err, ENOMEM, "cannot keep the CPU use");
	return r ? r : validity_new(&t->validity, err);
}

static int fire(struct trial *t, const struct shot_plan *plan, struct err *err)
{
	struct shot *shot = &t->shot;
	int r;

	r = shot_load(shot, t->stand, plan, err);
	if (!r)
		r = taps_open(t->stand->lab, &shot->runs[0], &shot->taps, err);
	if (!r)
		r = validity_before(t->validity, shot->runs, shot->n_runs, err);
	shot->cpuuse = t->cpuuse;
	shot->window = t->window;
	if (!r)
		r = shot_fire(shot, err);
	if (!r)
		r = validity_after(t->validity, err);
	return r ? r : shot_count(shot, err);
}

/* The last sample of a metric; NaN without one. */
static double last_sample(const struct result_case *c, const char *name)
{
	const struct metric *metric = case_metric(c, name);

	return metric && metric->n ? metric->samples[metric->n - 1] : NAN;
}

/* CPU time of the whole machine per 10^9 bytes, and per packet, that the receivers got. */
static int add_cost(struct result_case *c, const struct cpuuse_delta *delta)
{
	static const struct metric_def per_gb = {"cpu_per_gb", "s/GB", BETTER_LOWER, "kernel",
						 "whole machine"};
	static const struct metric_def per_packet = {"cost", "ns", BETTER_LOWER, "kernel",
						     "whole machine"};
	const double bps = last_sample(c, "goodput"), pps = last_sample(c, "delivered");
	int r = 0;

	if (case_metric(c, "goodput"))
		r = case_add_sample(c, &per_gb, bps > 0 ? delta->busy_cpus * 8e9 / bps : NAN);
	if (!r && case_metric(c, "delivered"))
		r = case_add_sample(c, &per_packet, pps > 0 ? delta->busy_cpus * 1e9 / pps : NAN);
	return r;
}

static int add_cpus(struct result_case *c, const struct cpuuse_delta *delta)
{
	struct cpu_share *shares = calloc(delta->n_cpus + 1, sizeof(*shares));
	int r;

	if (!shares)
		return -ENOMEM;
	for (size_t i = 0; i < delta->n_cpus; i++)
		shares[i] = delta->cpus[i].share;
	r = case_add_cpus(c, shares, delta->n_cpus);
	free(shares);
	return r;
}

/* No packet reached the receivers, and none was lost on the way to a counter of drops either. */
static int judge_silence(struct trial *t, size_t i, struct err *err)
{
	struct load_run *run = &t->shot.runs[i];
	struct result_case *c = t->cases[i];
	/* What a search found stands in front of what the load reports. */
	const size_t first = c->n_searches ? c->searches[0].n_goals : 0;
	const struct metric *headline = c->n_metrics > first ? &c->metrics[first] : NULL;
	struct account account = {0};
	int r = 0;

	if (!run->load->traffic || !headline || !headline->n ||
	    headline->samples[headline->n - 1] > 0)
		return 0;
	if (run->load->account)
		r = run->load->account(run, &account, err);
	if (!r && account.sent <= account.delivered)
		case_worsen(c, CASE_VOID, "nothing arrived within the window");
	return r;
}

static int collect(struct trial *t, struct err *err)
{
	struct shot *shot = &t->shot;
	int r = 0;

	for (size_t i = 0; !r && i < shot->n_runs; i++)
		r = shot->runs[i].load->collect(&shot->runs[i], t->cases[i], err);
	for (size_t i = 0; !r && i < shot->n_runs; i++)
		r = judge_silence(t, i, err);
	for (size_t i = 0; !r && i < shot->n_intervals; i++) {
		shot->intervals[i].trial = t->number;
		if (case_add_interval(t->cases[0], &shot->intervals[i]))
			r = err_sys(err, ENOMEM, "cannot keep an interval");
	}
	return r;
}

/* From counters to figures, books and verdict. */
static int conclude(struct trial *t, struct err *err)
{
	struct result_case *c = t->cases[0];
	struct cpuuse_delta delta;
	int r;

	if (cpuuse_delta(&t->window[0], &t->window[1], &delta))
		return err_set(err, EINVAL, "the measured window is empty");
	r = collect(t, err);
	if (!r && (add_cost(c, &delta) || add_cpus(c, &delta)))
		r = err_sys(err, ENOMEM, "cannot keep the CPU use");
	if (!r)
		r = shot_close_books(&t->shot, c, err);
	if (!r && proof_frames(&t->shot.taps, t->stand->lab, &t->stand->route, c))
		r = err_sys(err, ENOMEM, "cannot keep a proof");
	if (!r)
		r = validity_judge(t->validity, &delta, t->shot.late_ns, c, err);
	cpuuse_delta_release(&delta);
	return r;
}

int trial_on(const struct stand *stand, const void *main_cfg, unsigned int number,
	     const struct trial_watch *watch, struct result_case *const *cases, struct err *err)
{
	const struct shot_plan plan = {.warmup_ns = stand->arm->timing.warmup_ns,
				       .duration_ns = stand->arm->timing.duration_ns,
				       .main_cfg = main_cfg,
				       .watch = watch};
	struct trial t = {.stand = stand, .number = number, .cases = cases};
	int r;

	r = prepare(&t, err);
	if (!r)
		r = fire(&t, &plan, err);
	if (!r)
		r = conclude(&t, err);
	shot_release(&t.shot);
	validity_free(t.validity);
	cpuuse_snap_release(&t.window[0]);
	cpuuse_snap_release(&t.window[1]);
	cpuuse_close(t.cpuuse);
	return r;
}

int trial_run(const struct arm *arm, unsigned int number, const struct trial_watch *watch,
	      struct result_case *const *cases, struct err *err)
{
	struct stand stand;
	int r;

	r = stand_build(&stand, arm, cases, err);
	if (!r)
		r = trial_on(&stand, NULL, number, watch, cases, err);
	stand_release(&stand);
	return r;
}
