/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sending half of the udp load: sendmmsg in batches, paced on an absolute schedule. */
#include <endian.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>

#include "load/udp.h"

#define POLL_NS UINT64_C(200000000)
/* A sender that was held up makes good at most this much of its schedule; the rest shows as not offered. */
#define CATCH_UP_NS UINT64_C(100000000)
/* Sleeping is only precise to about this; closer departures are spun for. */
#define SPIN_NS UINT64_C(80000)

struct sender {
	struct lane *lane;
	struct udp_lane *shared;
	const struct udp_cfg *cfg;
	struct flow_part part;
	uint64_t *next_seq;	/* per stream */
	unsigned char *payload; /* batch × per_message packets */
	struct mmsghdr *messages;
	struct iovec *iov;
	size_t per_message;   /* packets in one message: 1, or cfg->segment */
	uint64_t total;	      /* packets handed over */
	double ns_per_packet; /* 0: as fast as it goes */
	uint64_t scheduled;   /* packets due so far by the schedule */
	uint64_t schedule_ns; /* when the schedule began */
};

static double spacing(const struct sender *s)
{
	const struct rate *rate = &s->cfg->rate;
	double pps = 0;

	if (rate->unit == RATE_PPS)
		pps = (double)rate->value;
	else if (rate->unit == RATE_BPS)
		pps = (double)rate->value / (8.0 * (double)s->cfg->size);
	/* The rate is that of the whole direction; this lane carries its streams' share. */
	return pps > 0 ? 1e9 / (pps * (double)s->part.n_streams / (double)s->cfg->flow.streams) : 0;
}

static int sender_open(struct sender *s, struct lane *lane, struct err *err)
{
	const struct udp_state *state = lane->run->state;
	size_t batch;
	int r = 0;

	memset(s, 0, sizeof(*s));
	s->lane = lane;
	s->shared = (struct udp_lane *)lane->shared;
	s->cfg = lane->run->cfg;
	flow_part(lane, &s->part);
	s->per_message = s->cfg->segment ? s->cfg->segment : 1;
	batch = s->cfg->batch;
	s->next_seq = calloc(s->part.n_streams, sizeof(*s->next_seq));
	s->payload = lane_buffer(batch * s->per_message * s->cfg->size);
	s->messages = calloc(batch, sizeof(*s->messages));
	s->iov = calloc(batch, sizeof(*s->iov));
	if (!s->next_seq || !s->payload || !s->messages || !s->iov)
		return err_sys(err, ENOMEM, "cannot allocate a batch of %zu packets", batch);
	for (size_t i = 0; i < batch; i++) {
		s->iov[i].iov_base = s->payload + i * s->per_message * s->cfg->size;
		s->messages[i].msg_hdr.msg_iov = &s->iov[i];
		s->messages[i].msg_hdr.msg_iovlen = 1;
	}
	s->ns_per_packet = spacing(s);
	for (size_t i = 0; !r && i < s->part.n_streams; i++) {
		const int fd = flow_fd(lane, state->pairs, i), size = (int)s->cfg->size;

		r = socket_deadline(fd, POLL_NS, err);
		if (!r && s->cfg->segment &&
		    setsockopt(fd, IPPROTO_UDP, UDP_SEGMENT, &size, sizeof(size)))
			r = err_sys(err, errno, "cannot set UDP_SEGMENT to %d", size);
	}
	return r;
}

static void sender_close(struct sender *s)
{
	free(s->next_seq);
	free(s->payload);
	free(s->messages);
	free(s->iov);
}

