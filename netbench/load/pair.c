/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the opening of connected socket pairs between two nodes. */
#include "load/pair.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "load/lane.h"
#include "topo/lab.h"

#define FIRST_PORT	   5201
#define PORTS_PER_LOAD	   256
#define CONNECT_TIMEOUT_NS UINT64_C(5000000000)

struct ends {
	struct sockaddr_storage from, to;
	socklen_t len;
};

static void set_port(struct sockaddr_storage *address, uint16_t port)
{
	/* sin_port and sin6_port share their place. */
	((struct sockaddr_in *)address)->sin_port = htons(port);
}

static int set_int(int fd, int level, int name, int value, const char *what, struct err *err)
{
	if (setsockopt(fd, level, name, &value, sizeof(value)))
		return err_sys(err, errno, "cannot set %s to %d", what, value);
	return 0;
}

int socket_deadline(int fd, uint64_t timeout_ns, struct err *err)
{
	const struct timeval tv = {.tv_sec = (time_t)(timeout_ns / 1000000000u),
				   .tv_usec = (suseconds_t)(timeout_ns % 1000000000u / 1000)};

	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv)) ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv)))
		return err_sys(err, errno, "cannot set a deadline on a socket");
	return 0;
}

/* Beyond rmem_max with the FORCE variant, which needs CAP_NET_ADMIN; without it the kernel's limit holds. */
static int set_buffers(int fd, const struct pair_options *options, struct err *err)
{
	const struct {
		uint64_t bytes;
		int force, plain;
		const char *what;
	} buffers[] = {{options->sndbuf, SO_SNDBUFFORCE, SO_SNDBUF, "the send buffer"},
		       {options->rcvbuf, SO_RCVBUFFORCE, SO_RCVBUF, "the receive buffer"}};
	int r = 0;

	for (int i = 0; !r && i < 2; i++) {
		int bytes = (int)(buffers[i].bytes / 2); /* the kernel doubles it: socket(7) */

		if (!bytes || !setsockopt(fd, SOL_SOCKET, buffers[i].force, &bytes, sizeof(bytes)))
			continue;
		r = set_int(fd, SOL_SOCKET, buffers[i].plain, bytes, buffers[i].what, err);
	}
	return r;
}

static int set_options(int fd, int family, const struct pair_options *options, struct err *err)
{
	int r = set_buffers(fd, options, err);

	if (!r && options->dscp)
		r = family == AF_INET
			    ? set_int(fd, IPPROTO_IP, IP_TOS, (int)options->dscp << 2, "DSCP", err)
			    : set_int(fd, IPPROTO_IPV6, IPV6_TCLASS, (int)options->dscp << 2,
				      "DSCP", err);
	if (!r && options->mss)
		r = set_int(fd, IPPROTO_TCP, TCP_MAXSEG, (int)options->mss, "the MSS", err);
	if (!r && options->congestion &&
	    setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, options->congestion,
		       (socklen_t)strlen(options->congestion)))
		r = err_sys(err, errno, "cannot use congestion control '%s'", options->congestion);
	return r;
}

static int bound_socket(struct load_run *run, size_t node, const struct pair_options *options,
			const struct sockaddr_storage *address, socklen_t len, struct err *err)
{
	int fd = lab_socket(run->lab, node, address->ss_family, options->type, 0, err);
	int r;

	if (fd < 0)
		return fd;
	r = set_options(fd, address->ss_family, options, err);
	if (!r)
		r = socket_deadline(fd, CONNECT_TIMEOUT_NS, err);
	if (!r && bind(fd, (const struct sockaddr *)address, len))
		r = err_sys(err, errno, "cannot bind to port %d",
			    ntohs(((const struct sockaddr_in *)address)->sin_port));
	if (r) {
		close(fd);
		return r;
	}
	return fd;
}

static int connect_to(int fd, const struct sockaddr_storage *address, socklen_t len,
		      struct err *err)
{
	if (connect(fd, (const struct sockaddr *)address, len))
		return err_sys(err, errno == EINPROGRESS ? ETIMEDOUT : errno, "cannot connect");
	return 0;
}

static int open_datagram(struct load_run *run, const struct pair_options *options,
			 struct ends *ends, uint16_t port, struct pair *pair, struct err *err)
{
	int r;

	set_port(&ends->from, port);
	set_port(&ends->to, port);
	pair->from = bound_socket(run, run->from, options, &ends->from, ends->len, err);
	if (pair->from < 0)
		return pair->from;
	pair->to = bound_socket(run, run->to, options, &ends->to, ends->len, err);
	if (pair->to < 0)
		return pair->to;
	r = connect_to(pair->from, &ends->to, ends->len, err);
	return r ? r : connect_to(pair->to, &ends->from, ends->len, err);
}

static int open_stream(struct load_run *run, const struct pair_options *options,
		       const struct ends *ends, int listener, struct pair *pair, struct err *err)
{
	int r;

	pair->from = bound_socket(run, run->from, options, &ends->from, ends->len, err);
	if (pair->from < 0)
		return pair->from;
	r = connect_to(pair->from, &ends->to, ends->len, err);
	if (r)
		return r;
	pair->to = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	if (pair->to < 0)
		return err_sys(err, errno, "cannot accept a connection");
	r = set_options(pair->to, ends->to.ss_family, options, err);
	return r ? r : socket_deadline(pair->to, CONNECT_TIMEOUT_NS, err);
}

int pairs_open(struct load_run *run, const struct pair_options *options, struct pair *pairs,
	       size_t n, struct err *err)
{
	const struct traffic_cfg *cfg = run->cfg;
	const int family = cfg->family ? AF_INET6 : AF_INET;
	const uint16_t port = (uint16_t)(FIRST_PORT + PORTS_PER_LOAD * run->ordinal);
	struct ends ends = {.len = family == AF_INET ? sizeof(struct sockaddr_in)
						     : sizeof(struct sockaddr_in6)};
	int listener = -1, r;

	for (size_t i = 0; i < n; i++)
		pairs[i].from = pairs[i].to = -1;
	r = lab_plan_addresses(lab_plan(run->lab), run->from, run->to, family, &ends.from, &ends.to,
			       err);
	if (!r && options->type == SOCK_STREAM) {
		set_port(&ends.to, port);
		listener = bound_socket(run, run->to, options, &ends.to, ends.len, err);
		r = listener < 0 ? listener : 0;
		if (!r && listen(listener, 16))
			r = err_sys(err, errno, "cannot listen on port %u", port);
	}
	for (size_t i = 0; !r && i < n; i++)
		r = options->type == SOCK_STREAM
			    ? open_stream(run, options, &ends, listener, &pairs[i], err)
			    : open_datagram(run, options, &ends, (uint16_t)(port + i), &pairs[i],
					    err);
	if (listener >= 0)
		close(listener);
	if (r)
		pairs_close(pairs, n);
	return r;
}

void pairs_close(struct pair *pairs, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (pairs[i].from >= 0)
			close(pairs[i].from);
		if (pairs[i].to >= 0)
			close(pairs[i].to);
		pairs[i].from = pairs[i].to = -1;
	}
}
