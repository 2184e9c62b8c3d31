/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the proof that nodes reach each other: many echoes at once from raw ICMP sockets. */
#include <errno.h>
#include <netinet/icmp6.h>
#include <netinet/ip.h>
#include <netinet/ip_icmp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/now.h"
#include "topo/node.h"
#include "topo/path.h"

/* Sends within the deadline; small bursts, so that answers never overflow a socket. */
enum { SENDS = 3, BURST = 32 };

/* Behind the ICMP header; small enough for an MTU of 68. */
struct payload {
	uint32_t cookie, probe;
};

/* Both families' echo headers have this layout (RFC 792, RFC 4443). */
struct echo {
	uint8_t type, code;
	uint16_t checksum, id, seq;
	struct payload payload;
};

struct probe {
	size_t from, to, pair;
	struct pollfd *poll; /* of the socket in from */
	struct sockaddr_storage own, addr;
	bool answered;
	int error; /* last error of sending */
};

struct reach {
	struct lab *lab;
	int family;
	uint32_t cookie;
	struct probe *probes; /* sorted by from */
	size_t n, n_answered;
	struct pollfd *polls; /* one per distinct from */
	size_t n_polls;
};

static int by_from(const void *a, const void *b)
{
	const struct probe *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return (x->pair > y->pair) - (x->pair < y->pair);
}

static int open_socket(struct reach *reach, size_t node, struct err *err)
{
	bool inet = reach->family == AF_INET;
	int fd = lab_socket(reach->lab, node, reach->family, SOCK_RAW | SOCK_NONBLOCK,
			    inet ? IPPROTO_ICMP : IPPROTO_ICMPV6, err);
	struct icmp6_filter only6;
	uint32_t only4 = ~(UINT32_C(1) << ICMP_ECHOREPLY);

	if (fd < 0)
		return fd;
	ICMP6_FILTER_SETBLOCKALL(&only6);
	ICMP6_FILTER_SETPASS(ICMP6_ECHO_REPLY, &only6);
	/* Without the filter there would be more to read, nothing worse. */
	if (inet)
		setsockopt(fd, SOL_RAW, 1 /* ICMP_FILTER */, &only4, sizeof(only4));
	else
		setsockopt(fd, IPPROTO_ICMPV6, ICMP6_FILTER, &only6, sizeof(only6));
	return fd;
}

/* Target addresses and sockets, one path tree and one socket for all pairs of a node. */
static int prepare(struct reach *reach, struct err *err)
{
	size_t i, from = SIZE_MAX;
	struct tree tree;
	int rc = tree_init(&tree, reach->lab->plan, err);

	if (rc)
		return rc;
	for (i = 0; i < reach->n && !rc; i++) {
		struct probe *probe = &reach->probes[i];

		if (probe->from != from) {
			from = probe->from;
			tree_grow(&tree, from, reach->family, SIZE_MAX);
			rc = open_socket(reach, from, err);
			if (rc < 0)
				break;
			reach->polls[reach->n_polls++] =
				(struct pollfd){.fd = rc, .events = POLLIN};
		}
		probe->poll = &reach->polls[reach->n_polls - 1];
		rc = tree_addresses(&tree, probe->to, &probe->own, &probe->addr, err);
	}
	tree_release(&tree);
	return rc;
}

