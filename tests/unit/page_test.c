/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Holds what stands below the table, and its JSON: ladders, slopes, searches and curves. */
#include "result/page.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "result/ladder.h"
#include "result/result.h"
#include "tests/unit/result_text.h"

static const struct metric_def delivered = {"delivered", "packet/s", BETTER_HIGHER, NULL, NULL};
static const struct metric_def per_frame = {"time_per_frame", "ns", BETTER_LOWER, NULL, NULL};
static const struct metric_def cost = {"cost", "ns", BETTER_LOWER, "kernel", NULL};
static const struct metric_def ndr = {"ndr", "packet/s", BETTER_HIGHER, NULL, NULL};
static const struct metric_def pdr = {"pdr", "packet/s", BETTER_HIGHER, NULL, NULL};

static int setup(void **state)
{
	struct result *result = result_new();

	if (result) {
		result->complete = true;
		result->seed = 7;
	}
	*state = result;
	return result ? 0 : -1;
}

static int teardown(void **state)
{
	result_free(*state);
	return 0;
}

static struct result_case *add_case(struct result *result, const char *name)
{
	struct result_case *c = result_add_case(result, name);

	assert_non_null(c);
	case_worsen(c, CASE_OK, NULL);
	return c;
}

/* Two trials, of which the second took `more` longer. */
static struct result_case *timed(struct result *result, const char *name,
				 const struct metric_def *def, double ns, double more)
{
	struct result_case *c = add_case(result, name);

	assert_int_equal(case_add_sample(c, def, ns), 0);
	assert_int_equal(case_add_sample(c, def, ns + more), 0);
	c->trials_done = c->trials_wanted = 2;
	return c;
}

static void assert_shows(const struct result *result, unsigned int width, const char *want)
{
	char *text = page(result, false, width);

	if (!strstr(text, want))
		fail_msg("no '%s' in:\n%s", want, text);
	free(text);
}

static void a_ladder(struct result *result)
{
	timed(result, "drop/wire,stage=none", &per_frame, 140, 2);
	timed(result, "drop/wire,stage=nft-input,rules=10", &per_frame, 1490, 20);
	timed(result, "drop/wire,stage=nft-input", &per_frame, 560, 4);
	timed(result, "drop/wire,stage=tc", &per_frame, 139, 5);
	timed(result, "drop/wire,stage=xdp", &per_frame, NAN, 0);
	for (size_t i = 1; i < 4; i++)
		assert_int_equal(result_compare_case(result, i, 0), 0);
	timed(result, "tcp/plain", &cost, 3000, 0);
	timed(result, "tcp/wireguard", &cost, 9000, 0);
	assert_int_equal(result_compare_case(result, 6, 5), 0);
}

static void ladders_from_cheap_to_dear(void **state)
{
	struct result *result = *state;

	a_ladder(result);
	assert_shows(result, 0,
		     "\nadded per frame against drop/wire,stage=none (141 ns)\n"
		     "  tc                        +0.50 ns ± 1.50  no difference shown\n"
		     "  nft-input                  +421 ns ± 1\n"
		     "  stage=nft-input,rules=10  +1.36 µs ± 0.01\n"
		     "added CPU time per packet against tcp/plain (3.00 µs)\n"
		     "  wireguard  +6.00 µs ± 0\n");
}

static void a_suspect_rung_says_so(void **state)
{
	struct result *result = *state;

	a_ladder(result);
	case_worsen(&result->cases[2], CASE_SUSPECT, "steal 4 %%");
	case_worsen(&result->cases[3], CASE_SUSPECT, "steal 4 %%");
	assert_shows(result, 0, "  nft-input                  +421 ns ± 1     suspect\n");
	assert_shows(result, 0, "+0.50 ns ± 1.50  suspect, no difference shown\n");
}

static void comparisons_in_json(void **state)
{
	struct result *result = *state;
	json_t *root;

	a_ladder(result);
	result->cases[2].versus.lo = result->cases[2].versus.hi = NAN;
	result->cases[2].generator_limited = true;
	root = document(result);
	assert_true(json_is_null(at(root, "cases/0/versus")));
	assert_true(json_is_false(at(root, "cases/0/generator_limited")));
	assert_true(json_is_true(at(root, "cases/2/generator_limited")));
	assert_json_text(root, "cases/2/versus/baseline", "drop/wire,stage=none");
	assert_json_text(root, "cases/2/versus/metric", "time_per_frame");
	assert_true(json_real_value(at(root, "cases/2/versus/difference")) == 421);
	assert_true(json_is_null(at(root, "cases/2/versus/ci95/0")));
	assert_true(json_is_real(at(root, "cases/3/versus/ci95/1")));
	json_decref(root);
}

