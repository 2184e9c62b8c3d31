/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Talking netlink: the one place where messages are sent, acknowledged and explained. */
#ifndef TOPO_NL_H
#define TOPO_NL_H

#include <libmnl/libmnl.h>
#include <linux/rtnetlink.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* A netlink socket born in one namespace. Not for two threads at a time. */
struct nl {
	struct mnl_socket *sock; /* NULL: closed */
	uint32_t seq;
	const char *node; /* for error texts; borrowed */
};

/* Opens in the calling thread's namespace: rtnetlink, or another bus (NETLINK_NETFILTER …). */
int nl_open(struct nl *nl, const char *node, struct err *err);
int nl_open_bus(struct nl *nl, int bus, const char *node, struct err *err);
void nl_close(struct nl *nl);
int nl_fd(const struct nl *nl);

/*
 * Messages collected for one socket at a time and sent many per system call, with a single
 * acknowledgement asked of the last one: the kernel reports failures unasked.
 */
struct nl_batch {
	struct nl *nl;
	unsigned char *buf;
	size_t used, last, room; /* bytes; where the last message starts */
	struct nl_subject *subjects;
	size_t n, n_room;
	uint16_t transaction; /* the subsystem that takes all messages or none; 0: none does */
	uint32_t first_seq;
	int rc; /* first failure since nl_begin; its sentence is in err */
	struct err err;
};

int nl_batch_init(struct nl_batch *batch, struct err *err);
void nl_batch_release(struct nl_batch *batch);

void nl_begin(struct nl_batch *batch, struct nl *nl);
/*
 * As nl_begin, for a subsystem of NETLINK_NETFILTER that does all or nothing (NFNL_SUBSYS_NFTABLES):
 * however many messages come, they are sent in one piece, by nl_commit. Each has room for
 * NL_TRANSACTION_MESSAGE_MAX bytes. A failure of the whole reads "cannot VERB 'SUBJECT' …".
 */
enum { NL_TRANSACTION_MESSAGE_MAX = 60 * 1024 };
void nl_begin_transaction(struct nl_batch *batch, struct nl *nl, uint16_t subsystem,
			  const char *verb, const char *subject);
/*
 * Start a message of up to NL_MESSAGE_MAX bytes; add to it with mnl_attr_put_*() before the next
 * call. A failure will read "cannot VERB 'SUBJECT' in node 'NODE': …"; both strings are borrowed
 * until nl_commit. Sends what is pending when the buffer is full.
 */
enum { NL_MESSAGE_MAX = 2048 };
struct nlmsghdr *nl_put(struct nl_batch *batch, uint16_t type, uint16_t flags, const char *verb,
			const char *subject);
/* Send the rest. The first failure since nl_begin, with the kernel's own words, or 0. */
int nl_commit(struct nl_batch *batch, struct err *err);

/*
 * Send one request and pass every message of the answer to each(). For NLM_F_DUMP requests the
 * answer is read to its end; if the kernel says that it changed under way (NLM_F_DUMP_INTR) or the
 * socket overflowed, restart(data) is called and the dump starts anew.
 */
int nl_query(struct nl *nl, struct nlmsghdr *req, mnl_cb_t each, void (*restart)(void *data),
	     void *data, const char *verb, const char *subject, struct err *err);

#endif
