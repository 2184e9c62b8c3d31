/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Connected pairs of sockets between two nodes of a lab, made by the runner before lanes start. */
#ifndef LOAD_PAIR_H
#define LOAD_PAIR_H

#include <stdint.h>
#include <sys/socket.h>

#include "base/err.h"

struct load_run;

struct pair {
	int from, to; /* fds, -1 when closed; the owner is the load's state */
};

struct pair_options {
	int type;		 /* SOCK_STREAM or SOCK_DGRAM */
	uint64_t sndbuf, rcvbuf; /* bytes as SO_SNDBUF counts them; 0: the kernel's choice */
	uint64_t mss;		 /* 0: from the MTU */
	uint64_t dscp;
	const char *congestion; /* NULL: the kernel's choice */
};

/*
 * Open n pairs, connected and in blocking mode, between run->from and run->to. Streams get the
 * ports 5201 + 256 × ordinal and up in nodes that nobody else uses. On error all are closed.
 */
int pairs_open(struct load_run *run, const struct pair_options *options, struct pair *pairs,
	       size_t n, struct err *err);
void pairs_close(struct pair *pairs, size_t n);
/* SO_RCVTIMEO and SO_SNDTIMEO, so that every wait has a deadline. */
int socket_deadline(int fd, uint64_t timeout_ns, struct err *err);

#endif
