/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the course of a run: trial after trial, what is shown meanwhile, and the verdict of each case. */
#include "run/run.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "load/lane.h"
#include "result/result.h"
#include "run/calibrate.h"
#include "run/hunt.h"
#include "run/trial.h"
#include "run/verdict.h"
#include "suite/plan.h"

struct run {
	const struct plan *plan;
	const struct run_options *options;
	struct result *result;
	size_t first_case;
	uint64_t begin_ns;
	size_t done;	       /* trials */
	const struct arm *arm; /* of the trial that runs */
	unsigned int number;
	struct calibration calibration;
};

size_t run_case_index(const struct plan *plan, size_t first_case, size_t arm)
{
	for (size_t i = 0; i < arm; i++)
		first_case += 1 + plan->arms[i].n_beside;
	return first_case;
}

static int add_case(struct run *run, const struct arm *arm, const char *beside, struct err *err)
{
	const char *prefix = run->options->prefix;
	struct result_case *c;
	char name[512];
	int r = 0;

	snprintf(name, sizeof(name), "%s%s%s%s%s", prefix ? prefix : "", prefix ? "/" : "",
		 arm->name, beside ? " beside: " : "", beside ? beside : "");
	c = result_add_case(run->result, name);
	if (!c)
		return err_sys(err, ENOMEM, "cannot add case '%s'", name);
	r = case_add_label(c, "lab", arm->lab_name);
	if (!r)
		r = case_add_label(c, "load", beside ? beside : arm->main.load->kind.name);
	for (size_t i = 0; !r && i < arm->n_labels; i++)
		r = case_add_label(c, arm->labels[i].name, arm->labels[i].value);
	if (r)
		return err_sys(err, r, "cannot label case '%s'", name);
	c->trials_wanted = (unsigned int)arm->timing.repeat;
	if (arm->skip)
		case_worsen(c, CASE_SKIPPED, "%s", arm->skip);
	return 0;
}

static int add_cases(struct run *run, struct err *err)
{
	int r = 0;

	run->first_case = run->result->n_cases;
	for (size_t i = 0; !r && i < run->plan->n_arms; i++) {
		const struct arm *arm = &run->plan->arms[i];

		r = add_case(run, arm, NULL, err);
		for (size_t k = 0; !r && k < arm->n_beside; k++)
			r = add_case(run, arm, arm->beside[k].load->kind.name, err);
	}
	return r;
}

static void clock_text(uint64_t ns, char *buf, size_t len)
{
	const uint64_t s = ns / 1000000000u;

	snprintf(buf, len, "%u:%02u", (unsigned int)(s / 60), (unsigned int)(s % 60));
}

/* From the pace so far; before the first trial is done, from the plan. */
static uint64_t remaining_ns(const struct run *run)
{
	const uint64_t elapsed = now_ns() - run->begin_ns, all = plan_duration_ns(run->plan);
	uint64_t estimate;

	if (!run->done)
		return all > elapsed ? all - elapsed : 0;
	estimate = elapsed / run->done * run->plan->n_order;
	return estimate > elapsed ? estimate - elapsed : 0;
}

static void show_progress(const struct run *run, const char *rate)
{
	char elapsed[16], left[16];

	if (!run->options->progress)
		return;
	clock_text(now_ns() - run->begin_ns, elapsed, sizeof(elapsed));
	clock_text(remaining_ns(run), left, sizeof(left));
	fprintf(run->options->log, "\r\033[K[%zu/%zu] %.40s  %s  %s elapsed, %s left",
		run->done + 1, run->plan->n_order, run->arm->name, rate, elapsed, left);
	fflush(run->options->log);
}

static void clear_progress(const struct run *run)
{
	if (run->options->progress)
		fputs("\r\033[K", run->options->log);
}

static void on_tick(void *context, const struct trial_progress *progress)
{
	const struct run *run = context;
	char rate[32];

	unit_format(progress->rate, progress->unit, rate, sizeof(rate));
	if (run->options->verbose) {
		clear_progress(run);
		fprintf(run->options->log, "%s trial %u  %5.2f–%5.2f s  %s\n", run->arm->name,
			run->number + 1, progress->start_s, progress->end_s, rate);
	}
	show_progress(run, rate);
}

