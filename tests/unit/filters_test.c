/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests what suites say of filters, baselines, slopes and searches: suite/ as far as it knows them. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "search/search.h"
#include "suite/plan.h"
#include "tests/unit/fake_filters.h"
#include "tests/unit/fake_loads.h"

/* Line 3 has the filters. */
#define LAB(filters)                                                                             \
	"labs:\n"                                                                                \
	"  r: {nodes: {c: , m: {forward: yes}, s: }, links: [{ends: [c, m]}, {ends: [m, s]}],\n" \
	"      filters: " filters "}\n"                                                          \
	"cases:\n"

static struct suite *parse_as(const char *file, const char *text)
{
	struct suite *suite = NULL;
	struct err err = {0};

	if (suite_parse(file, text, strlen(text), &suite, &err))
		fail_msg("%s", err.text);
	return suite;
}

static struct suite *parse(const char *text)
{
	return parse_as("s.yaml", text);
}

static struct plan *make(const struct suite *suite, const struct plan_options *options)
{
	struct plan *plan = NULL;
	struct err err = {0};

	if (plan_make(suite, options, &plan, &err))
		fail_msg("%s", err.text);
	return plan;
}

static void refuse_reading(const char *text, const char *sentence)
{
	struct suite *suite = NULL;
	struct err err = {0};

	assert_int_equal(suite_parse("s.yaml", text, strlen(text), &suite, &err), -EINVAL);
	assert_string_equal(err.text, sentence);
}

static void refuse_plan(const char *text, const char *sentence)
{
	struct suite *suite = parse(text);
	struct plan *plan = NULL;
	struct err err = {0};

	assert_int_equal(plan_make(suite, &(struct plan_options){0}, &plan, &err), -EINVAL);
	assert_string_equal(err.text, sentence);
	suite_free(suite);
}

static void assert_arms(const struct plan *plan, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n && i < plan->n_arms; i++)
		assert_string_equal(plan->arms[i].name, names[i]);
	assert_int_equal(plan->n_arms, n);
}

static void filters_are_read(void **state)
{
	struct suite *suite = parse_as(
		"dir/s.yaml",
		LAB("[wall, {stage: gate, node: s, rules: 10k, action: accept, file: my.nft,\n"
		    "map: {eth1: wan0, eth0: lan}}, {stage: gate, file: /my.nft, map: [a=b]}, "
		    "{}]") "- {name: t, load: tcp}\n");
	const struct filter_spec *filter = suite->labs[0].filters;

	(void)state;
	assert_int_equal(suite->labs[0].n_filters, 4);
	assert_string_equal(filter_of(&filter[0])->kind.name, "wall");
	assert_int_equal(filter[0].rules, 1);
	assert_int_equal(filter[0].mark.line, 3);
	assert_int_equal(filter[0].mark.col, 17);
	assert_null(filter[0].node);
	assert_string_equal(filter[1].node, "s");
	assert_int_equal(filter[1].rules, 10000);
	assert_int_equal(filter[1].action, FILTER_ACCEPT);
	assert_string_equal(filter[1].file, "dir/my.nft");
	assert_int_equal(filter[1].map.n, 2);
	assert_string_equal(filter[1].map.list[0], "eth1=wan0");
	assert_string_equal(filter[1].map.list[1], "eth0=lan");
	assert_string_equal(filter[2].file, "/my.nft");
	assert_string_equal(filter[2].map.list[0], "a=b");
	assert_string_equal(filter_of(&filter[3])->kind.name, "none");
	suite_free(suite);
}

static void filters_that_cannot_be_read(void **state)
{
	(void)state;
	refuse_reading(
		LAB("[wal]") "- {name: t, load: tcp}",
		"s.yaml:3:17: 'stage' wants one of none, wall, gate, not 'wal'; did you mean "
		"'wall'?");
	refuse_reading(LAB("[{stage: wall, rules: 60k}]") "- {name: t, load: tcp}",
		       "s.yaml:3:38: 'rules' wants a number from 0 to 50000, not '60k'");
	refuse_reading(LAB("[{stage: wall, rulse: 6}]") "- {name: t, load: tcp}",
		       "s.yaml:3:31: unknown key 'rulse' in filter; did you mean 'rules'?");
	refuse_reading(LAB("{stage: wall}") "- {name: t, load: tcp}",
		       "s.yaml:3:16: 'filters' wants a list, not a map");
	refuse_reading(LAB("[[wall]]") "- {name: t, load: tcp}",
		       "s.yaml:3:17: a filter is a stage or a map of options, not a list");
	refuse_reading(LAB("[{stage: wall, map: [[a]]}]") "- {name: t, load: tcp}",
		       "s.yaml:3:37: 'map' wants a text, not a list");
}

