/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the course of one shot, from the opening of the loads to the last counter read. */
#include "run/shot.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "load/lane.h"
#include "result/result.h"
#include "run/ledger.h"
#include "run/stand.h"
#include "run/tracking.h"
#include "run/trial.h"

#define READY_NS UINT64_C(10000000000)
#define LEAD_NS \
	UINT64_C(20000000) /* between go and the first packet: every lane is awake by then */
#define DRAIN_NS UINT64_C(3000000000)
#define REAP_NS	 UINT64_C(1000000000) /* beyond the drain, lanes have this long to end */
#define TICK_NS	 UINT64_C(1000000000)
/* Incomplete datagrams are given up by the nodes after 1 s (ipfrag_time), and counted then. */
#define REASSEMBLY_NS UINT64_C(1300000000)

static int copy_runs(struct shot *shot, struct err *err)
{
	const struct stand *stand = shot->stand;

	shot->runs = calloc(shot->n_runs, sizeof(*shot->runs));
	shot->intervals = calloc(shot->plan.duration_ns / TICK_NS + 1, sizeof(*shot->intervals));
	if (!shot->runs || !shot->intervals)
		return err_sys(err, ENOMEM, "cannot allocate the loads");
	for (size_t i = 0; i < shot->n_runs; i++) {
		shot->runs[i] = stand->runs[i];
		shot->runs[i].clock = shot->clock;
	}
	if (shot->plan.main_cfg)
		shot->runs[0].cfg = shot->plan.main_cfg;
	return 0;
}

static int open_loads(struct shot *shot, struct err *err)
{
	int r = 0;

	for (size_t i = 0; !r && i < shot->n_runs; i++) {
		r = shot->runs[i].load->open(&shot->runs[i], err);
		if (r && i)
			err_prefix(err, "beside: %s", shot->runs[i].load->kind.name);
	}
	return r;
}

