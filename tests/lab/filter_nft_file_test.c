/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests users' own rulesets in real labs: they load, forward and drop, and mistakes are named. */
#include "tests/lab/filter_routed.h"

#define DATA "tests/data/rulesets/"

/* A pair that the ruleset may or may not let through. */
static bool reaches(struct lab *lab, int family, size_t from, size_t to)
{
	struct err err;
	int r = lab_reach(lab, family, &(struct lab_pair){from, to}, 1, second_ns / 2, &err);

	assert_true(!r || r == -EHOSTUNREACH);
	return !r;
}

static void expect_source(struct lab *lab, struct in_addr want)
{
	int fd = receiver(lab, AF_INET);
	struct sockaddr_storage from;
	struct err err = {""};

	send_packets(lab, AF_INET, PACKETS4);
	if (lab_reach(lab, AF_INET, &(struct lab_pair){0, 2}, 1, 10 * second_ns, &err))
		fail_msg("%s", err.text);
	assert_int_equal(receive_packets(fd, &from), PACKETS4);
	assert_int_equal(((struct sockaddr_in *)&from)->sin_addr.s_addr, want.s_addr);
	close(fd);
}

static void test_office(void **state)
{
	struct filter_counters counters;
	struct lab *lab;

	(void)state;
	NEED_ROOT();
	lab = routed_lab("stage=nft-file file=" DATA "office.nft");
	assert_int_equal(pass_through(lab), PACKETS);
	expect_source(lab, lab_plan_wire(lab_plan(lab), 1)->end[0].addr);
	counters = counters_of(lab, 0);
	assert_false(counters.exact);
	assert_int_equal(counters.matched + counters.dropped, 0);
	lab_free(lab);
}

/* The inside reaches the outside, behind the router's address; the outside does not get in. */
static void test_home_router(void **state)
{
	struct lab *lab;

	(void)state;
	NEED_ROOT();
	lab = routed_lab("stage=nft-file file=configs/rulesets/home-router.nft "
			 "map=eth0=lan0,eth1=wan0");
	assert_string_equal(lab_plan_wire(lab_plan(lab), 0)->end[1].ifname, "lan0");
	assert_string_equal(lab_plan_wire(lab_plan(lab), 1)->end[0].ifname, "wan0");
	assert_int_equal(pass_through(lab), PACKETS);
	expect_source(lab, lab_plan_wire(lab_plan(lab), 1)->end[0].addr);
	assert_true(reaches(lab, AF_INET6, 0, 2));
	assert_false(reaches(lab, AF_INET, 2, 0));
	assert_true(reaches(lab, AF_INET, 2, 1));
	lab_free(lab);
}

static void expect_dropped(const char *filter)
{
	struct lab *lab = routed_lab(filter);

	if (pass_through(lab))
		fail_msg("%s: packets came through", filter);
	lab_free(lab);
}

static void test_rules_are_there(void **state)
{
	(void)state;
	NEED_ROOT();
	/* Variables, in both ways to write an include; the socket that owns a table stays open. */
	expect_dropped("stage=nft-file node=b file=" DATA "includes.nft define=port=9");
	expect_dropped("stage=nft-file node=b file=" DATA "includes.nft define=port={7,9},x=y");
	expect_dropped("stage=nft-file file=" DATA "owner.nft");
	expect_dropped("stage=nft-file file=" DATA "hooked.nft map=eth0=lan0,eth1=wan0");
	/* Whoever flushes the ruleset of a node first, leaves room for other filters. */
	expect_dropped("stage=nft-file file=" DATA "office.nft;stage=nft-raw");
}

/* Port 10 is not dropped: the define, not the file, decides. */
static void test_define_decides(void **state)
{
	struct lab *lab;

	(void)state;
	NEED_ROOT();
	lab = routed_lab("stage=nft-file node=b file=" DATA "includes.nft define=port=10");
	assert_int_equal(pass_through(lab), PACKETS);
	lab_free(lab);
}

/* How the refusal begins: the words after it may be libnftables', and change with it. */
static void expect_fault(const char *options, const char *text)
{
	struct filter_spec spec = filter_spec_of(options);
	struct err err = {""};

	if (filter_check(&spec, &err) != -EINVAL)
		fail_msg("%s: no fault found", options);
	if (strncmp(err.text, "filter 'nft-file': ", 19) != 0 ||
	    strncmp(err.text + 19, text, strlen(text)) != 0)
		fail_msg("%s: %s", options, err.text);
	filter_spec_release(&spec);
}

static void test_faults_are_named(void **state)
{
	(void)state;
	NEED_ROOT();
	expect_fault("stage=nft-file file=" DATA "broken.nft",
		     DATA "broken.nft:4:7: syntax error, ");
	expect_fault("stage=nft-file file=" DATA "include_broken.nft", DATA "parts/broken.nft:5:");
	expect_fault("stage=nft-file file=" DATA "includes.nft", DATA "parts/rules.nft:1:12: ");
	expect_fault("stage=nft-file file=" DATA "jump.nft", DATA "jump.nft:3:8: ");
	expect_fault("stage=nft-file file=" DATA "endless.nft", DATA "endless.nft:1:1: ");
}

static void test_files_that_are_none(void **state)
{
	char big[] = "/tmp/netbench-XXXXXX", options[128], text[128];
	int fd = mkstemp(big);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 17 << 20), 0);
	close(fd);
	snprintf(options, sizeof(options), "stage=nft-file file=%s", big);
	snprintf(text, sizeof(text), "ruleset '%s' is larger than 16 MiB", big);
	expect_fault(options, text);
	unlink(big);
	expect_fault("stage=nft-file", "needs a 'file' with your ruleset");
	expect_fault("stage=nft-file file=/nowhere/x",
		     "cannot read ruleset '/nowhere/x': No such file or directory");
	expect_fault("stage=nft-file file=/proc", "ruleset '/proc' is a folder");
	expect_fault("stage=nft-file file=/dev/null", "ruleset '/dev/null' is no regular file");
	expect_fault("stage=nft-file file=/dev/null conntrack=tracked",
		     "interfaces, connection tracking and flowtables are up to the ruleset");
	expect_fault("stage=nft-file file=/dev/null map=eth0", "map 'eth0' must read "
							       "'interface=name'");
	expect_fault("stage=nft-file file=" DATA "includes.nft define=port",
		     "define 'port' must read 'name=value'");
}

/* Looking at a ruleset leaves no trace in the caller's namespace, not even of "flush ruleset". */
static void test_nothing_is_left(void **state)
{
	char *before, *after;
	struct nl witness;
	struct lab *lab;

	(void)state;
	NEED_ROOT();
	before = inventory();
	lab = routed_lab("stage=nft-file file=" DATA "owner.nft");
	lab_free(lab);
	after = inventory();
	assert_string_equal(after, before);
	free(after);
	free(before);
	lab = routed_lab("stage=nft-file file=" DATA "office.nft");
	witness_open(&witness, lab);
	lab_free(lab);
	witness_wait(&witness, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_office),		 cmocka_unit_test(test_home_router),
		cmocka_unit_test(test_rules_are_there),	 cmocka_unit_test(test_define_decides),
		cmocka_unit_test(test_faults_are_named), cmocka_unit_test(test_files_that_are_none),
		cmocka_unit_test(test_nothing_is_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
