/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The frames load: test frames at full rate or on schedule; its options, its schedule, its books. */
#include "load/frames.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/sock_diag.h>
#include <math.h>

#include "bpf/sink.h"
#include "topo/filter/filter.h"
#include "topo/lab.h"

/* After the end: this long without a new frame at the sink, and what is missing is lost. */
#define QUIET_NS UINT64_C(10000000)

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
	 .help = "frames the kernel handles in one turn; 0: 32 at full rate, 8 on schedule"},
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
	if (!r && frames_is_live(cfg->engine)) {
		r = frames_live_probe(err);
		if (r == -EPERM) /* that privileges are missing is said elsewhere */
			r = 0;
	}
	return r;
}

static int frames_check_mtu(const void *config, uint64_t mtu, struct err *err)
{
	const struct frames_cfg *cfg = config;

	return frames_sizes_check(&cfg->look, cfg->traffic.family == 1, mtu, err);
}

static void frames_mark(struct load_run *run, bool end)
{
	struct frames_state *state = run->state;

	frames_filters_read(run, &state->marks[end]);
}

static uint64_t frames_progress(const struct load_run *run)
{
	const struct frames_state *state = run->state;
	struct frames_mark mark;
	struct sink_count count;

	frames_filters_read(run, &mark);
	frames_sink_read(state->sink, &count);
	return sink_unique(&count) + mark.dropped;
}

uint64_t frames_start(const struct lane *lane)
{
	const struct frames_cfg *cfg = lane->run->cfg;
	const struct trial_clock *clock = lane->run->clock;

	return cfg->count ? clock->begin_ns : clock->start_ns;
}

void frames_drain(const struct lane *lane)
{
	const struct frames_state *state = lane->run->state;
	const struct trial_clock *clock = lane->run->clock;
	struct sink_count count;
	uint64_t last, since, now;

	frames_sink_read(state->sink, &count);
	last = sink_unique(&count);
	for (since = now = now_ns(); now < since + QUIET_NS && now < clock->drain_ns;
	     now = now_ns()) {
		lane_sleep_until(now + 1000000);
		frames_sink_read(state->sink, &count);
		if (sink_unique(&count) != last)
			since = now;
		last = sink_unique(&count);
	}
}

/* Dropped for want of room in the socket that a reader reads; a filter's own drops count there too. */
static int socket_drops(const struct load_run *run, uint64_t *ret, struct err *err)
{
	const struct frames_state *state = run->state;
	uint32_t info[SK_MEMINFO_VARS] = {0};
	socklen_t len = sizeof(info);
	struct filter_counters counters = {0};
	int r = 0;

	*ret = 0;
	if (frames_sink_place(state->sink) != FRAMES_AT_READER)
		return 0;
	if (getsockopt(frames_sink_fd(state->sink), SOL_SOCKET, SO_MEMINFO, info, &len))
		return err_sys(err, errno, "cannot read the drops of a socket");
	if (state->socket_filter != SIZE_MAX)
		r = lab_filter_counters(run->lab, state->socket_filter, &counters, err);
	if (!r && info[SK_MEMINFO_DROPS] > (uint32_t)counters.dropped)
		*ret = info[SK_MEMINFO_DROPS] - (uint32_t)counters.dropped;
	return r;
}

static int frames_account(struct load_run *run, struct account *ret, struct err *err)
{
	const struct frames_cfg *cfg = run->cfg;
	const uint64_t flows = cfg->look.order == FRAMES_ONE ? 1 : cfg->look.flows;
	const struct frames_state *state = run->state;
	struct sink_count count;

	frames_sink_read(state->sink, &count);
	*ret = (struct account){.present = true, .packets_per_buffer = 1, .packets_per_frame = 1};
	for (size_t i = 0; i < run->threads; i++)
		ret->sent += ((const struct frames_lane *)run->lanes[i].shared)->sent;
	ret->delivered = sink_unique(&count);
	ret->duplicates = count.duplicates;
	/* At random some flows come late, or never. */
	if (cfg->look.order != FRAMES_RANDOM)
		ret->flows = ret->sent < flows ? ret->sent : flows;
	return socket_drops(run, &ret->socket_drops, err);
}

const struct load load_frames = {
	.kind = {.name = "frames",
		 .help = "test frames of any size at millions per second, counted where they end",
		 .opts = frames_opts,
		 .cfg_size = sizeof(struct frames_cfg),
		 .check = frames_check},
	.traffic = true,
	.to_test_port = true,
	.check_mtu = frames_check_mtu,
	.lane_size = sizeof(struct frames_lane),
	.open = frames_open,
	.mark = frames_mark,
	.collect = frames_collect,
	.account = frames_account,
	.close = frames_close,
	.progress = frames_progress,
	.progress_unit = "packet",
};
