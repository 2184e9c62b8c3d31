/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The workers of the tcp load: sending and receiving loops over one or more streams. */
#include <errno.h>
#include <fcntl.h>
#include <linux/errqueue.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "load/tcp.h"

/* Every blocking call returns after this, to look at the clock. */
#define POLL_NS UINT64_C(200000000)
#define POLL_MS 200
/*
 * A receiver asks to be woken for about this much time's worth of data: enough that wake-ups do not
 * cost the rate, little enough that what waits in the socket still fits a cache (at 8 Gbit/s, 64 KB
 * moved a quarter more than 256 KB; at 30 Gbit/s of super-packets 256 KB is right).
 */
#define WAKE_NS	  UINT64_C(64000)
#define RETUNE_NS UINT64_C(50000000)

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

int tcp_send(struct lane *lane, struct err *err)
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

int tcp_receive(struct lane *lane, struct err *err)
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
