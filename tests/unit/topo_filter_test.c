/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Holds the list of filter stages, the defaults of a filter, and what contradicts itself. */
#include "tests/unit/topo_filter_spec.h"

#include <errno.h>

#include "topo/filter/drop_rules.h"

static void the_two_lists_agree(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; filters[i]; i++) {
		assert_non_null(filter_stages[i]);
		assert_string_equal(filters[i]->kind.name, filter_stages[i]);
		assert_ptr_equal(filters[i]->kind.opts, filter_opts);
		assert_int_equal(filters[i]->kind.cfg_size, sizeof(struct filter_spec));
		assert_non_null(filters[i]->kind.help);
		/* Whoever attaches, detaches. */
		assert_int_equal(!filters[i]->attach, !filters[i]->detach);
	}
	assert_null(filter_stages[i]);
	assert_string_equal(filters[0]->kind.name, "none");
}

static void defaults(void **state)
{
	struct filter_spec spec;
	struct err err = {""};

	(void)state;
	assert_int_equal(filter_spec_init(&spec, &err), 0);
	assert_string_equal(filter_of(&spec)->kind.name, "none");
	assert_null(spec.node);
	assert_int_equal(spec.action, FILTER_DROP);
	assert_int_equal(spec.match, FILTER_PORT);
	assert_int_equal(spec.structure, FILTER_LINEAR);
	assert_int_equal(spec.hit, FILTER_LAST);
	assert_int_equal(spec.conntrack, FILTER_CT_NONE);
	assert_int_equal(spec.rules, 1);
	assert_int_equal(filter_check(&spec, &err), 0);
	filter_spec_release(&spec);
}

static void a_copy_is_its_own(void **state)
{
	struct filter_spec spec = filter_spec_of(
		"stage=xdp node=r on=eth1 rules=7 object=a.o program=p map=eth1=wan0");
	struct filter_spec copy;

	(void)state;
	assert_int_equal(filter_spec_copy(&copy, &spec), 0);
	assert_ptr_not_equal(copy.node, spec.node);
	filter_spec_release(&spec);
	assert_string_equal(filter_of(&copy)->kind.name, "xdp");
	assert_string_equal(copy.node, "r");
	assert_string_equal(copy.on, "eth1");
	assert_string_equal(copy.object, "a.o");
	assert_string_equal(copy.program, "p");
	assert_int_equal(copy.map.n, 1);
	assert_string_equal(copy.map.list[0], "eth1=wan0");
	assert_int_equal(copy.rules, 7);
	filter_spec_release(&copy);
}

static void contradictions(void **state)
{
	static const struct {
		const char *options, *text;
	} samples[] = {
		{"stage=xdp action=reject", "filter 'xdp': action reject needs an answer to the "
					    "sender, a BPF program has none"},
		{"stage=tcx structure=set", "filter 'tcx': a BPF program keeps its rules in "
					    "structure linear, bpf-hash or bpf-lpm"},
		{"stage=tc-bpf structure=bpf-hash match=prefix",
		 "filter 'tc-bpf': a hash cannot look up prefixes: structure bpf-lpm can"},
		{"stage=socket structure=bpf-lpm",
		 "filter 'socket': structure bpf-lpm is for match prefix only"},
		{"stage=xdp-generic conntrack=tracked", "filter 'xdp-generic': connection tracking "
							"and flowtables belong to the nft stages"},
		{"stage=app flowtable=yes",
		 "filter 'app': connection tracking and flowtables belong to the nft stages"},
		{"stage=xdp file=rules.nft",
		 "filter 'xdp': 'file', 'map' and 'define' are for stage nft-file"},
		{"stage=socket object=x.o",
		 "filter 'socket': 'object' is for stages xdp, xdp-generic, tcx and tc-bpf"},
		{"stage=tcx program=x", "filter 'tcx': 'program' needs an 'object'"},
		{"stage=app on=eth0", "filter 'app': 'on' is for stages that are bound to devices"},
		{"stage=tc-u32 action=reject",
		 "filter 'tc-u32': action reject needs an answer to the sender, tc has none"},
		{"stage=tc-flower structure=bpf-hash",
		 "filter 'tc-flower': tc classifiers are rules of structure linear only"},
		{"stage=xdp object=/nowhere/x.o",
		 "filter 'xdp': /nowhere/x.o: No such file or directory"},
		{"stage=xdp object=/proc", "filter 'xdp': /proc: not a file"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
		struct filter_spec spec = filter_spec_of(samples[i].options);
		struct err err = {""};
		int r = filter_check(&spec, &err);

		if (r != -EINVAL || strcmp(err.text, samples[i].text) != 0)
			fail_msg("%s: %d, %s", samples[i].options, r, err.text);
		filter_spec_release(&spec);
	}
}

static size_t key_size;

static int compare_keys(const void *a, const void *b)
{
	return memcmp(a, b, key_size);
}

/* No two elements are equal, in any structure: the map would hold fewer rules than were asked for. */
static void every_rule_is_an_element(void **state)
{
	static const enum drop_structure structures[] = {DROP_LINEAR, DROP_HASH, DROP_LPM};
	struct filter_spec spec = filter_spec_of("stage=xdp rules=50000 match=port hit=first");

	(void)state;
	for (size_t s = 0; s < sizeof(structures) / sizeof(structures[0]); s++)
		for (int version = 4; version <= 6; version += 2) {
			struct drop_table table;

			assert_int_equal(drop_table_make(&spec, structures[s], version, &table), 0);
			assert_int_equal(table.n, 50000 + (structures[s] == DROP_HASH));
			key_size = table.key_size;
			qsort(table.keys, table.n, key_size, compare_keys);
			for (size_t i = 1; i < table.n; i++)
				if (!memcmp(table.keys + (i - 1) * table.key_size,
					    table.keys + i * table.key_size, table.key_size))
					fail_msg("structure %d: rules %zu and %zu are equal",
						 structures[s], i - 1, i);
			drop_table_release(&table);
		}
	filter_spec_release(&spec);
}

static void which_rule_is_hit(void **state)
{
	static const struct {
		const char *hit;
		bool first, middle, last;
	} samples[] = {{"first", true, false, false},
		       {"last", false, false, true},
		       {"never", false, false, false}};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct filter_spec spec = filter_spec_of("rules=3");
		struct err err;

		assert_int_equal(
			opt_set(opts_find(filter_opts, "hit"), &spec, samples[i].hit, &err), 0);
		assert_int_equal(drop_is_hit(&spec, 0), samples[i].first);
		assert_int_equal(drop_is_hit(&spec, 1), samples[i].middle);
		assert_int_equal(drop_is_hit(&spec, 2), samples[i].last);
		filter_spec_release(&spec);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_two_lists_agree),	    cmocka_unit_test(defaults),
		cmocka_unit_test(a_copy_is_its_own),	    cmocka_unit_test(contradictions),
		cmocka_unit_test(every_rule_is_an_element), cmocka_unit_test(which_rule_is_hit),
	};

	return cmocka_run_group_tests_name("filters", tests, NULL, NULL);
}
