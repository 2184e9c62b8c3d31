/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the course of one trial, from the empty machine back to the empty machine. */
#include "run/trial.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host/cpuuse.h"
#include "load/lane.h"
#include "result/result.h"
#include "run/crew.h"
#include "run/ledger.h"
#include "run/proof.h"
#include "run/route.h"
#include "run/validity.h"
#include "topo/lab.h"

#define REACH_NS UINT64_C(5000000000)
#define READY_NS UINT64_C(10000000000)
#define LEAD_NS \
	UINT64_C(20000000) /* between go and the first packet: every lane is awake by then */
#define DRAIN_NS UINT64_C(3000000000)
#define REAP_NS	 UINT64_C(1000000000) /* beyond the drain, lanes have this long to end */
#define TICK_NS	 UINT64_C(1000000000)
/* Incomplete datagrams are given up by the nodes after 1 s (ipfrag_time), and counted then. */
#define REASSEMBLY_NS UINT64_C(1300000000)

struct trial {
	const struct arm *arm;
	unsigned int number;
	const struct trial_watch *watch;
	struct result_case *const *cases;
	struct lab *lab;
	struct load_run *runs;
	size_t n_runs;
	struct trial_clock *clock;
	struct route route;
	struct ledger_snap *before, *after;
	struct crew crew;
	struct taps taps;
	struct cpuuse *cpuuse;
	struct cpuuse_snap begin, end;
	struct validity *validity;
	struct interval *intervals; /* room for every second of the window, begun or whole */
	size_t n_intervals;
	uint64_t tick_ns, tick_count; /* where the last interval ended */
	uint64_t late_ns;	      /* the most by which a moment of the clock was missed */
};

static const struct load_spec *spec_of(const struct trial *t, size_t i)
{
	return i ? &t->arm->beside[i - 1] : &t->arm->main;
}

static int find_nodes(struct trial *t, struct load_run *run, struct err *err)
{
	const struct traffic_cfg *cfg = run->cfg;
	const size_t last = lab_spec(t->lab)->n_nodes - 1;
	int from, to;

	if (!run->load->traffic)
		return 0;
	from = cfg->from ? lab_plan_node(lab_plan(t->lab), cfg->from, err) : 0;
	if (from < 0)
		return from;
	to = cfg->to ? lab_plan_node(lab_plan(t->lab), cfg->to, err) : (int)last;
	if (to < 0)
		return to;
	run->from = (size_t)from;
	run->to = (size_t)to;
	return 0;
}

static int make_runs(struct trial *t, struct err *err)
{
	int r = 0;

	t->n_runs = 1 + t->arm->n_beside;
	t->runs = calloc(t->n_runs, sizeof(*t->runs));
	t->intervals = calloc(t->arm->timing.duration_ns / TICK_NS + 1, sizeof(*t->intervals));
	if (!t->runs || !t->intervals)
		return err_sys(err, ENOMEM, "cannot allocate the loads");
	for (size_t i = 0; !r && i < t->n_runs; i++) {
		struct load_run *run = &t->runs[i];

		run->load = spec_of(t, i)->load;
		run->cfg = spec_of(t, i)->cfg;
		run->lab = t->lab;
		run->ordinal = (unsigned int)i;
		run->clock = t->clock;
		r = find_nodes(t, run, err);
	}
	return r;
}

static int prove_reachability(struct trial *t, struct err *err)
{
	int r = 0;

	for (size_t i = 0; !r && i < t->n_runs; i++) {
		const struct load_run *run = &t->runs[i];
		const struct traffic_cfg *cfg = run->cfg;
		const struct lab_pair pair = {run->from, run->to};

		if (!run->load->traffic)
			continue;
		r = lab_reach(t->lab, cfg->family ? AF_INET6 : AF_INET, &pair, 1, REACH_NS, err);
		if (!r)
			r = findings_add(&t->cases[i]->proofs, true, "reachable",
					 "echo answered over %s", cfg->family ? "IPv6" : "IPv4");
	}
	return r;
}

static int open_loads(struct trial *t, struct err *err)
{
	int r = 0;

	for (size_t i = 0; !r && i < t->n_runs; i++) {
		r = t->runs[i].load->open(&t->runs[i], err);
		if (r && i)
			err_prefix(err, "beside: %s", t->runs[i].load->kind.name);
	}
	return r;
}

static int share_clock(struct trial *t, struct err *err)
{
	t->clock = mmap(NULL, sizeof(*t->clock), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			-1, 0);
	if (t->clock == MAP_FAILED) {
		t->clock = NULL;
		return err_sys(err, ENOMEM, "cannot share a clock");
	}
	t->clock->ready_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return t->clock->ready_fd < 0 ? err_sys(err, errno, "cannot make an event") : 0;
}