static void nodes_are_filled_in_and_interfaces_found(void **state)
{
	struct suite *suite = parse(
		LAB("[wall, {stage: wall, node: s, on: eth0}, none]") "- {name: t, load: tcp}");
	struct plan *plan = make(suite, &(struct plan_options){0});

	(void)state;
	assert_string_equal(plan->arms[0].lab.filters[0].node, "m");
	assert_string_equal(plan->arms[0].lab.filters[1].node, "s");
	assert_string_equal(plan->arms[0].lab.filters[2].node, "m");
	plan_free(plan);
	suite_free(suite);
	refuse_plan(LAB("[{stage: wall, node: x}]") "- {name: t, load: tcp}",
		    "s.yaml:3:17: filter 'wall': no node 'x'");
	refuse_plan(LAB("[{stage: wall, on: eht1}]") "- {name: t, load: tcp}",
		    "s.yaml:3:17: filter 'wall': node 'm' has no interface 'eht1'; did you mean "
		    "'eth1'?");
}

static void stages_may_refuse(void **state)
{
	struct suite *suite = parse(LAB("[{stage: wall}]") "- {name: t, load: tcp, matrix: "
							   "{filter.action: [drop, reject]}}");
	struct plan *plan = make(suite, &(struct plan_options){0});

	(void)state;
	assert_null(plan->arms[0].skip);
	assert_string_equal(plan->arms[1].skip, "filter 'wall': the kernel cannot reject");
	assert_int_equal(plan->n_order, 3);
	plan_free(plan);
	suite_free(suite);
	refuse_plan(LAB("[{stage: wall, rules: 101}]") "- {name: t, load: tcp}",
		    "s.yaml:3:17: filter 'wall': more than 100 rules");
	/* The place in the user's own file alone. */
	refuse_plan(LAB("[{stage: wall, file: /my.nft}]") "- {name: t, load: tcp}",
		    "/my.nft:3:7: syntax error");
}

static void equal_filters_are_asked_once(void **state)
{
	struct suite *suite = parse(LAB(
		"[wall, {stage: wall, rules: 2}]") "- {name: t, load: tcp, matrix: {load.streams: "
						   "[1, 2, 3, 4], repeat: [1, 2]}}\n"
						   "- {name: u, load: udp}");
	struct plan *plan;

	(void)state;
	fake_filter_checks = 0;
	plan = make(suite, &(struct plan_options){0});
	assert_int_equal(plan->n_arms, 9);
	assert_int_equal(fake_filter_checks, 2);
	plan_free(plan);
	suite_free(suite);
}

static void paths_name_filters(void **state)
{
	char *set[] = {"filter.wall.rules=7", "filter.3.rules=8", "filter.s.action=accept",
		       "filter.3.map=eth1=b", "filter.file=../x"};
	struct suite *suite = parse_as(
		"dir/s.yaml", LAB("[wall, {stage: gate, node: s}, none]") "- {name: t, load: tcp}");
	struct plan *plan = make(suite, &(struct plan_options){.set = set, .n_set = 4});
	const struct filter_spec *filter = plan->arms[0].lab.filters;

	(void)state;
	assert_int_equal(filter[0].rules, 7);
	assert_int_equal(filter[1].rules, 1);
	assert_int_equal(filter[2].rules, 8);
	assert_int_equal(filter[0].action, FILTER_DROP);
	assert_int_equal(filter[1].action, FILTER_ACCEPT);
	assert_string_equal(filter[2].map.list[0], "eth1=b");
	plan_free(plan);
	suite_free(suite);
	/* The word of a command line is relative to the working directory, a suite's to the suite. */
	suite = parse_as("dir/s.yaml",
			 LAB("[gate]") "- {name: t, load: tcp, matrix: {filter.file: [a, /b]}}\n"
				       "- {name: u, load: tcp}");
	plan = make(suite, &(struct plan_options){0});
	assert_string_equal(plan->arms[0].name, "t/file=a");
	assert_string_equal(plan->arms[0].lab.filters[0].file, "dir/a");
	assert_string_equal(plan->arms[1].lab.filters[0].file, "/b");
	plan_free(plan);
	plan = make(suite, &(struct plan_options){.set = set + 4, .n_set = 1});
	assert_int_equal(plan->n_arms, 2);
	assert_string_equal(plan->arms[1].lab.filters[0].file, "../x");
	plan_free(plan);
	suite_free(suite);
}

