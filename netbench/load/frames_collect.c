/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the figures of the frames load: what its counters come to. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/sink.h"
#include "load/frames.h"
#include "result/result.h"

/* Of the window: frames may begin that late. */
#define LATE_SHARE 0.005

/* Everything that the figures are made of. */
struct totals {
	uint64_t sent, measured, unsent, cycles;
	struct sink_count count;
	uint64_t late_ns;     /* of the lane that began last */
	uint64_t dropped;     /* by filters, in the whole trial */
	double dropped_pps;   /* in the window */
	double delivered_pps; /* of the frames sent in the window */
	double window_s;
	size_t filters; /* on the way */
	bool drops;	/* dropping is what is measured */
	struct hist late, latency;
};

static int add_up(struct load_run *run, struct totals *t, struct err *err)
{
	const struct frames_state *state = run->state;
	const struct frames_mark *marks = state->marks;
	struct frames_mark after;

	for (size_t i = 0; i < run->threads; i++) {
		const struct frames_lane *lane = (const struct frames_lane *)run->lanes[i].shared;

		t->sent += lane->sent;
		t->measured += lane->measured;
		t->unsent += lane->unsent;
		t->cycles += lane->cycles;
		t->late_ns = lane->late_ns > t->late_ns ? lane->late_ns : t->late_ns;
		hist_merge(&t->late, &lane->late);
	}
	frames_sink_read(state->sink, &t->count);
	frames_sink_latency(state->sink, &t->latency);
	frames_filters_read(run, &after);
	if (after.failed || marks[0].failed || marks[1].failed)
		return err_set(err, EIO, "cannot read the counters of a filter on the way");
	t->filters = state->n_filters;
	t->drops = frames_filters_drop(run);
	t->dropped = after.dropped;
	if (marks[1].ns > marks[0].ns)
		t->dropped_pps = (double)(marks[1].dropped - marks[0].dropped) * 1e9 /
				 (double)(marks[1].ns - marks[0].ns);
	t->window_s = run_window_s(run);
	t->delivered_pps = (double)t->count.fresh[1] / t->window_s;
	return 0;
}

/*
 * Without drops the frames of the window are known one by one. What a filter drops is not, so with one
 * the whole trial counts.
 */
static double loss_of(const struct totals *t)
{
	const uint64_t unique = sink_unique(&t->count);

	if (!t->measured)
		return NAN;
	if (!t->dropped)
		return ((double)t->measured - (double)t->count.fresh[1]) / (double)t->measured;
	return ((double)t->sent - (double)unique - (double)t->dropped) / (double)t->sent;
}

/* The headline first: what arrived, or what a filter was there to drop. */
static int collect_handled(struct result_case *c, const struct totals *t)
{
	static const struct metric_def delivered = {"delivered", "packet/s", BETTER_HIGHER,
						    "receiver", "L2"};
	static const struct metric_def dropped = {"dropped", "packet/s", BETTER_HIGHER, "kernel",
						  "L2"};
	int r = 0;

	if (t->drops)
		r = case_add_sample(c, &dropped, t->dropped_pps);
	if (!r)
		r = case_add_sample(c, &delivered, t->delivered_pps);
	if (!r && !t->drops && t->filters)
		r = case_add_sample(c, &dropped, t->dropped_pps);
	return r;
}

static int collect_rates(const struct load_run *run, struct result_case *c, const struct totals *t)
{
	static const struct metric_def offered = {"offered", "packet/s", BETTER_NEITHER, "sender",
						  "L2"};
	static const struct metric_def sent = {"sent", "packet/s", BETTER_NEITHER, "sender", "L2"};
	static const struct metric_def asked_for = {"asked", "packet/s", BETTER_NEITHER, "sender",
						    "L2"};
	static const struct metric_def rate_l1 = {"rate_l1", "bit/s", BETTER_HIGHER, "receiver",
						  "L1"};
	static const struct metric_def rate_l2 = {"rate_l2", "bit/s", BETTER_HIGHER, "receiver",
						  "L2"};
	static const struct metric_def loss = {"loss", "ratio", BETTER_LOWER, "receiver", "L2"};
	const struct frames_state *state = run->state;
	const double asked = frames_asked_pps(run->cfg, &state->look);
	const double handled = t->delivered_pps + t->dropped_pps;
	const double bits = 8 * state->look.mean;
	int r;

	r = case_add_sample(c, &rate_l2, handled * bits);
	if (!r) /* preamble, start of frame and gap: 20 bytes on the wire */
		r = case_add_sample(c, &rate_l1, handled * (bits + 160));
	if (!r)
		r = case_add_sample(c, &offered, (double)(t->measured + t->unsent) / t->window_s);
	if (!r)
		r = case_add_sample(c, &sent, (double)t->measured / t->window_s);
	if (!r && asked > 0)
		r = case_add_sample(c, &asked_for, asked);
	return r ? r : case_add_sample(c, &loss, loss_of(t));
}

