/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The frames load: test frames at full rate or on schedule; its options, engines and lanes. */
#include "load/frames.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/sink.h"
#include "topo/filter/filter.h"
#include "topo/lab.h"

/* Side loads of the same kind keep apart by their port. */
#define PORTS_PER_LOAD 256

const char *const frames_engines[] = {"auto", "xdp", "inject", "tc", "packet", "udp", NULL};
static const char *const orders[] = {"sequential", "random", "one", NULL};
static const char *const protocols[] = {"udp", "tcp-syn", NULL};
static const char *const layers[] = {"l1", "l2", NULL};
static const char *const sinks[] = {"auto", "xdp", "socket", NULL};

static const struct opt frames_opts[] = {
	TRAFFIC_OPTS,
	{.name = "engine",
	 .type = OPT_CHOICE,
	 .offset = offsetof(struct frames_cfg, engine),
	 .def = "auto",
	 .choices = frames_engines,
	 .help = "how frames are made: live frames sent out (xdp), passed up in the next node "
		 "(inject) "
		 "or sent out by tc (tc), a packet socket, a UDP socket; auto: the fastest that "
		 "works"},
	{.name = "size",
	 .type = OPT_TEXT,
	 .offset = offsetof(struct frames_cfg, look.size),
	 .def = "64",
	 .metavar = "SIZE",
	 .help = "bytes of a frame with its FCS, from 64; or imix (28 × 64, 16 × 570, 4 × 1518); "
		 "or a "
		 "genome (RFC 6985) such as aaafg"},
	{.name = "rate",
	 .type = OPT_RATE,
	 .offset = offsetof(struct frames_cfg, rate),
	 .def = "max",
	 .min = 1,
	 .help = "frames or bits per second of all threads together, or max"},
	{.name = "layer",
	 .type = OPT_CHOICE,
	 .offset = offsetof(struct frames_cfg, layer),
	 .def = "l1",
	 .choices = layers,
	 .help = "what a rate in bit/s counts: frames with preamble and gap (l1) or without (l2)"},
	{.name = "flows",
	 .type = OPT_COUNT,
	 .offset = offsetof(struct frames_cfg, look.flows),
	 .def = "1",
	 .min = 1,
	 .max = FRAMES_FLOWS_MAX,
	 .help = "different source addresses and ports"},
	{.name = "order",
	 .type = OPT_CHOICE,
	 .offset = offsetof(struct frames_cfg, look.order),
	 .def = "sequential",
	 .choices = orders,
	 .help = "the order in which flows take turns"},
	{.name = "proto",
	 .type = OPT_CHOICE,
	 .offset = offsetof(struct frames_cfg, look.proto),
	 .def = "udp",
	 .choices = protocols,
	 .help = "what the frames carry, to port 9"},
	{.name = "vlan",
	 .type = OPT_COUNT,
	 .offset = offsetof(struct frames_cfg, look.vlan),
	 .def = "0",
	 .max = 4094,
	 .help = "802.1Q tag; 0: none"},
	{.name = "dscp",
	 .type = OPT_COUNT,
	 .offset = offsetof(struct frames_cfg, look.dscp),
	 .def = "0",
	 .max = 63,
	 .help = "differentiated services code point (RFC 2474)"},
	{.name = "threads",
	 .type = OPT_COUNT,
	 .offset = offsetof(struct frames_cfg, threads),
	 .def = "1",
	 .min = 1,
	 .max = FRAMES_STREAMS,
	 .help = "pinned generators, each with a stream of its own"},
	{.name = "burst",
	 .type = OPT_COUNT,
	 .offset = offsetof(struct frames_cfg, burst),
	 .def = "1",
	 .min = 1,
	 .max = 65536,
	 .help = "frames that leave together when a rate is asked for"},
	{.name = "batch",
	 .type = OPT_COUNT,
	 .offset = offsetof(struct frames_cfg, batch),
	 .def = "0",
	 .max = 256,
	 .help = "frames the kernel handles in one turn; 0: 64 at full rate, 8 on schedule"},
	{.name = "count",
	 .type = OPT_COUNT,
	 .offset = offsetof(struct frames_cfg, count),
	 .def = "0",
	 .help = "stop after so many frames; 0: at the end of the trial"},
	{.name = "sink",
	 .type = OPT_CHOICE,
	 .offset = offsetof(struct frames_cfg, sink),
	 .def = "auto",
	 .choices = sinks,
	 .help = "where frames are counted: at the XDP hook of the last device, or at the socket "
		 "they "
		 "are meant for"},
	{.name = "cpus_from",
	 .type = OPT_TEXT,
	 .offset = offsetof(struct frames_cfg, cpus_from),
	 .metavar = "LIST",
	 .help = "CPUs of the generators, such as 0,2-3; default: the first half"},
	{.name = "seed",
	 .type = OPT_COUNT,
	 .offset = offsetof(struct frames_cfg, look.seed),
	 .def = "1",
	 .help = "of addresses, ports, order and content"},
	{0},
};

