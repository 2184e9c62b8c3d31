/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the netlink socket: batching, acknowledgements, extended error texts, interrupted dumps. */
#include "topo/nl.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <linux/netfilter/nfnetlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

/* The kernel takes a whole batch in one skb, which must fit the socket's default send buffer. */
enum { BATCH_BYTES = 64 * 1024, BATCH_MESSAGES = 1024, ANSWER_BYTES = 64 * 1024, DUMP_TRIES = 16 };

struct nl_subject {
	const char *verb, *subject;
};

int nl_open(struct nl *nl, const char *node, struct err *err)
{
	return nl_open_bus(nl, NETLINK_ROUTE, node, err);
}

int nl_open_bus(struct nl *nl, int bus, const char *node, struct err *err)
{
	struct timeval timeout = {.tv_sec = 10};
	int on = 1, send_bytes = 4 * BATCH_BYTES, rc;

	nl->seq = 0;
	nl->node = node;
	nl->sock = mnl_socket_open2(bus, SOCK_CLOEXEC);
	if (!nl->sock)
		return err_sys(err, errno, "cannot open a netlink socket in node '%s'", node);
	if (mnl_socket_bind(nl->sock, 0, MNL_SOCKET_AUTOPID) < 0) {
		rc = err_sys(err, errno, "cannot bind the netlink socket of node '%s'", node);
		nl_close(nl);
		return rc;
	}
	/* Old kernels lack some of these; all that is lost then is the wording of errors. */
	mnl_socket_setsockopt(nl->sock, NETLINK_EXT_ACK, &on, sizeof(on));
	mnl_socket_setsockopt(nl->sock, NETLINK_CAP_ACK, &on, sizeof(on));
	/* A host with small default buffers must still take a whole batch. */
	setsockopt(nl_fd(nl), SOL_SOCKET, SO_SNDBUFFORCE, &send_bytes, sizeof(send_bytes));
	/* The kernel answers before send() returns, so this only guards against a fault of it. */
	setsockopt(nl_fd(nl), SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	return 0;
}

void nl_close(struct nl *nl)
{
	if (nl->sock)
		mnl_socket_close(nl->sock);
	nl->sock = NULL;
}

int nl_fd(const struct nl *nl)
{
	return mnl_socket_get_fd(nl->sock);
}

/* The kernel's sentence in an NLMSG_ERROR, or NULL. */
static const char *extended_ack(const struct nlmsghdr *nlh)
{
	const struct nlmsgerr *report = mnl_nlmsg_get_payload(nlh);
	size_t skip = sizeof(*report);
	const struct nlattr *attr;

	if (!(nlh->nlmsg_flags & NLM_F_ACK_TLVS))
		return NULL;
	if (!(nlh->nlmsg_flags & NLM_F_CAPPED))
		skip += mnl_nlmsg_get_payload_len(nlh) > skip ? report->msg.nlmsg_len - NLMSG_HDRLEN
							      : 0;
	mnl_attr_for_each(attr, nlh, skip)
	{
		if (mnl_attr_get_type(attr) == NLMSGERR_ATTR_MSG &&
		    mnl_attr_validate(attr, MNL_TYPE_NUL_STRING) >= 0)
			return mnl_attr_get_str(attr);
	}
	return NULL;
}

static int explain(const struct nl *nl, const struct nlmsghdr *nlh, const char *verb,
		   const char *subject, struct err *err)
{
	const struct nlmsgerr *report = mnl_nlmsg_get_payload(nlh);
	const char *text = extended_ack(nlh);
	int code = -report->error;

	if (text)
		return err_sys(err, code, "cannot %s '%s' in node '%s': %s", verb, subject,
			       nl->node, text);
	return err_sys(err, code, "cannot %s '%s' in node '%s'", verb, subject, nl->node);
}

int nl_batch_init(struct nl_batch *batch, struct err *err)
{
	*batch = (struct nl_batch){.room = BATCH_BYTES, .n_room = BATCH_MESSAGES};
	batch->buf = malloc(batch->room);
	batch->subjects = malloc(batch->n_room * sizeof(*batch->subjects));
	if (batch->buf && batch->subjects)
		return 0;
	nl_batch_release(batch);
	return err_sys(err, ENOMEM, "cannot prepare netlink messages");
}

void nl_batch_release(struct nl_batch *batch)
{
	free(batch->buf);
	free(batch->subjects);
	*batch = (struct nl_batch){0};
}

static void reset(struct nl_batch *batch)
{
	batch->used = 0;
	batch->n = 0;
}

void nl_begin(struct nl_batch *batch, struct nl *nl)
{
	reset(batch);
	batch->nl = nl;
	batch->rc = 0;
	batch->transaction = 0;
}

static struct nlmsghdr *put_bracket(struct nl_batch *batch, uint16_t type, const char *verb,
				    const char *subject)
{
	struct nlmsghdr *nlh = nl_put(batch, type, 0, verb, subject);
	struct nfgenmsg *nfg = mnl_nlmsg_put_extra_header(nlh, sizeof(*nfg));

	nfg->nfgen_family = AF_UNSPEC;
	nfg->version = NFNETLINK_V0;
	nfg->res_id = htons(batch->transaction);
	return nlh;
}

void nl_begin_transaction(struct nl_batch *batch, struct nl *nl, uint16_t subsystem,
			  const char *verb, const char *subject)
{
	nl_begin(batch, nl);
	batch->transaction = subsystem;
	put_bracket(batch, NFNL_MSG_BATCH_BEGIN, verb, subject);
}

/* One datagram of answers. Returns true when the last message of the batch was answered. */
static bool take_answers(struct nl_batch *batch, const unsigned char *buf, ssize_t len,
			 uint32_t last_seq)
{
	const struct nlmsghdr *nlh = (const void *)buf;
	const struct nlmsgerr *report;
	int left = (int)len;
	uint32_t at;

	for (; mnl_nlmsg_ok(nlh, left); nlh = mnl_nlmsg_next(nlh, &left)) {
		at = nlh->nlmsg_seq - batch->first_seq;
		if (nlh->nlmsg_type != NLMSG_ERROR || at >= batch->n ||
		    mnl_nlmsg_get_payload_len(nlh) < sizeof(*report))
			continue;
		report = mnl_nlmsg_get_payload(nlh);
		if (report->error && !batch->rc)
			batch->rc = explain(batch->nl, nlh, batch->subjects[at].verb,
					    batch->subjects[at].subject, &batch->err);
		if (nlh->nlmsg_seq == last_seq)
			return true;
	}
	return false;
}

/*
 * When more messages fail than the receive buffer holds reports for, the kernel drops the rest,
 * the final acknowledgement included, and says ENOBUFS. The first reports are still there.
 */
static void receive_answers(struct nl_batch *batch, uint32_t last_seq)
{
	unsigned char buf[8192] __attribute__((aligned(NLMSG_ALIGNTO)));
	bool overflowed = false;
	ssize_t len;

	for (;;) {
		/* A transaction that fails as a whole has no further answer. */
		len = recv(nl_fd(batch->nl), buf, sizeof(buf),
			   overflowed || batch->rc ? MSG_DONTWAIT : 0);
		if (len >= 0) {
			if (take_answers(batch, buf, len, last_seq))
				return;
			continue;
		}
		if (errno == EINTR)
			continue;
		if (errno == ENOBUFS && !overflowed) {
			overflowed = true;
			continue;
		}
		if (!batch->rc)
			batch->rc = err_sys(&batch->err, overflowed ? ENOBUFS : errno,
					    "no answer from the kernel to '%s' in node '%s'",
					    batch->subjects[batch->n - 1].verb, batch->nl->node);
		return;
	}
}

/* The kernel copies what it is sent into one piece of memory, which must fit the socket's buffer. */
static ssize_t send_all(const struct nl_batch *batch)
{
	const struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
	int bytes = batch->used < INT_MAX / 2 ? (int)batch->used : INT_MAX / 2;
	ssize_t sent;

	if (batch->used > BATCH_BYTES &&
	    setsockopt(nl_fd(batch->nl), SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof(bytes)))
		setsockopt(nl_fd(batch->nl), SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
	do
		sent = sendto(nl_fd(batch->nl), batch->buf, batch->used, 0, (const void *)&kernel,
			      sizeof(kernel));
	while (sent < 0 && errno == EINTR);
	return sent;
}

static void flush(struct nl_batch *batch)
{
	struct nlmsghdr *last = (void *)(batch->buf + batch->last);
	uint32_t last_seq;

	if (!batch->n)
		return;
	batch->used = batch->last + MNL_ALIGN(last->nlmsg_len);
	last->nlmsg_flags |= NLM_F_ACK;
	last_seq = last->nlmsg_seq;
	/* The end of a transaction is acknowledged by new kernels only: the message before it is. */
	if (batch->transaction) {
		last = put_bracket(batch, NFNL_MSG_BATCH_END, "end", "transaction");
		batch->used = batch->last + MNL_ALIGN(last->nlmsg_len);
	}
	if (!batch->rc && send_all(batch) < 0)
		batch->rc = err_sys(&batch->err, errno, "cannot %s '%s' in node '%s'",
				    batch->subjects[0].verb, batch->subjects[0].subject,
				    batch->nl->node);
	else if (!batch->rc)
		receive_answers(batch, last_seq);
	reset(batch);
}

/* Room for one more message; without memory for it, what is there is given up. */
static void grow(struct nl_batch *batch)
{
	struct nl_subject *subjects = batch->subjects;
	unsigned char *buf = batch->buf;

	if (batch->used + NL_TRANSACTION_MESSAGE_MAX > batch->room) {
		buf = realloc(batch->buf, 2 * batch->room);
		if (buf) {
			batch->buf = buf;
			batch->room *= 2;
		}
	}
	if (batch->n == batch->n_room) {
		subjects = reallocarray(batch->subjects, 2 * batch->n_room, sizeof(*subjects));
		if (subjects) {
			batch->subjects = subjects;
			batch->n_room *= 2;
		}
	}
	if (buf && subjects)
		return;
	batch->rc = err_sys(&batch->err, ENOMEM, "cannot prepare netlink messages");
	reset(batch);
}

struct nlmsghdr *nl_put(struct nl_batch *batch, uint16_t type, uint16_t flags, const char *verb,
			const char *subject)
{
	struct nlmsghdr *nlh;

	if (batch->n) {
		nlh = (void *)(batch->buf + batch->last);
		batch->used = batch->last + MNL_ALIGN(nlh->nlmsg_len);
	}
	if (batch->transaction)
		grow(batch);
	else if (batch->n == BATCH_MESSAGES || batch->used + NL_MESSAGE_MAX > BATCH_BYTES)
		flush(batch);
	nlh = mnl_nlmsg_put_header(batch->buf + batch->used);
	nlh->nlmsg_type = type;
	nlh->nlmsg_flags = NLM_F_REQUEST | flags;
	nlh->nlmsg_seq = ++batch->nl->seq;
	if (!batch->n)
		batch->first_seq = nlh->nlmsg_seq;
	batch->last = batch->used;
	batch->subjects[batch->n++] = (struct nl_subject){verb, subject};
	return nlh;
}

int nl_commit(struct nl_batch *batch, struct err *err)
{
	flush(batch);
	if (batch->rc && err)
		*err = batch->err;
	return batch->rc;
}

/* Forget what is left of an answer that was given up. */
static void drain(const struct nl *nl)
{
	unsigned char scratch[64];

	while (recv(nl_fd(nl), scratch, sizeof(scratch), MSG_DONTWAIT | MSG_TRUNC) >= 0 ||
	       errno == ENOBUFS || errno == EINTR)
		;
}

/* -EAGAIN: interrupted, start again. */
static int query_once(struct nl *nl, struct nlmsghdr *req, mnl_cb_t each, void *data,
		      unsigned char *buf, struct err *err, const char *verb, const char *subject)
{
	unsigned int portid = mnl_socket_get_portid(nl->sock);
	const struct nlmsghdr *nlh = (const void *)buf;
	ssize_t len;
	int run;

	req->nlmsg_flags |= NLM_F_REQUEST;
	/* NLM_F_EXCL and NLM_F_ROOT, half of NLM_F_DUMP, are the same bit. */
	if ((req->nlmsg_flags & NLM_F_DUMP) != NLM_F_DUMP)
		req->nlmsg_flags |= NLM_F_ACK;
	req->nlmsg_seq = ++nl->seq;
	if (mnl_socket_sendto(nl->sock, req, req->nlmsg_len) < 0)
		return err_sys(err, errno, "cannot %s '%s' in node '%s'", verb, subject, nl->node);
	for (;;) {
		len = mnl_socket_recvfrom(nl->sock, buf, ANSWER_BYTES);
		if (len < 0 && errno == EINTR)
			continue;
		if (len < 0 && errno == ENOBUFS)
			return -EAGAIN;
		if (len < 0)
			return err_sys(err, errno, "cannot %s '%s' in node '%s'", verb, subject,
				       nl->node);
		run = mnl_cb_run(buf, (size_t)len, nl->seq, portid, each, data);
		if (run == MNL_CB_STOP)
			return 0;
		if (run < 0 && errno == EINTR)
			return -EAGAIN;
		if (run < 0 && len >= (ssize_t)sizeof(struct nlmsgerr) &&
		    nlh->nlmsg_type == NLMSG_ERROR)
			return explain(nl, nlh, verb, subject, err);
		if (run < 0)
			return err_sys(err, errno, "cannot %s '%s' in node '%s'", verb, subject,
				       nl->node);
	}
}

int nl_query(struct nl *nl, struct nlmsghdr *req, mnl_cb_t each, void (*restart)(void *data),
	     void *data, const char *verb, const char *subject, struct err *err)
{
	unsigned char *buf = malloc(ANSWER_BYTES);
	int rc = -EAGAIN, tries;

	if (!buf)
		return err_sys(err, ENOMEM, "cannot %s '%s' in node '%s'", verb, subject, nl->node);
	for (tries = 0; rc == -EAGAIN && tries < DUMP_TRIES; tries++) {
		if (tries) {
			drain(nl);
			if (restart)
				restart(data);
		}
		rc = query_once(nl, req, each, data, buf, err, verb, subject);
	}
	if (rc == -EAGAIN)
		rc = err_set(err, EAGAIN, "cannot %s '%s' in node '%s': it keeps changing", verb,
			     subject, nl->node);
	free(buf);
	return rc;
}