/* How many packets may leave at `now`; 0 after having waited a little. */
static size_t packets_due(struct sender *s, uint64_t now)
{
	const size_t room = s->cfg->batch * s->per_message;
	uint64_t due, next;

	if (!(s->ns_per_packet > 0))
		return room;
	due = (uint64_t)((double)(now - s->schedule_ns) / s->ns_per_packet) + 1;
	if ((double)(due - s->scheduled) * s->ns_per_packet > (double)CATCH_UP_NS)
		s->scheduled = due - (uint64_t)((double)CATCH_UP_NS / s->ns_per_packet) - 1;
	if (due > s->scheduled)
		return due - s->scheduled < room ? due - s->scheduled : room;
	next = s->schedule_ns + (uint64_t)((double)s->scheduled * s->ns_per_packet);
	if (next > now + SPIN_NS) {
		if (next > s->lane->run->clock->end_ns)
			next = s->lane->run->clock->end_ns + SPIN_NS;
		lane_sleep_until(next - SPIN_NS);
	}
	return 0;
}

/* Fill the messages for n packets of a stream; returns how many messages that makes. */
static unsigned int fill(struct sender *s, size_t stream, size_t n, uint64_t stamp)
{
	const size_t size = s->cfg->size;
	uint64_t seq = s->next_seq[stream];
	unsigned int message = 0;

	for (size_t at = 0; at < n; message++) {
		size_t packets = n - at < s->per_message ? n - at : s->per_message;

		for (size_t k = 0; k < packets; k++, at++) {
			const struct udp_header header = {htobe64(seq++), htobe64(stamp)};

			memcpy(s->payload + (message * s->per_message + k) * size, &header,
			       sizeof(header));
		}
		s->iov[message].iov_len = packets * size;
	}
	return message;
}

/* The packets of the first `sent` messages of a batch of n packets. */
static size_t packets_in(const struct sender *s, size_t n, unsigned int sent)
{
	return sent * s->per_message < n ? sent * s->per_message : n;
}

static int send_batch(struct sender *s, int fd, size_t stream, size_t n, struct err *err)
{
	const struct trial_clock *clock = s->lane->run->clock;
	const uint64_t stamp = now_ns();
	const bool in_window = stamp >= clock->begin_ns && stamp < clock->end_ns;
	const unsigned int messages = fill(s, stream, n, stamp);
	int sent = sendmmsg(fd, s->messages, messages, 0);
	size_t packets;

	if (sent < 0) {
		if (errno == EMSGSIZE && s->cfg->segment)
			return err_set(
				err, EMSGSIZE,
				"cannot send: a segment of %zu bytes does not fit into the MTU",
				(size_t)s->cfg->size);
		/* Not handed over, so never sent: the numbers are used again. ECONNREFUSED is an old ICMP error. */
		if (errno != ENOBUFS && errno != EAGAIN && errno != EINTR && errno != ECONNREFUSED)
			return err_sys(err, errno, "cannot send");
		s->shared->refused += n;
		s->shared->window_refused += in_window ? n : 0;
		s->scheduled += n;
		return 0;
	}
	packets = packets_in(s, n, (unsigned int)sent);
	s->next_seq[stream] += packets;
	s->total += packets;
	s->scheduled += packets;
	s->shared->window_sent += in_window ? packets : 0;
	lane_publish(&s->lane->shared->packets, s->total);
	lane_publish(&s->lane->shared->bytes, s->total * s->cfg->size);
	return 0;
}

int udp_send(struct lane *lane, struct err *err)
{
	const struct trial_clock *clock = lane->run->clock;
	const struct udp_state *state = lane->run->state;
	struct sender s;
	size_t stream = 0;
	uint64_t now;
	int r;

	prctl(PR_SET_TIMERSLACK, 1);
	r = sender_open(&s, lane, err);
	if (!r)
		r = lane_ready(lane);
	s.schedule_ns = clock->start_ns;
	while (!r && (now = now_ns()) < clock->end_ns && !lane_stopped(lane)) {
		size_t n = packets_due(&s, now);

		if (!n)
			continue;
		r = send_batch(&s, flow_fd(lane, state->pairs, stream), stream, n, err);
		stream = (stream + 1) % s.part.n_streams;
	}
	sender_close(&s);
	return r;
}
