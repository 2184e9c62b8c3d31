/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The ping load: ICMP and ICMPv6 echo, one at a time; round-trip percentiles and loss. */
#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/ip_icmp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "load/lane.h"
#include "load/pair.h"
#include "result/result.h"
#include "topo/lab.h"

/* The header of an echo message is the same in ICMP and ICMPv6: type, code, checksum, id, sequence. */
#define ECHO_HEADER   8
#define IP_HEADER_MAX 60

struct ping_cfg {
	struct traffic_cfg traffic;
	uint64_t size, interval_ns, timeout_ns;
	char *cpus_from;
};

struct ping_lane {
	struct lane_shared shared;
	uint64_t window_sent, window_answered;
	struct hist rtt;
};

struct echo {
	struct lane *lane;
	const struct ping_cfg *cfg;
	int fd;
	unsigned char *request, *reply;
	uint64_t number; /* in the payload: 16-bit sequence numbers wrap too soon */
};

static uint16_t checksum(const unsigned char *data, size_t len)
{
	uint32_t sum = 0;

	for (; len > 1; data += 2, len -= 2)
		sum += (uint32_t)data[0] << 8 | data[1];
	if (len)
		sum += (uint32_t)data[0] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return htons((uint16_t)~sum);
}

static size_t message_len(const struct ping_cfg *cfg)
{
	return ECHO_HEADER + cfg->size;
}

static int send_echo(struct echo *echo)
{
	struct icmphdr header = {
		.type = echo->cfg->traffic.family ? ICMP6_ECHO_REQUEST : ICMP_ECHO,
		.un.echo = {.id = htons((uint16_t)(echo->lane->run->ordinal + 1)),
			    .sequence = htons((uint16_t)echo->number)},
	};

	memcpy(echo->request, &header, sizeof(header));
	memcpy(echo->request + ECHO_HEADER, &echo->number, sizeof(echo->number));
	if (!echo->cfg->traffic.family) {
		header.checksum = checksum(echo->request, message_len(echo->cfg));
		memcpy(echo->request, &header, sizeof(header));
	}
	if (send(echo->fd, echo->request, message_len(echo->cfg), MSG_NOSIGNAL) < 0)
		return errno == ENOBUFS || errno == EAGAIN || errno == EINTR ? 0 : -errno;
	return 1;
}

/* Is this the answer to the request in flight, byte for byte? Raw IPv4 sockets show the IP header too. */
static bool is_answer(const struct echo *echo, size_t len)
{
	const unsigned char *message = echo->reply;
	const bool v6 = echo->cfg->traffic.family;

	if (!v6) {
		size_t skip = len ? (size_t)(message[0] & 0xf) * 4 : 0;

		if (skip > len)
			return false;
		message += skip;
		len -= skip;
	}
	return len == message_len(echo->cfg) &&
	       message[0] == (v6 ? ICMP6_ECHO_REPLY : ICMP_ECHOREPLY) &&
	       !memcmp(message + 4, echo->request + 4, len - 4);
}

/* 1 answered, 0 lost, -errno. */
static int await_answer(struct echo *echo, uint64_t deadline_ns)
{
	for (;;) {
		struct pollfd pollfd = {.fd = echo->fd, .events = POLLIN};
		uint64_t now = now_ns();
		struct timespec left;
		ssize_t n;

		if (now >= deadline_ns || lane_stopped(echo->lane))
			return 0;
		left.tv_sec = (time_t)((deadline_ns - now) / 1000000000u);
		left.tv_nsec = (long)((deadline_ns - now) % 1000000000u);
		if (ppoll(&pollfd, 1, &left, NULL) < 0 && errno != EINTR)
			return -errno;
		n = recv(echo->fd, echo->reply, message_len(echo->cfg) + IP_HEADER_MAX,
			 MSG_DONTWAIT);
		if (n > 0 && is_answer(echo, (size_t)n))
			return 1;
		if (n < 0 && errno != EAGAIN && errno != EINTR && errno != EHOSTUNREACH)
			return -errno;
	}
}

static int ping_once(struct echo *echo, struct err *err)
{
	const struct trial_clock *clock = echo->lane->run->clock;
	struct ping_lane *shared = (struct ping_lane *)echo->lane->shared;
	const uint64_t sent = now_ns();
	const bool in_window = sent >= clock->begin_ns && sent < clock->end_ns;
	int r;

	echo->number++;
	r = send_echo(echo);
	if (r > 0)
		r = await_answer(echo, sent + echo->cfg->timeout_ns);
	if (r < 0)
		return err_sys(err, r, "cannot send an echo request");
	if (r > 0) {
		lane_add(&shared->shared.packets, 1);
		lane_add(&shared->shared.bytes, 2 * echo->cfg->size);
	}
	shared->window_sent += in_window;
	if (r > 0 && in_window) {
		shared->window_answered++;
		hist_add(&shared->rtt, now_ns() - sent);
	}
	return 0;
}

static void wait_for_next(const struct echo *echo, uint64_t *next)
{
	const uint64_t now = now_ns(), end = echo->lane->run->clock->end_ns;

	*next += echo->cfg->interval_ns;
	if (*next <= now) {
		*next = now; /* no bursts to catch up with after a lost answer */
		return;
	}
	if (*next > end)
		*next = end;
	lane_sleep_until(*next);
}

