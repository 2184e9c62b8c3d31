/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the engines in user space: frames by a packet socket, datagrams by a UDP socket. */
#include <errno.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bpf/generator.h"
#include "load/frames.h"
#include "topo/lab.h"

#define BATCH 64
/* Sleeping is only precise to about this; closer departures are spun for. */
#define SPIN_NS UINT64_C(80000)

struct sender {
	struct lane *lane;
	struct frames_lane *shared;
	const struct frames_look *look;
	struct frames_flows flows;
	struct frames_pace pace;
	int fd;
	size_t batch, head; /* head: bytes of a frame that the socket does not want */
	uint32_t burst, in_burst, size;
	uint64_t start_ns, due; /* due: from start_ns, << FRAMES_DUE_SHIFT */
	uint64_t sent;
	bool measured;
	unsigned char *frames;
	struct mmsghdr *messages;
	struct iovec *iov;
};

/* Bound to the first device, past its queueing discipline. */
static int open_packet(struct load_run *run, const struct frames_path *path, struct err *err)
{
	const struct sockaddr_ll at = {.sll_family = AF_PACKET,
				       .sll_protocol = 0, /* receives nothing */
				       .sll_ifindex = path->out_ifindex};
	const int one = 1;
	int fd = lab_socket(run->lab, run->from, AF_PACKET, SOCK_RAW, 0, err);

	if (fd < 0)
		return fd;
	if (!setsockopt(fd, SOL_PACKET, PACKET_QDISC_BYPASS, &one, sizeof(one)) &&
	    !bind(fd, (const struct sockaddr *)&at, sizeof(at)))
		return fd;
	err_sys(err, errno, "cannot bind a packet socket");
	close(fd);
	return -EIO;
}

static int open_udp(struct load_run *run, const struct frames_path *path, uint16_t port,
		    struct err *err)
{
	const struct frames_cfg *cfg = run->cfg;
	const bool v6 = cfg->traffic.family == 1;
	struct sockaddr_storage from = path->from, to = path->to;
	const socklen_t len = v6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
	const int tos = (int)cfg->look.dscp << 2;
	int fd = lab_socket(run->lab, run->from, v6 ? AF_INET6 : AF_INET, SOCK_DGRAM, 0, err);

	if (fd < 0)
		return fd;
	((struct sockaddr_in *)&to)->sin_port = htons(port); /* at the same place for IPv6 */
	if (!setsockopt(fd, v6 ? IPPROTO_IPV6 : IPPROTO_IP, v6 ? IPV6_TCLASS : IP_TOS, &tos,
			sizeof(tos)) &&
	    !bind(fd, (const struct sockaddr *)&from, len) &&
	    !connect(fd, (const struct sockaddr *)&to, len))
		return fd;
	err_sys(err, errno, "cannot connect a UDP socket");
	close(fd);
	return -EIO;
}

int frames_socket_open(struct load_run *run, uint16_t port, struct err *err)
{
	struct frames_state *state = run->state;
	const struct frames_cfg *cfg = run->cfg;
	int r = 0;

	state->fds = calloc(cfg->threads, sizeof(*state->fds));
	if (!state->fds)
		return err_sys(err, ENOMEM, "cannot allocate sockets");
	for (size_t i = 0; !r && i < cfg->threads; i++) {
		const int fd = state->engine == FRAMES_PACKET
				       ? open_packet(run, &state->path, err)
				       : open_udp(run, &state->path, port, err);

		if (fd < 0)
			r = fd;
		else
			state->fds[state->n_fds++] = fd;
	}
	return r;
}

void frames_socket_close(struct frames_state *state)
{
	for (size_t i = 0; i < state->n_fds; i++)
		close(state->fds[i]);
	free(state->fds);
	state->fds = NULL;
	state->n_fds = 0;
}

static int sender_open(struct sender *s, struct lane *lane, struct err *err)
{
	const struct frames_state *state = lane->run->state;
	const struct frames_cfg *cfg = lane->run->cfg;

	memset(s, 0, sizeof(*s));
	s->lane = lane;
	s->shared = (struct frames_lane *)lane->shared;
	s->look = &state->look;
	s->flows = state->look.flows[lane->index];
	s->fd = state->fds[lane->index];
	s->head = state->engine == FRAMES_UDP ? state->look.shape.payload : 0;
	s->burst = (uint32_t)cfg->burst;
	s->batch = cfg->batch ? cfg->batch : BATCH;
	frames_pace(cfg, s->look, lane->index, lane->run->threads, &s->pace);
	s->due = s->pace.first;
	s->frames = lane_buffer(s->batch * s->look->longest);
	s->messages = calloc(s->batch, sizeof(*s->messages));
	s->iov = calloc(s->batch, sizeof(*s->iov));
	if (!s->frames || !s->messages || !s->iov)
		return err_sys(err, ENOMEM, "cannot allocate a batch of %zu frames", s->batch);
	memset(&s->shared->late, 0, sizeof(s->shared->late));
	for (size_t i = 0; i < s->batch; i++) {
		unsigned char *frame = s->frames + i * s->look->longest;

		memcpy(frame, s->look->frame, s->look->longest);
		s->iov[i].iov_base = frame + s->head;
		s->messages[i].msg_hdr.msg_iov = &s->iov[i];
		s->messages[i].msg_hdr.msg_iovlen = 1;
	}
	return 0;
}

