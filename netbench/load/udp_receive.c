/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The receiving half of the udp load: counts, orders and times every packet. */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>

#include "load/udp.h"

#define POLL_MS 100
/* After the end: this long without a packet, with packets still missing, and they are lost. */
#define QUIET_NS UINT64_C(200000000)
/*
 * With senders at full speed a receiver does not ask to be woken: a wake-up for every other packet
 * costs the sender a quarter of its rate. It looks this often, and waits for an event only after so
 * many looks in vain. Latency at rate=max is that much coarser; it is queueing time anyway.
 */
#define NAP_NS	 UINT64_C(50000)
#define NAPS_MAX 40
/* Messages per recvmmsg call. */
#define RECEIVE_BATCH 64
/* UDP_GRO hands over up to one maximal datagram's worth of packets. */
#define GRO_BYTES 65536

struct stream {
	struct seq seq;
	double jitter_ns, last_transit_ns;
};

struct receiver {
	struct lane *lane;
	struct udp_lane *shared;
	const struct udp_cfg *cfg;
	struct flow_part part;
	struct stream *streams;
	struct pollfd *fds;
	unsigned char *payload, *control;
	struct mmsghdr *messages;
	struct iovec *iov;
	size_t room; /* bytes per message */
	uint64_t packets, bytes, last_ns;
};

enum { CONTROL_BYTES = CMSG_SPACE(sizeof(int)) };

static int receiver_alloc(struct receiver *r, struct err *err)
{
	r->room = r->cfg->gro ? GRO_BYTES : r->cfg->size;
	r->streams = calloc(r->part.n_streams, sizeof(*r->streams));
	r->fds = calloc(r->part.n_streams, sizeof(*r->fds));
	r->payload = lane_buffer(RECEIVE_BATCH * r->room);
	r->control = calloc(RECEIVE_BATCH, CONTROL_BYTES);
	r->messages = calloc(RECEIVE_BATCH, sizeof(*r->messages));
	r->iov = calloc(RECEIVE_BATCH, sizeof(*r->iov));
	if (!r->streams || !r->fds || !r->payload || !r->control || !r->messages || !r->iov)
		return err_sys(err, ENOMEM, "cannot allocate a batch of %d packets", RECEIVE_BATCH);
	/* Touch what the window will write to: streams and the histogram. */
	memset(r->streams, 0, r->part.n_streams * sizeof(*r->streams));
	memset(&r->shared->latency, 0, sizeof(r->shared->latency));
	for (size_t i = 0; i < RECEIVE_BATCH; i++) {
		r->iov[i] = (struct iovec){r->payload + i * r->room, r->room};
		r->messages[i].msg_hdr.msg_iov = &r->iov[i];
		r->messages[i].msg_hdr.msg_iovlen = 1;
	}
	return 0;
}

static int receiver_open(struct receiver *r, struct lane *lane, struct err *err)
{
	const struct udp_state *state = lane->run->state;
	const int one = 1;
	int result;

	memset(r, 0, sizeof(*r));
	r->lane = lane;
	r->shared = (struct udp_lane *)lane->shared;
	r->cfg = lane->run->cfg;
	flow_part(lane, &r->part);
	result = receiver_alloc(r, err);
	for (size_t i = 0; !result && i < r->part.n_streams; i++) {
		r->fds[i] = (struct pollfd){.fd = flow_fd(lane, state->pairs, i), .events = POLLIN};
		if (r->cfg->gro &&
		    setsockopt(r->fds[i].fd, IPPROTO_UDP, UDP_GRO, &one, sizeof(one)))
			result = err_sys(err, errno, "cannot set UDP_GRO");
	}
	return result;
}

static void receiver_close(struct receiver *r)
{
	free(r->streams);
	free(r->fds);
	free(r->payload);
	free(r->control);
	free(r->messages);
	free(r->iov);
}

static void take_packet(struct receiver *r, struct stream *stream, const unsigned char *packet,
			size_t len, uint64_t now)
{
	const struct trial_clock *clock = r->lane->run->clock;
	struct udp_header header;
	enum seq_verdict verdict;
	uint64_t sent_ns;
	double transit;

	if (len != r->cfg->size) {
		r->shared->malformed++;
		return;
	}
	memcpy(&header, packet, sizeof(header));
	sent_ns = be64toh(header.sent_ns);
	verdict = seq_add(&stream->seq, be64toh(header.seq));
	if (verdict == SEQ_DUPLICATE || verdict == SEQ_ANCIENT)
		return;
	r->packets++;
	r->bytes += len;
	if (now >= clock->begin_ns && now < clock->end_ns) {
		r->shared->window_packets++;
		r->shared->window_bytes += len;
	}
	if (sent_ns < clock->begin_ns || sent_ns >= clock->end_ns)
		return;
	r->shared->window_unique++;
	transit = (double)now - (double)sent_ns;
	hist_add(&r->shared->latency, now - sent_ns);
	if (stream->last_transit_ns > 0)
		stream->jitter_ns +=
			(fabs(transit - stream->last_transit_ns) - stream->jitter_ns) / 16;
	stream->last_transit_ns = transit;
}