/* Everything up to the barrier. */
static int set_up(struct trial *t, struct err *err)
{
	int r;

	r = lab_build(&t->arm->lab, &t->lab, err);
	if (!r)
		r = share_clock(t, err);
	if (!r)
		r = make_runs(t, err);
	if (!r)
		r = prove_reachability(t, err);
	if (!r) /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): t owns what was allocated */
		r = route_of(t->lab, t->runs, t->n_runs, &t->route, err);
	if (!r)
		r = proof_offloads(t->lab, &t->route, t->cases[0], err);
	if (!r)
		r = lab_filter(t->lab, err);
	if (!r)
		r = open_loads(t, err);
	if (!r)
		r = ledger_snap(t->lab, &t->route, &t->before, err);
	if (!r)
		r = cpuuse_open(NULL, &t->cpuuse, err);
	if (!r && (cpuuse_snap_init(t->cpuuse, &t->begin) || cpuuse_snap_init(t->cpuuse, &t->end)))
		r = err_sys(err, ENOMEM, "cannot keep the CPU use");
	if (!r)
		r = validity_new(&t->validity, err);
	return r;
}

struct urgency {
	int policy;
	struct sched_param param;
};

/*
 * The runner's few wake-ups must come on time even when every CPU is busy. Without the privilege
 * the window's edges are as sharp as the scheduler allows.
 */
static void hurry(struct urgency *before)
{
	const struct sched_param fifo = {.sched_priority = 1};

	before->policy = sched_getscheduler(0);
	if (before->policy >= 0 && !sched_getparam(0, &before->param) &&
	    before->policy == SCHED_OTHER)
		sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &fifo);
}

static void relax(const struct urgency *before)
{
	if (before->policy == SCHED_OTHER)
		sched_setscheduler(0, before->policy, &before->param);
}

static void mark(struct trial *t, bool end)
{
	for (size_t i = 0; i < t->n_runs; i++)
		if (t->runs[i].load->mark)
			t->runs[i].load->mark(&t->runs[i], end);
}

static const char *rate_unit(const struct load *load)
{
	return !strcmp(load->progress_unit, "byte")	? "bit/s"
	       : !strcmp(load->progress_unit, "packet") ? "packet/s"
							: "1/s";
}

/* The interval since the last one, or since the begin of the window. */
static void tick(struct trial *t)
{
	const struct load_run *main = &t->runs[0];
	const uint64_t now = now_ns(), count = main->load->progress(main);
	const double scale = !strcmp(main->load->progress_unit, "byte") ? 8e9 : 1e9;
	const struct trial_progress progress = {
		.start_s = (double)(t->tick_ns - t->clock->begin_ns) / 1e9,
		.end_s = (double)(now - t->clock->begin_ns) / 1e9,
		.rate = (double)(count - t->tick_count) * scale / (double)(now - t->tick_ns),
		.unit = rate_unit(main->load),
	};

	t->intervals[t->n_intervals++] = (struct interval){.trial = t->number,
							   .start_s = progress.start_s,
							   .end_s = progress.end_s,
							   .value = progress.rate};
	t->tick_ns = now;
	t->tick_count = count;
	if (t->watch->tick)
		t->watch->tick(t->watch->context, &progress);
}

static void note_late(struct trial *t, uint64_t due_ns)
{
	const uint64_t now = now_ns();

	if (now > due_ns && now - due_ns > t->late_ns)
		t->late_ns = now - due_ns;
}

static int watch_window(struct trial *t, struct err *err)
{
	int r = 0;

	t->tick_ns = now_ns();
	t->tick_count = t->runs[0].load->progress(&t->runs[0]);
	for (uint64_t next = t->clock->begin_ns + TICK_NS; !r && next < t->clock->end_ns;
	     next += TICK_NS) {
		r = crew_watch(&t->crew, next, err);
		note_late(t, next);
		/* After a hold-up the interval goes on to the next full second, or to the end. */
		if (!r && now_ns() < next + TICK_NS && now_ns() < t->clock->end_ns)
			tick(t);
	}
	return r ? r : crew_watch(&t->crew, t->clock->end_ns, err);
}

static int measure(struct trial *t, struct err *err)
{
	struct urgency before;
	int r;

	hurry(&before);
	t->clock->start_ns = now_ns() + LEAD_NS;
	t->clock->begin_ns = t->clock->start_ns + t->arm->timing.warmup_ns;
	t->clock->end_ns = t->clock->begin_ns + t->arm->timing.duration_ns;
	t->clock->drain_ns = t->clock->end_ns + DRAIN_NS;
	crew_go(&t->crew);
	note_late(t, t->clock->start_ns);
	r = taps_watch(&t->taps, &t->crew,
		       t->clock->begin_ns - (t->arm->timing.warmup_ns ? LEAD_NS : 0), err);
	taps_close(&t->taps);
	if (!r)
		r = crew_watch(&t->crew, t->clock->begin_ns, err);
	note_late(t, t->clock->begin_ns);
	if (!r)
		r = cpuuse_take(t->cpuuse, &t->begin, err);
	mark(t, false);
	if (!r)
		r = watch_window(t, err);
	note_late(t, t->clock->end_ns);
	if (!r)
		r = cpuuse_take(t->cpuuse, &t->end, err);
	mark(t, true);
	if (!r)
		tick(t);
	relax(&before);
	return r ? r : crew_reap(&t->crew, t->clock->drain_ns + REAP_NS, err);
}