static int share_clock(struct shot *shot, struct err *err)
{
	shot->clock = mmap(NULL, sizeof(*shot->clock), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shot->clock == MAP_FAILED) {
		shot->clock = NULL;
		return err_sys(err, ENOMEM, "cannot share a clock");
	}
	shot->clock->ready_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return shot->clock->ready_fd < 0 ? err_sys(err, errno, "cannot make an event") : 0;
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

static void mark(struct shot *shot, bool end)
{
	for (size_t i = 0; i < shot->n_runs; i++)
		if (shot->runs[i].load->mark)
			shot->runs[i].load->mark(&shot->runs[i], end);
}

static const char *rate_unit(const struct load *load)
{
	return !strcmp(load->progress_unit, "byte")	? "bit/s"
	       : !strcmp(load->progress_unit, "packet") ? "packet/s"
							: "1/s";
}

/* The interval since the last one, or since the begin of the window. */
static void tick(struct shot *shot)
{
	const struct trial_watch *watch = shot->plan.watch;
	const struct load_run *main = &shot->runs[0];
	const uint64_t now = now_ns(), count = main->load->progress(main);
	const double scale = !strcmp(main->load->progress_unit, "byte") ? 8e9 : 1e9;
	const struct trial_progress progress = {
		.start_s = (double)(shot->tick_ns - shot->clock->begin_ns) / 1e9,
		.end_s = (double)(now - shot->clock->begin_ns) / 1e9,
		.rate = (double)(count - shot->tick_count) * scale / (double)(now - shot->tick_ns),
		.unit = rate_unit(main->load),
	};

	shot->intervals[shot->n_intervals++] = (struct interval){
		.start_s = progress.start_s, .end_s = progress.end_s, .value = progress.rate};
	shot->tick_ns = now;
	shot->tick_count = count;
	if (watch->tick)
		watch->tick(watch->context, &progress);
}

static void note_late(struct shot *shot, uint64_t due_ns)
{
	const uint64_t now = now_ns();

	if (now > due_ns && now - due_ns > shot->late_ns)
		shot->late_ns = now - due_ns;
}

static int watch_window(struct shot *shot, struct err *err)
{
	int r = 0;

	shot->tick_ns = now_ns();
	shot->tick_count = shot->runs[0].load->progress(&shot->runs[0]);
	for (uint64_t next = shot->clock->begin_ns + TICK_NS; !r && next < shot->clock->end_ns;
	     next += TICK_NS) {
		r = crew_watch(&shot->crew, next, err);
		note_late(shot, next);
		/* After a hold-up the interval goes on to the next full second, or to the end. */
		if (!r && now_ns() < next + TICK_NS && now_ns() < shot->clock->end_ns)
			tick(shot);
	}
	return r ? r : crew_watch(&shot->crew, shot->clock->end_ns, err);
}

int shot_fire(struct shot *shot, struct err *err)
{
	struct urgency before;
	int r;

	hurry(&before);
	shot->clock->start_ns = now_ns() + LEAD_NS;
	shot->clock->begin_ns = shot->clock->start_ns + shot->plan.warmup_ns;
	shot->clock->end_ns = shot->clock->begin_ns + shot->plan.duration_ns;
	shot->clock->drain_ns = shot->clock->end_ns + DRAIN_NS;
	crew_go(&shot->crew);
	note_late(shot, shot->clock->start_ns);
	r = taps_watch(&shot->taps, &shot->crew,
		       shot->clock->begin_ns - (shot->plan.warmup_ns ? LEAD_NS : 0), err);
	taps_close(&shot->taps);
	if (!r)
		r = crew_watch(&shot->crew, shot->clock->begin_ns, err);
	note_late(shot, shot->clock->begin_ns);
	if (!r && shot->cpuuse)
		r = cpuuse_take(shot->cpuuse, &shot->window[0], err);
	mark(shot, false);
	if (!r)
		r = watch_window(shot, err);
	note_late(shot, shot->clock->end_ns);
	if (!r && shot->cpuuse)
		r = cpuuse_take(shot->cpuuse, &shot->window[1], err);
	mark(shot, true);
	if (!r)
		tick(shot);
	relax(&before);
	return r ? r : crew_reap(&shot->crew, shot->clock->drain_ns + REAP_NS, err);
}

/* Give the kernel time to count what can only be counted late. */
static int settle(struct shot *shot, struct err *err)
{
	for (size_t i = 0; i < shot->n_runs; i++) {
		struct account account = {0};
		int r;

		if (!shot->runs[i].load->account)
			continue;
		r = shot->runs[i].load->account(&shot->runs[i], &account, err);
		if (r)
			return r;
		if (account.fragmented && account.delivered < account.sent)
			return crew_watch(&shot->crew, now_ns() + REASSEMBLY_NS, err);
	}
	return 0;
}

int shot_load(struct shot *shot, const struct stand *stand, const struct shot_plan *plan,
	      struct err *err)
{
	int r;

	*shot = (struct shot){.stand = stand, .plan = *plan, .n_runs = stand->n_runs};
	r = share_clock(shot, err);
	if (!r)
		r = copy_runs(shot, err);
	if (!r)
		r = open_loads(shot, err);
	for (size_t i = 0; !r && i < stand->route.n_links; i++)
		r = lab_keep_offloads_off(stand->lab, stand->route.links[i], err);
	if (!r)
		r = ledger_snap(stand->lab, &stand->route, &shot->before, err);
	if (!r)
		r = tracking_room(stand->lab, &stand->route, shot->before, shot->runs, shot->n_runs,
				  err);
	if (!r)
		r = crew_start(&shot->crew, stand->lab, shot->runs, shot->n_runs, shot->clock,
			       plan->watch->interrupt_fd, err);
	return r ? r : crew_await_ready(&shot->crew, now_ns() + READY_NS, err);
}

int shot_count(struct shot *shot, struct err *err)
{
	int r = settle(shot, err);

	return r ? r : ledger_snap(shot->stand->lab, &shot->stand->route, &shot->after, err);
}

int shot_close_books(struct shot *shot, struct result_case *c, struct err *err)
{
	struct lab *lab = shot->stand->lab;
	const struct route *route = &shot->stand->route;
	int r;

	r = ledger_close(lab, route, shot->before, shot->after, shot->runs, shot->n_runs, c, err);
	if (!r &&
	    (proof_crossed(lab, route, shot->before, shot->after, shot->runs, shot->n_runs, c) ||
	     proof_filters(lab, route, shot->before, shot->after, shot->runs, shot->n_runs, c) ||
	     tracking_proof(lab, route, shot->before, shot->after, shot->runs, shot->n_runs, c)))
		r = err_sys(err, ENOMEM, "cannot keep a proof");
	return r;
}

void shot_release(struct shot *shot)
{
	crew_release(&shot->crew);
	taps_close(&shot->taps);
	for (size_t i = 0; shot->runs && i < shot->n_runs; i++) {
		if (shot->runs[i].load->close)
			shot->runs[i].load->close(&shot->runs[i]);
		load_lanes_free(&shot->runs[i]);
	}
	free(shot->runs);
	free(shot->intervals);
	ledger_snap_free(shot->before);
	ledger_snap_free(shot->after);
	if (shot->clock) {
		if (shot->clock->ready_fd >= 0)
			close(shot->clock->ready_fd);
		munmap(shot->clock, sizeof(*shot->clock));
	}
	*shot = (struct shot){0};
}
