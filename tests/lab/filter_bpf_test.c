/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests the BPF stages with packets in real labs: each rule does what it says and counts exactly. */
#include "tests/lab/filter_lab.h"

#include <bpf/bpf.h>
#include <linux/bpf.h>

enum { PACKETS = 5 };

static const char *const stages[] = {"xdp", "xdp-generic", "tcx", "tc-bpf", "socket"};
static const char *const rules[] = {
	"rules=1 match=port",
	"rules=1 match=prefix",
	"rules=1 match=tuple",
	"rules=3 match=port",
	"rules=3 match=prefix",
	"rules=3 match=tuple",
	"rules=3 match=port structure=bpf-hash",
	"rules=3 match=tuple structure=bpf-hash",
	"rules=3 match=prefix structure=bpf-lpm",
};

enum { STAGES = sizeof(stages) / sizeof(stages[0]), RULES = sizeof(rules) / sizeof(rules[0]) };

/* Both families through one lab: PACKETS to the test port, of which `hits` hit and `drops` end. */
static void packets_through(const char *options, bool hits, bool drops)
{
	struct lab *lab = filter_lab(options, "a,b");
	int fd = receiver(lab);

	for (size_t f = 0; f < 2; f++) {
		send_packets(lab, both_families[f], LAB_TEST_PORT, PACKETS);
		if (hits)
			wait_matched(lab, (f + 1) * PACKETS, options);
		receive_packets(fd, drops ? 0 : PACKETS, options);
	}
	assert_int_equal(counters_of(lab).matched, hits ? 2 * PACKETS : 0);
	assert_int_equal(counters_of(lab).dropped, drops ? 2 * PACKETS : 0);
	assert_true(counters_of(lab).exact);
	close(fd);
	lab_free(lab);
}

static void every_stage(const char *action, const char *hit, bool hits, bool drops)
{
	char options[256];

	for (size_t s = 0; s < STAGES; s++) {
		const size_t n = kernel_has(stages[s]) ? RULES : 0;

		for (size_t r = 0; r < n; r++) {
			snprintf(options, sizeof(options), "stage=%s action=%s hit=%s %s",
				 stages[s], action, hit, rules[r]);
			packets_through(options, hits, drops);
		}
	}
}

static void test_drop_first(void **state)
{
	(void)state;
	NEED_ROOT();
	every_stage("drop", "first", true, true);
}

static void test_drop_last(void **state)
{
	(void)state;
	NEED_ROOT();
	every_stage("drop", "last", true, true);
}

static void test_drop_never(void **state)
{
	(void)state;
	NEED_ROOT();
	every_stage("drop", "never", false, false);
}

static void test_accept(void **state)
{
	(void)state;
	NEED_ROOT();
	every_stage("accept", "last", true, false);
}

static void test_count(void **state)
{
	(void)state;
	NEED_ROOT();
	every_stage("count", "first", true, false);
}

/* The hook is there and empty. */
static void test_no_rules(void **state)
{
	char options[64];

	(void)state;
	NEED_ROOT();
	for (size_t s = 0; s < STAGES; s++) {
		if (!kernel_has(stages[s]))
			continue;
		snprintf(options, sizeof(options), "stage=%s rules=0", stages[s]);
		packets_through(options, false, false);
	}
}

static void test_many_rules(void **state)
{
	(void)state;
	NEED_ROOT();
	packets_through("stage=xdp rules=10000", true, true);
	packets_through("stage=tc-bpf rules=10000 hit=never match=tuple", false, false);
	packets_through("stage=xdp rules=50000 match=prefix", true, true);
	packets_through("stage=tc-bpf rules=10000 match=prefix structure=bpf-lpm", true, true);
	packets_through("stage=socket rules=50000 match=tuple structure=bpf-hash", true, true);
}

/* Rules name a protocol and a port: all else passes unseen. */
static void test_other_port_passes(void **state)
{
	char options[64];

	(void)state;
	NEED_ROOT();
	for (size_t s = 0; s + 1 < STAGES; s++) {
		const struct sockaddr_in6 any = {.sin6_family = AF_INET6, .sin6_port = htons(10)};
		struct err err = {""};
		struct lab *lab;
		int fd;

		if (!kernel_has(stages[s]))
			continue;
		snprintf(options, sizeof(options), "stage=%s", stages[s]);
		lab = filter_lab(options, "a,b");
		fd = lab_socket(lab, 1, AF_INET6, SOCK_DGRAM, 0, &err);
		assert_int_equal(bind(fd, (const void *)&any, sizeof(any)), 0);
		for (size_t f = 0; f < 2; f++) {
			send_packets(lab, both_families[f], 10, PACKETS);
			receive_packets(fd, PACKETS, options);
		}
		assert_int_equal(counters_of(lab).matched, 0);
		close(fd);
		lab_free(lab);
	}
}

