/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tcp load: bulk transfer over N streams; its sockets, its options and what it reports. */
#include <errno.h>
#include <linux/tcp.h>
#include <math.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "load/tcp.h"
#include "result/result.h"

/* What TCP_MAXSEG takes (net/ipv4/tcp.c); its upper limit is 32767. */
#define MSS_MIN 88

static int sending_fd(const struct load_run *run, size_t pair)
{
	const struct tcp_state *state = run->state;
	const struct flow_cfg *cfg = run->cfg;
	const bool reverse = cfg->direction == FLOW_REVERSE || pair >= cfg->streams;

	return reverse ? state->pairs[pair].to : state->pairs[pair].from;
}

static int tune_sender(int fd, const struct tcp_cfg *cfg, struct err *err)
{
	const int one = 1;
	const uint64_t pacing = cfg->pacing.value / 8; /* the kernel counts bytes per second */

	if (cfg->nodelay && setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)))
		return err_sys(err, errno, "cannot set TCP_NODELAY");
	if (cfg->zerocopy && setsockopt(fd, SOL_SOCKET, SO_ZEROCOPY, &one, sizeof(one)))
		return err_sys(err, errno, "cannot set SO_ZEROCOPY");
	if (cfg->pacing.unit == RATE_BPS &&
	    setsockopt(fd, SOL_SOCKET, SO_MAX_PACING_RATE, &pacing, sizeof(pacing)))
		return err_sys(err, errno, "cannot pace a stream");
	return 0;
}

static int tcp_open(struct load_run *run, struct err *err)
{
	const struct tcp_cfg *cfg = run->cfg;
	const struct pair_options options = {
		.type = SOCK_STREAM,
		.sndbuf = cfg->flow.sndbuf,
		.rcvbuf = cfg->flow.rcvbuf,
		.mss = cfg->mss,
		.dscp = cfg->flow.dscp,
		.congestion = cfg->congestion,
	};
	const size_t n = flow_pairs(&cfg->flow);
	struct tcp_state *state = calloc(1, sizeof(*state));
	int r;

	run->state = state;
	if (!state)
		return err_sys(err, ENOMEM, "cannot allocate the tcp load");
	state->pairs = calloc(n, sizeof(*state->pairs));
	state->begin = calloc(n, sizeof(*state->begin));
	state->end = calloc(n, sizeof(*state->end));
	if (!state->pairs || !state->begin || !state->end)
		return err_sys(err, ENOMEM, "cannot allocate %zu streams", n);
	r = flow_open(run, &options, state->pairs, tcp_send, tcp_receive, err);
	if (r)
		return r;
	state->n_pairs = n;
	for (size_t i = 0; !r && i < n; i++)
		r = tune_sender(sending_fd(run, i), cfg, err);
	return r;
}

static void tcp_close(struct load_run *run)
{
	struct tcp_state *state = run->state;

	if (!state)
		return;
	pairs_close(state->pairs, state->n_pairs);
	free(state->pairs);
	free(state->begin);
	free(state->end);
	free(state);
	run->state = NULL;
}

static void tcp_mark(struct load_run *run, bool end)
{
	struct tcp_state *state = run->state;
	struct tcp_mark *marks = end ? state->end : state->begin;

	for (size_t i = 0; i < state->n_pairs; i++) {
		struct tcp_info info = {0};
		socklen_t len = sizeof(info);

		if (getsockopt(sending_fd(run, i), IPPROTO_TCP, TCP_INFO, &info, &len))
			continue;
		marks[i] = (struct tcp_mark){.segments = info.tcpi_data_segs_out,
					     .retransmits = info.tcpi_total_retrans,
					     .rtt_ns = (uint64_t)info.tcpi_rtt * 1000,
					     .cwnd = info.tcpi_snd_cwnd};
	}
}

/* Sums and means over the streams, by what each sending socket says of itself. */
static int collect_info(struct load_run *run, struct result_case *c)
{
	static const struct metric_def defs[] = {
		{"retransmits", "", BETTER_LOWER, "sender", "L4 segments"},
		{"retransmit_ratio", "ratio", BETTER_LOWER, "sender", "L4 segments"},
		{"rtt", "ns", BETTER_LOWER, "sender", "L4"},
		{"cwnd", "", BETTER_NEITHER, "sender", "L4 segments"},
	};
	const struct tcp_state *state = run->state;
	const double n = (double)state->n_pairs;
	double segments = 0, retransmits = 0, rtt = 0, cwnd = 0;
	int r = 0;

	for (size_t i = 0; i < state->n_pairs; i++) {
		segments += (double)(state->end[i].segments - state->begin[i].segments);
		retransmits += (double)(state->end[i].retransmits - state->begin[i].retransmits);
		rtt += (double)state->end[i].rtt_ns / n;
		cwnd += (double)state->end[i].cwnd / n;
	}
	const double figures[] = {retransmits, segments > 0 ? retransmits / segments : NAN, rtt,
				  cwnd};

	for (size_t i = 0; !r && i < 4; i++)
		r = case_add_sample(c, &defs[i], figures[i]);
	return r;
}

/* Which congestion control it was: the kernel's own choice differs from machine to machine. */
static int label_congestion(struct load_run *run, struct result_case *c)
{
	char name[32] = "";
	socklen_t len = sizeof(name) - 1;

	for (size_t i = 0; i < c->n_labels; i++)
		if (!strcmp(c->labels[i].name, "congestion"))
			return 0;
	if (getsockopt(sending_fd(run, 0), IPPROTO_TCP, TCP_CONGESTION, name, &len))
		return 0;
	return case_add_label(c, "congestion", name);
}

