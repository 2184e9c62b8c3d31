/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests suite/plan.c, matrix.c, arm.c, plan_print.c and path.c: arms, order, overrides, selection, refusals. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "suite/plan.h"
#include "tests/unit/fake_loads.h"

#define LABS                                                                             \
	"labs:\n"                                                                        \
	"  v: {nodes: [a, b], links: [{ends: [a, b]}]}\n"                                \
	"  r: {nodes: {c: , m: {forward: yes}, s: }, links: [{name: in, ends: [c, m]}, " \
	"{name: out, ends: [m, s]}]}\n"                                                  \
	"cases:\n"

static const char matrix[] = LABS "- {name: tcp, lab: v, load: tcp, beside: [udp: {rate: 5kpps}],\n"
				  "   matrix: {link.*.offloads: [on, off], load.streams: [1, 8]}}\n"
				  "- {name: rr, lab: r, load: {udp: {size: 64}}, repeat: 5}\n";

static struct suite *parse(const char *text)
{
	struct suite *suite = NULL;
	struct err err = {0};

	if (suite_parse("s.yaml", text, strlen(text), &suite, &err))
		fail_msg("%s", err.text);
	return suite;
}

static struct plan *make(const struct suite *suite, const struct plan_options *options)
{
	struct plan *plan = NULL;
	struct err err = {0};

	if (plan_make(suite, options, &plan, &err))
		fail_msg("%s", err.text);
	return plan;
}

static void refuse_with(const char *text, const struct plan_options *options, const char *sentence)
{
	struct suite *suite = parse(text);
	struct plan *plan = NULL;
	struct err err = {0};

	assert_int_equal(plan_make(suite, options, &plan, &err), -EINVAL);
	assert_string_equal(err.text, sentence);
	assert_null(plan);
	suite_free(suite);
}

static void refuse_set(const char *setting, const char *sentence)
{
	char *set[] = {(char *)setting};
	struct plan_options options = {.set = set, .n_set = 1};

	refuse_with(matrix, &options, sentence);
}

static void refuse(const char *cases, const char *sentence)
{
	struct plan_options options = {0};
	char text[1024];

	snprintf(text, sizeof(text), LABS "%s\n", cases);
	refuse_with(text, &options, sentence);
}

static const struct stream_cfg *main_cfg(const struct plan *plan, size_t arm)
{
	return plan->arms[arm].main.cfg;
}

static void a_matrix_makes_arms(void **state)
{
	struct suite *suite = parse(matrix);
	struct plan *plan = make(suite, &(struct plan_options){.seed = 1});

	(void)state;
	assert_int_equal(plan->n_arms, 5);
	assert_string_equal(plan->arms[0].name, "tcp/offloads=on,streams=1");
	assert_string_equal(plan->arms[3].name, "tcp/offloads=off,streams=8");
	assert_string_equal(plan->arms[4].name, "rr");
	assert_string_equal(plan->arms[1].labels[0].name, "link.*.offloads");
	assert_string_equal(plan->arms[1].labels[0].value, "on");
	assert_int_equal(plan->arms[0].lab.links[0].offloads, 127);
	assert_int_equal(plan->arms[3].lab.links[0].offloads, 0);
	assert_int_equal(main_cfg(plan, 1)->streams, 8);
	assert_string_equal(main_cfg(plan, 0)->traffic.from, "a");
	assert_string_equal(main_cfg(plan, 4)->traffic.to, "s");
	assert_string_equal(plan->arms[4].lab_name, "r");
	assert_int_equal(plan->arms[0].n_beside, 1);
	assert_int_equal(plan->n_order, 4 * 3 + 5);
	assert_int_equal(plan_duration_ns(plan), 17 * UINT64_C(3500000000));
	plan_free(plan);
	suite_free(suite);
}

/* All arms of all cases: four of tcp with three repeats, and rr with five. */
static void every_round_has_every_arm_once(void **state)
{
	struct suite *suite = parse(matrix);
	struct plan *plan = make(suite, &(struct plan_options){.seed = 7});
	size_t shuffled = 0;

	(void)state;
	for (size_t round = 0; round < 3; round++) {
		unsigned int seen = 0;

		for (size_t i = 0; i < 5; i++) {
			assert_true(plan->order[5 * round + i] < 5);
			seen |= 1u << plan->order[5 * round + i];
			shuffled += plan->order[5 * round + i] != i;
		}
		assert_int_equal(seen, 31);
	}
	assert_true(shuffled > 0);
	assert_int_equal(plan->order[15], 4);
	assert_int_equal(plan->order[16], 4);
	plan_free(plan);
	suite_free(suite);
}

