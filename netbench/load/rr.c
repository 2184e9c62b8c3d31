/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rr load: request and response, one at a time per stream; transactions per second and latency. */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>

#include "load/lane.h"
#include "load/pair.h"
#include "result/result.h"

/* A UDP request or response that does not come within this is lost; TCP only looks at the clock. */
#define TIMEOUT_NS UINT64_C(200000000)

enum rr_protocol { RR_TCP, RR_UDP };

struct rr_cfg {
	struct traffic_cfg traffic;
	int protocol;
	uint64_t streams, request, response, dscp;
	char *cpus_from, *cpus_to;
};

struct rr_lane {
	struct lane_shared shared;
	uint64_t window_transactions, timeouts;
	struct hist latency;
};

struct rr_state {
	struct pair *pairs;
	size_t n_pairs;
};

/* A message starts with the number of its transaction if it is long enough. */
static void put_number(unsigned char *message, size_t len, uint64_t number)
{
	if (len >= sizeof(number))
		memcpy(message, &number, sizeof(number));
}

static uint64_t get_number(const unsigned char *message, size_t len)
{
	uint64_t number = 0;

	if (len >= sizeof(number))
		memcpy(&number, message, sizeof(number));
	return number;
}

/* 1 done, 0 timed out or the other side has ended, -errno. A datagram comes whole or not at all. */
static int transfer(int fd, unsigned char *buffer, size_t len, bool sending)
{
	for (size_t at = 0; at < len;) {
		ssize_t n = sending ? send(fd, buffer + at, len - at, MSG_NOSIGNAL)
				    : recv(fd, buffer + at, len - at, 0);

		if (n > 0)
			at += (size_t)n;
		else if (!n || errno == EPIPE || errno == ECONNRESET)
			return 0;
		else if (errno == EAGAIN && !at)
			return 0;
		else if (errno != EAGAIN && errno != EINTR && errno != ECONNREFUSED)
			return -errno;
	}
	return 1;
}

static int lane_fd(const struct lane *lane, bool client)
{
	const struct rr_state *state = lane->run->state;
	const struct pair *pair = &state->pairs[lane->index / 2];

	return client ? pair->from : pair->to;
}

static int rr_serve(struct lane *lane, struct err *err)
{
	const struct trial_clock *clock = lane->run->clock;
	const struct rr_cfg *cfg = lane->run->cfg;
	const size_t room = cfg->request > cfg->response ? cfg->request : cfg->response;
	const int fd = lane_fd(lane, false);
	unsigned char *buffer = lane_buffer(room);
	uint64_t served = 0;
	int r;

	if (!buffer)
		return err_sys(err, ENOMEM, "cannot allocate a message");
	r = socket_deadline(fd, TIMEOUT_NS, err);
	if (!r)
		r = lane_ready(lane);
	while (!r && !lane_stopped(lane)) {
		r = transfer(fd, buffer, cfg->request, false);
		if (!r && now_ns() >= clock->end_ns)
			break;
		if (r > 0)
			r = transfer(fd, buffer, cfg->response, true);
		if (r < 0) {
			r = err_sys(err, r, "cannot answer a request");
			break;
		}
		served += (uint64_t)r;
		lane_publish(&lane->shared->packets, served);
		r = 0;
	}
	free(buffer);
	return r;
}

/* Responses to requests given up earlier are skipped. Same results as transfer(). */
static int receive_response(int fd, unsigned char *buffer, size_t len, uint64_t number)
{
	int r;

	do
		r = transfer(fd, buffer, len, false);
	while (r > 0 && len >= sizeof(number) && get_number(buffer, len) != number);
	return r;
}

static int rr_transact(struct lane *lane, int fd, unsigned char *buffer, uint64_t number,
		       struct err *err)
{
	const struct trial_clock *clock = lane->run->clock;
	const struct rr_cfg *cfg = lane->run->cfg;
	struct rr_lane *shared = (struct rr_lane *)lane->shared;
	const bool echoes = cfg->request >= sizeof(number) && cfg->response >= sizeof(number);
	uint64_t start, end;
	int r;