static int collect_costs(const struct load_run *run, struct result_case *c, const struct totals *t)
{
	static const struct metric_def per_frame = {"time_per_frame", "ns", BETTER_LOWER,
						    "receiver", NULL};
	static const struct metric_def cycles = {"cycles_per_frame", "", BETTER_LOWER, "kernel",
						 NULL};
	const struct frames_cfg *cfg = run->cfg;
	const double handled = t->delivered_pps + t->dropped_pps;
	int r = 0;

	if (cfg->rate.unit != RATE_MAX || cfg->count)
		return 0;
	r = case_add_sample(c, &per_frame,
			    handled > 0 ? 1e9 * (double)run->threads / handled : NAN);
	if (!r && t->cycles && t->sent)
		r = case_add_sample(c, &cycles, (double)t->cycles / (double)t->sent);
	return r;
}

static int collect_faults(const struct load_run *run, struct result_case *c, const struct totals *t)
{
	static const struct metric_def duplicates = {"duplicates", "", BETTER_LOWER, "receiver",
						     "L2"};
	static const struct metric_def reordered = {"reordered", "", BETTER_LOWER, "receiver",
						    "L2"};
	static const struct metric_def gaps = {"gaps", "", BETTER_LOWER, "receiver", "L2"};
	static const struct metric_def departure = {"departure_p99", "ns", BETTER_LOWER, "sender",
						    NULL};
	const struct frames_cfg *cfg = run->cfg;
	int r;

	r = case_add_sample(c, &duplicates, (double)t->count.duplicates);
	if (!r)
		r = case_add_sample(c, &reordered, (double)t->count.reordered);
	if (!r)
		r = case_add_sample(c, &gaps, (double)t->count.gaps);
	if (!r && cfg->rate.unit != RATE_MAX)
		r = case_add_sample(c, &departure,
				    t->late.count ? (double)hist_quantile(&t->late, 0.99) : NAN);
	return r;
}

/* A window that began without frames would measure the start of the generator. */
static int judge_start(const struct load_run *run, struct result_case *c, const struct totals *t)
{
	const struct trial_clock *clock = run->clock;
	const struct frames_cfg *cfg = run->cfg;
	const struct frames_state *state = run->state;
	const double asked = frames_asked_pps(cfg, &state->look);
	const double window_ns = (double)(clock->end_ns - clock->begin_ns);

	const double due_ns = asked > 0 ? 2e9 * (double)(cfg->burst * cfg->threads) / asked : 0;

	if (cfg->count || (double)t->late_ns < due_ns + LATE_SHARE * window_ns)
		return 0;
	case_worsen(c, CASE_SUSPECT, "the generator began %.0f ms into the window",
		    (double)t->late_ns / 1e6);
	return findings_add(&c->validity, false, "generator",
			    "the first frame left %.0f ms into the window",
			    (double)t->late_ns / 1e6);
}

int frames_collect(struct load_run *run, struct result_case *c, struct err *err)
{
	const struct frames_state *state = run->state;
	struct totals *t = calloc(1, sizeof(*t));
	int r;

	if (!t)
		return err_sys(err, ENOMEM, "cannot allocate a histogram");
	r = add_up(run, t, err);
	if (r) {
		free(t);
		return r;
	}
	r = collect_handled(c, t);
	if (!r)
		r = collect_rates(run, c, t);
	if (!r)
		r = collect_costs(run, c, t);
	if (!r)
		r = latency_metrics(c, &t->latency, LATENCY_ONE_WAY);
	if (!r)
		r = collect_faults(run, c, t);
	if (!r)
		r = findings_add(&c->proofs, true, "engine", "%s: %s; counted by %s",
				 frames_engines[state->engine], state->why,
				 frames_sink_text(state->sink));
	if (!r)
		r = judge_start(run, c, t);
	if (!r && t->count.odd) {
		case_worsen(c, CASE_VOID, "%" PRIu64 " frames came with another size",
			    (uint64_t)t->count.odd);
		r = findings_add(&c->proofs, false, "size", "%" PRIu64 " frames had another",
				 (uint64_t)t->count.odd);
	}
	free(t);
	return r ? err_sys(err, r, "cannot keep the figures of frames") : 0;
}