static uint16_t checksum(const void *data, size_t len)
{
	const uint8_t *byte = data;
	uint32_t sum = 0;
	uint16_t word;
	size_t i;

	for (i = 0; i + 1 < len; i += 2) {
		memcpy(&word, byte + i, sizeof(word));
		sum += word;
	}
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

/*
 * From the planned address: that is what loads will use, and it spares the kernel a walk over all
 * IPv6 addresses of a node, which with a thousand of them takes longer than all the rest.
 */
static int send_from(const struct reach *reach, const struct probe *probe, struct echo *echo)
{
	bool inet = reach->family == AF_INET;
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(struct in6_pktinfo))];
	} control = {0};
	struct iovec iov = {.iov_base = echo, .iov_len = sizeof(*echo)};
	struct msghdr msg = {
		.msg_name = (void *)&probe->addr,
		.msg_namelen = inet ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6),
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = inet ? CMSG_SPACE(sizeof(struct in_pktinfo)) : sizeof(control),
	};

	if (inet) {
		struct in_pktinfo info = {
			.ipi_spec_dst = ((const struct sockaddr_in *)&probe->own)->sin_addr};

		control.header.cmsg_level = IPPROTO_IP;
		control.header.cmsg_type = IP_PKTINFO;
		control.header.cmsg_len = CMSG_LEN(sizeof(info));
		memcpy(CMSG_DATA(&control.header), &info, sizeof(info));
	} else {
		struct in6_pktinfo info = {
			.ipi6_addr = ((const struct sockaddr_in6 *)&probe->own)->sin6_addr};

		control.header.cmsg_level = IPPROTO_IPV6;
		control.header.cmsg_type = IPV6_PKTINFO;
		control.header.cmsg_len = CMSG_LEN(sizeof(info));
		memcpy(CMSG_DATA(&control.header), &info, sizeof(info));
	}
	return sendmsg(probe->poll->fd, &msg, 0) < 0 ? errno : 0;
}

static void send_echo(struct reach *reach, size_t i)
{
	struct probe *probe = &reach->probes[i];
	bool inet = reach->family == AF_INET;
	struct echo echo = {
		.type = inet ? ICMP_ECHO : ICMP6_ECHO_REQUEST,
		.id = htons((uint16_t)(i >> 16)),
		.seq = htons((uint16_t)i),
		.payload = {reach->cookie, (uint32_t)i},
	};

	/* The kernel fills in the ICMPv6 one (RFC 3542). */
	if (inet)
		echo.checksum = checksum(&echo, sizeof(echo));
	probe->error = send_from(reach, probe, &echo);
}

static bool same_address(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
	if (a->ss_family == AF_INET)
		return ((const struct sockaddr_in *)a)->sin_addr.s_addr ==
		       ((const struct sockaddr_in *)b)->sin_addr.s_addr;
	return !memcmp(&((const struct sockaddr_in6 *)a)->sin6_addr,
		       &((const struct sockaddr_in6 *)b)->sin6_addr, sizeof(struct in6_addr));
}

static void take(struct reach *reach, const unsigned char *buf, size_t len,
		 const struct sockaddr_storage *from)
{
	size_t skip = reach->family == AF_INET && len ? (buf[0] & 15U) * 4U : 0;
	struct probe *probe;
	struct echo echo;

	if (len < skip + sizeof(echo))
		return;
	memcpy(&echo, buf + skip, sizeof(echo));
	if (echo.type != (reach->family == AF_INET ? ICMP_ECHOREPLY : ICMP6_ECHO_REPLY) ||
	    echo.payload.cookie != reach->cookie || echo.payload.probe >= reach->n)
		return;
	probe = &reach->probes[echo.payload.probe];
	if (probe->answered || !same_address(from, &probe->addr))
		return;
	probe->answered = true;
	reach->n_answered++;
}

/* Read whatever has come; wait for it until wake_ns if it is not 0. */
static void receive(struct reach *reach, uint64_t wake_ns)
{
	uint64_t now = wake_ns ? now_ns() : 0, left = wake_ns > now ? wake_ns - now : 0;
	struct sockaddr_storage from;
	unsigned char buf[256];
	socklen_t from_len;
	ssize_t len;
	size_t i;

	/* Rounded up: a deadline below a millisecond must not become a busy loop. */
	if (poll(reach->polls, reach->n_polls, (int)((left + 999999) / 1000000)) <= 0)
		return;
	for (i = 0; i < reach->n_polls; i++) {
		if (!reach->polls[i].revents)
			continue;
		for (;;) {
			from_len = sizeof(from);
			len = recvfrom(reach->polls[i].fd, buf, sizeof(buf), 0, (void *)&from,
				       &from_len);
			if (len < 0)
				break;
			take(reach, buf, (size_t)len, &from);
		}
	}
}

