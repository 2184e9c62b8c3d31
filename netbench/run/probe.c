/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the step from a load that a search asks for to the share of it that was lost. */
#include "run/probe.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "load/lane.h"
#include "result/result.h"
#include "run/ledger.h"
#include "run/shot.h"
#include "run/stand.h"
#include "run/trial.h"
#include "run/validity.h"
#include "suite/plan.h"
#include "topo/lab.h"

/*
 * Generators meet a rate within this share, and start or end within a packet or two. What is missing
 * beyond that counts as lost.
 */
#define UNSENT_TOLERANCE 0.002
#define UNSENT_PACKETS	 2

static const struct opt *find_option(const struct load *load, const char *name, enum opt_type type)
{
	const struct opt *opt = opts_find(load->kind.opts, name);

	return opt && opt->type == type ? opt : NULL;
}

static double count_directions(const struct load *load, const void *cfg)
{
	const struct opt *opt = find_option(load, "direction", OPT_CHOICE);
	char text[16];

	if (!opt)
		return 1;
	opt_text(opt, cfg, text, sizeof(text));
	return strcmp(text, "both") ? 1 : 2;
}

int probe_open(struct probe *probe, const struct stand *stand, const struct trial_watch *watch,
	       struct result_case *c, struct err *err)
{
	const struct load *load = stand->runs[0].load;
	const void *cfg = stand->runs[0].cfg;

	*probe = (struct probe){.stand = stand,
				.c = c,
				.watch = watch,
				.rate = find_option(load, "rate", OPT_RATE),
				.count = find_option(load, "count", OPT_COUNT),
				.begin_ns = now_ns()};
	if (!probe->rate)
		return err_set(err, EINVAL, "load '%s' has no rate to search", load->kind.name);
	if (!load->account)
		return err_set(err, EINVAL, "load '%s' does not count what it loses",
			       load->kind.name);
	probe->directions = count_directions(load, cfg);
	probe->cfg = malloc(load->kind.cfg_size);
	if (!probe->cfg)
		return err_sys(err, ENOMEM, "cannot search");
	if (opts_copy(load->kind.opts, load->kind.cfg_size, probe->cfg, cfg)) {
		free(probe->cfg);
		probe->cfg = NULL;
		return err_sys(err, ENOMEM, "cannot search");
	}
	return 0;
}

void probe_close(struct probe *probe)
{
	if (probe->cfg)
		opts_release(probe->stand->runs[0].load->kind.opts, probe->cfg);
	free(probe->cfg);
	result_free(probe->figures);
	*probe = (struct probe){0};
}

static void set_rate(const struct probe *probe, double pps)
{
	struct rate *rate = (struct rate *)((char *)probe->cfg + probe->rate->offset);

	rate->unit = isinf(pps) ? RATE_MAX : RATE_PPS;
	rate->value = isinf(pps) ? 0 : (uint64_t)pps;
}

static void set_count(const struct probe *probe, uint64_t count)
{
	if (probe->count)
		*(uint64_t *)((char *)probe->cfg + probe->count->offset) = count;
}

const void *probe_config(struct probe *probe, double pps)
{
	set_count(probe, 0);
	set_rate(probe, pps);
	return probe->cfg;
}

/* Packets that rules took out on purpose; those of other traffic cannot be told apart. */
static uint64_t filtered(const struct shot *shot)
{
	const struct stand *stand = shot->stand;
	uint64_t sum = 0;

	for (size_t i = 1; i < shot->n_runs; i++)
		if (shot->runs[i].load->traffic && !shot->runs[0].load->to_test_port)
			return 0;
	for (size_t i = 0; i < lab_spec(stand->lab)->n_filters; i++)
		if (route_filter_node(&stand->route, stand->lab, i) >= 0 &&
		    ledger_filter_exact(shot->after, i))
			sum += ledger_filter_dropped(shot->before, shot->after, i);
	return sum;
}

/* asked: packets, 0 when it was as many as possible. */
static int weigh(struct probe *probe, struct shot *shot, double asked, struct search_sample *ret,
		 struct err *err)
{
	const double duration_s = (double)shot->plan.duration_ns / 1e9;
	struct account account = {0};
	double sent, arrived, lost, unsent, whole;
	int r = shot->runs[0].load->account(&shot->runs[0], &account, err);