static void an_axis_counts_where_the_stage_is(void **state)
{
	static const char *const names[] = {"t/stage=none", "t/stage=wall,rules=1",
					    "t/stage=wall,rules=10", "t/stage=gate"};
	struct suite *suite =
		parse(LAB("[none]") "- {name: t, load: tcp, against: {filter.stage: none},\n"
				    "   slope: filter.wall.rules,\n"
				    "   matrix: {filter.stage: [none, wall, gate],\n"
				    "            filter.wall.rules: [1, 10]}}");
	struct plan *plan = make(suite, &(struct plan_options){0});

	(void)state;
	assert_arms(plan, names, 4);
	assert_int_equal(plan->arms[0].baseline, NO_BASELINE);
	assert_int_equal(plan->arms[1].baseline, 0);
	assert_int_equal(plan->arms[2].baseline, 0);
	assert_int_equal(plan->arms[3].baseline, 0);
	assert_null(plan->arms[0].slope);
	assert_string_equal(plan->arms[2].slope, "filter.wall.rules");
	plan_free(plan);
	suite_free(suite);
	refuse_plan(LAB("[wall]") "- {name: t, load: tcp, matrix: {filter.wal.rules: [1, 10]}}",
		    "s.yaml:5:33: 'filter.wal.rules': no filter 'wal'; did you mean 'wall'?");
}

#define TWO           \
	LAB("[none]") \
	"- {name: t, load: tcp, matrix: {filter.stage: [none, wall], load.size: [64, 512]}, "

static void arms_are_compared_with_their_like(void **state)
{
	struct suite *suite =
		parse(TWO "against: {filter.stage: none}}\n"
			  "- {name: u, load: tcp, against: v}\n"
			  "- {name: v, load: udp}\n"
			  "- {name: w, load: tcp, against: t,\n"
			  "   matrix: {filter.stage: [wall], load.size: [64, 512]}}\n");
	struct plan *plan = make(suite, &(struct plan_options){0});
	char *set[] = {"filter.stage=wall"};

	(void)state;
	assert_string_equal(plan->arms[3].name, "t/stage=wall,size=512");
	assert_int_equal(plan->arms[0].baseline, NO_BASELINE);
	assert_int_equal(plan->arms[1].baseline, NO_BASELINE);
	assert_int_equal(plan->arms[2].baseline, 0);
	assert_int_equal(plan->arms[3].baseline, 1);
	assert_int_equal(plan->arms[4].baseline, 5);
	assert_int_equal(plan->arms[5].baseline, NO_BASELINE);
	assert_int_equal(plan->arms[6].baseline, 2);
	assert_int_equal(plan->arms[7].baseline, 3);
	plan_free(plan);
	/* What is left out is not compared with. */
	plan = make(suite, &(struct plan_options){.only = "t/stage=wall*"});
	assert_int_equal(plan->arms[0].baseline, NO_BASELINE);
	plan_free(plan);
	plan = make(suite, &(struct plan_options){.only = "t", .set = set, .n_set = 1});
	assert_int_equal(plan->n_arms, 2);
	assert_int_equal(plan->arms[1].baseline, NO_BASELINE);
	plan_free(plan);
	suite_free(suite);
}

