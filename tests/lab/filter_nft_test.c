/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests the nft stages in real labs: every stage, structure and action, counted to the packet. */
#include "tests/lab/filter_routed.h"

#include <fcntl.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>

static const char *const stages[] = {
	"stage=nft-ingress",	  "stage=nft-raw",	     "stage=nft-forward",
	"stage=nft-input node=b", "stage=nft-output node=a",
};

enum { STAGES = sizeof(stages) / sizeof(stages[0]) };

static void expect(const char *filter, uint64_t matched, uint64_t dropped, size_t passed)
{
	struct lab *lab = routed_lab(filter);
	struct filter_counters counters = counters_of(lab, 0);
	size_t came;

	assert_int_equal(counters.matched, 0);
	came = pass_through(lab);
	counters = counters_of(lab, 0);
	if (counters.matched != matched || counters.dropped != dropped || came != passed)
		fail_msg(
			"%s: matched %ju (want %ju), dropped %ju (want %ju), passed %zu (want %zu)",
			filter, (uintmax_t)counters.matched, (uintmax_t)matched,
			(uintmax_t)counters.dropped, (uintmax_t)dropped, came, passed);
	assert_true(counters.exact);
	lab_free(lab);
}

static void expect_at(const char *stage, const char *how, uint64_t matched, uint64_t dropped,
		      size_t passed)
{
	char filter[256];

	snprintf(filter, sizeof(filter), "%s %s", stage, how);
	expect(filter, matched, dropped, passed);
}

static void test_structures(void **state)
{
	static const char *const how[] = {
		"rules=20 match=port structure=linear",
		"rules=20 match=port structure=set",
		"rules=20 match=port structure=interval-set",
		"rules=20 match=port structure=verdict-map",
		"rules=20 match=tuple structure=linear",
		"rules=20 match=tuple structure=interval-set",
		"rules=20 match=tuple structure=verdict-map",
	};

	(void)state;
	NEED_ROOT();
	for (size_t i = 0; i < STAGES; i++)
		for (size_t j = 0; j < sizeof(how) / sizeof(how[0]); j++)
			expect_at(stages[i], how[j], PACKETS, PACKETS, 0);
}

/* Prefixes hit everything, an echo too: packets are awaited by their count. */
static void expect_prefix(const char *stage, const char *how, uint64_t want)
{
	const struct timespec pause = {.tv_nsec = 200000};
	char filter[256];
	struct lab *lab;

	snprintf(filter, sizeof(filter), "%s match=prefix %s", stage, how);
	lab = routed_lab(filter);
	send_packets(lab, AF_INET, PACKETS4);
	send_packets(lab, AF_INET6, PACKETS6);
	for (int tries = 0; counters_of(lab, 0).matched < want && tries < 50000; tries++)
		nanosleep(&pause, NULL);
	if (counters_of(lab, 0).matched != want || counters_of(lab, 0).dropped != want)
		fail_msg("%s: matched %ju, not %ju", filter, (uintmax_t)counters_of(lab, 0).matched,
			 (uintmax_t)want);
	lab_free(lab);
}

static void test_prefixes(void **state)
{
	static const char *const structures[] = {"structure=linear", "structure=interval-set",
						 "structure=verdict-map"};
	char how[128];

	(void)state;
	NEED_ROOT();
	for (size_t i = 0; i < STAGES; i++)
		for (size_t j = 0; j < sizeof(structures) / sizeof(structures[0]); j++) {
			snprintf(how, sizeof(how), "rules=300 %s", structures[j]);
			expect_prefix(stages[i], how, PACKETS);
		}
	/* Hit by nothing: neither the packets nor an echo. */
	for (size_t j = 0; j < sizeof(structures) / sizeof(structures[0]); j++) {
		snprintf(how, sizeof(how), "match=prefix rules=300 hit=never %s", structures[j]);
		expect_at("stage=nft-forward", how, 0, 0, PACKETS);
	}
}

static void test_actions(void **state)
{
	static const char *const structures[] = {"rules=3 structure=linear",
						 "rules=3 structure=verdict-map"};
	char how[128];

	(void)state;
	NEED_ROOT();
	for (size_t i = 0; i < STAGES; i++)
		for (size_t j = 0; j < sizeof(structures) / sizeof(structures[0]); j++) {
			snprintf(how, sizeof(how), "%s action=accept", structures[j]);
			expect_at(stages[i], how, PACKETS, 0, PACKETS);
			snprintf(how, sizeof(how), "%s action=count", structures[j]);
			expect_at(stages[i], how, PACKETS, 0, PACKETS);
			snprintf(how, sizeof(how), "%s action=reject", structures[j]);
			expect_at(stages[i], how, PACKETS, PACKETS, 0);
		}
}