static void no_arm_comes_twice_in_a_row(void **state)
{
	struct suite *suite = parse(LABS "- {name: t, lab: v, load: tcp, repeat: 20}\n"
					 "- {name: u, lab: r, load: udp, repeat: 20}\n");

	(void)state;
	for (uint64_t seed = 1; seed < 50; seed++) {
		struct plan *plan = make(suite, &(struct plan_options){.seed = seed});

		assert_int_equal(plan->n_order, 40);
		for (size_t i = 1; i < plan->n_order; i++)
			assert_int_not_equal(plan->order[i], plan->order[i - 1]);
		plan_free(plan);
	}
	suite_free(suite);
}

static void the_seed_decides_the_order(void **state)
{
	struct suite *suite = parse(matrix);
	struct plan *one = make(suite, &(struct plan_options){.seed = 4711});
	struct plan *same = make(suite, &(struct plan_options){.seed = 4711});
	struct plan *other = make(suite, &(struct plan_options){.seed = 4712});

	(void)state;
	assert_int_equal(same->seed, 4711);
	assert_memory_equal(one->order, same->order, one->n_order * sizeof(*one->order));
	assert_int_not_equal(memcmp(one->order, other->order, one->n_order * sizeof(*one->order)),
			     0);
	plan_free(one);
	plan_free(same);
	plan_free(other);
	suite_free(suite);
}

static void arms_may_differ_in_repeats(void **state)
{
	struct suite *suite =
		parse(LABS "- {name: t, lab: v, load: tcp, matrix: {repeat: [1, 3]}}\n");
	struct plan *plan = make(suite, &(struct plan_options){0});

	(void)state;
	assert_int_equal(plan->n_order, 4);
	assert_int_equal(plan->order[2], 1);
	assert_int_equal(plan->order[3], 1);
	plan_free(plan);
	suite_free(suite);
}

static void set_overrides_what_exists(void **state)
{
	char *set[] = {"link.mtu=9000",	      "load.streams=4",	    "repeat=1",
		       "beside.udp.rate=max", "node.m.forward=yes", "link.o*.queues=2",
		       "load.from=c"};
	struct suite *suite = parse(matrix);
	struct plan *plan = make(suite, &(struct plan_options){.set = set, .n_set = 6});
	const struct stream_cfg *beside = plan->arms[0].beside[0].cfg;

	(void)state;
	assert_int_equal(plan->n_arms, 3);
	assert_string_equal(plan->arms[0].name, "tcp/offloads=on");
	assert_int_equal(plan->arms[0].lab.links[0].mtu, 9000);
	assert_int_equal(plan->arms[2].lab.links[1].mtu, 9000);
	assert_int_equal(plan->arms[2].lab.links[0].queues, 1);
	assert_int_equal(plan->arms[2].lab.links[1].queues, 2);
	assert_int_equal(main_cfg(plan, 2)->streams, 4);
	assert_int_equal(beside->rate.unit, RATE_MAX);
	assert_int_equal(plan->n_order, 3);
	plan_free(plan);
	suite_free(suite);
}

static void set_explains_what_it_refuses(void **state)
{
	(void)state;
	refuse_set("load.streams", "'load.streams' is not of the form path=value");
	refuse_set("load.steams=1",
		   "'load.steams': load 'tcp' has no option 'steams'; did you mean "
		   "'streams'?");
	refuse_set("load.streams=0", "'streams' wants a number from 1 to 1024, not '0'");
	refuse_set("laod.streams=1", "no setting 'laod.streams'; did you mean 'load'?");
	refuse_set("durations=1", "no setting 'durations'; did you mean 'duration'?");
	refuse_set("link.inn.mtu=1500", "'link.inn.mtu': no link 'inn'; did you mean 'in'?");
	refuse_set("node.*.mtu=1500", "'node.*.mtu': node 'b' has no option 'mtu'");
	refuse_set("beside.tcp.rate=max", "'beside.tcp.rate': no load beside 'tcp'");
	refuse_set(
		"load.tcp.rate=max",
		"no setting 'load.tcp.rate': a path is lab, duration, warmup, repeat, load.OPTION, "
		"beside.LOAD.OPTION, search.OPTION, node.NAME.OPTION, link.NAME.OPTION or "
		"filter.NAME.OPTION");
	refuse_set("duration.x=1",
		   "no setting 'duration.x': a path is lab, duration, warmup, repeat, load.OPTION, "
		   "beside.LOAD.OPTION, search.OPTION, node.NAME.OPTION, link.NAME.OPTION or "
		   "filter.NAME.OPTION");
}