	put_number(buffer, cfg->request, number);
	start = now_ns();
	r = transfer(fd, buffer, cfg->request, true);
	if (r > 0)
		r = echoes ? receive_response(fd, buffer, cfg->response, number)
			   : transfer(fd, buffer, cfg->response, false);
	if (r < 0)
		return err_sys(err, r, "cannot complete a transaction");
	end = now_ns();
	if (!r) {
		shared->timeouts += start >= clock->begin_ns && end < clock->end_ns;
		return 0;
	}
	lane_add(&lane->shared->packets, 1);
	lane_add(&lane->shared->bytes, cfg->request + cfg->response);
	if (end >= clock->begin_ns && end < clock->end_ns) {
		shared->window_transactions++;
		hist_add(&shared->latency, end - start);
	}
	return 0;
}

static int rr_ask(struct lane *lane, struct err *err)
{
	const struct trial_clock *clock = lane->run->clock;
	const struct rr_cfg *cfg = lane->run->cfg;
	const size_t room = cfg->request > cfg->response ? cfg->request : cfg->response;
	const int fd = lane_fd(lane, true);
	unsigned char *buffer = lane_buffer(room);
	int r;

	if (!buffer)
		return err_sys(err, ENOMEM, "cannot allocate a message");
	memset(&((struct rr_lane *)lane->shared)->latency, 0, sizeof(struct hist));
	r = socket_deadline(fd, TIMEOUT_NS, err);
	if (!r)
		r = lane_ready(lane);
	for (uint64_t number = 1; !r && now_ns() < clock->end_ns && !lane_stopped(lane); number++)
		r = rr_transact(lane, fd, buffer, number, err);
	shutdown(fd, SHUT_WR);
	free(buffer);
	return r;
}

static int rr_lanes(struct load_run *run, struct err *err)
{
	const struct rr_cfg *cfg = run->cfg;
	int r = load_lanes(run, 2 * cfg->streams, err);

	for (size_t i = 0; !r && i < run->n_lanes; i++) {
		struct lane *lane = &run->lanes[i];
		const bool client = !(i & 1);

		lane->role = client ? "client" : "server";
		lane->work = client ? rr_ask : rr_serve;
		lane->receives = client; /* responses; its bytes are those of both ways */
		lane->node = client ? run->from : run->to;
		r = lane_cpu(client ? cfg->cpus_from : cfg->cpus_to, client ? SIDE_FROM : SIDE_TO,
			     i / 2, &lane->cpu, err);
	}
	return r;
}

static int rr_open(struct load_run *run, struct err *err)
{
	const struct rr_cfg *cfg = run->cfg;
	const struct pair_options options = {
		.type = cfg->protocol == RR_UDP ? SOCK_DGRAM : SOCK_STREAM,
		.dscp = cfg->dscp,
	};
	struct rr_state *state = calloc(1, sizeof(*state));
	const int one = 1;
	int r;

	run->state = state;
	if (!state)
		return err_sys(err, ENOMEM, "cannot allocate the rr load");
	state->pairs = calloc(cfg->streams, sizeof(*state->pairs));
	if (!state->pairs)
		return err_sys(err, ENOMEM, "cannot allocate %zu streams", (size_t)cfg->streams);
	r = pairs_open(run, &options, state->pairs, cfg->streams, err);
	if (r)
		return r;
	state->n_pairs = cfg->streams;
	for (size_t i = 0; cfg->protocol == RR_TCP && i < state->n_pairs; i++)
		if (setsockopt(state->pairs[i].from, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) ||
		    setsockopt(state->pairs[i].to, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)))
			return err_sys(err, errno, "cannot set TCP_NODELAY");
	return rr_lanes(run, err);
}

static void rr_close(struct load_run *run)
{
	struct rr_state *state = run->state;

	if (!state)
		return;
	pairs_close(state->pairs, state->n_pairs);
	free(state->pairs);
	free(state);
	run->state = NULL;
}