static void labs_are_compared(void **state)
{
	struct suite *suite =
		parse("labs: {d: {nodes: [a, b], links: [{ends: [a, b]}]},\n"
		      "       r: {nodes: {a: , m: {forward: yes}, b: },\n"
		      "           links: [{ends: [a, m]}, {ends: [m, b]}]}}\n"
		      "cases:\n"
		      "- {name: t, load: tcp, matrix: {lab: [d, r], load.size: [64, 512]},\n"
		      "   against: {lab: d}}\n"
		      "- {name: u, load: udp, matrix: {lab: [d, r], load.size: [64, 512]}, "
		      "against: t}\n");
	struct plan *plan = make(suite, &(struct plan_options){0});

	(void)state;
	assert_string_equal(plan->arms[2].name, "t/r,size=64");
	assert_int_equal(plan->arms[0].baseline, NO_BASELINE);
	assert_int_equal(plan->arms[2].baseline, 0);
	assert_int_equal(plan->arms[3].baseline, 1);
	assert_int_equal(plan->arms[4].baseline, 0);
	assert_int_equal(plan->arms[7].baseline, 3);
	plan_free(plan);
	suite_free(suite);
}

static void a_lab_from_the_command_line_may_lack_what_is_varied(void **state)
{
	char *set[] = {"lab=d"};
	struct suite *suite =
		parse("labs: {d: {nodes: [a, b], links: [{ends: [a, b]}]},\n"
		      "       r: {nodes: [a, b], links: [{ends: [a, b]}], filters: [none]}}\n"
		      "cases:\n"
		      "- {name: t, lab: r, load: tcp, matrix: {filter.stage: [none, wall]},\n"
		      "   against: {filter.stage: none}}\n");
	struct plan *plan = make(suite, &(struct plan_options){.set = set, .n_set = 1});

	(void)state;
	assert_int_equal(plan->n_arms, 1);
	assert_string_equal(plan->arms[0].name, "t");
	assert_int_equal(plan->arms[0].baseline, NO_BASELINE);
	plan_free(plan);
	suite_free(suite);
}

static void comparisons_that_make_no_sense(void **state)
{
	(void)state;
	refuse_reading(TWO "against: x}", "s.yaml:5:93: no case 'x'");
	refuse_reading(TWO "against: tt}\n- {name: ttt, load: tcp}",
		       "s.yaml:5:93: no case 'tt'; did you mean 'ttt'?");
	refuse_reading(TWO "against: t}",
		       "s.yaml:5:93: case 't' cannot be compared with itself; 'against: {axis: "
		       "value}' compares its arms");
	refuse_reading(TWO "against: [t]}",
		       "s.yaml:5:93: 'against' wants the name of a case or a map of axes to "
		       "values, not a list");
	refuse_reading(TWO "against: {}}", "s.yaml:5:93: 'against' is empty");
	refuse_reading(TWO "against: {filter.rules: 1}}",
		       "s.yaml:5:94: 'against' wants an axis of the case's matrix, not "
		       "'filter.rules'");
	refuse_reading(TWO "against: {filter.stages: none}}",
		       "s.yaml:5:94: 'against' wants an axis of the case's matrix, not "
		       "'filter.stages'; did you mean 'filter.stage'?");
	refuse_reading(TWO "against: {filter.stage: nne}}",
		       "s.yaml:5:108: 'filter.stage' has no value 'nne' in the matrix; did you "
		       "mean 'none'?");
	refuse_plan(TWO "}\n- {name: u, load: tcp, against: t}",
		    "s.yaml:6:33: arm 'u' could be compared with 4 arms, such as "
		    "'t/stage=wall,size=512'");
	refuse_reading(TWO "slope: filter.stage}",
		       "s.yaml:5:48: 'slope' wants an axis of plain numbers; 'filter.stage' has "
		       "'none'");
	refuse_reading(TWO "slope: load.sice}",
		       "s.yaml:5:91: 'slope' wants an axis of the case's matrix, not 'load.sice'; "
		       "did you mean 'load.size'?");
	refuse_reading(LAB("[none]") "- {name: t, load: tcp, slope: load.size, matrix: {load.size: "
				     "[1, 1k]}}",
		       "s.yaml:5:66: 'slope' wants an axis of plain numbers; 'load.size' has '1k'");
	refuse_reading(LAB("[none]") "- {name: t, load: tcp, slope: load.size, matrix: {load.size: "
				     "[64]}}",
		       "s.yaml:5:31: a slope needs two values, and 'load.size' has one");
}

