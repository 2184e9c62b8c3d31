/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opens the frames load in a lab: finds the way, chooses engine and sink, lays out the lanes. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "load/frames.h"
#include "topo/filter/filter.h"
#include "topo/lab.h"

/* Side loads of the same kind keep apart by their port. */
#define PORTS_PER_LOAD 256
/* A live frame lives in one page, with room before and behind it (net/bpf/test_run.c). */
#define LIVE_BYTES_MAX 3072

static int find_path(const struct load_run *run, struct frames_path *ret, struct err *err)
{
	const struct frames_cfg *cfg = run->cfg;
	const struct lab_plan *plan = lab_plan(run->lab);
	const struct end *out, *next;
	struct hop *hops;
	int n, r;

	n = lab_plan_path(plan, run->from, run->to, &hops, err);
	if (n < 0)
		return n;
	if (!n) {
		free(hops);
		return err_set(err, EINVAL, "frames need two nodes: `from` and `to` are the same");
	}
	*ret = (struct frames_path){.mtu = lab_path_mtu(lab_spec(run->lab), hops, n),
				    .hops = (unsigned int)n};
	ret->first_link = hops[0].link;
	ret->first_side = hops[0].side;
	ret->last_link = hops[n - 1].link;
	ret->last_side = hops[n - 1].side;
	free(hops);
	out = &lab_plan_wire(plan, ret->first_link)->end[ret->first_side];
	next = &lab_plan_wire(plan, ret->first_link)->end[!ret->first_side];
	memcpy(ret->source_mac, out->mac, 6);
	memcpy(ret->target_mac, next->mac, 6);
	ret->out_ifindex = out->ifindex;
	ret->next_node = next->node;
	ret->next_ifindex = next->ifindex;
	ret->in_ifindex = lab_plan_wire(plan, ret->last_link)->end[!ret->last_side].ifindex;
	r = lab_plan_addresses(plan, run->from, run->to, cfg->traffic.family ? AF_INET6 : AF_INET,
			       &ret->from, &ret->to, err);
	return r;
}

/* Does a filter sit in the node that frames are meant for? Then they must get as far as its socket. */
static bool filters_at(const struct lab *lab, size_t node)
{
	const struct lab_spec *spec = lab_spec(lab);

	for (size_t i = 0; i < spec->n_filters; i++)
		if (spec->filters[i].stage &&
		    lab_plan_filter_node(lab_plan(lab), i, NULL) == (int)node)
			return true;
	return false;
}

static int choose_place(const struct load_run *run, enum frames_place *ret, struct err *err)
{
	const struct frames_cfg *cfg = run->cfg;
	const struct frames_state *state = run->state;
	const struct frames_path *path = &state->path;
	const char *taken = NULL;

	if (run->injected && path->hops == 1)
		taken = "injected frames do not pass the XDP hook";
	else if (lab_xdp_hook(run->lab, path->last_link, !path->last_side))
		taken = "a filter holds the XDP hook of the last device";
	else if (filters_at(run->lab, run->to))
		taken = "the frames would not reach the filters of the last node";
	if (state->socket_filter != SIZE_MAX)
		*ret = FRAMES_AT_READER;
	else if (cfg->sink == FRAMES_SINK_SOCKET || taken ||
		 (cfg->sink == FRAMES_SINK_AUTO && filters_at(run->lab, run->to)))
		*ret = FRAMES_AT_SOCKET;
	else
		*ret = FRAMES_AT_XDP;
	if (cfg->sink == FRAMES_SINK_XDP && *ret != FRAMES_AT_XDP)
		return err_set(err, EINVAL, "sink: %s",
			       taken ? taken : "a filter takes the frames at its socket");
	if (cfg->look.vlan && *ret != FRAMES_AT_XDP)
		return err_set(err, EINVAL, "vlan: a socket does not get tagged frames%s%s",
			       taken ? ", and " : "", taken ? taken : "");
	return 0;
}

