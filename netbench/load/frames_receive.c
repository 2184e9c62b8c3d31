/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The reader of the socket that test frames are meant for, where no program counts them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "load/frames.h"
#include "load/pair.h"

enum { BATCH = 64, ROOM = 32 };

#define POLL_NS UINT64_C(10000000)
/* After the end: this long without a packet, and what is missing is lost. */
#define QUIET_NS UINT64_C(50000000)

struct reader {
	struct mmsghdr messages[BATCH];
	struct iovec iov[BATCH];
	unsigned char payload[BATCH][ROOM];
};

static void take_batch(struct frames_state *state, struct reader *reader, int n)
{
	for (int i = 0; i < n; i++) {
		struct frames_payload payload;

		if (reader->messages[i].msg_len < sizeof(payload))
			continue;
		memcpy(&payload, reader->payload[i], sizeof(payload));
		frames_sink_take(state->sink, &payload, reader->messages[i].msg_len);
	}
}

static int receive_all(struct lane *lane, struct reader *reader, struct err *err)
{
	const struct trial_clock *clock = lane->run->clock;
	struct frames_state *state = lane->run->state;
	const int fd = frames_sink_fd(state->sink);
	uint64_t last_ns = now_ns(), packets = 0;

	while (!lane_stopped(lane)) {
		const int n =
			recvmmsg(fd, reader->messages, BATCH, MSG_WAITFORONE | MSG_TRUNC, NULL);
		const uint64_t now = now_ns();

		if (n < 0 && errno != EAGAIN && errno != EINTR && errno != ECONNREFUSED)
			return err_sys(err, errno, "cannot receive");
		if (n > 0) {
			take_batch(state, reader, n);
			packets += (uint64_t)n;
			lane_publish(&lane->shared->packets, packets);
			last_ns = now;
		}
		if (now > clock->drain_ns || (now > clock->end_ns && now > last_ns + QUIET_NS))
			break;
	}
	return 0;
}

int frames_receive(struct lane *lane, struct err *err)
{
	const struct frames_state *state = lane->run->state;
	struct reader *reader = calloc(1, sizeof(*reader));
	int r;

	if (!reader)
		return err_sys(err, ENOMEM, "cannot allocate a batch of %d packets", BATCH);
	for (size_t i = 0; i < BATCH; i++) {
		reader->iov[i] = (struct iovec){reader->payload[i], ROOM};
		reader->messages[i].msg_hdr.msg_iov = &reader->iov[i];
		reader->messages[i].msg_hdr.msg_iovlen = 1;
	}
	r = socket_deadline(frames_sink_fd(state->sink), POLL_NS, err);
	if (!r)
		r = lane_ready(lane);
	if (!r)
		r = receive_all(lane, reader, err);
	free(reader);
	return r;
}