static void sender_close(struct sender *s)
{
	free(s->frames);
	free(s->messages);
	free(s->iov);
}

/* As in bpf/frames.bpf.c: a long hold-up is not made good. */
static void skip_missed(struct sender *s, uint64_t elapsed)
{
	const uint64_t most = FRAMES_CATCH_UP_NS << FRAMES_DUE_SHIFT;
	uint64_t missed;

	if (elapsed < s->due + most)
		return;
	missed = (elapsed - most - s->due) / s->pace.interval;
	s->due += missed * s->pace.interval;
	s->shared->unsent += missed * s->burst;
}

/* How many frames may leave at `now`, and how late each of them is. */
static size_t frames_due(struct sender *s, uint64_t now)
{
	const uint64_t elapsed = (now - s->start_ns) << FRAMES_DUE_SHIFT;
	size_t n = 0, room = s->batch;

	if (s->pace.count && s->pace.count - s->sent < room)
		room = s->pace.count - s->sent;
	if (!s->pace.interval)
		return room;
	if (!s->in_burst)
		skip_missed(s, elapsed);
	while (n < room && (s->in_burst || s->due <= elapsed)) {
		if (s->measured)
			hist_add(&s->shared->late,
				 elapsed > s->due ? (elapsed - s->due) >> FRAMES_DUE_SHIFT : 0);
		n++;
		if (++s->in_burst >= s->burst) {
			s->in_burst = 0;
			s->due += s->pace.interval;
		}
	}
	return n;
}

static void fill(struct sender *s, size_t n, uint64_t now)
{
	const struct frames_look *look = s->look;
	const uint16_t label = (uint16_t)(s->lane->index | (s->measured ? FRAMES_MEASURED : 0));

	for (size_t i = 0; i < n; i++) {
		const uint64_t seq = s->sent + i;
		const struct frames_size *size = &look->sizes[(s->size + i) % look->n_sizes];
		const uint32_t tuple =
			look->shape.many_flows
				? frames_tuple(s->flows.first + frames_flow(&s->flows, seq),
					       look->seed)
				: look->shape.tuple;

		frames_write(&look->shape, size, tuple, FRAMES_BE64(seq), FRAMES_BE64(now),
			     FRAMES_BE16(label), s->frames + i * look->longest);
		s->iov[i].iov_len = size->bytes - s->head;
	}
}

/* What became of a batch: how many frames were handed over. */
static int hand_over(struct sender *s, size_t n, size_t *ret, struct err *err)
{
	const bool packet = !s->head;
	const int sent = sendmmsg(s->fd, s->messages, (unsigned int)n, 0);

	*ret = sent > 0 ? (size_t)sent : 0;
	if (sent < 0 && errno != ENOBUFS && errno != EAGAIN && errno != EINTR &&
	    errno != ECONNREFUSED)
		return err_sys(err, errno, "cannot send");
	/*
	 * A packet socket stops at the frame that the device dropped (and counted): it was sent. The error
	 * is only told when it was the first of the call.
	 */
	if (packet && (sent < 0 ? errno == ENOBUFS : (size_t)sent < n))
		++*ret;
	return 0;
}

static int send_batch(struct sender *s, size_t n, uint64_t now, struct err *err)
{
	size_t done;
	int r;

	fill(s, n, now);
	for (size_t at = 0; at < n; at += done) {
		r = hand_over(s, n - at, &done, err);
		if (r)
			return r;
		if (lane_stopped(s->lane) || (!done && now_ns() >= s->lane->run->clock->end_ns))
			return 0;
		s->sent += done;
		s->shared->measured += s->measured ? done : 0;
		s->size = (uint32_t)((s->size + done) % s->look->n_sizes);
		if (at + done < n && done)
			fill(s, n - at - done, now);
	}
	s->shared->sent = s->sent;
	lane_publish(&s->shared->shared.packets, s->sent);
	return 0;
}

static void wait_due(const struct sender *s, uint64_t now)
{
	const uint64_t next = s->start_ns + (s->due >> FRAMES_DUE_SHIFT);
	const uint64_t end = s->lane->run->clock->end_ns;

	if (next > now + SPIN_NS)
		lane_sleep_until((next < end ? next : end) - SPIN_NS);
}

static int send_all(struct sender *s, struct err *err)
{
	const struct trial_clock *clock = s->lane->run->clock;
	uint64_t now;
	int r = 0;

	while (!r && (now = now_ns()) < clock->end_ns && !lane_stopped(s->lane) &&
	       !(s->pace.count && s->sent >= s->pace.count)) {
		size_t n;

		if (now < s->start_ns) {
			lane_sleep_until(s->start_ns);
			continue;
		}
		s->measured = now >= clock->begin_ns;
		n = frames_due(s, now);
		if (n)
			r = send_batch(s, n, now, err);
		else
			wait_due(s, now);
	}
	return r;
}

int frames_socket_send(struct lane *lane, struct err *err)
{
	struct sender s;
	int r;

	prctl(PR_SET_TIMERSLACK, 1);
	r = sender_open(&s, lane, err);
	if (!r)
		r = lane_ready(lane);
	if (!r) {
		s.start_ns = frames_start(lane);
		r = send_all(&s, err);
	}
	if (!r)
		frames_drain(lane);
	sender_close(&s);
	return r;
}
