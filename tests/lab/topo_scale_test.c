/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests large labs: a star of a thousand nodes, a chain of two hundred, gone without a trace. */
#include "tests/lab/topo_lab.h"

static void build_reach_free(size_t n, bool chain, bool ends_only)
{
	struct lab_spec spec = spec_row(n, chain);
	struct lab_pair *pairs = calloc(2 * n, sizeof(*pairs));
	size_t n_pairs = 0, i;
	struct nl witness;
	struct lab *lab;
	struct err err;

	assert_non_null(pairs);
	for (i = 1; i < n; i++)
		if (!ends_only || i == n - 1) {
			pairs[n_pairs++] = (struct lab_pair){0, i};
			pairs[n_pairs++] = (struct lab_pair){i, 0};
		}
	lab = build_ok(&spec);
	if (lab_reach(lab, AF_INET, pairs, n_pairs, UINT64_C(3000000000), &err) ||
	    lab_reach(lab, AF_INET6, pairs, n_pairs, UINT64_C(3000000000), &err))
		fail_msg("%s", err.text);
	free(pairs);
	witness_open(&witness, lab);
	lab_free(lab);
	witness_wait(&witness, n);
}

static void test_star_of_1000(void **state)
{
	(void)state;
	NEED_ROOT();
	build_reach_free(1000, false, false);
}

static void test_chain_of_200(void **state)
{
	(void)state;
	NEED_ROOT();
	build_reach_free(200, true, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_star_of_1000),
		cmocka_unit_test(test_chain_of_200),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