	if (r)
		return r;
	sent = (double)account.sent;
	arrived = fmin(sent, (double)account.delivered + (double)filtered(shot));
	lost = sent - arrived;
	unsent = fmax(0, asked - sent);
	if (unsent <= asked * UNSENT_TOLERANCE + UNSENT_PACKETS * probe->directions)
		unsent = 0;
	whole = fmax(asked, sent);
	*ret = (struct search_sample){
		.offered_pps = sent / duration_s / probe->directions,
		.forwarded_pps = arrived / duration_s / probe->directions,
		/* Nothing at all came out of it: that is no rate without loss. */
		.loss_ratio = whole > 0 ? (lost + unsent) / whole : 1,
		.unsent_ratio = whole > 0 ? unsent / whole : 1,
		.effective_s = duration_s,
	};
	return 0;
}

static int keep_figures(struct probe *probe, struct shot *shot, struct err *err)
{
	struct result_case *c;

	result_free(probe->figures);
	probe->figures = result_new();
	c = probe->figures ? result_add_case(probe->figures, "shot") : NULL;
	if (!c)
		return err_sys(err, ENOMEM, "cannot keep the figures of a shot");
	return shot->runs[0].load->collect(&shot->runs[0], c, err);
}

static int fire(struct probe *probe, struct shot *shot, double duration_s, struct err *err)
{
	const struct trial_watch quiet = {.interrupt_fd = probe->watch->interrupt_fd};
	const struct shot_plan plan = {.duration_ns = (uint64_t)llround(duration_s * 1e9),
				       .main_cfg = probe->cfg,
				       .watch = &quiet};
	int r = shot_load(shot, probe->stand, &plan, err);

	if (!r && probe->validity && !probe->shots)
		r = validity_before(probe->validity, shot->runs, shot->n_runs, err);
	if (!r)
		r = shot_fire(shot, err);
	if (!r)
		r = shot_count(shot, err);
	if (!r)
		r = shot_close_books(shot, probe->c, err);
	probe->shots += !r;
	if (shot->late_ns > probe->late_ns)
		probe->late_ns = shot->late_ns;
	return r;
}

static void tell(const struct probe *probe, uint64_t since_ns, const struct search_sample *sample)
{
	const struct trial_progress progress = {
		.start_s = (double)(since_ns - probe->begin_ns) / 1e9,
		.end_s = (double)(now_ns() - probe->begin_ns) / 1e9,
		.rate = sample->forwarded_pps,
		.unit = "packet/s",
	};

	if (probe->watch->tick)
		probe->watch->tick(probe->watch->context, &progress);
}

static int shoot(struct probe *probe, double asked, double duration_s, struct search_sample *ret,
		 struct err *err)
{
	const uint64_t since_ns = now_ns();
	struct shot shot;
	int r;

	r = fire(probe, &shot, duration_s, err);
	if (!r)
		r = weigh(probe, &shot, asked, ret, err);
	if (!r)
		r = keep_figures(probe, &shot, err);
	shot_release(&shot);
	ret->spent_s = (double)(now_ns() - since_ns) / 1e9;
	if (!r)
		tell(probe, since_ns, ret);
	return r;
}

int probe_measure(void *context, double pps, double duration_s, struct search_sample *ret,
		  struct err *err)
{
	struct probe *probe = context;

	set_count(probe, 0);
	set_rate(probe, pps);
	return shoot(probe, isinf(pps) ? 0 : pps * duration_s * probe->directions, duration_s, ret,
		     err);
}

int probe_can_burst(const struct probe *probe, struct err *err)
{
	if (probe->count)
		return 0;
	return err_set(err, EINVAL, "load '%s' has no count, which back-to-back needs",
		       probe->stand->runs[0].load->kind.name);
}

int probe_burst(struct probe *probe, uint64_t count, double duration_s, struct search_sample *ret,
		struct err *err)
{
	set_count(probe, count);
	set_rate(probe, INFINITY);
	return shoot(probe, (double)count * probe->directions, duration_s, ret, err);
}

double probe_figure(const struct probe *probe, const char *metric)
{
	const struct metric *m =
		probe->figures ? case_metric(&probe->figures->cases[0], metric) : NULL;

	return m && m->n ? m->samples[m->n - 1] : NAN;
}