static void test_hits(void **state)
{
	static const char *const hit[] = {"rules=1",
					  "rules=2 hit=first",
					  "rules=1 hit=last",
					  "rules=1 structure=set",
					  "rules=1 structure=interval-set",
					  "rules=1 structure=verdict-map",
					  "rules=1 match=tuple structure=verdict-map",
					  "rules=50 hit=first",
					  "rules=50 hit=first structure=verdict-map"};
	static const char *const miss[] = {"rules=0",
					   "rules=0 structure=set",
					   "rules=0 structure=verdict-map match=tuple",
					   "rules=1 hit=never",
					   "rules=50 hit=never",
					   "rules=50 hit=never structure=set",
					   "rules=50 hit=never structure=interval-set",
					   "rules=50 hit=never structure=verdict-map",
					   "rules=50 hit=never match=tuple",
					   "rules=50 hit=never match=tuple structure=interval-set"};

	(void)state;
	NEED_ROOT();
	for (size_t i = 0; i < sizeof(hit) / sizeof(hit[0]); i++)
		expect_at("stage=nft-forward", hit[i], PACKETS, PACKETS, 0);
	for (size_t i = 0; i < sizeof(miss) / sizeof(miss[0]); i++) {
		expect_at("stage=nft-forward", miss[i], 0, 0, PACKETS);
		expect_at("stage=nft-ingress", miss[i], 0, 0, PACKETS);
	}
}

/* Nobody listens: the answer to a SYN comes at once. */
static void knock(struct lab *lab, int family)
{
	struct sockaddr_storage from, to;
	struct err err = {""};
	int fd;

	assert_int_equal(lab_plan_addresses(lab_plan(lab), 0, 2, family, &from, &to, &err), 0);
	set_port(&to, LAB_TEST_PORT);
	fd = lab_socket(lab, 0, family, SOCK_STREAM, 0, &err);
	assert_true(fd >= 0);
	assert_int_equal(connect(fd, (void *)&to, sizeof(to)), -1);
	assert_int_equal(errno, ECONNREFUSED);
	close(fd);
}

static void test_tcp(void **state)
{
	static const char *const how[] = {
		"match=port structure=linear",	     "match=port structure=set",
		"match=port structure=interval-set", "match=port structure=verdict-map",
		"match=tuple structure=linear",	     "match=tuple structure=interval-set",
	};
	char filter[256];

	(void)state;
	NEED_ROOT();
	for (size_t i = 0; i < STAGES; i += 2)
		for (size_t j = 0; j < sizeof(how) / sizeof(how[0]); j++) {
			struct lab *lab;

			snprintf(filter, sizeof(filter), "%s %s rules=9 action=count", stages[i],
				 how[j]);
			lab = routed_lab(filter);
			knock(lab, AF_INET);
			knock(lab, AF_INET6);
			if (counters_of(lab, 0).matched != 2)
				fail_msg("%s: %ju of 2", filter,
					 (uintmax_t)counters_of(lab, 0).matched);
			lab_free(lab);
		}
}

static struct node_counters router_counters(struct lab *lab)
{
	struct node_counters counters;
	struct err err = {""};

	if (lab_node_counters(lab, 1, &counters, &err))
		fail_msg("%s", err.text);
	return counters;
}

static void test_conntrack(void **state)
{
	/* Two flows of packets and two of echoes. */
	static const struct {
		const char *how;
		uint64_t entries;
	} cases[] = {
		{"conntrack=none", 0},	     {"conntrack=notrack", 0}, {"conntrack=tracked", 4},
		{"conntrack=masquerade", 4}, {"conntrack=dnat", 4},
	};
	char filter[128];

	(void)state;
	NEED_ROOT();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct node_counters counters;
		struct lab *lab;

		snprintf(filter, sizeof(filter), "stage=nft-forward action=count %s", cases[i].how);
		lab = routed_lab(filter);
		assert_int_equal(pass_through(lab), PACKETS);
		assert_int_equal(counters_of(lab, 0).matched, PACKETS);
		counters = router_counters(lab);
		if (counters.ct_entries != cases[i].entries)
			fail_msg("%s: %ju entries", filter, (uintmax_t)counters.ct_entries);
		assert_true(counters.ct_max > cases[i].entries);
		assert_int_equal(counters.ct_drop + counters.ct_insert_failed +
					 counters.ct_early_drop + counters.ct_invalid,
				 0);
		lab_free(lab);
	}
}

