/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tcp load: bulk transfer over N streams; goodput is what the receivers read. */
#include <errno.h>
#include <fcntl.h>
#include <linux/errqueue.h>
#include <math.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "load/flow.h"
#include "result/result.h"

/* Every blocking call returns after this, to look at the clock. */
#define POLL_NS UINT64_C(200000000)
#define POLL_MS 200
/* A receiver asks to be woken for about this much time's worth of data, so wake-ups do not cost the rate. */
#define WAKE_NS UINT64_C(1000000)
/* What TCP_MAXSEG takes (net/ipv4/tcp.c); its upper limit is 32767. */
#define MSS_MIN	  88
#define RETUNE_NS UINT64_C(50000000)

struct tcp_cfg {
	struct flow_cfg flow;
	char *congestion;
	uint64_t mss, buffer;
	bool nodelay, zerocopy, truncate;
	struct rate pacing;
};

struct tcp_lane {
	struct lane_shared shared;
	uint64_t window_bytes;
	uint64_t zerocopy_sent, zerocopy_copied; /* sends that the kernel copied after all */
};

struct tcp_mark {
	uint64_t retransmits, rtt_ns, cwnd;
};

struct tcp_state {
	struct pair *pairs;
	size_t n_pairs;
	struct tcp_mark *begin, *end; /* one per pair, of its sending socket */
};

/* A lane's sockets and how it waits for them: one is blocked on, several are polled. */
struct tcp_set {
	struct lane *lane;
	struct tcp_lane *shared;
	const struct tcp_cfg *cfg;
	unsigned char *buffer;
	int *fds;
	size_t n, open;
	int epoll;
	uint32_t zerocopy_pending;
	uint64_t lowat, tuned_ns, tuned_bytes;
};

static int add_to_epoll(struct tcp_set *set, uint32_t events, struct err *err)
{
	set->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (set->epoll < 0)
		return err_sys(err, errno, "cannot create an epoll set");
	for (size_t i = 0; i < set->n; i++) {
		struct epoll_event event = {.events = events, .data.u64 = i};

		if (fcntl(set->fds[i], F_SETFL, O_NONBLOCK) ||
		    epoll_ctl(set->epoll, EPOLL_CTL_ADD, set->fds[i], &event))
			return err_sys(err, errno, "cannot poll a stream");
	}
	return 0;
}

static int set_open(struct tcp_set *set, struct lane *lane, uint32_t events, struct err *err)
{
	const struct tcp_state *state = lane->run->state;
	struct flow_part part;
	int r = 0;

	flow_part(lane, &part);
	memset(set, 0, sizeof(*set));
	set->lane = lane;
	set->shared = (struct tcp_lane *)lane->shared;
	set->cfg = lane->run->cfg;
	set->n = set->open = part.n_streams;
	set->epoll = -1;
	set->lowat = 1;
	set->fds = calloc(set->n, sizeof(*set->fds));
	set->buffer = lane_buffer(set->cfg->buffer);
	if (!set->fds || !set->buffer)
		return err_sys(err, ENOMEM, "cannot allocate buffers");
	for (size_t i = 0; !r && i < set->n; i++) {
		set->fds[i] = flow_fd(lane, state->pairs, i);
		r = socket_deadline(set->fds[i], POLL_NS, err);
	}
	return r || set->n == 1 ? r : add_to_epoll(set, events, err);
}

static void set_close(struct tcp_set *set)
{
	if (set->epoll >= 0)
		close(set->epoll);
	free(set->fds);
	free(set->buffer);
}

/* Indices of streams that are worth a call now; a single stream always is: its call blocks. */
static int set_wait(struct tcp_set *set, struct epoll_event *events, int room)
{
	if (set->epoll < 0) {
		events[0].data.u64 = 0;
		return 1;
	}
	return epoll_wait(set->epoll, events, room, POLL_MS);
}

