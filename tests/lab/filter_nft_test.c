/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests the nft stages in real labs: every stage, structure and action, counted to the packet. */
#include "tests/lab/topo_lab.h"

#include "topo/filter/filter.h"

static const uint64_t second_ns = UINT64_C(1000000000);

enum { PACKETS4 = 5, PACKETS6 = 3 };

/* "stage=nft-raw rules=10": the options of a filter, defaults for the rest. */
static struct filter_spec filter_of_text(const char *options)
{
	char *text = strdup(options), *word, *save;
	struct filter_spec spec;
	struct err err = {""};

	assert_int_equal(filter_spec_init(&spec, &err), 0);
	spec.mark = (struct mark){"t", 201, 1};
	for (word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		char *value = strchr(word, '=');

		*value++ = '\0';
		if (opt_set(opts_find(filter_opts, word), &spec, value, &err))
			fail_msg("%s", err.text);
	}
	free(text);
	return spec;
}

/* a - r - b with these filters, separated by ';'. */
static struct lab_spec routed_with(const char *texts)
{
	struct lab_spec spec = spec_of("a r! b", "a,r; r,b");
	char *text = strdup(texts), *word, *save;

	spec.filters = calloc(strlen(texts) + 1, sizeof(*spec.filters));
	for (word = strtok_r(text, ";", &save); word; word = strtok_r(NULL, ";", &save))
		spec.filters[spec.n_filters++] = filter_of_text(word);
	free(text);
	return spec;
}

static struct lab *build_with(const char *texts)
{
	struct lab_spec spec = routed_with(texts);
	struct err err = {""};
	struct lab *lab;

	for (size_t i = 0; i < spec.n_filters; i++)
		if (filter_check(&spec.filters[i], &err))
			fail_msg("%s: %s", texts, err.text);
	lab = build_ok(&spec);
	if (lab_filter(lab, &err))
		fail_msg("%s: %s", texts, err.text);
	return lab;
}

static int receiver(struct lab *lab, int family)
{
	/* sin_port and sin6_port are at the same place. */
	struct sockaddr_storage any = {.ss_family = (sa_family_t)family};
	struct err err;
	int fd = lab_socket(lab, 2, family, SOCK_DGRAM, 0, &err), on = 1;

	assert_true(fd >= 0);
	((struct sockaddr_in *)&any)->sin_port = htons(LAB_TEST_PORT);
	if (family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
	assert_int_equal(bind(fd, (void *)&any, sizeof(any)), 0);
	return fd;
}

/* Without a filter in the way a packet is in its socket when send() returns. */
static void send_udp(struct lab *lab, int family, size_t n)
{
	struct sockaddr_storage from, to;
	struct err err;
	int fd;

	assert_int_equal(lab_plan_addresses(lab_plan(lab), 0, 2, family, &from, &to, &err), 0);
	((struct sockaddr_in *)&to)->sin_port = htons(LAB_TEST_PORT);
	fd = lab_socket(lab, 0, family, SOCK_DGRAM, 0, &err);
	assert_true(fd >= 0);
	/* A rejected or (on output) a dropped packet is reported to the sender. */
	while (n--)
		sendto(fd, "x", 1, 0, (void *)&to, sizeof(to));
	close(fd);
}

static size_t received(int fd)
{
	size_t n = 0;
	char c;

	while (recv(fd, &c, 1, MSG_DONTWAIT) == 1)
		n++;
	return n;
}

/* Send both families; how many came through, when all that was sent has gone its way. */
static size_t pass_through(struct lab *lab)
{
	int fd4 = receiver(lab, AF_INET), fd6 = receiver(lab, AF_INET6);
	struct err err = {""};
	size_t n;

	send_udp(lab, AF_INET, PACKETS4);
	send_udp(lab, AF_INET6, PACKETS6);
	/* Whatever an echo finds in front of it is over when the echo is answered. */
	if (lab_reach(lab, AF_INET, &(struct lab_pair){0, 2}, 1, second_ns, &err) ||
	    lab_reach(lab, AF_INET6, &(struct lab_pair){0, 2}, 1, second_ns, &err))
		print_message("%s\n", err.text);
	n = received(fd4) + received(fd6);
	close(fd4);
	close(fd6);
	return n;
}

static struct filter_counters counters_of(struct lab *lab, size_t filter)
{
	struct filter_counters counters;
	struct err err = {""};

	if (lab_filter_counters(lab, filter, &counters, &err))
		fail_msg("%s", err.text);
	return counters;
}

static void expect(const char *filter, uint64_t matched, uint64_t dropped, size_t passed)
{
	struct lab *lab = build_with(filter);
	struct filter_counters counters = counters_of(lab, 0);
	size_t came;

	assert_int_equal(counters.matched, 0);
	came = pass_through(lab);
	counters = counters_of(lab, 0);
	if (counters.matched != matched || counters.dropped != dropped || came != passed)
		fail_msg("%s: matched %ju (want %ju), dropped %ju (want %ju), passed %zu (want %zu)",
			 filter, (uintmax_t)counters.matched, (uintmax_t)matched,
			 (uintmax_t)counters.dropped, (uintmax_t)dropped, came, passed);
	assert_true(counters.exact);
	lab_free(lab);
}

static const char *const at[] = {
	"stage=nft-ingress",	 "stage=nft-raw",	      "stage=nft-forward",
	"stage=nft-input node=b", "stage=nft-output node=a",
};

static void test_stages_and_structures(void **state)
{
	static const char *const how[] = {
		"match=port structure=linear",	    "match=port structure=set",
		"match=port structure=interval-set",  "match=port structure=verdict-map",
		"match=tuple structure=linear",       "match=tuple structure=interval-set",
		"match=tuple structure=verdict-map",
	};
	enum { ALL = PACKETS4 + PACKETS6 };
	char filter[256];

	(void)state;
	NEED_ROOT();
	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++)
		for (size_t j = 0; j < sizeof(how) / sizeof(how[0]); j++) {
			snprintf(filter, sizeof(filter), "%s %s rules=20", at[i], how[j]);
			expect(filter, ALL, ALL, 0);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stages_and_structures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