/* Where another load holds the hook, or programs may not be loaded, the next place will do. */
static int open_sink(struct load_run *run, uint16_t port, struct err *err)
{
	const struct frames_cfg *cfg = run->cfg;
	struct frames_state *state = run->state;
	const struct frames_path *path = &state->path;
	const struct frames_sink_options options = {
		.lab = run->lab,
		.node = run->to,
		.path = path,
		.look = &state->look,
		.port = port,
		.vlan = cfg->look.vlan,
		.concurrent = lab_spec(run->lab)->links[path->last_link].queues > 1,
		.reader_fd = state->socket_filter == SIZE_MAX
				     ? -1
				     : lab_filter_socket(run->lab, state->socket_filter),
	};
	enum frames_place place;
	int r = choose_place(run, &place, err);

	if (r)
		return r;
	r = frames_sink_open(&options, place, &state->sink, err);
	if (r && place == FRAMES_AT_XDP && cfg->sink == FRAMES_SINK_AUTO && !cfg->look.vlan)
		r = frames_sink_open(&options, place = FRAMES_AT_SOCKET, &state->sink, err);
	if (r == -EPERM && place == FRAMES_AT_SOCKET)
		r = frames_sink_open(&options, place = FRAMES_AT_READER, &state->sink, err);
	return r;
}

/* A veth takes redirected frames, and knows a queue to inject into, if its peer or it has a program. */
static int open_way(struct load_run *run, struct err *err)
{
	const struct frames_state *state = run->state;
	const struct frames_path *path = &state->path;
	const enum xdp_hook hook = lab_xdp_hook(run->lab, path->first_link, !path->first_side);

	if (state->engine != FRAMES_XDP && state->engine != FRAMES_INJECT)
		return 0;
	if (hook == XDP_HOOK_GENERIC && state->engine == FRAMES_XDP)
		return err_set(err, EOPNOTSUPP,
			       "the generic XDP program at the first link keeps out the native one "
			       "that engine xdp needs there");
	if (hook == XDP_HOOK_NATIVE ||
	    (path->hops == 1 && frames_sink_place(state->sink) == FRAMES_AT_XDP))
		return 0;
	return frames_sink_pass(state->sink, path->next_node, path->next_ifindex, err);
}