static int collect_zerocopy(const struct load_run *run, struct result_case *c)
{
	uint64_t sent = 0, copied = 0;

	for (size_t i = 0; i < run->n_lanes; i++) {
		const struct tcp_lane *lane = (const struct tcp_lane *)run->lanes[i].shared;

		sent += lane->zerocopy_sent;
		copied += lane->zerocopy_copied;
	}
	return findings_add(&c->validity, copied == 0 && sent > 0, "zero-copy sends",
			    "the kernel copied %.0f %% of them after all",
			    sent ? 100.0 * (double)copied / (double)sent : 0.0);
}

static int tcp_collect(struct load_run *run, struct result_case *c, struct err *err)
{
	static const struct metric_def goodput = {"goodput", "bit/s", BETTER_HIGHER, "receiver",
						  "L4 payload"};
	static const struct metric_def forward = {"goodput_forward", "bit/s", BETTER_HIGHER,
						  "receiver", "L4 payload"};
	static const struct metric_def reverse = {"goodput_reverse", "bit/s", BETTER_HIGHER,
						  "receiver", "L4 payload"};
	const struct tcp_cfg *cfg = run->cfg;
	double rate[2] = {0, 0};
	int r;

	for (size_t i = 0; i < run->n_lanes; i++) {
		struct flow_part part;

		flow_part(&run->lanes[i], &part);
		rate[part.reverse] +=
			(double)((struct tcp_lane *)run->lanes[i].shared)->window_bytes * 8;
	}
	rate[0] /= run_window_s(run);
	rate[1] /= run_window_s(run);
	r = case_add_sample(c, &goodput, rate[0] + rate[1]);
	if (!r && cfg->flow.direction == FLOW_BOTH) {
		r = case_add_sample(c, &forward, rate[0]);
		if (!r)
			r = case_add_sample(c, &reverse, rate[1]);
	}
	if (!r)
		r = collect_info(run, c);
	if (!r)
		r = label_congestion(run, c);
	if (!r && cfg->zerocopy)
		r = collect_zerocopy(run, c);
	return r ? err_sys(err, r, "cannot keep the figures of tcp") : 0;
}

/* Asked of a socket that is thrown away; where the kernel has modules, this finds those too. */
static int check_congestion(const char *name, struct err *err)
{
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char offered[256] = "";
	FILE *file;
	int code = 0;

	if (fd < 0)
		return 0;
	if (setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, (socklen_t)strlen(name)))
		code = errno;
	close(fd);
	if (code != ENOENT)
		return 0;
	file = fopen("/proc/sys/net/ipv4/tcp_available_congestion_control", "re");
	if (file) {
		if (fgets(offered, sizeof(offered), file))
			offered[strcspn(offered, "\n")] = '\0';
		fclose(file);
	}
	return err_set(err, EOPNOTSUPP, "the kernel has no congestion control '%s', only: %s", name,
		       offered);
}

static int tcp_check(const void *config, struct err *err)
{
	const struct tcp_cfg *cfg = config;
	int r;

	if (cfg->pacing.unit == RATE_PPS)
		return err_set(err, EINVAL, "pacing of tcp is a bit rate such as 100Mbit/s");
	if (cfg->mss && cfg->mss < MSS_MIN)
		return err_set(err, EINVAL, "'mss' wants 0 or a number from %d, not '%u'", MSS_MIN,
			       (unsigned int)cfg->mss);
	r = flow_check(&cfg->flow, err);
	return r || !cfg->congestion ? r : check_congestion(cfg->congestion, err);
}

static const struct opt tcp_opts[] = {
	FLOW_OPTS,
	{.name = "buffer",
	 .type = OPT_SIZE,
	 .offset = offsetof(struct tcp_cfg, buffer),
	 .def = "512Ki",
	 .min = 1,
	 .max = 64u << 20,
	 .help = "bytes per send and receive call"},
	{.name = "congestion",
	 .type = OPT_TEXT,
	 .offset = offsetof(struct tcp_cfg, congestion),
	 .metavar = "NAME",
	 .help = "congestion control such as cubic or bbr; default: the kernel's"},
	{.name = "mss",
	 .type = OPT_COUNT,
	 .offset = offsetof(struct tcp_cfg, mss),
	 .def = "0",
	 .max = 32767,
	 .help = "maximum segment size; 0: from the MTU"},
	{.name = "nodelay",
	 .type = OPT_BOOL,
	 .offset = offsetof(struct tcp_cfg, nodelay),
	 .def = "no",
	 .help = "switch Nagle's algorithm off"},
	{.name = "zerocopy",
	 .type = OPT_BOOL,
	 .offset = offsetof(struct tcp_cfg, zerocopy),
	 .def = "no",
	 .help = "send with MSG_ZEROCOPY"},
	{.name = "truncate",
	 .type = OPT_BOOL,
	 .offset = offsetof(struct tcp_cfg, truncate),
	 .def = "no",
	 .help = "receive with MSG_TRUNC: the kernel discards the data instead of copying it"},
	{.name = "pacing",
	 .type = OPT_RATE,
	 .offset = offsetof(struct tcp_cfg, pacing),
	 .def = "max",
	 .help = "upper limit of each stream"},
	{0},
};

const struct load load_tcp = {
	.kind = {.name = "tcp",
		 .help = "bulk TCP transfer over one or more streams",
		 .opts = tcp_opts,
		 .cfg_size = sizeof(struct tcp_cfg),
		 .check = tcp_check},
	.traffic = true,
	.lane_size = sizeof(struct tcp_lane),
	.open = tcp_open,
	.mark = tcp_mark,
	.collect = tcp_collect,
	.close = tcp_close,
	.progress = flow_received_bytes,
	.progress_unit = "byte",
};
