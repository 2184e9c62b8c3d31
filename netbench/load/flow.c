/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the layout of streams, directions and lanes that tcp and udp share. */
#include "load/flow.h"

#include <errno.h>

const char *const flow_directions[] = {"forward", "reverse", "both", NULL};

/*
 * A worker per stream lets the scheduler keep one stream's data in the cache for a while; one worker
 * that goes round all of them moves eight streams about a tenth slower.
 */
static size_t choose_threads(const struct flow_cfg *cfg)
{
	const size_t threads = cfg->threads ? cfg->threads : FLOW_THREADS_MAX;

	return threads < cfg->streams ? threads : cfg->streams;
}

static size_t flow_directions_count(const struct flow_cfg *cfg)
{
	return cfg->direction == FLOW_BOTH ? 2 : 1;
}

int flow_check(const struct flow_cfg *cfg, struct err *err)
{
	int r = lane_cpus_check(cfg->cpus_from, err);

	return r ? r : lane_cpus_check(cfg->cpus_to, err);
}

size_t flow_pairs(const struct flow_cfg *cfg)
{
	return cfg->streams * flow_directions_count(cfg);
}

void flow_part(const struct lane *lane, struct flow_part *ret)
{
	const struct flow_cfg *cfg = lane->run->cfg;
	const size_t threads = lane->run->threads;
	const size_t block = lane->index / threads, t = lane->index % threads;
	const bool second = block >= 2;

	ret->receives = block & 1;
	ret->reverse = second || cfg->direction == FLOW_REVERSE;
	ret->first = (second ? cfg->streams : 0) + t;
	ret->step = threads;
	ret->n_streams = (cfg->streams - t + threads - 1) / threads;
	ret->peer = (block ^ 1) * threads + t;
}

int flow_fd(const struct lane *lane, const struct pair *pairs, size_t i)
{
	struct flow_part part;
	const struct pair *pair;

	flow_part(lane, &part);
	pair = &pairs[part.first + i * part.step];
	return part.receives == part.reverse ? pair->from : pair->to;
}

int flow_open(struct load_run *run, const struct pair_options *options, struct pair *pairs,
	      int (*send)(struct lane *, struct err *), int (*receive)(struct lane *, struct err *),
	      struct err *err)
{
	const struct flow_cfg *cfg = run->cfg;
	const size_t threads = choose_threads(cfg);
	int r;

	run->threads = threads;
	r = pairs_open(run, options, pairs, flow_pairs(cfg), err);
	if (r)
		return r;
	r = load_lanes(run, threads * 2 * flow_directions_count(cfg), err);
	for (size_t i = 0; !r && i < run->n_lanes; i++) {
		struct lane *lane = &run->lanes[i];
		struct flow_part part;
		bool at_from;

		flow_part(lane, &part);
		at_from = part.receives == part.reverse;
		lane->receives = part.receives;
		lane->role = part.receives ? "receiver" : "sender";
		lane->work = part.receives ? receive : send;
		lane->node = at_from ? run->from : run->to;
		r = lane_cpu(at_from ? cfg->cpus_from : cfg->cpus_to, at_from ? SIDE_FROM : SIDE_TO,
			     i % threads, &lane->cpu, err);
	}
	return r;
}

uint64_t flow_received_bytes(const struct load_run *run)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < run->n_lanes; i++)
		if (run->lanes[i].receives)
			sum += atomic_load_explicit(&run->lanes[i].shared->bytes,
						    memory_order_relaxed);
	return sum;
}

uint64_t flow_received_packets(const struct load_run *run)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < run->n_lanes; i++)
		if (run->lanes[i].receives)
			sum += atomic_load_explicit(&run->lanes[i].shared->packets,
						    memory_order_relaxed);
	return sum;
}
