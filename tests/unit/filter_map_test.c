/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests the names that filters give to interfaces. */
#include "tests/unit/topo_spec.h"

#include <errno.h>

#include "topo/filter/filter.h"

/* a - r - b and b - r again; each map is that of a filter of its own, in the default node r. */
static struct lab_spec mapped(size_t n, const char *const maps[])
{
	struct lab_spec spec = spec_of("a r! b", "a,r; r,b; b,r:dmz");
	struct err err;

	spec.filters = calloc(n, sizeof(*spec.filters));
	for (; spec.n_filters < n; spec.n_filters++) {
		struct filter_spec *filter = &spec.filters[spec.n_filters];

		assert_int_equal(filter_spec_init(filter, &err), 0);
		filter->mark = (struct mark){"t", 201 + (unsigned int)spec.n_filters, 3};
		assert_int_equal(
			opt_set(opts_find(filter_opts, "map"), filter, maps[spec.n_filters], &err),
			0);
	}
	return spec;
}

static void expect_names(size_t n, const char *const maps[], const char *first, const char *second,
			 const char *third)
{
	struct lab_spec spec = mapped(n, maps);
	struct lab_plan *plan = NULL;
	struct err err = {""};

	if (lab_plan_make(&spec, &plan, &err))
		fail_msg("%s", err.text);
	assert_string_equal(lab_plan_wire(plan, 0)->end[1].ifname, first);
	assert_string_equal(lab_plan_wire(plan, 1)->end[0].ifname, second);
	assert_string_equal(lab_plan_wire(plan, 2)->end[1].ifname, third);
	/* Other nodes keep their names. */
	assert_string_equal(lab_plan_wire(plan, 0)->end[0].ifname, "eth0");
	lab_plan_free(plan);
	lab_spec_release(&spec);
}

static void expect_error(size_t n, const char *const maps[], const char *text)
{
	struct lab_spec spec = mapped(n, maps);
	struct lab_plan *plan = NULL;
	struct err err = {""};

	assert_int_equal(lab_plan_make(&spec, &plan, &err), -EINVAL);
	assert_null(plan);
	assert_string_equal(err.text, text);
	lab_spec_release(&spec);
}

static void test_names(void **state)
{
	(void)state;
	expect_names(1, (const char *[]){"eth1=wan0"}, "eth0", "wan0", "dmz");
	expect_names(1, (const char *[]){"eth1=wan0,eth0=lan0"}, "lan0", "wan0", "dmz");
	/* A swap, and the same wish twice. */
	expect_names(1, (const char *[]){"eth0=eth1,eth1=eth0"}, "eth1", "eth0", "dmz");
	expect_names(2, (const char *[]){"eth0=lan", "dmz=x,eth0=lan"}, "lan", "eth1", "x");
	expect_names(1, (const char *[]){"eth0=eth0"}, "eth0", "eth1", "dmz");
}

static void test_clashes(void **state)
{
	(void)state;
	expect_error(1, (const char *[]){"eth1=dmz"},
		     "t:201:3: map: node 'r' would have two interfaces 'dmz'");
	expect_error(1, (const char *[]){"eth0=lan,eth1=lan"},
		     "t:201:3: map: node 'r' would have two interfaces 'lan'");
	expect_error(2, (const char *[]){"eth0=lan", "eth0=wan"},
		     "t:202:3: map: interface 'eth0' of node 'r' gets two names: 'lan' and 'wan'");
	expect_error(1, (const char *[]){"eth7=lan"},
		     "t:201:3: map: node 'r' has no interface 'eth7'; it has: eth0, eth1, dmz");
}

static void test_bad_texts(void **state)
{
	static const char *const bad[] = {"",
					  "eth0",
					  "eth0=",
					  "=lan",
					  "eth0=a b",
					  "eth0=lan,",
					  "eth0=lo",
					  "eth0=a/b",
					  "eth0=..",
					  "e=f=g",
					  "eth0=1234567890123456"};
	char text[128];

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const char *last = strrchr(bad[i], ',');

		snprintf(text, sizeof(text), "t:201:3: map '%s' must read 'interface=name'",
			 last ? last + 1 : bad[i]);
		expect_error(1, &bad[i], text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_clashes),
		cmocka_unit_test(test_bad_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