static void slopes(void **state)
{
	static const struct fit fits[] = {
		{"rules/lab,shape=linear,hit=last", "filter.rules", &per_frame, 4.12, 3.92, 4.32,
		 4},
		{"rules/lab,shape=set", "entries", &per_frame, 0.01, -0.1, 0.12, 3},
		{"rules/lab,size=64", "size", &cost, NAN, NAN, NAN, 1},
	};
	struct result *result = *state;
	json_t *root;

	add_case(result, "c");
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(result_add_fit(result, &fits[i]), 0);
	assert_shows(result, 0,
		     "\neach one more adds\n"
		     "  shape=linear,hit=last:  4.12 ns ± 0.20 per rule\n"
		     "  set:                    0.010 ns ± 0.110 per entry  no difference shown\n"
		     "  size=64:                – ± – CPU time per byte\n");
	root = document(result);
	assert_json_text(root, "fits/0/per", "filter.rules");
	assert_true(json_real_value(at(root, "fits/0/slope")) == 4.12);
	assert_true(json_is_null(at(root, "fits/2/slope")));
	assert_int_equal(json_integer_value(at(root, "fits/0/n")), 4);
	json_decref(root);
}

static struct result_case *searched(struct result *result)
{
	struct search_goal_result goals[] = {
		{"ndr", 0, 0, 0.005, 1, 1, 1.22e6, 1.23e6, 1.22e6},
		{"pdr", 0.005, 0.5, 0.005, 1, 21, 1.30e6, 1.31e6, 1.298e6},
	};
	struct search_trial trials[] = {{7.1e6, 1, 0.82},
					{1.23e6, 1, 1e-5},
					{1.22e6, 1, 0},
					{1.31e6, 1, 0.01},
					{1.3e6, 1, NAN}};
	const struct search_result search = {goals, 2, trials, 5, 12.4, false};
	struct result_case *c = add_case(result, "forward/nft");

	assert_int_equal(case_add_sample(c, &delivered, 1e6), 0);
	assert_int_equal(case_add_sample(c, &ndr, 1.22e6), 0);
	assert_int_equal(case_add_sample(c, &pdr, 1.298e6), 0);
	c->trials_done = c->trials_wanted = 1;
	assert_int_equal(case_add_search(c, &search), 0);
	/* What was added is a copy. */
	memset(goals, 0, sizeof(goals));
	memset(trials, 0, sizeof(trials));
	return c;
}

static void a_search(void **state)
{
	struct result *result = *state;
	json_t *root;

	searched(result);
	assert_shows(result, 0,
		     "\nforward/nft  ndr   1.22 Mpps      –  ok       pdr 1.30 Mpps\n"
		     "search in forward/nft: 5 trials, 12.4 s\n"
		     "  goal  loss up to  throughput  load works  load fails\n"
		     "  ndr          0 %   1.22 Mpps   1.22 Mpps   1.23 Mpps\n"
		     "  pdr        0.5 %   1.30 Mpps   1.30 Mpps   1.31 Mpps\n"
		     "ndr: the highest rate without loss; pdr: ");
	root = document(result);
	assert_true(json_real_value(at(root, "cases/0/searches/0/duration_s")) == 12.4);
	assert_json_text(root, "cases/0/searches/0/goals/1/name", "pdr");
	assert_true(json_real_value(at(root, "cases/0/searches/0/goals/1/upper")) == 1.31e6);
	assert_int_equal(json_array_size(at(root, "cases/0/searches/0/trials")), 5);
	assert_true(json_is_null(at(root, "cases/0/searches/0/trials/4/loss_ratio")));
	json_decref(root);
}

static void repeated_searches_have_a_spread(void **state)
{
	struct search_goal_result goals[] = {
		{"ndr", 0, 0, 0.005, 1, 1, NAN, 1.23e6, NAN},
		{"pdr", 0.005, 0.5, 0.005, 1, 21, 1.23e6, NAN, 1.23e6},
	};
	struct search_trial trials[] = {{1.23e6, 1, 0.001}};
	struct search_result search = {goals, 2, trials, 1, 1.5, false};
	struct result *result = *state;
	struct result_case *c = searched(result);

	assert_int_equal(case_add_sample(c, &ndr, 1.20e6), 0);
	assert_int_equal(case_add_search(c, &search), 0);
	assert_shows(result, 0, "; spread of 2 searches 1.7 %\n");
	assert_shows(result, 0, "search 1 of 2 in forward/nft: 5 trials, 12.4 s\n");
	assert_shows(
		result, 0,
		"search 2 of 2 in forward/nft: 1 trial, 1.5 s\n"
		"  goal  loss up to  throughput  load works  load fails\n"
		"  ndr          0 %           –           –   1.23 Mpps  no load met the goal\n"
		"  pdr        0.5 %   1.23 Mpps   1.23 Mpps           –  no load failed: the limit "
		"is higher\n");
	json_decref(document(result));
	search.capped = true;
	assert_int_equal(case_add_search(c, &search), 0);
	assert_shows(result, 0, "1.23 Mpps  not found in time\n");
}

