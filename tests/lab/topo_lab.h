/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the tests of real labs share: skipping without root, waiting for the end of namespaces. */
#ifndef TESTS_TOPO_LAB_H
#define TESTS_TOPO_LAB_H

#include "tests/unit/topo_spec.h"

#include <dirent.h>
#include <errno.h>
#include <linux/net_namespace.h>
#include <poll.h>
#include <sched.h>
#include <unistd.h>

#include "topo/nl.h"

#define NEED_ROOT()                                                      \
	do {                                                             \
		if (geteuid()) {                                         \
			print_message("network namespaces need root\n"); \
			skip();                                          \
		}                                                        \
	} while (0)

static inline struct lab *build_ok(struct lab_spec *spec)
{
	struct lab *lab = NULL;
	struct err err = {""};

	if (lab_build(spec, &lab, &err))
		fail_msg("%s", err.text);
	lab_spec_release(spec);
	return lab;
}

/*
 * A witness gives every node of a lab an id in its own namespace. The kernel reports that an id is
 * gone when the namespace is destroyed, which it does in the background: proof, without guessing
 * how long to wait. Call once, from a test process that may leave the host's namespace.
 */
static inline void witness_open(struct nl *witness, const struct lab *lab)
{
	int group = RTNLGRP_NSID, receive_bytes = 16 << 20;
	struct nl_batch batch;
	struct err err;
	size_t i;

	assert_int_equal(unshare(CLONE_NEWNET), 0);
	assert_int_equal(nl_open(witness, "witness", &err), 0);
	assert_int_equal(nl_batch_init(&batch, &err), 0);
	nl_begin(&batch, witness);
	for (i = 0; i < lab_spec(lab)->n_nodes; i++) {
		struct nlmsghdr *nlh = nl_put(&batch, RTM_NEWNSID, 0, "set the id of", "node");

		mnl_nlmsg_put_extra_header(nlh, sizeof(struct rtgenmsg));
		mnl_attr_put_u32(nlh, NETNSA_FD, (uint32_t)lab_netns(lab, i));
		mnl_attr_put_u32(nlh, NETNSA_NSID, (uint32_t)i);
	}
	assert_int_equal(nl_commit(&batch, &err), 0);
	nl_batch_release(&batch);
	setsockopt(nl_fd(witness), SOL_SOCKET, SO_RCVBUFFORCE, &receive_bytes,
		   sizeof(receive_bytes));
	assert_int_equal(
		mnl_socket_setsockopt(witness->sock, NETLINK_ADD_MEMBERSHIP, &group, sizeof(group)),
		0);
}

/* Wait until all n namespaces are gone. */
static inline void witness_wait(struct nl *witness, size_t n)
{
	struct pollfd poll_fd = {.fd = nl_fd(witness), .events = POLLIN};
	char buf[8192] __attribute__((aligned(NLMSG_ALIGNTO)));

	while (n) {
		const struct nlmsghdr *nlh = (const void *)buf;
		int left;

		if (poll(&poll_fd, 1, 60000) != 1)
			fail_msg("%zu namespaces are still there after a minute", n);
		left = (int)recv(nl_fd(witness), buf, sizeof(buf), 0);
		assert_true(left > 0);
		for (; mnl_nlmsg_ok(nlh, left); nlh = mnl_nlmsg_next(nlh, &left))
			n -= nlh->nlmsg_type == RTM_DELNSID;
	}
	nl_close(witness);
}

static inline void append_file(FILE *to, const char *path, bool first_words)
{
	FILE *file = fopen(path, "r");
	char line[1024];

	while (file && fgets(line, sizeof(line), file))
		fprintf(to, "%.*s\n",
			first_words ? (int)strcspn(line, ":") : (int)strcspn(line, "\n"), line);
	if (file)
		fclose(file);
}

static inline void append_dir(FILE *to, const char *path)
{
	struct dirent **entries;
	int n = scandir(path, &entries, NULL, alphasort), i;

	fprintf(to, "%s: %d\n", path, n);
	for (i = 0; i < n; i++) {
		fprintf(to, "%s\n", entries[i]->d_name);
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
}

/* Everything a lab could leave in the host, as text. */
static inline char *inventory(void)
{
	char *text = NULL;
	size_t len;
	FILE *to = open_memstream(&text, &len);

	append_file(to, "/proc/thread-self/net/dev", true);
	append_file(to, "/proc/thread-self/net/route", false);
	append_file(to, "/proc/thread-self/net/if_inet6", false);
	append_file(to, "/proc/thread-self/mountinfo", false);
	append_file(to, "/proc/thread-self/task/../children", false);
	append_dir(to, "/run/netns");
	append_dir(to, "/run/netbench");
	append_dir(to, "/proc/self/fd");
	fclose(to);
	return text;
}

#endif
