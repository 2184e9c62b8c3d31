/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A lab "a b" with one filter in b, and packets through it. */
#ifndef TESTS_FILTER_LAB_H
#define TESTS_FILTER_LAB_H

#include "tests/lab/topo_lab.h"
#include "tests/unit/topo_filter_spec.h"

#include <arpa/inet.h>
#include <time.h>

enum { ANSWER_MS = 20000 };

static const int both_families[] = {AF_INET, AF_INET6};

static inline struct lab *filter_lab(const char *options, const char *links)
{
	struct lab_spec spec = spec_of("a b", links);
	struct err err = {""};
	struct lab *lab;

	spec.filters = calloc(1, sizeof(*spec.filters));
	spec.filters[0] = filter_spec_of(options);
	spec.n_filters = 1;
	if (filter_check(&spec.filters[0], &err))
		fail_msg("%s: %s", options, err.text);
	lab = build_ok(&spec);
	if (lab_filter(lab, &err))
		fail_msg("%s: %s", options, err.text);
	return lab;
}

/* Not every kernel has tcx or act_gact; what is missing is named. */
static inline bool kernel_has(const char *stage)
{
	struct filter_spec spec = filter_spec_of("rules=1");
	struct err err = {""};
	int r;

	assert_int_equal(opt_set(opts_find(filter_opts, "stage"), &spec, stage, &err), 0);
	r = filter_check(&spec, &err);
	if (r && (r != -EOPNOTSUPP || !strstr(err.text, "the kernel has no ")))
		fail_msg("%d, %s", r, err.text);
	if (r)
		print_message("%s\n", err.text);
	filter_spec_release(&spec);
	return !r;
}

static inline struct filter_counters counters_of(struct lab *lab)
{
	struct filter_counters counters;
	struct err err = {""};

	if (lab_filter_counters(lab, 0, &counters, &err))
		fail_msg("%s", err.text);
	return counters;
}

/* Packets take effect in the background: wait for the count, then it must be exact. */
static inline void wait_matched(struct lab *lab, uint64_t want, const char *what)
{
	const struct timespec pause = {.tv_nsec = 200000};

	for (int tries = 0; counters_of(lab).matched < want && tries < ANSWER_MS * 5; tries++)
		nanosleep(&pause, NULL);
	if (counters_of(lab).matched != want)
		fail_msg("%s: %ju matched, not %ju", what, (uintmax_t)counters_of(lab).matched,
			 (uintmax_t)want);
}

/* A socket in b on the test port: the filter's own if it has one. */
static inline int receiver(struct lab *lab)
{
	const struct sockaddr_in6 any = {.sin6_family = AF_INET6,
					 .sin6_port = htons(LAB_TEST_PORT)};
	int fd = lab_filter_socket(lab, 0);
	struct err err = {""};

	if (fd >= 0)
		return dup(fd);
	fd = lab_socket(lab, 1, AF_INET6, SOCK_DGRAM, 0, &err);
	if (fd < 0)
		fail_msg("%s", err.text);
	assert_int_equal(bind(fd, (const void *)&any, sizeof(any)), 0);
	return fd;
}

static inline void set_port(struct sockaddr_storage *addr, uint16_t port)
{
	if (addr->ss_family == AF_INET)
		((struct sockaddr_in *)addr)->sin_port = htons(port);
	else
		((struct sockaddr_in6 *)addr)->sin6_port = htons(port);
}

static inline struct sockaddr_storage address_of_b(struct lab *lab, int family, uint16_t port)
{
	struct sockaddr_storage from, to;
	struct err err = {""};

	if (lab_plan_addresses(lab_plan(lab), 0, 1, family, &from, &to, &err))
		fail_msg("%s", err.text);
	set_port(&to, port);
	return to;
}

static inline void send_packets(struct lab *lab, int family, uint16_t port, int n)
{
	const struct sockaddr_storage to = address_of_b(lab, family, port);
	const char payload[18] = "netbench";
	struct err err = {""};
	int fd = lab_socket(lab, 0, family, SOCK_DGRAM, 0, &err);

	if (fd < 0)
		fail_msg("%s", err.text);
	for (int i = 0; i < n; i++)
		assert_int_equal(
			sendto(fd, payload, sizeof(payload), 0, (const void *)&to, sizeof(to)),
			sizeof(payload));
	close(fd);
}

/* Take n packets; then there is none left. */
static inline void receive_packets(int fd, int n, const char *what)
{
	struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
	char payload[64];

	for (int i = 0; i < n; i++) {
		if (poll(&poll_fd, 1, ANSWER_MS) != 1)
			fail_msg("%s: packet %d of %d did not arrive", what, i + 1, n);
		assert_int_equal(recv(fd, payload, sizeof(payload), 0), 18);
	}
	if (recv(fd, payload, sizeof(payload), MSG_DONTWAIT) >= 0)
		fail_msg("%s: more than %d packets arrived", what, n);
}

#endif