static void every_trial_when_verbose(void **state)
{
	const struct table_style style = {.verbose = true};
	const char *want = "  trial       load  seconds     loss\n"
			   "      1  7.10 Mpps     1.00   82.0 %\n"
			   "      2  1.23 Mpps     1.00  0.001 %\n"
			   "      3  1.22 Mpps     1.00      0 %\n"
			   "      4  1.31 Mpps     1.00    1.0 %\n"
			   "      5  1.30 Mpps     1.00        –\n";
	char *quiet, *text = NULL;
	struct err err;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	searched(*state);
	assert_int_equal(result_write_table(*state, out, &style, &err), 0);
	fclose(out);
	quiet = page(*state, false, 0);
	assert_non_null(strstr(text, want));
	assert_null(strstr(quiet, "seconds"));
	free(text);
	free(quiet);
}

static void a_curve(void **state)
{
	char *columns[] = {"load", "loss_p50"}, *units[] = {"packet/s", "ratio"};
	double rows[] = {1e6, 0, 2e6, NAN, 3e6, 0.25};
	const struct curve curve = {"loss", columns, units, 2, rows, 3};
	const struct curve empty = {"latency", NULL, NULL, 0, NULL, 0};
	struct result *result = *state;
	struct result_case *c = add_case(result, "forward");
	json_t *root;

	assert_int_equal(case_add_curve(c, &curve), 0);
	assert_int_equal(case_add_curve(c, &empty), 0);
	rows[0] = 0;
	assert_shows(result, 0,
		     "\nloss in forward\n"
		     "       load  loss_p50\n"
		     "  1.00 Mpps       0 %\n"
		     "  2.00 Mpps         –\n"
		     "  3.00 Mpps    25.0 %\n");
	root = document(result);
	assert_json_text(root, "cases/0/curves/0/columns/1/unit", "ratio");
	assert_true(json_real_value(at(root, "cases/0/curves/0/rows/2/1")) == 0.25);
	assert_true(json_is_null(at(root, "cases/0/curves/0/rows/1/1")));
	json_decref(root);
}

static void a_frame_takes_time(void **state)
{
	struct result *result = *state;
	struct result_case *c = add_case(result, "frames");

	assert_int_equal(case_add_sample(c, &delivered, 7.1e6), 0);
	assert_int_equal(case_add_sample(c, &per_frame, 141), 0);
	c->trials_done = c->trials_wanted = 1;
	assert_shows(result, 0, "delivered  7.10 Mpps      –  ok       141 ns a frame\n");
	c->generator_limited = true;
	assert_shows(result, 0,
		     "\n≥ the generator was the limit: the true rate is at least this\n");
	assert_shows(result, 0, "delivered  ≥ 7.10 Mpps      –  ok       ≤ 141 ns a frame\n");
}

static void whose_packets_were_accounted_for(void **state)
{
	struct result *result = *state;
	struct result_case *c = add_case(result, "a");

	c->ledger.trials = c->ledger.trials_closed = 1;
	case_add_label(c, "load", "frames");
	assert_shows(result, 0, "\nFrames: every packet accounted for in 1 of 1 trials.\n");
	c = add_case(result, "b");
	c->ledger.trials = c->ledger.trials_closed = 2;
	case_add_label(c, "load", "udp");
	assert_shows(result, 0, "\nUDP, frames: every packet accounted for in 3 of 3 trials.\n");
}

static void no_line_is_too_wide(void **state)
{
	static const struct fit fit = {"linear, hit last", "filter.rules", &per_frame, 4, 3, 5, 4};
	struct result *result = *state;

	a_ladder(result);
	searched(result);
	assert_int_equal(result_add_fit(result, &fit), 0);
	for (unsigned int width = 44; width < 130; width++) {
		char *text = page(result, false, width), *below = strstr(text, "added per frame");

		assert_non_null(below);
		assert_non_null(strstr(below, "nft-input"));
		if (longest_line(below) > width)
			fail_msg("%zu columns instead of %u:\n%s", longest_line(below), width,
				 below);
		free(text);
	}
}

static void headings_stand_out_only_in_colour(void **state)
{
	char *plain, *colored;

	a_ladder(*state);
	plain = page(*state, false, 0);
	colored = page(*state, true, 0);
	assert_null(strchr(plain, '\033'));
	assert_non_null(strstr(colored, "\033[1madded per frame against"));
	free(plain);
	free(colored);
}

#define UNIT(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		UNIT(ladders_from_cheap_to_dear),
		UNIT(a_suspect_rung_says_so),
		UNIT(comparisons_in_json),
		UNIT(slopes),
		UNIT(a_search),
		UNIT(repeated_searches_have_a_spread),
		UNIT(every_trial_when_verbose),
		UNIT(a_curve),
		UNIT(a_frame_takes_time),
		UNIT(whose_packets_were_accounted_for),
		UNIT(no_line_is_too_wide),
		UNIT(headings_stand_out_only_in_colour),
	};

	return cmocka_run_group_tests_name("page", tests, NULL, NULL);
}