/* Give the kernel time to count what can only be counted late. */
static int settle(struct trial *t, struct err *err)
{
	for (size_t i = 0; i < t->n_runs; i++) {
		struct account account = {0};
		int r;

		if (!t->runs[i].load->account)
			continue;
		r = t->runs[i].load->account(&t->runs[i], &account, err);
		if (r)
			return r;
		if (account.fragmented && account.delivered < account.sent)
			return crew_watch(&t->crew, now_ns() + REASSEMBLY_NS, err);
	}
	return 0;
}

static int run_loads(struct trial *t, struct err *err)
{
	int r;

	r = crew_start(&t->crew, t->lab, t->runs, t->n_runs, t->clock, t->watch->interrupt_fd, err);
	if (!r)
		r = crew_await_ready(&t->crew, now_ns() + READY_NS, err);
	if (!r)
		r = taps_open(t->lab, &t->runs[0], &t->taps, err);
	if (!r)
		r = validity_before(t->validity, &t->crew, err);
	if (!r)
		r = measure(t, err);
	if (!r)
		r = validity_after(t->validity, &t->crew, err);
	if (!r)
		r = settle(t, err);
	return r ? r : ledger_snap(t->lab, &t->route, &t->after, err);
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
	struct load_run *run = &t->runs[i];
	struct result_case *c = t->cases[i];
	const struct metric *headline = c->n_metrics ? &c->metrics[0] : NULL;
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

/* From counters to figures, books and verdict. */
static int conclude(struct trial *t, struct err *err)
{
	struct result_case *c = t->cases[0];
	struct cpuuse_delta delta;
	int r = 0;

	if (cpuuse_delta(&t->begin, &t->end, &delta))
		return err_set(err, EINVAL, "the measured window is empty");
	for (size_t i = 0; !r && i < t->n_runs; i++)
		r = t->runs[i].load->collect(&t->runs[i], t->cases[i], err);
	for (size_t i = 0; !r && i < t->n_runs; i++)
		r = judge_silence(t, i, err);
	for (size_t i = 0; !r && i < t->n_intervals; i++)
		r = case_add_interval(c, &t->intervals[i])
			    ? err_sys(err, ENOMEM, "cannot keep an interval")
			    : 0;
	if (!r && (add_cost(c, &delta) || add_cpus(c, &delta)))
		r = err_sys(err, ENOMEM, "cannot keep the CPU use");
	if (!r)
		r = ledger_close(t->lab, &t->route, t->before, t->after, t->runs, t->n_runs, c,
				 err);
	if (!r && (proof_frames(&t->taps, t->lab, &t->route, c) ||
		   proof_crossed(t->lab, &t->route, t->before, t->after, t->runs, t->n_runs, c) ||
		   proof_filters(t->lab, &t->route, t->before, t->after, t->runs, t->n_runs, c)))
		r = err_sys(err, ENOMEM, "cannot keep a proof");
	if (!r)
		r = validity_judge(t->validity, &delta, t->late_ns, c, err);
	cpuuse_delta_release(&delta);
	return r;
}

static void tear_down(struct trial *t)
{
	crew_release(&t->crew);
	taps_close(&t->taps);
	for (size_t i = 0; t->runs && i < t->n_runs; i++) {
		if (t->runs[i].load && t->runs[i].load->close)
			t->runs[i].load->close(&t->runs[i]);
		load_lanes_free(&t->runs[i]);
	}
	free(t->runs);
	free(t->intervals);
	ledger_snap_free(t->before);
	ledger_snap_free(t->after);
	route_release(&t->route);
	validity_free(t->validity);
	cpuuse_snap_release(&t->begin);
	cpuuse_snap_release(&t->end);
	cpuuse_close(t->cpuuse);
	if (t->clock) {
		if (t->clock->ready_fd >= 0)
			close(t->clock->ready_fd);
		munmap(t->clock, sizeof(*t->clock));
	}
	lab_free(t->lab);
}

int trial_run(const struct arm *arm, unsigned int number, const struct trial_watch *watch,
	      struct result_case *const *cases, struct err *err)
{
	struct trial t = {.arm = arm, .number = number, .watch = watch, .cases = cases};
	int r;

	r = set_up(&t, err);
	if (!r)
		r = run_loads(&t, err);
	if (!r)
		r = conclude(&t, err);
	tear_down(&t);
	return r;
}
