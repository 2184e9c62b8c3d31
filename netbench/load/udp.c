/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The udp load: numbered, timed packets through sockets; its options and what it reports. */
#include "load/udp.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/sock_diag.h>
#include <math.h>
#include <stdlib.h>

#include "result/result.h"
#include "topo/lab.h"

/* A receive buffer that rides out a descheduled receiver for a while; the FORCE variant allows it. */
#define DEFAULT_RCVBUF (8u << 20)

static int udp_open(struct load_run *run, struct err *err)
{
	const struct udp_cfg *cfg = run->cfg;
	const struct pair_options options = {
		.type = SOCK_DGRAM,
		.sndbuf = cfg->flow.sndbuf,
		.rcvbuf = cfg->flow.rcvbuf ? cfg->flow.rcvbuf : DEFAULT_RCVBUF,
		.dscp = cfg->flow.dscp,
	};
	const size_t n = flow_pairs(&cfg->flow);
	struct udp_state *state = calloc(1, sizeof(*state));
	int r;

	run->state = state;
	if (!state)
		return err_sys(err, ENOMEM, "cannot allocate the udp load");
	state->pairs = calloc(n, sizeof(*state->pairs));
	if (!state->pairs)
		return err_sys(err, ENOMEM, "cannot allocate %zu streams", n);
	r = flow_open(run, &options, state->pairs, udp_send, udp_receive, err);
	if (!r)
		state->n_pairs = n;
	return r;
}

static void udp_close(struct load_run *run)
{
	struct udp_state *state = run->state;

	if (!state)
		return;
	pairs_close(state->pairs, state->n_pairs);
	free(state->pairs);
	free(state);
	run->state = NULL;
}

/* The lanes of a run added up. */
struct totals {
	uint64_t sent, window_sent, window_refused;
	uint64_t window_packets, window_bytes, window_unique;
	uint64_t unique, duplicates, reordered;
	double jitter_ns;
	size_t receivers;
};

static struct totals add_up(const struct load_run *run, struct hist *latency)
{
	struct totals t = {0};

	for (size_t i = 0; i < run->n_lanes; i++) {
		const struct udp_lane *lane = (const struct udp_lane *)run->lanes[i].shared;
		struct flow_part part;

		flow_part(&run->lanes[i], &part);
		if (!part.receives) {
			t.sent += atomic_load(&lane->shared.packets);
			t.window_sent += lane->window_sent;
			t.window_refused += lane->window_refused;
			continue;
		}
		t.window_packets += lane->window_packets;
		t.window_bytes += lane->window_bytes;
		t.window_unique += lane->window_unique;
		t.unique += lane->unique;
		t.duplicates += lane->duplicates;
		t.reordered += lane->reordered;
		t.jitter_ns += lane->jitter_ns;
		t.receivers++;
		if (latency)
			hist_merge(latency, &lane->latency);
	}
	return t;
}

/* Of all directions together; 0: as fast as it goes. */
static double asked_pps(const struct udp_cfg *cfg)
{
	const double directions = cfg->flow.direction == FLOW_BOTH ? 2 : 1;

	if (cfg->rate.unit == RATE_PPS)
		return (double)cfg->rate.value * directions;
	return cfg->rate.unit == RATE_BPS
		       ? (double)cfg->rate.value * directions / (8.0 * (double)cfg->size)
		       : 0;
}

static int collect_rates(const struct load_run *run, struct result_case *c, const struct totals *t)
{
	static const struct metric_def delivered = {"delivered", "packet/s", BETTER_HIGHER,
						    "receiver", "L4"};
	static const struct metric_def goodput = {"goodput", "bit/s", BETTER_HIGHER, "receiver",
						  "L4 payload"};
	static const struct metric_def offered = {"offered", "packet/s", BETTER_NEITHER, "sender",
						  "L4"};
	static const struct metric_def asked_for = {"asked", "packet/s", BETTER_NEITHER, "sender",
						    "L4"};
	static const struct metric_def sent = {"sent", "packet/s", BETTER_NEITHER, "sender", "L4"};
	const double window_s = run_window_s(run);
	const double asked = asked_pps(run->cfg);
	int r;

	r = case_add_sample(c, &delivered, (double)t->window_packets / window_s);
	if (!r)
		r = case_add_sample(c, &goodput, (double)t->window_bytes * 8 / window_s);
	if (!r)
		r = case_add_sample(c, &offered,
				    (double)(t->window_sent + t->window_refused) / window_s);
	if (!r)
		r = case_add_sample(c, &sent, (double)t->window_sent / window_s);
	return r || !(asked > 0) ? r : case_add_sample(c, &asked_for, asked);
}

static double share(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : NAN;
}

static int collect_faults(struct result_case *c, const struct totals *t)
{
	static const struct metric_def loss = {"loss", "ratio", BETTER_LOWER, "receiver", "L4"};
	static const struct metric_def duplicates = {"duplicates", "", BETTER_LOWER, "receiver",
						     "L4"};
	static const struct metric_def reordered = {"reordered", "", BETTER_LOWER, "receiver",
						    "L4"};
	static const struct metric_def jitter = {"jitter", "ns", BETTER_LOWER, "receiver", "L4"};
	const uint64_t lost =
		t->window_sent > t->window_unique ? t->window_sent - t->window_unique : 0;
	int r;

	r = case_add_sample(c, &loss, share(lost, t->window_sent));
	if (!r)
		r = case_add_sample(c, &duplicates, (double)t->duplicates);
	if (!r)
		r = case_add_sample(c, &reordered, (double)t->reordered);
	return r ? r
		 : case_add_sample(c, &jitter,
				   t->receivers ? t->jitter_ns / (double)t->receivers : NAN);
}

