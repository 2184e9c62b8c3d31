/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A lab a - r - b with filters, and packets of both families from a to b. */
#ifndef TESTS_FILTER_ROUTED_H
#define TESTS_FILTER_ROUTED_H

#include "tests/lab/topo_lab.h"
#include "tests/unit/topo_filter_spec.h"

#include <arpa/inet.h>
#include <time.h>

static const uint64_t second_ns = UINT64_C(1000000000);

enum { PACKETS4 = 5, PACKETS6 = 3, PACKETS = PACKETS4 + PACKETS6 };

/* Filters as in filter_spec_of, with ';' between them; number i is at line 201 + i of file "t". */
static inline struct lab_spec routed_spec(const char *options)
{
	struct lab_spec spec = spec_of("a r! b", "a,r; r,b");
	char *text = strdup(options), *word, *save;

	spec.filters = calloc(strlen(options) + 1, sizeof(*spec.filters));
	for (word = strtok_r(text, ";", &save); word; word = strtok_r(NULL, ";", &save)) {
		spec.filters[spec.n_filters] = filter_spec_of(word);
		spec.filters[spec.n_filters].mark =
			(struct mark){"t", 201 + (unsigned int)spec.n_filters, 1};
		spec.n_filters++;
	}
	free(text);
	return spec;
}

static inline struct lab *routed_lab(const char *options)
{
	struct lab_spec spec = routed_spec(options);
	struct err err = {""};
	struct lab *lab;

	for (size_t i = 0; i < spec.n_filters; i++)
		if (filter_check(&spec.filters[i], &err))
			fail_msg("%s: %s", options, err.text);
	lab = build_ok(&spec);
	if (lab_filter(lab, &err))
		fail_msg("%s: %s", options, err.text);
	return lab;
}

static inline struct filter_counters counters_of(struct lab *lab, size_t filter)
{
	struct filter_counters counters;
	struct err err = {""};

	if (lab_filter_counters(lab, filter, &counters, &err))
		fail_msg("%s", err.text);
	return counters;
}

/* sin_port and sin6_port are at the same place. */
static inline void set_port(struct sockaddr_storage *addr, uint16_t port)
{
	((struct sockaddr_in *)addr)->sin_port = htons(port);
}

static inline int receiver(struct lab *lab, int family)
{
	struct sockaddr_storage any = {.ss_family = (sa_family_t)family};
	struct err err = {""};
	int fd = lab_socket(lab, 2, family, SOCK_DGRAM, 0, &err), on = 1;

	if (fd < 0)
		fail_msg("%s", err.text);
	set_port(&any, LAB_TEST_PORT);
	if (family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
	assert_int_equal(bind(fd, (void *)&any, sizeof(any)), 0);
	return fd;
}

/* The output hook reports what it drops to the sender, so failures are no failures here. */
static inline void send_packets(struct lab *lab, int family, size_t n)
{
	struct sockaddr_storage from, to;
	struct err err = {""};
	int fd;

	assert_int_equal(lab_plan_addresses(lab_plan(lab), 0, 2, family, &from, &to, &err), 0);
	set_port(&to, LAB_TEST_PORT);
	fd = lab_socket(lab, 0, family, SOCK_DGRAM, 0, &err);
	if (fd < 0)
		fail_msg("%s", err.text);
	while (n--)
		sendto(fd, "x", 1, 0, (void *)&to, sizeof(to));
	close(fd);
}

/* How many are there; the address of the last one's sender. */
static inline size_t receive_packets(int fd, struct sockaddr_storage *ret_from)
{
	socklen_t len = sizeof(*ret_from);
	size_t n = 0;
	char c;

	while (recvfrom(fd, &c, 1, MSG_DONTWAIT, (void *)ret_from, &len) == 1)
		n++;
	return n;
}

/* Both families from a; how many reach b once all are over. */
static inline size_t pass_through(struct lab *lab)
{
	int fd4 = receiver(lab, AF_INET), fd6 = receiver(lab, AF_INET6);
	struct sockaddr_storage from;
	struct err err = {""};
	size_t n;

	send_packets(lab, AF_INET, PACKETS4);
	send_packets(lab, AF_INET6, PACKETS6);
	/* What went ahead of an echo is over when the echo is answered. */
	if (lab_reach(lab, AF_INET, &(struct lab_pair){0, 2}, 1, 10 * second_ns, &err) ||
	    lab_reach(lab, AF_INET6, &(struct lab_pair){0, 2}, 1, 10 * second_ns, &err))
		fail_msg("%s", err.text);
	n = receive_packets(fd4, &from) + receive_packets(fd6, &from);
	close(fd4);
	close(fd6);
	return n;
}

#endif