static void set_why(struct frames_state *state, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
static void set_why(struct frames_state *state, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(state->why, sizeof(state->why), fmt, ap);
	va_end(ap);
}

/* why_not: what keeps live frames out; NULL: nothing does. */
static void choose_fastest(const struct load_run *run, const struct err *why_not)
{
	struct frames_state *state = run->state;
	const struct frames_path *path = &state->path;

	if (why_not) {
		state->engine = FRAMES_PACKET;
		set_why(state, "%s", why_not->text);
	} else if (lab_xdp_hook(run->lab, path->first_link, !path->first_side) ==
		   XDP_HOOK_GENERIC) {
		state->engine = FRAMES_INJECT;
		set_why(state, "a device with a generic XDP program takes no redirected frames");
	} else {
		state->engine = FRAMES_XDP;
		set_why(state, "the kernel has live frames, and the first link takes them");
	}
}

static int choose_engine(struct load_run *run, struct err *err)
{
	const struct frames_cfg *cfg = run->cfg;
	struct frames_state *state = run->state;
	struct err why;
	int r;

	state->engine = (enum frames_engine)cfg->engine;
	set_why(state, "as asked");
	if (state->engine == FRAMES_PACKET || state->engine == FRAMES_UDP)
		return 0;
	r = frames_live_probe(&why);
	if (r == -EPERM)
		err_set(&why, EPERM, "live frames need privileges in the first user namespace");
	if (state->engine == FRAMES_AUTO) {
		choose_fastest(run, r ? &why : NULL);
		return 0;
	}
	return r ? err_set(err, r, "engine %s: %s", frames_engines[cfg->engine], why.text) : 0;
}

/* What can only be known on the way through this lab. */
static int check_way(const struct load_run *run, struct err *err)
{
	const struct frames_cfg *cfg = run->cfg;
	const struct frames_state *state = run->state;
	const struct frames_path *path = &state->path;

	if (cfg->look.vlan && path->hops > 1)
		return err_set(err, EINVAL, "vlan: node '%s' on the way takes no tagged frames",
			       lab_spec(run->lab)->nodes[path->next_node].name);
	if (frames_is_live(state->engine) && state->look.longest > LIVE_BYTES_MAX)
		return err_set(err, EINVAL, "size %u is too large for engine %s: at most %d",
			       state->look.longest + FRAMES_FCS, frames_engines[state->engine],
			       LIVE_BYTES_MAX + FRAMES_FCS);
	if (state->engine == FRAMES_INJECT &&
	    lab_xdp_hook(run->lab, path->first_link, !path->first_side) == XDP_HOOK_NATIVE)
		return err_set(err, EINVAL,
			       "engine inject: frames would bypass the filter at the XDP hook");
	return 0;
}

static int open_lanes(struct load_run *run, struct err *err)
{
	const struct frames_cfg *cfg = run->cfg;
	const struct frames_state *state = run->state;
	const bool reads = frames_sink_place(state->sink) == FRAMES_AT_READER;
	int r = load_lanes(run, cfg->threads + reads, err);

	run->threads = cfg->threads;
	for (size_t i = 0; !r && i < cfg->threads; i++) {
		struct lane *lane = &run->lanes[i];

		lane->role = "generator";
		lane->node = run->injected ? state->path.next_node : run->from;
		lane->work = frames_is_live(state->engine) ? frames_live_send : frames_socket_send;
		r = lane_cpu(cfg->cpus_from, SIDE_FROM, i, &lane->cpu, err);
	}
	if (!r && reads) {
		struct lane *lane = &run->lanes[cfg->threads];

		lane->role = "receiver";
		lane->receives = true;
		lane->node = run->to;
		lane->work = frames_receive;
		r = lane_cpu(NULL, SIDE_TO, 0, &lane->cpu, err);
	}
	return r;
}

/*
 * A veth picks the queue by the sending CPU, and two CPUs that share one overwrite each other's count of
 * dropped frames (drivers/net/veth.c): then no ledger could close.
 */
static int check_queues(const struct load_run *run, struct err *err)
{
	const struct frames_state *state = run->state;
	const uint64_t queues = lab_spec(run->lab)->links[state->path.first_link].queues;

	for (size_t i = 0; state->engine == FRAMES_XDP && i < run->threads; i++)
		for (size_t k = 0; k < i; k++) {
			const int a = run->lanes[i].cpu, b = run->lanes[k].cpu;

			if (a != b && queues && (uint64_t)a % queues == (uint64_t)b % queues)
				return err_set(err, EINVAL,
					       "threads: CPUs %d and %d share a queue of the first "
					       "link: give the link as many queues as CPUs",
					       b, a);
		}
	return 0;
}

static int open_all(struct load_run *run, uint16_t port, struct err *err)
{
	const struct frames_cfg *cfg = run->cfg;
	struct frames_state *state = run->state;
	int r = choose_engine(run, err);

	if (!r)
		r = frames_look_make(&cfg->look, &state->path, port, cfg->threads, &state->look,
				     err);
	if (!r)
		r = check_way(run, err);
	if (r)
		return r;
	run->injected = state->engine == FRAMES_INJECT;
	r = open_sink(run, port, err);
	if (!r)
		r = open_way(run, err);
	if (r == -EOPNOTSUPP && cfg->engine == FRAMES_AUTO && state->engine == FRAMES_XDP) {
		state->engine = FRAMES_TC;
		set_why(state, "%s", err->text);
		r = 0;
	}
	if (!r)
		r = open_lanes(run, err);
	if (!r)
		r = check_queues(run, err);
	if (r)
		return r;
	state->look.shape.untouched = state->engine == FRAMES_XDP && state->path.hops == 1 &&
				      frames_sink_place(state->sink) == FRAMES_AT_XDP;
	return frames_is_live(state->engine) ? frames_live_open(run, err)
					     : frames_socket_open(run, port, err);
}

int frames_open(struct load_run *run, struct err *err)
{
	const uint16_t port = (uint16_t)(LAB_TEST_PORT + PORTS_PER_LOAD * run->twin);
	struct frames_state *state = calloc(1, sizeof(*state));
	int r;

	run->state = state;
	if (!state)
		return err_sys(err, ENOMEM, "cannot allocate the frames load");
	r = find_path(run, &state->path, err);
	if (!r)
		r = frames_filters_find(run, err);
	return r ? r : open_all(run, port, err);
}

void frames_close(struct load_run *run)
{
	struct frames_state *state = run->state;

	if (!state)
		return;
	frames_live_close(state);
	frames_socket_close(state);
	frames_sink_close(state->sink);
	frames_look_release(&state->look);
	free(state->filters);
	free(state);
	run->state = NULL;
}