static void searches_are_read(void **state)
{
	char *set[] = {"search.width=2%"};
	struct suite *suite = parse(LAB("[none]") "- {name: t, load: udp, search: csit}\n"
						  "- {name: u, load: udp, search: }\n"
						  "- {name: v, load: udp, search: {goals: ndr},\n"
						  "   matrix: {search.width: [1%, 3%]}}\n"
						  "- {name: w, load: udp}\n");
	struct plan *plan = make(suite, &(struct plan_options){0});

	(void)state;
	assert_int_equal(plan->arms[0].search->preset, SEARCH_CSIT);
	assert_int_equal(plan->arms[1].search->preset, SEARCH_QUICK);
	assert_int_equal(plan->arms[2].search->goals, SEARCH_NDR);
	assert_true(plan->arms[2].search->width < plan->arms[3].search->width);
	assert_null(plan->arms[4].search);
	plan_free(plan);
	plan = make(suite, &(struct plan_options){.set = set, .n_set = 1});
	assert_int_equal(plan->n_arms, 4);
	assert_true(plan->arms[0].search->width == plan->arms[2].search->width);
	plan_free(plan);
	suite_free(suite);
	refuse_reading(LAB("[none]") "- {name: t, load: udp, search: quik}",
		       "s.yaml:5:32: 'preset' wants one of quick, csit, rfc2544, tst009, not "
		       "'quik'; did you mean 'quick'?");
	refuse_reading(LAB("[none]") "- {name: t, load: udp, search: [quick]}",
		       "s.yaml:5:32: a search is a preset or a map of options, not a list");
	refuse_reading(LAB("[none]") "- {name: t, load: udp, search: {goal: ndr}}",
		       "s.yaml:5:33: unknown key 'goal' in search; did you mean 'goals'?");
	refuse_plan(LAB("[none]") "- {name: t, load: spin, search: quick}",
		    "s.yaml:5:25: load 'spin' has no rate that a search could set");
	refuse_plan(LAB("[none]") "- {name: t, load: udp, matrix: {search.width: [1%, 3%]}}",
		    "s.yaml:5:33: 'search.width': the case has no search");
}

static struct suite *adhoc(char **settings, size_t n_settings, char **words, size_t n,
			   const char *search)
{
	const struct adhoc asked = {.load = "udp",
				    .settings = settings,
				    .n_settings = n_settings,
				    .filters = words,
				    .n_filters = n,
				    .search = search};
	struct suite *suite = NULL;
	struct err err = {0};

	if (suite_adhoc(&asked, NULL, &suite, &err))
		fail_msg("%s", err.text);
	return suite;
}

static void the_command_line_compares_a_filter_with_none(void **state)
{
	static const char *const names[] = {"udp/bare", "udp/wall+gate"};
	char *words[] = {"wall,rules=10,map=eth0=x,action=accept", "stage=gate,file=a, b,node=a"};
	char *settings[] = {"filter.gate.rules=5", "size=64", "repeat=1"};
	struct suite *suite = adhoc(settings, 3, words, 2, NULL);
	struct plan *plan = make(suite, &(struct plan_options){0});
	const struct filter_spec *filter = plan->arms[1].lab.filters;

	(void)state;
	assert_arms(plan, names, 2);
	assert_int_equal(plan->arms[0].lab.n_filters, 0);
	assert_int_equal(plan->arms[1].lab.n_filters, 2);
	assert_int_equal(plan->arms[1].baseline, 0);
	assert_int_equal(filter[0].rules, 10);
	assert_string_equal(filter[0].map.list[0], "eth0=x");
	assert_string_equal(filter[1].file, "a, b");
	assert_int_equal(filter[0].action, FILTER_ACCEPT);
	assert_string_equal(filter[1].node, "a");
	assert_int_equal(filter[1].rules, 5);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(((const struct stream_cfg *)plan->arms[i].main.cfg)->size, 64);
	assert_int_equal(plan->n_order, 2);
	plan_free(plan);
	suite_free(suite);
}