/* A connection to the test port gets no answer; the host refuses one to another port. */
static void connect_through(const char *options, int family)
{
	struct lab *lab = filter_lab(options, "a,b");
	struct sockaddr_storage to = address_of_b(lab, family, LAB_TEST_PORT);
	struct err err = {""};
	int fd;

	fd = lab_socket(lab, 0, family, SOCK_STREAM | SOCK_NONBLOCK, 0, &err);
	assert_int_equal(connect(fd, (const void *)&to, sizeof(to)), -1);
	assert_int_equal(errno, EINPROGRESS);
	wait_matched(lab, 1, options);
	close(fd);
	to = address_of_b(lab, family, LAB_TEST_PORT + 1);
	fd = lab_socket(lab, 0, family, SOCK_STREAM, 0, &err);
	assert_int_equal(connect(fd, (const void *)&to, sizeof(to)), -1);
	assert_int_equal(errno, ECONNREFUSED);
	assert_int_equal(counters_of(lab).dropped, 1);
	close(fd);
	lab_free(lab);
}

static void test_tcp(void **state)
{
	char options[64];

	(void)state;
	NEED_ROOT();
	for (size_t s = 0; s + 1 < STAGES; s++) {
		if (!kernel_has(stages[s]))
			continue;
		snprintf(options, sizeof(options), "stage=%s match=tuple rules=2", stages[s]);
		connect_through(options, AF_INET);
		connect_through(options, AF_INET6);
	}
}

/* The application's socket has both families and no rules. */
static void test_app(void **state)
{
	struct lab *lab;
	int fd;

	(void)state;
	NEED_ROOT();
	lab = filter_lab("stage=app", "a,b");
	fd = lab_filter_socket(lab, 0);
	assert_true(fd >= 0);
	for (size_t f = 0; f < 2; f++) {
		send_packets(lab, both_families[f], LAB_TEST_PORT, PACKETS);
		receive_packets(fd, PACKETS, "app");
	}
	assert_int_equal(counters_of(lab).matched, 0);
	assert_int_equal(counters_of(lab).dropped, 0);
	assert_true(counters_of(lab).exact);
	lab_free(lab);
}

/* `on` binds a filter to one device of several. */
static void test_one_device(void **state)
{
	struct lab *lab;
	int fd;

	(void)state;
	NEED_ROOT();
	lab = filter_lab("stage=xdp on=eth1", "a,b;a,b");
	fd = receiver(lab);
	send_packets(lab, AF_INET, LAB_TEST_PORT, PACKETS);
	receive_packets(fd, PACKETS, "the other device");
	assert_int_equal(lab_xdp_hook(lab, 0, 1), XDP_HOOK_FREE);
	assert_int_equal(lab_xdp_hook(lab, 1, 1), XDP_HOOK_NATIVE);
	assert_int_equal(lab_xdp_hook(lab, 1, 0), XDP_HOOK_FREE);
	close(fd);
	lab_free(lab);
}

static void refused(const char *options, const char *links, int code, const char *text)
{
	struct lab_spec spec = spec_of("a b", links);
	struct err err = {""};
	struct lab *lab;
	int r;

	spec.filters = calloc(1, sizeof(*spec.filters));
	spec.filters[0] = filter_spec_of(options);
	spec.n_filters = 1;
	lab = build_ok(&spec);
	r = lab_filter(lab, &err);
	if (r != code || strcmp(err.text, text) != 0)
		fail_msg("%s: %d, %s", options, r, err.text);
	lab_free(lab);
}

static void test_what_the_device_refuses(void **state)
{
	(void)state;
	NEED_ROOT();
	refused("stage=xdp", "a,b mtu=9000", -EINVAL,
		"filter 'xdp' in node 'b': the MTU at the other end of 'eth0' is too large for "
		"native XDP, whose frames must fit into a page: up to about 3500 bytes");
	refused("stage=xdp on=eth7", "a,b", -EINVAL,
		"filter 'xdp': node 'b' has no interface 'eth7'");
	packets_through("stage=xdp-generic", true, true);
}