double frames_asked_pps(const struct frames_cfg *cfg, const struct frames_look *look)
{
	/* Preamble, start of frame and the gap after it: 20 bytes on the wire. */
	const double bytes = look->mean + (cfg->layer ? 0 : 20);

	if (cfg->rate.unit == RATE_PPS)
		return (double)cfg->rate.value;
	return cfg->rate.unit == RATE_BPS ? (double)cfg->rate.value / (8 * bytes) : 0;
}

void frames_pace(const struct frames_cfg *cfg, const struct frames_look *look, size_t lane,
		 size_t threads, struct frames_pace *ret)
{
	const double pps = frames_asked_pps(cfg, look);
	const double interval = pps > 0 ? (double)cfg->burst * 1e9 / pps : 0;
	const double unit = (double)(1u << FRAMES_DUE_SHIFT);

	ret->interval = (uint64_t)llround(interval * (double)threads * unit);
	ret->first = (uint64_t)llround(interval * (double)lane * unit);
	ret->count = cfg->count / threads + (lane < cfg->count % threads);
}

static int check_engine(const struct frames_cfg *cfg, struct err *err)
{
	const char *engine = frames_engines[cfg->engine];

	if (cfg->engine == FRAMES_INJECT && cfg->sink == FRAMES_SINK_XDP)
		return 0;
	if (cfg->look.vlan && (cfg->engine == FRAMES_UDP || cfg->engine == FRAMES_INJECT))
		return err_set(err, EINVAL, "vlan: engine %s cannot send tagged frames", engine);
	if (cfg->look.vlan && cfg->sink == FRAMES_SINK_SOCKET)
		return err_set(err, EINVAL, "vlan: a socket does not get tagged frames");
	if (cfg->engine == FRAMES_UDP && cfg->look.flows > 1)
		return err_set(err, EINVAL, "flows: engine udp sends one flow");
	if (cfg->engine == FRAMES_UDP && cfg->look.proto)
		return err_set(err, EINVAL, "proto: engine udp sends UDP only");
	return 0;
}

static int frames_check(const void *config, struct err *err)
{
	const struct frames_cfg *cfg = config;
	int r = frames_sizes_check(&cfg->look, cfg->traffic.family == 1, 0, err);

	if (!r)
		r = check_engine(cfg, err);
	if (!r && cfg->count && cfg->count < cfg->threads)
		r = err_set(err, EINVAL, "count: %" PRIu64 " frames for %" PRIu64 " threads",
			    cfg->count, cfg->threads);
	if (!r)
		r = lane_cpus_check(cfg->cpus_from, err);
	if (!r && cfg->engine >= FRAMES_XDP && cfg->engine <= FRAMES_TC) {
		r = frames_live_probe(err);
		if (r == -EPERM) /* that privileges are missing is said elsewhere */
			r = 0;
	}
	return r;
}

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
	*ret = (struct frames_path){.mtu = UINT64_MAX, .hops = (unsigned int)n};
	for (int i = 0; i < n; i++) {
		const uint64_t mtu = lab_spec(run->lab)->links[hops[i].link].mtu;

		ret->mtu = mtu < ret->mtu ? mtu : ret->mtu;
	}
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