static void only_selects(void **state)
{
	struct suite *suite = parse(matrix);
	struct plan *plan = make(suite, &(struct plan_options){.only = "*streams=8"});

	(void)state;
	assert_int_equal(plan->n_arms, 2);
	plan_free(plan);
	plan = make(suite, &(struct plan_options){.only = "tcp"});
	assert_int_equal(plan->n_arms, 4);
	plan_free(plan);
	suite_free(suite);
	refuse_with(matrix, &(struct plan_options){.only = "tpc"},
		    "no arm matches 'tpc'; there are: tcp/offloads=on,streams=1, "
		    "tcp/offloads=on,streams=8, tcp/offloads=off,streams=1, "
		    "tcp/offloads=off,streams=8, rr");
}

static void what_cannot_run_here_is_skipped(void **state)
{
	struct suite *suite =
		parse(LABS "- {name: t, lab: v, load: {tcp: {congestion: absent}}}\n"
			   "- {name: u, lab: v, load: spin, beside: [tcp: {congestion: "
			   "absent}]}\n"
			   "- {name: w, lab: v, load: spin}\n");
	struct plan *plan = make(suite, &(struct plan_options){0});
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	(void)state;
	assert_string_equal(plan->arms[0].skip,
			    "tcp: the kernel has no congestion control 'absent'");
	assert_string_equal(plan->arms[1].skip,
			    "beside: tcp: the kernel has no congestion control 'absent'");
	assert_null(plan->arms[2].skip);
	assert_int_equal(plan->n_order, 3);
	plan_print(plan, out);
	fclose(out);
	assert_non_null(strstr(text, "arms   3, of these 2 skipped\n"));
	assert_non_null(
		strstr(text, "  skip   tcp: the kernel has no congestion control 'absent'\n"));
	free(text);
	plan_free(plan);
	suite_free(suite);
}

static void impossible_cases_are_refused(void **state)
{
	(void)state;
	refuse("- {name: t, lab: v, load: {tcp: {streams: 2, direction: both}}}",
	       "s.yaml:5:28: two streams cannot go both ways");
	refuse("- {name: t, lab: v, load: {tcp: {from: a, to: a}}}",
	       "s.yaml:5:28: load 'tcp' wants two nodes, not 'a' twice");
	refuse("- {name: t, lab: v, load: {tcp: {from: a}}, matrix: {load.from: [a, b]}}",
	       "s.yaml:5:28: load 'tcp' wants two nodes, not 'b' twice");
	refuse("- {name: t, lab: v, load: tcp, matrix: {load.steams: [1]}}",
	       "s.yaml:5:41: 'load.steams': load 'tcp' has no option 'steams'; did you mean "
	       "'streams'?");
	refuse("- {name: t, lab: v, load: tcp, matrix: {load.streams: [1, many]}}",
	       "s.yaml:5:59: 'streams' wants a number from 1 to 1024, not 'many'");
}

static void unreachable_nodes_are_refused(void **state)
{
	struct plan_options options = {0};
	struct suite *suite;
	struct plan *plan = NULL;
	struct err err = {0};

	(void)state;
	suite = parse(LABS "- {name: t, lab: r, load: tcp, matrix: {node.m.forward: [yes, no]}}");
	assert_int_equal(plan_make(suite, &options, &plan, &err), -EINVAL);
	assert_memory_equal(err.text, "s.yaml:5:27: ", 13);
	suite_free(suite);
	suite = parse(LABS "- {name: t, lab: v, load: {tcp: {to: bb}}}");
	assert_int_equal(plan_make(suite, &options, &plan, &err), -EINVAL);
	assert_memory_equal(err.text, "s.yaml:5:28: ", 13);
	assert_non_null(strstr(err.text, "'bb'"));
	suite_free(suite);
	suite = parse("labs: {v: {nodes: [a, b], links: [{ends: [a, c]}]}}\n"
		      "cases: [{name: t, load: tcp}]");
	assert_int_equal(plan_make(suite, &options, &plan, &err), -EINVAL);
	assert_memory_equal(err.text, "s.yaml:1:35: ", 13);
	suite_free(suite);
	assert_null(plan);
}