static void set_drop(struct tcp_set *set, size_t i)
{
	if (set->epoll >= 0)
		epoll_ctl(set->epoll, EPOLL_CTL_DEL, set->fds[i], NULL);
	set->open--;
}

/*
 * Completion notices of MSG_ZEROCOPY (Documentation/networking/msg_zerocopy.rst): ranges of send
 * calls whose pages are free again, and whether the kernel had to copy them.
 */
static void reap_zerocopy(struct tcp_set *set, int fd, int timeout_ms)
{
	struct pollfd pollfd = {.fd = fd};
	char control[128];

	if (timeout_ms)
		poll(&pollfd, 1, timeout_ms);
	for (;;) {
		struct msghdr msg = {.msg_control = control, .msg_controllen = sizeof(control)};
		struct sock_extended_err notice;
		struct cmsghdr *cmsg;

		if (recvmsg(fd, &msg, MSG_ERRQUEUE | MSG_DONTWAIT) < 0)
			return;
		cmsg = CMSG_FIRSTHDR(&msg);
		if (!cmsg)
			return;
		memcpy(&notice, CMSG_DATA(cmsg), sizeof(notice));
		if (notice.ee_origin != SO_EE_ORIGIN_ZEROCOPY)
			continue;
		set->shared->zerocopy_sent += notice.ee_data - notice.ee_info + 1;
		if (notice.ee_code & SO_EE_CODE_ZEROCOPY_COPIED)
			set->shared->zerocopy_copied += notice.ee_data - notice.ee_info + 1;
	}
}

static int send_once(struct tcp_set *set, size_t i, uint64_t *total, struct err *err)
{
	const int flags = MSG_NOSIGNAL | (set->cfg->zerocopy ? MSG_ZEROCOPY : 0);
	ssize_t n = send(set->fds[i], set->buffer, set->cfg->buffer, flags);

	if (n >= 0) {
		*total += (uint64_t)n;
		lane_publish(&set->lane->shared->bytes, *total);
		if (set->cfg->zerocopy && !(++set->zerocopy_pending % 16))
			reap_zerocopy(set, set->fds[i], 0);
		return 0;
	}
	if (errno == EAGAIN || errno == EINTR)
		return 0;
	if (errno == ENOBUFS && set->cfg->zerocopy) {
		reap_zerocopy(set, set->fds[i], POLL_MS);
		return 0;
	}
	return err_sys(err, errno, "cannot send");
}

static int tcp_send(struct lane *lane, struct err *err)
{
	const struct trial_clock *clock = lane->run->clock;
	struct epoll_event events[16];
	struct tcp_set set;
	uint64_t total = 0;
	int r;

	r = set_open(&set, lane, EPOLLOUT, err);
	if (!r)
		r = lane_ready(lane);
	while (!r && now_ns() < clock->end_ns && !lane_stopped(lane)) {
		int n = set_wait(&set, events, 16);

		for (int k = 0; !r && k < n; k++)
			r = send_once(&set, events[k].data.u64, &total, err);
	}
	for (size_t i = 0; set.fds && i < set.n; i++) {
		if (set.cfg->zerocopy)
			reap_zerocopy(&set, set.fds[i], 0);
		shutdown(set.fds[i], SHUT_WR);
	}
	set_close(&set);
	return r;
}

/*
 * SO_RCVLOWAT keeps the kernel from waking us for every segment. It follows the rate, so that a
 * slow link still delivers in steps of about WAKE_NS and the window's edges stay sharp.
 */
static void retune(struct tcp_set *set, uint64_t now, uint64_t total)
{
	uint64_t span = now - set->tuned_ns, want;
	int lowat;

	if (span < RETUNE_NS)
		return;
	if (set->tuned_ns) {
		want = (uint64_t)((double)(total - set->tuned_bytes) / (double)set->n * WAKE_NS /
				  (double)span);
		if (want > set->cfg->buffer / 2)
			want = set->cfg->buffer / 2;
		if (want < 1)
			want = 1;
		if (want > set->lowat * 3 / 2 || want < set->lowat / 2) {
			set->lowat = want;
			lowat = (int)want;
			for (size_t i = 0; i < set->n; i++)
				setsockopt(set->fds[i], SOL_SOCKET, SO_RCVLOWAT, &lowat,
					   sizeof(lowat));
		}
	}
	set->tuned_ns = now;
	set->tuned_bytes = total;
}