/* b sees the router as the sender with masquerade, and a without. */
static void test_masquerade(void **state)
{
	(void)state;
	NEED_ROOT();
	for (int masquerade = 0; masquerade < 2; masquerade++) {
		struct lab *lab = routed_lab(masquerade ? "stage=nft-raw action=count "
							  "conntrack=masquerade"
							: "stage=nft-raw action=count");
		const struct wire *wire = lab_plan_wire(lab_plan(lab), masquerade);
		struct sockaddr_storage from;
		struct err err = {""};
		int fd = receiver(lab, AF_INET);

		send_packets(lab, AF_INET, PACKETS4);
		if (lab_reach(lab, AF_INET, &(struct lab_pair){0, 2}, 1, 10 * second_ns, &err))
			fail_msg("%s", err.text);
		assert_int_equal(receive_packets(fd, &from), PACKETS4);
		assert_int_equal(((struct sockaddr_in *)&from)->sin_addr.s_addr,
				 wire->end[0].addr.s_addr);
		close(fd);
		lab_free(lab);
	}
}

/* What is sent to the router's own address comes out at b. */
static void test_dnat(void **state)
{
	struct sockaddr_storage from, to;
	struct err err = {""};
	struct lab *lab;
	int in, out;

	(void)state;
	NEED_ROOT();
	lab = routed_lab("stage=nft-forward action=count conntrack=dnat");
	for (int family = AF_INET; family; family = family == AF_INET ? AF_INET6 : 0) {
		assert_int_equal(lab_plan_addresses(lab_plan(lab), 0, 1, family, &from, &to, &err),
				 0);
		set_port(&to, LAB_TEST_PORT);
		in = receiver(lab, family);
		out = lab_socket(lab, 0, family, SOCK_DGRAM, 0, &err);
		assert_true(out >= 0);
		assert_int_equal(sendto(out, "x", 1, 0, (void *)&to, sizeof(to)), 1);
		if (lab_reach(lab, family, &(struct lab_pair){0, 2}, 1, 10 * second_ns, &err))
			fail_msg("%s", err.text);
		assert_int_equal(receive_packets(in, &from), 1);
		close(in);
		close(out);
	}
	assert_int_equal(counters_of(lab, 0).matched, 2);
	lab_free(lab);
}

static void test_ten_thousand(void **state)
{
	static const char *const structures[] = {"linear", "set", "interval-set", "verdict-map"};
	char how[128];

	(void)state;
	NEED_ROOT();
	for (size_t i = 0; i < sizeof(structures) / sizeof(structures[0]); i++) {
		snprintf(how, sizeof(how), "rules=10000 structure=%s", structures[i]);
		expect_at("stage=nft-forward", how, PACKETS, PACKETS, 0);
	}
	expect_prefix("stage=nft-raw", "rules=10000 structure=interval-set", PACKETS);
}

/* Filters of the same stage in the same node, and of another: each has its table and counter. */
static void test_side_by_side(void **state)
{
	struct lab *lab;

	(void)state;
	NEED_ROOT();
	lab = routed_lab("stage=nft-raw action=count;stage=nft-raw action=count conntrack=tracked;"
			 "stage=nft-ingress on=eth0 action=count;"
			 "stage=nft-ingress on=eth1 action=count;stage=nft-forward");
	assert_int_equal(pass_through(lab), 0);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(counters_of(lab, i).matched, PACKETS);
	assert_int_equal(counters_of(lab, 3).matched, 0);
	assert_int_equal(counters_of(lab, 4).dropped, PACKETS);
	lab_free(lab);
}

static void expect_refusal(const char *options, int code, const char *text)
{
	struct filter_spec spec = filter_spec_of(options);
	struct err err = {""};

	assert_int_equal(filter_check(&spec, &err), code);
	if (!strstr(err.text, text))
		fail_msg("%s: %s", options, err.text);
	filter_spec_release(&spec);
}

static void test_refusals(void **state)
{
	(void)state;
	expect_refusal("stage=nft-raw structure=bpf-hash", -EINVAL, "are for BPF stages");
	expect_refusal("stage=nft-raw structure=bpf-lpm", -EINVAL, "are for BPF stages");
	expect_refusal("stage=nft-raw structure=set match=prefix", -EINVAL, "interval-set");
	expect_refusal("stage=nft-raw structure=set match=tuple", -EINVAL, "interval-set");
	expect_refusal("stage=nft-raw on=eth0", -EINVAL, "bound to devices");
	expect_refusal("stage=nft-raw flowtable=yes conntrack=tracked", -EINVAL, "flowtable needs");
	expect_refusal("stage=nft-forward flowtable=yes", -EINVAL, "flowtable needs");
	expect_refusal("stage=nft-forward flowtable=yes conntrack=notrack", -EINVAL,
		       "flowtable needs");
}

/* The kernel has flowtables, and the filter works, or it has not, and check() says so. */
static void test_flowtable(void **state)
{
	static const char options[] =
		"stage=nft-forward action=count conntrack=tracked flowtable=yes";
	struct filter_spec spec;
	struct err err = {""};
	struct lab *lab;
	int r;

	(void)state;
	NEED_ROOT();
	spec = filter_spec_of(options);
	r = filter_check(&spec, &err);
	filter_spec_release(&spec);
	if (r) {
		assert_int_equal(r, -EOPNOTSUPP);
		assert_non_null(strstr(err.text, "the kernel cannot do this: cannot make the "
						 "flowtable 'fast'"));
		return;
	}
	lab = routed_lab(options);
	assert_int_equal(pass_through(lab), PACKETS);
	/* The first packet of each flow took the slow path at least; the others need not have. */
	assert_in_range(counters_of(lab, 0).matched, 2, PACKETS);
	lab_free(lab);
}