static void the_command_line_searches(void **state)
{
	char *settings[] = {"search.width=2%", "search.preset=csit"};
	struct suite *suite = adhoc(settings, 0, NULL, 0, "tst009");

	(void)state;
	assert_int_equal(suite->cases[0].search->preset, SEARCH_TST009);
	suite_free(suite);
	suite = adhoc(settings, 2, NULL, 0, NULL);
	assert_int_equal(suite->cases[0].search->preset, SEARCH_CSIT);
	suite_free(suite);
	suite = adhoc(settings, 0, NULL, 0, NULL);
	assert_null(suite->cases[0].search);
	suite_free(suite);
}

static void refuse_words(char *words, char *setting, const char *search, const char *sentence)
{
	const struct adhoc asked = {.load = "udp",
				    .settings = &setting,
				    .n_settings = setting != NULL,
				    .filters = &words,
				    .n_filters = words != NULL,
				    .search = search};
	struct suite *suite = NULL;
	struct err err = {0};

	assert_int_equal(suite_adhoc(&asked, NULL, &suite, &err), -EINVAL);
	assert_string_equal(err.text, sentence);
}

static void words_that_are_no_filter(void **state)
{
	(void)state;
	refuse_words("wal", NULL, NULL,
		     "--filter: 'stage' wants one of none, wall, gate, not 'wal'; did you mean "
		     "'wall'?");
	refuse_words("wall,rulse=1", NULL, NULL,
		     "--filter: a filter has no option 'rulse'; did you mean 'rules'?");
	refuse_words("", NULL, NULL, "--filter: 'stage' wants one of none, wall, gate, not ''");
	refuse_words("wall", "filter.rules=many", NULL,
		     "'rules' wants a number from 0 to 50000, not 'many'");
	refuse_words("wall", "filter.gate.rules=1", NULL, "'filter.gate.rules': no filter 'gate'");
	refuse_words(NULL, "filter.rules=1", NULL, "'filter.rules': the lab has no filters");
	refuse_words(NULL, NULL, "quik",
		     "'preset' wants one of quick, csit, rfc2544, tst009, not 'quik'; did you mean "
		     "'quick'?");
}

static void the_listing_shows_filters_and_comparisons(void **state)
{
	struct suite *suite = parse(TWO "against: {filter.stage: none}, slope: load.size}\n"
					"- {name: u, load: udp, search: quick}");
	struct plan *plan = make(suite, &(struct plan_options){.seed = 1});
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	(void)state;
	plan_print(plan, out);
	fclose(out);
	assert_non_null(strstr(text, "\n  filter 1 stage=wall node=m on= action=drop rules=1 file= "
				     "map=\n"));
	assert_non_null(strstr(text, "\n  against t/stage=none,size=512\n  slope  load.size\n"));
	assert_non_null(strstr(text, "\n  search preset=quick goals=on "));
	assert_non_null(strstr(text, "\ntime   at most "));
	free(text);
	plan_free(plan);
	suite_free(suite);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(filters_are_read),
		cmocka_unit_test(filters_that_cannot_be_read),
		cmocka_unit_test(nodes_are_filled_in_and_interfaces_found),
		cmocka_unit_test(stages_may_refuse),
		cmocka_unit_test(equal_filters_are_asked_once),
		cmocka_unit_test(paths_name_filters),
		cmocka_unit_test(an_axis_counts_where_the_stage_is),
		cmocka_unit_test(arms_are_compared_with_their_like),
		cmocka_unit_test(labs_are_compared),
		cmocka_unit_test(a_lab_from_the_command_line_may_lack_what_is_varied),
		cmocka_unit_test(comparisons_that_make_no_sense),
		cmocka_unit_test(searches_are_read),
		cmocka_unit_test(the_command_line_compares_a_filter_with_none),
		cmocka_unit_test(the_command_line_searches),
		cmocka_unit_test(words_that_are_no_filter),
		cmocka_unit_test(the_listing_shows_filters_and_comparisons),
	};

	return cmocka_run_group_tests_name("filters", tests, NULL, NULL);
}