static int receive_once(struct tcp_set *set, size_t i, uint64_t *total, struct err *err)
{
	const struct trial_clock *clock = set->lane->run->clock;
	const int flags = set->cfg->truncate ? MSG_TRUNC : 0;
	ssize_t n = recv(set->fds[i], set->buffer, set->cfg->buffer, flags);
	uint64_t now;

	if (n > 0) {
		now = now_ns();
		*total += (uint64_t)n;
		if (now >= clock->begin_ns && now < clock->end_ns)
			set->shared->window_bytes += (uint64_t)n;
		lane_publish(&set->lane->shared->bytes, *total);
		retune(set, now, *total);
		return 0;
	}
	if (!n) {
		set_drop(set, i);
		return 0;
	}
	if (errno == EAGAIN || errno == EINTR)
		return 0;
	return err_sys(err, errno, "cannot receive");
}

static int tcp_receive(struct lane *lane, struct err *err)
{
	const struct trial_clock *clock = lane->run->clock;
	struct epoll_event events[16];
	struct tcp_set set;
	uint64_t total = 0;
	int r;

	r = set_open(&set, lane, EPOLLIN, err);
	if (!r)
		r = lane_ready(lane);
	while (!r && set.open && now_ns() < clock->drain_ns && !lane_stopped(lane)) {
		int n = set_wait(&set, events, 16);

		for (int k = 0; !r && k < n; k++)
			r = receive_once(&set, events[k].data.u64, &total, err);
	}
	set_close(&set);
	return r;
}

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
		marks[i] = (struct tcp_mark){.retransmits = info.tcpi_total_retrans,
					     .rtt_ns = (uint64_t)info.tcpi_rtt * 1000,
					     .cwnd = info.tcpi_snd_cwnd};
	}
}

static int collect_info(struct load_run *run, struct result_case *c)
{
	static const struct metric_def retransmits = {"retransmits", "", BETTER_LOWER, "sender",
						      NULL};
	static const struct metric_def rtt = {"rtt", "ns", BETTER_LOWER, "sender", "L4"};
	static const struct metric_def cwnd = {"cwnd", "", BETTER_NEITHER, "sender", "L4 segments"};
	const struct tcp_state *state = run->state;
	double sum_retransmits = 0, sum_rtt = 0, sum_cwnd = 0;
	int r;

	for (size_t i = 0; i < state->n_pairs; i++) {
		sum_retransmits +=
			(double)(state->end[i].retransmits - state->begin[i].retransmits);
		sum_rtt += (double)state->end[i].rtt_ns;
		sum_cwnd += (double)state->end[i].cwnd;
	}
	r = case_add_sample(c, &retransmits, sum_retransmits);
	if (!r)
		r = case_add_sample(c, &rtt, sum_rtt / (double)state->n_pairs);
	return r ? r : case_add_sample(c, &cwnd, sum_cwnd / (double)state->n_pairs);
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
	if (!r && cfg->zerocopy)
		r = collect_zerocopy(run, c);
	return r ? err_sys(err, r, "cannot keep the figures of tcp") : 0;
}

static int tcp_check(const void *config, struct err *err)
{
	const struct tcp_cfg *cfg = config;

	if (cfg->pacing.unit == RATE_PPS)
		return err_set(err, EINVAL, "pacing of tcp is a bit rate such as 100Mbit/s");
	if (cfg->mss && cfg->mss < MSS_MIN)
		return err_set(err, EINVAL, "'mss' wants 0 or a number from %d, not '%u'", MSS_MIN,
			       (unsigned int)cfg->mss);
	return flow_check(&cfg->flow, err);
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