static void note_failure(struct run *run, struct result_case *const *cases, const struct err *err)
{
	for (size_t i = 0; i <= run->arm->n_beside; i++)
		case_worsen(cases[i], CASE_FAILED, "%s", err->text);
	clear_progress(run);
	fprintf(run->options->log, "netbench: %s: %s\n", run->arm->name, err->text);
}

/* A trial only looks while it measures; trials that fail before would hide the wish to stop. */
static bool interrupted(const struct run *run)
{
	struct pollfd pollfd = {.fd = run->options->interrupt_fd, .events = POLLIN};

	return poll(&pollfd, 1, 0) > 0;
}

static int run_one(struct run *run, size_t arm, struct err *err)
{
	const struct trial_watch watch = {
		.interrupt_fd = run->options->interrupt_fd, .tick = on_tick, .context = run};
	const size_t at = run_case_index(run->plan, run->first_case, arm);
	struct result_case **cases;
	struct err why;
	int r;

	if (interrupted(run))
		return err_set(err, ECANCELED, "interrupted");
	run->arm = &run->plan->arms[arm];
	cases = calloc(1 + run->arm->n_beside, sizeof(struct result_case *));
	if (!cases)
		return err_sys(err, ENOMEM, "cannot run '%s'", run->arm->name);
	for (size_t i = 0; i <= run->arm->n_beside; i++)
		cases[i] = &run->result->cases[at + i];
	run->number = cases[0]->trials_done;
	show_progress(run, "");
	r = calibrate(&run->calibration, run->arm, &watch, &why);
	if (!r && run->arm->search)
		r = hunt_run(run->arm, run->number, &watch, cases, &why);
	else if (!r)
		r = trial_run(run->arm, run->number, &watch, cases, &why);
	if (r == -ECANCELED || r == -EPERM) {
		*err = why;
	} else {
		if (r)
			note_failure(run, cases, &why);
		for (size_t i = 0; !r && i <= run->arm->n_beside; i++)
			cases[i]->trials_done++;
		r = 0;
	}
	free(cases);
	return r;
}

static void judge_case(const struct run *run, struct result_case *c, bool cut_short)
{
	if (c->status == CASE_PENDING && c->trials_done)
		c->status = CASE_OK;
	else if (c->status == CASE_PENDING)
		case_worsen(c, CASE_SKIPPED, "%s",
			    cut_short ? "interrupted before its first trial" : "not run");
	/* Short of memory, the first reason has to do. */
	case_sum_up(c);
	if (c->status == CASE_SUSPECT && run->options->strict)
		case_worsen(c, CASE_VOID, "%s (strict)", c->reason);
}

/* What disturbed the main load disturbed what ran beside it. */
static void judge(struct run *run, bool cut_short)
{
	for (size_t arm = 0, at = run->first_case; arm < run->plan->n_arms; arm++) {
		struct result_case *main = &run->result->cases[at++];

		calibrate_judge(&run->calibration, &run->plan->arms[arm], main);
		judge_case(run, main, cut_short);
		for (size_t i = 0; i < run->plan->arms[arm].n_beside; i++) {
			struct result_case *side = &run->result->cases[at++];

			judge_case(run, side, cut_short);
			if (main->status == CASE_SUSPECT || main->status == CASE_VOID)
				case_worsen(side, main->status, "%s", main->reason);
		}
	}
}

int run_plan(const struct plan *plan, const struct run_options *options, struct result *result,
	     struct err *err)
{
	struct run run = {.plan = plan, .options = options, .result = result, .begin_ns = now_ns()};
	int r;

	r = add_cases(&run, err);
	for (; !r && run.done < plan->n_order; run.done++)
		r = run_one(&run, plan->order[run.done], err);
	clear_progress(&run);
	judge(&run, r == -ECANCELED);
	if (verdict_draw(plan, run.first_case, result) && !r)
		r = err_sys(err, ENOMEM, "cannot compare the cases");
	calibration_release(&run.calibration);
	return r;
}