/* The packet size of a message that UDP_GRO put together; the whole length without it. */
static size_t segment_size(const struct msghdr *msg, size_t len)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR((struct msghdr *)msg, c)) {
		if (c->cmsg_level == IPPROTO_UDP && c->cmsg_type == UDP_GRO) {
			int size;

			memcpy(&size, CMSG_DATA(c), sizeof(size));
			return size > 0 ? (size_t)size : len;
		}
	}
	return len;
}

static int drain_stream(struct receiver *r, size_t i, struct err *err)
{
	uint64_t now;
	int n;

	for (unsigned int k = 0; r->cfg->gro && k < RECEIVE_BATCH; k++) {
		r->messages[k].msg_hdr.msg_control = r->control + k * CONTROL_BYTES;
		r->messages[k].msg_hdr.msg_controllen = CONTROL_BYTES;
	}
	n = recvmmsg(r->fds[i].fd, r->messages, RECEIVE_BATCH, MSG_DONTWAIT, NULL);
	if (n < 0) {
		if (errno == EAGAIN || errno == EINTR || errno == ECONNREFUSED)
			return 0;
		return err_sys(err, errno, "cannot receive");
	}
	now = now_ns();
	for (int k = 0; k < n; k++) {
		const size_t len = r->messages[k].msg_len;
		const size_t step = r->cfg->gro ? segment_size(&r->messages[k].msg_hdr, len) : len;

		for (size_t at = 0; at < len; at += step)
			take_packet(r, &r->streams[i], r->payload + (size_t)k * r->room + at,
				    len - at < step ? len - at : step, now);
	}
	if (n)
		r->last_ns = now;
	lane_publish(&r->lane->shared->packets, r->packets);
	lane_publish(&r->lane->shared->bytes, r->bytes);
	return n;
}

static bool sender_done(const struct receiver *r)
{
	const struct lane_shared *sender = r->lane->run->lanes[r->part.peer].shared;

	return atomic_load_explicit(&sender->done, memory_order_acquire) != 0;
}

/*
 * All that was sent has come, or nothing comes any more. now and sent are from before the sockets
 * were found empty: meanwhile this process may have waited long for its CPU, and they are full again.
 */
static bool complete(const struct receiver *r, uint64_t now, bool sent)
{
	const struct trial_clock *clock = r->lane->run->clock;
	const struct lane_shared *sender = r->lane->run->lanes[r->part.peer].shared;

	if (now >= clock->drain_ns)
		return true;
	if (now < clock->end_ns || !sent)
		return false;
	if (r->packets >= atomic_load_explicit(&sender->packets, memory_order_relaxed))
		return true;
	return now > clock->end_ns + QUIET_NS && now > r->last_ns + QUIET_NS;
}

static void finish(struct receiver *r)
{
	for (size_t i = 0; i < r->part.n_streams; i++) {
		const struct stream *stream = &r->streams[i];

		r->shared->unique += stream->seq.unique;
		r->shared->duplicates += stream->seq.duplicates;
		r->shared->reordered += stream->seq.reordered;
		r->shared->ancient += stream->seq.ancient;
		r->shared->jitter_ns += stream->jitter_ns / (double)r->part.n_streams;
	}
}

static void await_packets(struct receiver *r, unsigned int *naps)
{
	const struct timespec nap = {.tv_nsec = NAP_NS};

	if (r->cfg->rate.unit == RATE_MAX && (*naps)++ < NAPS_MAX)
		clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL);
	else
		poll(r->fds, r->part.n_streams, POLL_MS);
}

int udp_receive(struct lane *lane, struct err *err)
{
	unsigned int naps = 0;
	struct receiver r;
	int result;

	prctl(PR_SET_TIMERSLACK, 1);

	result = receiver_open(&r, lane, err);
	if (!result)
		result = lane_ready(lane);
	while (!result && !lane_stopped(lane)) {
		const uint64_t now = now_ns();
		const bool sent = sender_done(&r);
		int got = 0;

		for (size_t i = 0; i < r.part.n_streams && result >= 0; i++) {
			result = drain_stream(&r, i, err);
			got += result > 0 ? result : 0;
		}
		if (result < 0)
			break;
		result = 0;
		if (got) {
			naps = 0;
			continue;
		}
		if (complete(&r, now, sent))
			break;
		await_packets(&r, &naps);
	}
	if (!result)
		finish(&r);
	receiver_close(&r);
	return result;
}