static int open_sink(struct load_run *run, uint16_t port, struct err *err)
{
	const struct frames_cfg *cfg = run->cfg;
	struct frames_state *state = run->state;
	const struct frames_path *path = &state->path;
	const bool at_target = run->injected && path->hops == 1;
	const struct frames_sink_options options = {
		.lab = run->lab,
		.node = run->to,
		.path = path,
		.look = &state->look,
		.port = port,
		.vlan = cfg->look.vlan,
		.no_xdp = cfg->sink == FRAMES_SINK_SOCKET || at_target ||
			  (cfg->sink == FRAMES_SINK_AUTO && filters_at(run->lab, run->to)) ||
			  lab_has_xdp(run->lab, path->last_link, !path->last_side),
		.want_xdp = cfg->sink == FRAMES_SINK_XDP,
		.concurrent = lab_spec(run->lab)->links[path->last_link].queues > 1,
	};
	int r;

	if (options.no_xdp && options.want_xdp)
		return err_set(err, EINVAL,
			       at_target ? "sink: injected frames do not pass the XDP hook"
					 : "sink: a filter holds the XDP hook of the last device");
	r = frames_sink_open(&options, &state->sink, err);
	/* A veth takes redirected frames, and knows a receive queue to inject into, with a program only. */
	if (!r && (path->hops > 1 || !frames_sink_at_xdp(state->sink)) &&
	    !lab_has_xdp(run->lab, path->first_link, !path->first_side) &&
	    (state->engine == FRAMES_XDP || state->engine == FRAMES_INJECT))
		r = frames_sink_pass(state->sink, path->next_node, path->next_ifindex, err);
	return r;
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

static int choose_engine(struct load_run *run, struct err *err)
{
	const struct frames_cfg *cfg = run->cfg;
	struct frames_state *state = run->state;
	int r;

	state->engine = (enum frames_engine)cfg->engine;
	set_why(state, "as asked");
	if (state->engine == FRAMES_PACKET || state->engine == FRAMES_UDP)
		return 0;
	r = frames_live_probe(err);
	if (r)
		return state->engine == FRAMES_AUTO ? err_set(err, EOPNOTSUPP, "no live frames")
						    : r;
	if (state->engine == FRAMES_AUTO) {
		state->engine = FRAMES_XDP;
		set_why(state, "the kernel has live frames, and the device takes them");
	}
	return 0;
}

static int open_lanes(struct load_run *run, struct err *err)
{
	const struct frames_cfg *cfg = run->cfg;
	const struct frames_state *state = run->state;
	int r = load_lanes(run, cfg->threads, err);

	run->threads = cfg->threads;
	for (size_t i = 0; !r && i < run->n_lanes; i++) {
		struct lane *lane = &run->lanes[i];

		lane->role = "generator";
		lane->node = run->injected ? state->path.next_node : run->from;
		lane->work = frames_live_send;
		r = lane_cpu(cfg->cpus_from, SIDE_FROM, i, &lane->cpu, err);
	}
	return r;
}

static int frames_open(struct load_run *run, struct err *err)
{
	const struct frames_cfg *cfg = run->cfg;
	const uint16_t port = (uint16_t)(LAB_TEST_PORT + PORTS_PER_LOAD * run->ordinal);
	struct frames_state *state = calloc(1, sizeof(*state));
	int r;

	run->state = state;
	if (!state)
		return err_sys(err, ENOMEM, "cannot allocate the frames load");
	r = find_path(run, &state->path, err);
	if (!r)
		r = frames_sizes_check(&cfg->look, cfg->traffic.family == 1, state->path.mtu, err);
	if (!r)
		r = choose_engine(run, err);
	if (!r)
		r = frames_look_make(&cfg->look, &state->path, port, cfg->threads, &state->look,
				     err);
	if (r)
		return r;
	run->injected = state->engine == FRAMES_INJECT;
	r = open_lanes(run, err);
	if (!r)
		r = open_sink(run, port, err);
	return r ? r : frames_live_open(run, err);
}

static void frames_close(struct load_run *run)
{
	struct frames_state *state = run->state;

	if (!state)
		return;
	frames_live_close(state);
	frames_sink_close(state->sink);
	frames_look_release(&state->look);
	free(state);
	run->state = NULL;
}

static uint64_t frames_progress(const struct load_run *run)
{
	const struct frames_state *state = run->state;
	struct sink_count count;

	frames_sink_read(state->sink, &count);
	return count.frames;
}

static int frames_account(struct load_run *run, struct account *ret, struct err *err)
{
	const struct frames_state *state = run->state;
	struct sink_count count;

	(void)err;
	frames_sink_read(state->sink, &count);
	*ret = (struct account){.present = true, .packets_per_buffer = 1, .packets_per_frame = 1};
	for (size_t i = 0; i < run->n_lanes; i++)
		ret->sent += ((const struct frames_lane *)run->lanes[i].shared)->sent;
	ret->delivered = count.frames - count.duplicates - count.ancient;
	ret->duplicates = count.duplicates;
	return 0;
}

const struct load load_frames = {
	.kind = {.name = "frames",
		 .help = "test frames of any size at millions per second, counted where they end",
		 .opts = frames_opts,
		 .cfg_size = sizeof(struct frames_cfg),
		 .check = frames_check},
	.traffic = true,
	.lane_size = sizeof(struct frames_lane),
	.open = frames_open,
	.collect = frames_collect,
	.account = frames_account,
	.close = frames_close,
	.progress = frames_progress,
	.progress_unit = "packet",
};