static int udp_collect(struct load_run *run, struct result_case *c, struct err *err)
{
	struct hist *latency = calloc(1, sizeof(*latency));
	struct totals t;
	int r;

	if (!latency)
		return err_sys(err, ENOMEM, "cannot allocate a histogram");
	t = add_up(run, latency);
	r = collect_rates(run, c, &t);
	if (!r)
		r = collect_faults(c, &t);
	if (!r)
		r = latency_metrics(c, latency, LATENCY_ONE_WAY);
	free(latency);
	return r ? err_sys(err, r, "cannot keep the figures of udp") : 0;
}

/* Packets a socket dropped for want of buffer space: sk_drops, by SO_MEMINFO (net/core/sock.c). */
static int socket_drops(int fd, uint64_t *sum, struct err *err)
{
	uint32_t info[SK_MEMINFO_VARS] = {0};
	socklen_t len = sizeof(info);

	if (getsockopt(fd, SOL_SOCKET, SO_MEMINFO, info, &len))
		return err_sys(err, errno, "cannot read the drops of a socket");
	*sum += info[SK_MEMINFO_DROPS];
	return 0;
}

/* Does a packet exceed the MTU of a link on its way? */
static int find_fragmentation(const struct load_run *run, bool *ret, struct err *err)
{
	const struct udp_cfg *cfg = run->cfg;
	const uint64_t packet = cfg->size + 8 + (cfg->flow.traffic.family ? 40 : 20);
	struct hop *hops;
	int n = lab_plan_path(lab_plan(run->lab), run->from, run->to, &hops, err);

	if (n < 0)
		return n;
	*ret = packet > lab_path_mtu(lab_spec(run->lab), hops, n);
	free(hops);
	return 0;
}

static int udp_account(struct load_run *run, struct account *ret, struct err *err)
{
	const struct udp_cfg *cfg = run->cfg;
	const struct udp_state *state = run->state;
	const struct totals t = add_up(run, NULL);
	int r = 0;

	for (size_t i = 0; !r && i < state->n_pairs; i++) {
		const bool reverse = cfg->flow.direction == FLOW_REVERSE || i >= cfg->flow.streams;

		r = socket_drops(reverse ? state->pairs[i].from : state->pairs[i].to,
				 &ret->socket_drops, err);
	}
	ret->present = true;
	ret->sent = t.sent;
	ret->delivered = t.unique;
	ret->duplicates = t.duplicates;
	/* A buffer that UDP_GRO filled, or that crossed as one super-packet, holds up to this many. */
	ret->packets_per_buffer = cfg->gro ? 65535 / cfg->size + 1 : 1;
	ret->packets_per_frame = cfg->segment ? cfg->segment : 1;
	return r ? r : find_fragmentation(run, &ret->fragmented, err);
}

static int udp_check(const void *config, struct err *err)
{
	const struct udp_cfg *cfg = config;

	if (cfg->segment && cfg->segment * cfg->size > 65507)
		return err_set(err, EINVAL,
			       "segment × size is %" PRIu64
			       " bytes: one send carries at most 65507",
			       cfg->segment * cfg->size);
	return flow_check(&cfg->flow, err);
}

static const struct opt udp_opts[] = {
	FLOW_OPTS,
	{.name = "size",
	 .type = OPT_SIZE,
	 .offset = offsetof(struct udp_cfg, size),
	 .def = "18",
	 .min = sizeof(struct udp_header),
	 .max = 65507,
	 .help = "UDP payload; 18 makes a 64-byte Ethernet frame with IPv4"},
	{.name = "rate",
	 .type = OPT_RATE,
	 .offset = offsetof(struct udp_cfg, rate),
	 .def = "max",
	 .min = 1,
	 .help = "packets or payload bits per second of each direction, or max"},
	{.name = "batch",
	 .type = OPT_COUNT,
	 .offset = offsetof(struct udp_cfg, batch),
	 .def = "64",
	 .min = 1,
	 .max = 1024,
	 .help = "messages per sendmmsg call"},
	{.name = "segment",
	 .type = OPT_COUNT,
	 .offset = offsetof(struct udp_cfg, segment),
	 .def = "0",
	 .max = 64,
	 .help = "packets per message, cut by the kernel (UDP_SEGMENT); 0: off"},
	{.name = "gro",
	 .type = OPT_BOOL,
	 .offset = offsetof(struct udp_cfg, gro),
	 .def = "no",
	 .help = "let the kernel hand over joined packets (UDP_GRO)"},
	{0},
};

const struct load load_udp = {
	.kind = {.name = "udp",
		 .help = "numbered UDP packets of any size, paced or as fast as they go",
		 .opts = udp_opts,
		 .cfg_size = sizeof(struct udp_cfg),
		 .check = udp_check},
	.traffic = true,
	.lane_size = sizeof(struct udp_lane),
	.open = udp_open,
	.collect = udp_collect,
	.account = udp_account,
	.close = udp_close,
	.progress = flow_received_packets,
	.progress_unit = "packet",
};