static int rr_collect(struct load_run *run, struct result_case *c, struct err *err)
{
	static const struct metric_def transactions = {"transactions", "1/s", BETTER_HIGHER,
						       "client", "L4"};
	static const struct metric_def timeouts = {"timeouts", "", BETTER_LOWER, "client", "L4"};
	struct hist *latency = calloc(1, sizeof(*latency));
	uint64_t done = 0, lost = 0;
	int r;

	if (!latency)
		return err_sys(err, ENOMEM, "cannot allocate a histogram");
	for (size_t i = 0; i < run->n_lanes; i += 2) {
		const struct rr_lane *lane = (const struct rr_lane *)run->lanes[i].shared;

		done += lane->window_transactions;
		lost += lane->timeouts;
		hist_merge(latency, &lane->latency);
	}
	r = case_add_sample(c, &transactions, (double)done / run_window_s(run));
	if (!r)
		r = latency_metrics(c, latency, LATENCY_TRANSACTION);
	if (!r)
		r = case_add_sample(c, &timeouts, (double)lost);
	free(latency);
	return r ? err_sys(err, r, "cannot keep the figures of rr") : 0;
}

static uint64_t rr_progress(const struct load_run *run)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < run->n_lanes; i += 2)
		sum += atomic_load_explicit(&run->lanes[i].shared->packets, memory_order_relaxed);
	return sum;
}

static int rr_check(const void *config, struct err *err)
{
	const struct rr_cfg *cfg = config;
	int r;

	if (cfg->protocol == RR_UDP && (cfg->request < 8 || cfg->response < 8))
		return err_set(
			err, EINVAL,
			"UDP requests and responses carry a number: they need at least 8 bytes");
	if (cfg->protocol == RR_UDP && (cfg->request > 65507 || cfg->response > 65507))
		return err_set(err, EINVAL, "a UDP message has at most 65507 bytes");
	r = lane_cpus_check(cfg->cpus_from, err);
	return r ? r : lane_cpus_check(cfg->cpus_to, err);
}

static const char *const protocols[] = {"tcp", "udp", NULL};

static const struct opt rr_opts[] = {
	TRAFFIC_OPTS,
	{.name = "protocol",
	 .type = OPT_CHOICE,
	 .offset = offsetof(struct rr_cfg, protocol),
	 .def = "tcp",
	 .choices = protocols,
	 .help = "what carries the messages"},
	{.name = "streams",
	 .type = OPT_COUNT,
	 .offset = offsetof(struct rr_cfg, streams),
	 .def = "1",
	 .min = 1,
	 .max = 64,
	 .help = "conversations side by side, each with a worker at either end"},
	{.name = "request",
	 .type = OPT_SIZE,
	 .offset = offsetof(struct rr_cfg, request),
	 .def = "8",
	 .min = 1,
	 .max = 16u << 20,
	 .help = "bytes of a request"},
	{.name = "response",
	 .type = OPT_SIZE,
	 .offset = offsetof(struct rr_cfg, response),
	 .def = "8",
	 .min = 1,
	 .max = 16u << 20,
	 .help = "bytes of a response"},
	{.name = "dscp",
	 .type = OPT_COUNT,
	 .offset = offsetof(struct rr_cfg, dscp),
	 .def = "0",
	 .max = 63,
	 .help = "differentiated services code point (RFC 2474)"},
	{.name = "cpus_from",
	 .type = OPT_TEXT,
	 .offset = offsetof(struct rr_cfg, cpus_from),
	 .metavar = "LIST",
	 .help = "CPUs for the clients, such as 0,2-3; default: the first half"},
	{.name = "cpus_to",
	 .type = OPT_TEXT,
	 .offset = offsetof(struct rr_cfg, cpus_to),
	 .metavar = "LIST",
	 .help = "CPUs for the servers; default: the second half"},
	{0},
};

const struct load load_rr = {
	.kind = {.name = "rr",
		 .help = "request and response over TCP or UDP, one at a time per stream",
		 .opts = rr_opts,
		 .cfg_size = sizeof(struct rr_cfg),
		 .check = rr_check},
	.traffic = true,
	.lane_size = sizeof(struct rr_lane),
	.open = rr_open,
	.collect = rr_collect,
	.close = rr_close,
	.progress = rr_progress,
	.progress_unit = "transaction",
};