static void explosions_are_refused(void **state)
{
	char text[4096], list[600] = "1";

	(void)state;
	for (int i = 2; i <= 100; i++)
		snprintf(list + strlen(list), sizeof(list) - strlen(list), ", %d", i);
	snprintf(text, sizeof(text),
		 LABS "- name: t\n  lab: v\n  load: tcp\n"
		      "  matrix: {load.streams: [%s], load.size: [%s], repeat: [%s]}\n",
		 list, list, list);
	refuse_with(text, &(struct plan_options){0},
		    "s.yaml:8:12: case 't' makes more than 4096 arms");
	snprintf(text, sizeof(text),
		 LABS "- name: t\n  lab: v\n  load: tcp\n  repeat: 10000\n"
		      "  matrix: {load.streams: [%s]}\n",
		 list);
	refuse_with(text, &(struct plan_options){0},
		    "s.yaml:9:12: with case 't' the suite has more than 100000 trials");
}

static void assert_arms(const struct plan *plan, const char *const *names, size_t n)
{
	assert_int_equal(plan->n_arms, n);
	for (size_t i = 0; i < n; i++)
		assert_string_equal(plan->arms[i].name, names[i]);
}

static void a_matrix_may_choose_the_lab(void **state)
{
	static const char *const names[] = {"t/v,offloads=on", "t/v,offloads=off",
					    "t/r,offloads=on", "t/r,offloads=off"};
	struct suite *suite =
		parse(LABS "- {name: t, load: tcp, matrix: {lab: [v, r], link.*.offloads: "
			   "[on, off]}}\n");
	struct plan *plan = make(suite, &(struct plan_options){0});

	(void)state;
	assert_arms(plan, names, 4);
	assert_string_equal(plan->arms[1].lab_name, "v");
	assert_string_equal(plan->arms[2].lab_name, "r");
	assert_int_equal(plan->arms[2].n_labels, 1);
	assert_string_equal(plan->arms[2].labels[0].name, "link.*.offloads");
	assert_int_equal(plan->arms[2].lab.links[1].offloads, 127);
	assert_string_equal(main_cfg(plan, 1)->traffic.to, "b");
	assert_string_equal(main_cfg(plan, 2)->traffic.from, "c");
	assert_string_equal(main_cfg(plan, 2)->traffic.to, "s");
	plan_free(plan);
	suite_free(suite);
}

static void an_axis_counts_where_the_lab_has_it(void **state)
{
	static const char *const names[] = {"t/v", "t/r,mtu=1500", "t/r,mtu=9000"};
	struct suite *suite = parse(
		LABS "- {name: t, load: tcp, matrix: {lab: [v, r], link.in.mtu: [1500, 9000]}}\n");
	struct plan *plan = make(suite, &(struct plan_options){0});

	(void)state;
	assert_arms(plan, names, 3);
	assert_int_equal(plan->arms[0].n_labels, 0);
	assert_int_equal(plan->arms[2].n_labels, 1);
	assert_int_equal(plan->arms[2].lab.links[0].mtu, 9000);
	plan_free(plan);
	suite_free(suite);
	refuse("- {name: t, load: tcp, matrix: {lab: [v, r], link.x.mtu: [1500]}}",
	       "s.yaml:5:46: 'link.x.mtu': no link 'x'");
	refuse("- {name: t, load: tcp, matrix: {link.*.mtu: [9], lab: [v, r]}}",
	       "s.yaml:5:46: 'mtu' wants a number from 68 to 65535, not '9'");
	refuse("- {name: t, load: tcp, matrix: {lab: [v, r]}}\n"
	       "- {name: t/v, lab: v, load: tcp}",
	       "s.yaml:5:33: an arm of case 't' is called 't/v', as the case in line 6");
}

static void set_may_choose_the_lab(void **state)
{
	static const char *const names[] = {"t/streams=1", "t/streams=2", "u"};
	char *set[] = {(char *)"lab=r"};
	struct suite *suite =
		parse(LABS "- {name: t, load: tcp, matrix: {lab: [v, r], load.streams: [1, 2]}}\n"
			   "- {name: u, lab: v, load: udp}\n");
	struct plan *plan = make(suite, &(struct plan_options){.set = set, .n_set = 1});

	(void)state;
	assert_arms(plan, names, 3);
	assert_string_equal(plan->arms[0].lab_name, "r");
	assert_string_equal(plan->arms[2].lab_name, "r");
	assert_string_equal(main_cfg(plan, 2)->traffic.to, "s");
	plan_free(plan);
	suite_free(suite);
	refuse_set("lab=rr", "no lab 'rr'");
}

