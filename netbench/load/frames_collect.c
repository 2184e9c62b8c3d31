/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the figures of the frames load: what its counters come to. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "bpf/sink.h"
#include "load/frames.h"
#include "result/result.h"

/* The lanes of a run added up. */
struct totals {
	uint64_t sent, measured, unsent, cycles;
};

static struct totals add_up(const struct load_run *run, struct hist *late)
{
	struct totals t = {0};

	for (size_t i = 0; i < run->n_lanes; i++) {
		const struct frames_lane *lane = (const struct frames_lane *)run->lanes[i].shared;

		t.sent += lane->sent;
		t.measured += lane->measured;
		t.unsent += lane->unsent;
		t.cycles += lane->cycles;
		hist_merge(late, &lane->late);
	}
	return t;
}

static int collect_rates(const struct load_run *run, struct result_case *c, const struct totals *t,
			 const struct sink_count *count)
{
	static const struct metric_def delivered = {"delivered", "packet/s", BETTER_HIGHER,
						    "receiver", "L2"};
	static const struct metric_def sent = {"sent", "packet/s", BETTER_NEITHER, "sender", "L2"};
	static const struct metric_def asked_for = {"asked", "packet/s", BETTER_NEITHER, "sender",
						    "L2"};
	static const struct metric_def rate_l1 = {"rate_l1", "bit/s", BETTER_HIGHER, "receiver",
						  "L1"};
	static const struct metric_def rate_l2 = {"rate_l2", "bit/s", BETTER_HIGHER, "receiver",
						  "L2"};
	static const struct metric_def loss = {"loss", "ratio", BETTER_LOWER, "receiver", "L2"};
	const struct frames_state *state = run->state;
	const double window_s = run_window_s(run);
	const double asked = frames_asked_pps(run->cfg, &state->look);
	const double handled = (double)count->measured / window_s;
	const double bits = 8 * (count->frames ? (double)count->bytes / (double)count->frames
					       : state->look.mean);
	int r;

	r = case_add_sample(c, &delivered, handled);
	if (!r)
		r = case_add_sample(c, &rate_l2, handled * bits);
	if (!r)
		r = case_add_sample(c, &rate_l1, handled * (bits + 160));
	if (!r)
		r = case_add_sample(c, &sent, (double)t->measured / window_s);
	if (!r && asked > 0)
		r = case_add_sample(c, &asked_for, asked);
	return r ? r
		 : case_add_sample(c, &loss,
				   t->measured ? ((double)t->measured - (double)count->measured) /
							 (double)t->measured
					       : NAN);
}

static int collect_costs(const struct load_run *run, struct result_case *c, const struct totals *t,
			 const struct sink_count *count)
{
	static const struct metric_def per_frame = {"time_per_frame", "ns", BETTER_LOWER,
						    "receiver", NULL};
	static const struct metric_def cycles = {"cycles_per_frame", "", BETTER_LOWER, "kernel",
						 NULL};
	const struct frames_cfg *cfg = run->cfg;
	int r = 0;

	if (cfg->rate.unit != RATE_MAX)
		return 0;
	if (count->measured)
		r = case_add_sample(c, &per_frame,
				    run_window_s(run) * 1e9 * (double)run->threads /
					    (double)count->measured);
	if (!r && t->cycles && t->sent)
		r = case_add_sample(c, &cycles, (double)t->cycles / (double)t->sent);
	return r;
}

static int collect_faults(const struct load_run *run, struct result_case *c,
			  const struct hist *late, const struct sink_count *count)
{
	static const struct metric_def duplicates = {"duplicates", "", BETTER_LOWER, "receiver",
						     "L2"};
	static const struct metric_def reordered = {"reordered", "", BETTER_LOWER, "receiver",
						    "L2"};
	static const struct metric_def departure = {"departure_p99", "ns", BETTER_LOWER, "sender",
						    NULL};
	const struct frames_cfg *cfg = run->cfg;
	int r;

	r = case_add_sample(c, &duplicates, (double)count->duplicates);
	if (!r)
		r = case_add_sample(c, &reordered, (double)count->reordered);
	if (!r && cfg->rate.unit != RATE_MAX)
		r = case_add_sample(c, &departure,
				    late->count ? (double)hist_quantile(late, 0.99) : NAN);
	return r;
}

int frames_collect(struct load_run *run, struct result_case *c, struct err *err)
{
	const struct frames_state *state = run->state;
	struct hist *hists = calloc(2, sizeof(*hists)), *latency = hists, *late = hists + 1;
	struct sink_count count;
	struct totals t;
	int r;

	if (!hists)
		return err_sys(err, ENOMEM, "cannot allocate a histogram");
	t = add_up(run, late);
	frames_sink_read(state->sink, &count);
	frames_sink_latency(state->sink, latency);
	r = collect_rates(run, c, &t, &count);
	if (!r)
		r = collect_costs(run, c, &t, &count);
	if (!r)
		r = latency_metrics(c, latency, LATENCY_ONE_WAY);
	if (!r)
		r = collect_faults(run, c, late, &count);
	if (!r)
		r = findings_add(&c->proofs, true, "engine", "%s: %s; counted by %s",
				 frames_engines[state->engine], state->why,
				 frames_sink_place(state->sink));
	free(hists);
	return r ? err_sys(err, r, "cannot keep the figures of frames") : 0;
}