static int ping_work(struct lane *lane, struct err *err)
{
	const struct trial_clock *clock = lane->run->clock;
	struct echo echo = {.lane = lane, .cfg = lane->run->cfg, .fd = *(int *)lane->run->state};
	uint64_t next;
	int r = 0;

	prctl(PR_SET_TIMERSLACK, 1);
	echo.request = lane_buffer(message_len(echo.cfg));
	echo.reply = lane_buffer(message_len(echo.cfg) + IP_HEADER_MAX);
	memset(&((struct ping_lane *)lane->shared)->rtt, 0, sizeof(struct hist));
	if (!echo.request || !echo.reply)
		r = err_sys(err, ENOMEM, "cannot allocate a message");
	if (!r)
		r = lane_ready(lane);
	next = clock->start_ns;
	while (!r && now_ns() < clock->end_ns && !lane_stopped(lane)) {
		r = ping_once(&echo, err);
		wait_for_next(&echo, &next);
	}
	free(echo.request);
	free(echo.reply);
	return r;
}

static int ping_open(struct load_run *run, struct err *err)
{
	const struct ping_cfg *cfg = run->cfg;
	const int family = cfg->traffic.family ? AF_INET6 : AF_INET;
	struct sockaddr_storage from, to;
	int *fd = malloc(sizeof(*fd));
	int r;

	run->state = fd;
	if (!fd)
		return err_sys(err, ENOMEM, "cannot allocate the ping load");
	*fd = lab_socket(run->lab, run->from, family, SOCK_RAW,
			 cfg->traffic.family ? IPPROTO_ICMPV6 : IPPROTO_ICMP, err);
	if (*fd < 0)
		return *fd;
	r = lab_plan_addresses(lab_plan(run->lab), run->from, run->to, family, &from, &to, err);
	if (!r &&
	    connect(*fd, (struct sockaddr *)&to,
		    cfg->traffic.family ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in)))
		r = err_sys(err, errno, "cannot connect an ICMP socket");
	if (!r)
		r = socket_deadline(*fd, cfg->timeout_ns, err);
	if (!r)
		r = load_lanes(run, 1, err);
	if (!r)
		r = lane_cpu(cfg->cpus_from, SIDE_FROM, 0, &run->lanes[0].cpu, err);
	if (r)
		return r;
	run->lanes[0].role = "client";
	run->lanes[0].receives = true; /* its bytes are those of both ways */
	run->lanes[0].work = ping_work;
	run->lanes[0].node = run->from;
	return 0;
}

static void ping_close(struct load_run *run)
{
	int *fd = run->state;

	if (fd && *fd >= 0)
		close(*fd);
	free(fd);
	run->state = NULL;
}

static int ping_collect(struct load_run *run, struct result_case *c, struct err *err)
{
	static const struct metric_def loss = {"loss", "ratio", BETTER_LOWER, "client", "L3"};
	static const struct metric_def echoes = {"echoes", "1/s", BETTER_NEITHER, "client", "L3"};
	const struct ping_lane *lane = (const struct ping_lane *)run->lanes[0].shared;
	const uint64_t lost = lane->window_sent - lane->window_answered;
	int r;

	r = latency_metrics(c, &lane->rtt, LATENCY_RTT);
	if (!r)
		r = case_add_sample(c, &loss,
				    lane->window_sent ? (double)lost / (double)lane->window_sent
						      : NAN);
	if (!r)
		r = case_add_sample(c, &echoes, (double)lane->window_answered / run_window_s(run));
	return r ? err_sys(err, r, "cannot keep the figures of ping") : 0;
}

static uint64_t ping_progress(const struct load_run *run)
{
	return atomic_load_explicit(&run->lanes[0].shared->packets, memory_order_relaxed);
}

static int ping_check(const void *config, struct err *err)
{
	const struct ping_cfg *cfg = config;

	return lane_cpus_check(cfg->cpus_from, err);
}

static const struct opt ping_opts[] = {
	TRAFFIC_OPTS,
	{.name = "size",
	 .type = OPT_SIZE,
	 .offset = offsetof(struct ping_cfg, size),
	 .def = "56",
	 .min = 8,
	 .max = 65000,
	 .help = "payload of an echo request"},
	{.name = "interval",
	 .type = OPT_TIME,
	 .offset = offsetof(struct ping_cfg, interval_ns),
	 .def = "10ms",
	 .max = UINT64_C(60000000000),
	 .help = "time between requests; 0: as soon as the answer is there"},
	{.name = "timeout",
	 .type = OPT_TIME,
	 .offset = offsetof(struct ping_cfg, timeout_ns),
	 .def = "1s",
	 .min = 1000000,
	 .max = UINT64_C(10000000000),
	 .help = "an answer later than this counts as lost"},
	{.name = "cpus_from",
	 .type = OPT_TEXT,
	 .offset = offsetof(struct ping_cfg, cpus_from),
	 .metavar = "LIST",
	 .help = "CPU for the worker; default: the first"},
	{0},
};

const struct load load_ping = {
	.kind = {.name = "ping",
		 .help = "ICMP or ICMPv6 echo: round-trip time and loss",
		 .opts = ping_opts,
		 .cfg_size = sizeof(struct ping_cfg),
		 .check = ping_check},
	.traffic = true,
	.lane_size = sizeof(struct ping_lane),
	.open = ping_open,
	.collect = ping_collect,
	.close = ping_close,
	.progress = ping_progress,
	.progress_unit = "transaction",
};