static void send_round(struct reach *reach)
{
	size_t i, burst = 0;

	for (i = 0; i < reach->n; i++) {
		if (reach->probes[i].answered)
			continue;
		send_echo(reach, i);
		if (++burst % BURST == 0)
			receive(reach, 0);
	}
}

static int verdict(const struct reach *reach, uint64_t timeout_ns, struct err *err)
{
	const struct node_spec *nodes = reach->lab->spec.nodes;
	const struct probe *silent = NULL;
	size_t i;

	for (i = 0; i < reach->n; i++)
		if (!reach->probes[i].answered && (!silent || reach->probes[i].pair < silent->pair))
			silent = &reach->probes[i];
	if (!silent)
		return 0;
	if (silent->error) {
		err_sys(err, silent->error, "node '%s' cannot send to node '%s'",
			nodes[silent->from].name, nodes[silent->to].name);
		return -EHOSTUNREACH;
	}
	return err_set(err, EHOSTUNREACH,
		       "node '%s' gets no %s echo from node '%s' within %.3g s (%zu of %zu pairs "
		       "answered)",
		       nodes[silent->from].name, reach->family == AF_INET ? "IPv4" : "IPv6",
		       nodes[silent->to].name, (double)timeout_ns / 1e9, reach->n_answered,
		       reach->n);
}

int lab_reach(struct lab *lab, int family, const struct lab_pair *pairs, size_t n,
	      uint64_t timeout_ns, struct err *err)
{
	uint64_t start = now_ns(), wake;
	struct reach reach = {.lab = lab, .family = family, .n = n};
	unsigned int sends = 0;
	size_t i;
	int rc;

	if (!n)
		return 0;
	reach.cookie = (uint32_t)(start ^ start >> 32) ^ (uint32_t)getpid() << 16;
	reach.probes = calloc(n, sizeof(*reach.probes));
	reach.polls = calloc(n, sizeof(*reach.polls));
	if (!reach.probes || !reach.polls) {
		rc = err_sys(err, ENOMEM, "cannot check who reaches whom");
		goto out;
	}
	for (i = 0; i < n; i++)
		reach.probes[i] =
			(struct probe){.from = pairs[i].from, .to = pairs[i].to, .pair = i};
	qsort(reach.probes, n, sizeof(*reach.probes), by_from);
	rc = prepare(&reach, err);
	if (rc)
		goto out;
	while (sends < SENDS && reach.n_answered < n) {
		send_round(&reach);
		wake = start + timeout_ns / SENDS * ++sends;
		do
			receive(&reach, wake);
		while (reach.n_answered < n && now_ns() < wake);
	}
	rc = verdict(&reach, timeout_ns, err);
out:
	for (i = 0; i < reach.n_polls; i++)
		close(reach.polls[i].fd);
	free(reach.polls);
	free(reach.probes);
	return rc;
}

int lab_reach_all(struct lab *lab, size_t from, int family, uint64_t timeout_ns, size_t *ret_n,
		  struct err *err)
{
	const size_t nodes = lab_spec(lab)->n_nodes;
	struct lab_pair *pairs = calloc(nodes, sizeof(*pairs));
	struct sockaddr_storage own, far;
	size_t n = 0;
	int rc;

	if (!pairs)
		return err_sys(err, ENOMEM, "cannot check who reaches whom");
	for (size_t to = 0; to < nodes; to++)
		if (to != from &&
		    !lab_plan_addresses(lab_plan(lab), from, to, family, &own, &far, NULL))
			pairs[n++] = (struct lab_pair){from, to};
	rc = lab_reach(lab, family, pairs, n, timeout_ns, err);
	free(pairs);
	if (!rc)
		*ret_n = n;
	return rc;
}