static void expect_failure(const char *options, const char *text)
{
	struct lab_spec spec = routed_spec(options);
	struct lab *lab = build_ok(&spec);
	struct err err = {""};

	assert_int_equal(lab_filter(lab, &err), -EINVAL);
	if (!strstr(err.text, text))
		fail_msg("%s: %s", options, err.text);
	assert_int_equal(counters_of(lab, 0).matched, 0);
	lab_free(lab);
}

static void test_wrong_places(void **state)
{
	(void)state;
	NEED_ROOT();
	expect_failure("stage=nft-input node=b conntrack=masquerade",
		       "t:201:1: masquerade needs a way to the last node");
	expect_failure("stage=nft-input node=b conntrack=dnat",
		       "t:201:1: dnat needs a way to the last node");
}

static void put_table(struct nl_batch *batch, uint16_t type, const char *name)
{
	struct nlmsghdr *nlh = nl_put(batch, NFNL_SUBSYS_NFTABLES << 8 | type, 0, "treat", "table");
	struct nfgenmsg *nfg = mnl_nlmsg_put_extra_header(nlh, sizeof(*nfg));

	nfg->nfgen_family = 1;
	mnl_attr_put_strz(nlh, NFTA_TABLE_NAME, name);
}

/* All or nothing, the first failure is named, and more failures than can be reported do no harm. */
static void test_transactions(void **state)
{
	struct nl_batch batch;
	struct nl nl;
	struct err err;

	(void)state;
	NEED_ROOT();
	assert_int_equal(unshare(CLONE_NEWNET), 0);
	assert_int_equal(nl_open_bus(&nl, NETLINK_NETFILTER, "x", &err), 0);
	assert_int_equal(nl_batch_init(&batch, &err), 0);
	for (int n = 1; n <= 20000; n *= 20000) {
		nl_begin_transaction(&batch, &nl, NFNL_SUBSYS_NFTABLES, "load", "rules");
		put_table(&batch, NFT_MSG_NEWTABLE, "good");
		for (int i = 0; i < n; i++)
			put_table(&batch, NFT_MSG_DELTABLE, "missing");
		assert_int_equal(nl_commit(&batch, &err), -ENOENT);
		assert_string_equal(err.text, "cannot treat 'table' in node 'x': No such file or "
					      "directory");
	}
	/* The good table is not there: it can be neither deleted nor is it in the way. */
	nl_begin_transaction(&batch, &nl, NFNL_SUBSYS_NFTABLES, "load", "rules");
	put_table(&batch, NFT_MSG_DELTABLE, "good");
	assert_int_equal(nl_commit(&batch, &err), -ENOENT);
	nl_begin_transaction(&batch, &nl, NFNL_SUBSYS_NFTABLES, "load", "rules");
	put_table(&batch, NFT_MSG_NEWTABLE, "good");
	put_table(&batch, NFT_MSG_DELTABLE, "good");
	assert_int_equal(nl_commit(&batch, &err), 0);
	nl_batch_release(&batch);
	nl_close(&nl);
}

static void test_nothing_is_left(void **state)
{
	char *before, *after;
	struct nl witness;
	struct lab *lab;

	(void)state;
	NEED_ROOT();
	before = inventory();
	lab = routed_lab("stage=nft-ingress;stage=nft-forward structure=verdict-map rules=100 "
			 "conntrack=masquerade");
	assert_int_equal(pass_through(lab), 0);
	lab_free(lab);
	after = inventory();
	assert_string_equal(after, before);
	free(after);
	free(before);
	lab = routed_lab("stage=nft-ingress;stage=nft-raw structure=set rules=100 conntrack=dnat");
	witness_open(&witness, lab);
	lab_free(lab);
	witness_wait(&witness, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_structures),
		cmocka_unit_test(test_prefixes),
		cmocka_unit_test(test_actions),
		cmocka_unit_test(test_hits),
		cmocka_unit_test(test_tcp),
		cmocka_unit_test(test_conntrack),
		cmocka_unit_test(test_masquerade),
		cmocka_unit_test(test_dnat),
		cmocka_unit_test(test_ten_thousand),
		cmocka_unit_test(test_side_by_side),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_flowtable),
		cmocka_unit_test(test_wrong_places),
		cmocka_unit_test(test_nothing_is_left),
		/* Leaves the namespace it was started in. */
		cmocka_unit_test(test_transactions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