/* Generic actions are missing in some kernels, which the check must find out and name. */
static void test_classifiers(void **state)
{
	static const char *const kinds[] = {"tc-u32", "tc-flower"};
	char options[128];

	(void)state;
	NEED_ROOT();
	for (size_t k = 0; k < 2; k++) {
		if (!kernel_has(kinds[k]))
			continue;
		for (size_t i = 0; i < 6; i++) {
			snprintf(options, sizeof(options), "stage=%s %s", kinds[k], rules[i]);
			packets_through(options, true, true);
			snprintf(options, sizeof(options), "stage=%s %s hit=never", kinds[k],
				 rules[i]);
			packets_through(options, false, false);
			snprintf(options, sizeof(options), "stage=%s %s action=count", kinds[k],
				 rules[i]);
			packets_through(options, true, false);
		}
		snprintf(options, sizeof(options), "stage=%s rules=5000", kinds[k]);
		packets_through(options, true, true);
	}
}

/* Ids of all programs or links in the kernel, in ascending order. */
struct ids {
	uint32_t id[4096];
	size_t n;
};

static void list_ids(struct ids *ids, int (*next)(uint32_t, uint32_t *))
{
	uint32_t id = 0;

	for (ids->n = 0; ids->n < 4096 && !next(id, &id);)
		ids->id[ids->n++] = id;
}

static bool has_id(const struct ids *ids, uint32_t id)
{
	for (size_t i = 0; i < ids->n; i++)
		if (ids->id[i] == id)
			return true;
	return false;
}

/* Those that came between the two listings have gone; others may come and go meanwhile. */
static void wait_gone(const struct ids *before, const struct ids *during, int (*by_id)(uint32_t),
		      const char *what)
{
	const struct timespec pause = {.tv_nsec = 1000000};
	size_t news = 0;

	for (size_t i = 0; i < during->n; i++) {
		int tries = 0, fd;

		if (has_id(before, during->id[i]))
			continue;
		news++;
		while ((fd = by_id(during->id[i])) >= 0 && tries++ < ANSWER_MS) {
			close(fd);
			nanosleep(&pause, NULL);
		}
		if (fd >= 0)
			fail_msg("%s: BPF id %u is still there", what, during->id[i]);
	}
	if (!news)
		fail_msg("%s: there was nothing to go", what);
}

static void test_nothing_is_left(void **state)
{
	static struct ids programs[2], links[2];
	char options[64], *before, *after;

	(void)state;
	NEED_ROOT();
	for (size_t s = 0; s < STAGES; s++) {
		const bool linked = s < 3;
		struct lab *lab;

		if (!kernel_has(stages[s]))
			continue;
		snprintf(options, sizeof(options), "stage=%s rules=9", stages[s]);
		before = inventory();
		list_ids(&programs[0], bpf_prog_get_next_id);
		list_ids(&links[0], bpf_link_get_next_id);
		lab = filter_lab(options, "a,b");
		list_ids(&programs[1], bpf_prog_get_next_id);
		list_ids(&links[1], bpf_link_get_next_id);
		lab_free(lab);
		wait_gone(&programs[0], &programs[1], bpf_prog_get_fd_by_id, options);
		if (linked)
			wait_gone(&links[0], &links[1], bpf_link_get_fd_by_id, options);
		after = inventory();
		assert_string_equal(before, after);
		free(before);
		free(after);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_drop_first),  cmocka_unit_test(test_drop_last),
		cmocka_unit_test(test_drop_never),  cmocka_unit_test(test_accept),
		cmocka_unit_test(test_count),	    cmocka_unit_test(test_no_rules),
		cmocka_unit_test(test_many_rules),  cmocka_unit_test(test_other_port_passes),
		cmocka_unit_test(test_tcp),	    cmocka_unit_test(test_app),
		cmocka_unit_test(test_one_device),  cmocka_unit_test(test_what_the_device_refuses),
		cmocka_unit_test(test_classifiers), cmocka_unit_test(test_nothing_is_left),
	};

	return cmocka_run_group_tests_name("BPF filters", tests, NULL, NULL);
}