static void values_that_are_the_same_are_refused(void **state)
{
	(void)state;
	refuse("- {name: t, lab: v, load: tcp, matrix: {load.streams: [1, 1]}}",
	       "s.yaml:5:59: 'load.streams' has the value '1' twice");
	refuse("- {name: t, lab: v, load: tcp, matrix: {load.streams: [1000, 2, 1k]}}",
	       "s.yaml:5:65: 'load.streams' has the value '1k' twice, first as '1000'");
	refuse("- {name: t, lab: v, load: tcp, matrix: {link.offloads: [[tx, rx], [rx, tx]]}}",
	       "s.yaml:5:67: 'link.offloads' has the value 'rx,tx' twice, first as 'tx,rx'");
	refuse("- {name: t, lab: v, load: tcp, matrix: {duration: [1s, 1000ms]}}",
	       "s.yaml:5:56: 'duration' has the value '1000ms' twice, first as '1s'");
	refuse("- {name: t, load: tcp, matrix: {lab: [v, r], link.in.mtu: [1500, 1500]}}",
	       "s.yaml:5:66: 'link.in.mtu' has the value '1500' twice");
}

static void axes_that_read_alike_are_told_apart(void **state)
{
	struct suite *suite = parse(LABS "- {name: t, lab: v, load: tcp, beside: [udp],\n"
					 "   matrix: {load.size: [64], beside.udp.size: [32]}}\n");
	struct plan *plan = make(suite, &(struct plan_options){0});

	(void)state;
	assert_string_equal(plan->arms[0].name, "t/load.size=64,beside.udp.size=32");
	plan_free(plan);
	suite_free(suite);
}

static void the_listing_shows_every_value(void **state)
{
	struct suite *suite = parse(matrix);
	struct plan *plan = make(suite, &(struct plan_options){.seed = 4711, .only = "rr"});
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	(void)state;
	plan_print(plan, out);
	fclose(out);
	assert_non_null(strstr(text, "suite  s\nfile   s.yaml\nseed   4711\n"));
	assert_non_null(strstr(text, "\narm rr\n  lab    r\n  node   c forward=no\n"));
	assert_non_null(
		strstr(text, "  link   in ends=c,m net= net6= mtu=1500 queues=1 offloads=off\n"));
	assert_non_null(strstr(text,
			       "  load   udp from=c to=s family=ipv4 streams=1 size=64 rate=max "
			       "direction=forward congestion=\n"));
	assert_non_null(strstr(text, "  timing duration=3s warmup=500ms repeat=5\n"));
	assert_non_null(strstr(text, "\norder\n     1  rr\n"));
	assert_non_null(strstr(text, "time   17.5 s in windows and warm-ups of 5 trials"));
	free(text);
	plan_free(plan);
	suite_free(suite);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_matrix_makes_arms),
		cmocka_unit_test(every_round_has_every_arm_once),
		cmocka_unit_test(no_arm_comes_twice_in_a_row),
		cmocka_unit_test(the_seed_decides_the_order),
		cmocka_unit_test(arms_may_differ_in_repeats),
		cmocka_unit_test(set_overrides_what_exists),
		cmocka_unit_test(set_explains_what_it_refuses),
		cmocka_unit_test(only_selects),
		cmocka_unit_test(what_cannot_run_here_is_skipped),
		cmocka_unit_test(impossible_cases_are_refused),
		cmocka_unit_test(unreachable_nodes_are_refused),
		cmocka_unit_test(explosions_are_refused),
		cmocka_unit_test(a_matrix_may_choose_the_lab),
		cmocka_unit_test(an_axis_counts_where_the_lab_has_it),
		cmocka_unit_test(set_may_choose_the_lab),
		cmocka_unit_test(values_that_are_the_same_are_refused),
		cmocka_unit_test(axes_that_read_alike_are_told_apart),
		cmocka_unit_test(the_listing_shows_every_value),
	};

	return cmocka_run_group_tests_name("plan", tests, NULL, NULL);
}
