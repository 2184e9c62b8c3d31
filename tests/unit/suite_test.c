/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests suite/suite.c, cases.c, labs.c, options.c, adhoc.c and tree.c: what is read, what is refused. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "suite/suite.h"
#include "tests/unit/fake_loads.h"

static struct suite *read_well(const char *text)
{
	struct suite *suite = NULL;
	struct err err = {0};

	if (suite_parse("s.yaml", text, strlen(text), &suite, &err))
		fail_msg("%s", err.text);
	return suite;
}

static void refuse_bytes(const char *text, size_t len, const char *sentence)
{
	struct suite *suite = NULL;
	struct err err = {0};

	assert_int_equal(suite_parse("s.yaml", text, len, &suite, &err), -EINVAL);
	assert_null(suite);
	assert_string_equal(err.text, sentence);
}

static void refuse(const char *text, const char *sentence)
{
	refuse_bytes(text, strlen(text), sentence);
}

/* A suite that is fine but for one case. */
static void refuse_case(const char *text, const char *sentence)
{
	char all[1024];

	snprintf(all, sizeof(all),
		 "labs: {v: {nodes: [a, b], links: [{ends: [a, b]}]}}\ncases:\n- %s\n", text);
	refuse(all, sentence);
}

static void every_part_is_read(void **state)
{
	struct suite *s =
		read_well("suite: quick\n"
			  "about: What this box does\n"
			  "defaults: {duration: 2s, repeat: 5}\n"
			  "labs:\n"
			  "  veth:\n"
			  "    nodes: [a, b]\n"
			  "    links: [{ends: [a:eth7, b], mtu: 9000, offloads: [tx, rx]}]\n"
			  "  routed:\n"
			  "    nodes: {client: {}, router: {forward: yes}, server: }\n"
			  "    links:\n"
			  "    - {name: inside, ends: 'client,router', net: 10.0.0.0/24}\n"
			  "    - {name: outside, ends: [router, server]}\n"
			  "cases:\n"
			  "- name: tcp\n"
			  "  lab: routed\n"
			  "  load: {tcp: {from: client, streams: 4, rate: 1Gbit/s}}\n"
			  "  beside: [spin, udp: {rate: 10kpps}]\n"
			  "  matrix: {link.*.offloads: [on, off, [tx, rx]], load.streams: [1, 8]}\n"
			  "  warmup: 0\n"
			  "- {name: udp, lab: veth, load: udp, repeat: 1}\n");
	const struct case_spec *c = &s->cases[0];
	const struct stream_cfg *cfg = c->main.cfg;

	(void)state;
	assert_string_equal(s->name, "quick");
	assert_string_equal(s->about, "What this box does");
	assert_int_equal(s->n_labs, 2);
	assert_string_equal(s->labs[0].links[0].ends, "a:eth7,b");
	assert_int_equal(s->labs[0].links[0].mtu, 9000);
	assert_int_equal(s->labs[0].links[0].offloads, 3);
	assert_int_equal(s->labs[1].n_nodes, 3);
	assert_true(s->labs[1].nodes[1].forward);
	assert_false(s->labs[1].nodes[2].forward);
	assert_int_equal(s->labs[1].nodes[1].mark.line, 9);
	assert_int_equal(s->labs[1].nodes[1].mark.col, 25);
	assert_string_equal(s->labs[1].links[1].name, "outside");
	assert_int_equal(s->labs[1].links[1].mark.line, 12);
	assert_int_equal(s->n_cases, 2);
	assert_int_equal(c->lab, 1);
	assert_string_equal(cfg->traffic.from, "client");
	assert_null(cfg->traffic.to);
	assert_int_equal(cfg->streams, 4);
	assert_int_equal(cfg->rate.value, 1000000000);
	assert_int_equal(c->main.mark.line, 16);
	assert_int_equal(c->n_beside, 2);
	assert_string_equal(c->beside[1].load->kind.name, "udp");
	assert_int_equal(c->n_axes, 2);
	assert_string_equal(c->axes[0].values[2], "tx,rx");
	assert_int_equal(c->axes[1].value_marks[1].col, 68);
	assert_int_equal(c->timing.duration_ns, 2000000000);
	assert_int_equal(c->timing.warmup_ns, 0);
	assert_int_equal(c->timing.repeat, 5);
	assert_int_equal(s->cases[1].timing.repeat, 1);
	assert_int_equal(s->cases[1].timing.warmup_ns, 500000000);
	suite_free(s);
}

static void a_suite_without_labs_has_a_pair(void **state)
{
	struct suite *s = read_well("cases: [{name: t, load: tcp}]");

	(void)state;
	assert_string_equal(s->name, "s");
	assert_int_equal(s->n_labs, 1);
	assert_int_equal(s->labs[0].n_nodes, 2);
	assert_string_equal(s->labs[0].links[0].ends, "a,b");
	suite_free(s);
}

static void aliases_and_merge_keys_are_resolved(void **state)
{
	struct suite *s =
		read_well("labs:\n"
			  "  one: &one\n"
			  "    nodes: &nodes [a, b]\n"
			  "    links: [&link {ends: [a, b], mtu: 9000}]\n"
			  "  two:\n"
			  "    <<: *one\n"
			  "    links: [{<<: *link, mtu: 1280}, {<<: [{queues: 2}, *link]}]\n"
			  "cases: [{name: t, lab: two, load: tcp}]\n");

	(void)state;
	assert_int_equal(s->labs[1].n_nodes, 2);
	assert_int_equal(s->labs[1].n_links, 2);
	assert_int_equal(s->labs[1].links[0].mtu, 1280);
	assert_string_equal(s->labs[1].links[0].ends, "a,b");
	assert_int_equal(s->labs[1].links[1].mtu, 9000);
	assert_int_equal(s->labs[1].links[1].queues, 2);
	suite_free(s);
}

static void the_whole_file_may_be_wrong(void **state)
{
	static const char utf16[] = "\xff\xfe"
				    "c\0a\0s\0";

	(void)state;
	refuse("", "s.yaml:1:1: the file is empty");
	refuse("# only a comment\n", "s.yaml:1:1: the file is empty");
	refuse("---\n...\n", "s.yaml:1:1: the file is empty");
	refuse("[a]", "s.yaml:1:1: a suite is a map, not a list");
	refuse("hello", "s.yaml:1:1: a suite is a map, not a text");
	refuse("suite: x\n", "s.yaml:1:1: a suite needs 'cases'");
	refuse("suite: x\ncases: []\n", "s.yaml:2:8: the suite has no cases");
	refuse("suite: x\ncases: {}\n", "s.yaml:2:8: 'cases' wants a list, not a map");
	refuse("suite: x\ncases:\n", "s.yaml:2:7: 'cases' wants a list, not nothing");
	refuse("cases: [1\n",
	       "s.yaml:2:1: did not find expected ',' or ']' while parsing a flow sequence");
	refuse("suite: a\n---\nsuite: b\n",
	       "s.yaml:2:1: a second document starts here; a file holds one");
	refuse("suite: a\nsuite: b\n", "s.yaml:2:1: 'suite' appears twice");
	refuse("suite: a b\ncases: []\n", "s.yaml:1:8: the name of a suite is 1 to 64 of letters, "
					  "digits and '-_.', not 'a b'");
	refuse("about: x\nnodes: [a, b]\n",
	       "s.yaml:2:1: this is a lab, not a suite: netbench lab up s.yaml");
	refuse("siute: a\n", "s.yaml:1:1: unknown key 'siute' in the suite; did you mean 'suite'?");
	refuse("? [a]\n: b\n", "s.yaml:1:3: a key must be a word");
	refuse_bytes("a: 1\nb: \0", 9,
		     "s.yaml:2:4: not a text file: control characters are not allowed");
	refuse_bytes("\x7f"
		     "ELF\x01",
		     5, "s.yaml:1:1: not a text file: control characters are not allowed");
	refuse("suite: caf\xe9\n", "s.yaml:1:11: not a text file: incomplete UTF-8 octet sequence");
	refuse_bytes(utf16, sizeof(utf16),
		     "s.yaml:1:1: not a text file: invalid leading UTF-8 octet");
	refuse("about: \"a\\0b\"\n", "s.yaml:1:8: a NUL character in a text");
	refuse("about: \"a\\eb\"\n", "s.yaml:1:8: a control character in a text");
}

static void keys_values_and_types_are_checked(void **state)
{
	(void)state;
	refuse("defaults: {duration: soon}\ncases: []",
	       "s.yaml:1:22: 'duration' wants a time from 10ms to 24h, not 'soon'");
	refuse("defaults: {repeat: 0}\ncases: []",
	       "s.yaml:1:20: 'repeat' wants a number from 1 to 10000, not '0'");
	refuse("defaults: {repeat: [1, 2]}\ncases: []",
	       "s.yaml:1:20: 'repeat' wants a number from 1 to 10000, not a list");
	refuse("defaults: {durration: 1s}\ncases: []",
	       "s.yaml:1:12: unknown key 'durration' in 'defaults'; did you mean 'duration'?");
	refuse("labs: []\ncases: []", "s.yaml:1:7: 'labs' wants a map, not a list");
	refuse("labs: {a/b: {nodes: [x]}}\ncases: []",
	       "s.yaml:1:8: the name of a lab is 1 to 64 of letters, digits and '-_.', not 'a/b'");
	refuse("labs: {v: {links: []}}\ncases: []", "s.yaml:1:11: lab 'v' has no 'nodes'");
	refuse("labs: {v: {nodes: []}}\ncases: []", "s.yaml:1:19: lab 'v' has no nodes");
	refuse("labs: {v: {nodes: a}}\ncases: []",
	       "s.yaml:1:19: 'nodes' wants a list or a map, not a text");
	refuse("labs: {v: {nodes: [[a]]}}\ncases: []",
	       "s.yaml:1:20: a node is a name or '{name: {options}}', not a list");
	refuse("labs: {v: {nodes: {a: {forwrad: yes}}}}\ncases: []",
	       "s.yaml:1:24: unknown key 'forwrad' in node 'a'; did you mean 'forward'?");
	refuse("labs: {v: {nodes: {a: {forward: 7}}}}\ncases: []",
	       "s.yaml:1:33: 'forward' wants yes or no, not '7'");
	refuse("labs: {v: {nodes: [a, b], links: [{ends: [a, b], mtu: 0}]}}\ncases: []",
	       "s.yaml:1:55: 'mtu' wants a number from 68 to 65535, not '0'");
	refuse("labs: {v: {nodes: [a, b], links: [{ends: [a, {b: c}]}]}}\ncases: []",
	       "s.yaml:1:46: 'ends' wants a list of texts, not of a map");
	refuse("labs: {v: {nodes: [a, b], links: [{mtu: 1500}]}}\ncases: []",
	       "s.yaml:1:35: a link needs 'ends'");
	refuse("labs: {v: {nodes: [a], lnks: []}}\ncases: []",
	       "s.yaml:1:24: unknown key 'lnks' in lab 'v'; did you mean 'links'?");
}

static void cases_are_checked(void **state)
{
	(void)state;
	refuse_case("tcp", "s.yaml:3:3: 'cases' wants a map, not a text");
	refuse_case("{load: tcp}", "s.yaml:3:3: a case needs a 'name'");
	refuse_case("{name: t}", "s.yaml:3:3: case 't' needs a 'load'");
	refuse_case("{name: 'a*', load: tcp}", "s.yaml:3:10: the name of a case is 1 to 64 of "
					       "letters, digits and '-_.+/', not 'a*'");
	refuse_case("{name: t, load: tpc}", "s.yaml:3:19: no load 'tpc'; did you mean 'tcp'?");
	refuse_case("{name: t, load: [tcp]}",
		    "s.yaml:3:19: a load is a name or '{name: {options}}', not a list");
	refuse_case("{name: t, load: {tcp: {}, udp: {}}}",
		    "s.yaml:3:19: a load is a name or '{name: {options}}', not this map");
	refuse_case("{name: t, load: {tcp: {steams: 1}}}",
		    "s.yaml:3:26: unknown key 'steams' in load 'tcp'; did you mean 'streams'?");
	refuse_case("{name: t, load: {tcp: {streams: 9999}}}",
		    "s.yaml:3:35: 'streams' wants a number from 1 to 1024, not '9999'");
	refuse_case("{name: t, load: {tcp: {direction: back}}}",
		    "s.yaml:3:37: 'direction' wants one of forward, reverse, both, not 'back'");
	refuse_case("{name: t, load: tcp, beside: udp}",
		    "s.yaml:3:32: 'beside' wants a list, not a text");
	refuse_case("{name: t, load: tcp, lab: w}", "s.yaml:3:29: no lab 'w'");
	refuse_case("{name: t, load: tcp, matrix: {}}", "s.yaml:3:32: 'matrix' is empty");
	refuse_case("{name: t, load: tcp, matrix: {load.streams: []}}",
		    "s.yaml:3:47: 'load.streams' has no values");
	refuse_case("{name: t, load: tcp, matrix: {load.streams: 4}}",
		    "s.yaml:3:47: 'load.streams' wants a list, not a text");
	refuse_case("{name: t, load: tcp, matrix: {load.streams: [{a: b}]}}",
		    "s.yaml:3:48: 'load.streams' wants a text, not a map");
	refuse_case("{name: t, load: tcp, repaet: 4}",
		    "s.yaml:3:24: unknown key 'repaet' in case; did you mean 'repeat'?");
	refuse_case("{name: t, load: tcp}\n- {name: t, load: udp}",
		    "s.yaml:4:10: case 't' appears twice, first in line 3");
	refuse_case("{name: t, load: tcp, matrix: {lab: [v, w]}}", "s.yaml:3:42: no lab 'w'");
	refuse_case("{name: t, load: tcp, matrix: {lab: [v, v]}}",
		    "s.yaml:3:42: 'lab' has the value 'v' twice");
	refuse("labs: {a: {nodes: [x]}, b: {nodes: [x]}}\ncases: [{name: t, load: tcp}]",
	       "s.yaml:2:9: case 't' needs a 'lab': there are 2");
}

static void hostile_files_are_cheap_to_refuse(void **state)
{
	static const char bomb[] = "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
				   "b: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\n"
				   "c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\n"
				   "d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\n"
				   "e: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\n"
				   "f: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e,*e]\n";
	enum { BIG = 10 << 20, MOST = 1 << 20 };
	char *big = malloc(BIG);

	(void)state;
	assert_non_null(big);
	memset(big, '[', BIG);
	refuse_bytes(big, MOST, "s.yaml:1:33: nested deeper than 32 levels");
	refuse_bytes(big, BIG, "s.yaml:1:1: the file is larger than 1024 KiB");
	for (size_t i = 0; i + 1 < MOST; i += 2)
		memcpy(big + i, "- ", 2);
	refuse_bytes(big, MOST, "s.yaml:1:65: nested deeper than 32 levels");
	memset(big, 'x', MOST);
	refuse_bytes(big, MOST, "s.yaml:1:1: a text longer than 4096 bytes");
	memcpy(big, "a: [", 4);
	for (size_t i = 4; i + 1 < MOST; i += 2)
		memcpy(big + i, "x,", 2);
	refuse_bytes(big, MOST, "s.yaml:1:399999: more than 200000 values");
	free(big);
	refuse(bomb, "s.yaml:6:11: aliases expand to more than 200000 values");
	refuse("a: &a [*a]\n", "s.yaml:1:8: '*a' would contain itself");
	refuse("a: *b\n", "s.yaml:1:4: no anchor '&b' above");
	refuse("a: {<<: x}\n", "s.yaml:1:5: '<<' wants a map, not a text");
	refuse("a: {<<: {b: 1}, <<: {b: 2}}\n", "s.yaml:1:17: '<<' appears twice");
}

static void a_lab_file_is_a_lab(void **state)
{
	static const char text[] = "about: Two\nnodes: [a, b]\nlinks: [{ends: [a, b]}]\n";
	struct suite *suite = NULL;
	struct err err;

	(void)state;
	assert_int_equal(suite_parse_lab("labs/two.yaml", text, strlen(text), &suite, &err), 0);
	assert_string_equal(suite->labs[0].name, "two");
	assert_int_equal(suite->labs[0].n_links, 1);
	assert_int_equal(suite->n_cases, 0);
	suite_free(suite);
	assert_int_equal(suite_parse_lab("two", "cases: []", 9, &suite, &err), -EINVAL);
	assert_string_equal(err.text, "two:1:1: this is a suite, not a lab: netbench run two");
}

static void files_that_cannot_be_read(void **state)
{
	struct suite *suite = NULL;
	struct err err;

	(void)state;
	assert_int_equal(suite_read("/nonexistent/x.yaml", &suite, &err), -ENOENT);
	assert_string_equal(err.text,
			    "cannot read '/nonexistent/x.yaml': No such file or directory");
	assert_int_equal(suite_read("/", &suite, &err), -EISDIR);
	assert_string_equal(err.text, "cannot read '/': Is a directory");
	assert_int_equal(suite_read("/dev/zero", &suite, &err), -EINVAL);
	assert_string_equal(err.text, "/dev/zero:1:1: the file is larger than 1024 KiB");
	assert_int_equal(suite_read("/dev/null", &suite, &err), -EINVAL);
	assert_string_equal(err.text, "/dev/null:1:1: the file is empty");
}

static void refuse_adhoc(const char *load, char *setting, const char *sentence)
{
	const struct adhoc words = {.load = load, .settings = &setting, .n_settings = 1};
	struct suite *suite = NULL;
	struct err err = {0};

	assert_int_equal(suite_adhoc(&words, NULL, &suite, &err), -EINVAL);
	assert_string_equal(err.text, sentence);
}

static void the_command_line_makes_a_suite(void **state)
{
	char *settings[] = {"streams=8",       "rate=1Mbit/s",	   "duration=1s",
			    "link.*.mtu=9000", "link.offloads=tx", "node.a.forward=yes"};
	const struct adhoc words = {.load = "tcp", .settings = settings, .n_settings = 6};
	struct suite *suite = NULL;
	const struct stream_cfg *cfg;
	struct err err = {0};

	(void)state;
	if (suite_adhoc(&words, NULL, &suite, &err))
		fail_msg("%s", err.text);
	cfg = suite->cases[0].main.cfg;
	assert_string_equal(suite->cases[0].name, "tcp");
	assert_int_equal(cfg->streams, 8);
	assert_int_equal(suite->cases[0].timing.duration_ns, 1000000000);
	assert_int_equal(suite->cases[0].timing.repeat, 3);
	assert_int_equal(suite->labs[0].links[0].mtu, 9000);
	assert_int_equal(suite->labs[0].links[0].offloads, 1);
	assert_true(suite->labs[0].nodes[0].forward);
	suite_free(suite);
	refuse_adhoc("tcpp", "a=b", "no load 'tcpp'; did you mean 'tcp'?");
	refuse_adhoc("tcp", "streams", "'streams' is not of the form key=value");
	refuse_adhoc("tcp", "steams=1",
		     "load 'tcp' has no option 'steams'; did you mean 'streams'?");
	refuse_adhoc("tcp", "durations=1",
		     "load 'tcp' has no option 'durations'; did you mean 'duration'?");
	refuse_adhoc("tcp", "streams=0", "'streams' wants a number from 1 to 1024, not '0'");
	refuse_adhoc("tcp", "link.*.mut=1",
		     "'link.*.mut': link 'a-b' has no option 'mut'; did you mean 'mtu'?");
	refuse_adhoc("tcp", "node.c.forward=yes", "'node.c.forward': no node 'c'");
	refuse_adhoc("tcp", "lnk.mtu=1500", "no setting 'lnk.mtu'; did you mean 'link'?");
	refuse_adhoc("tcp", "=1", "load 'tcp' has no option ''");
	refuse_adhoc("tcp", "lab=routed", "the lab is chosen with --lab, not 'lab='");
}

static void the_command_line_may_bring_a_lab(void **state)
{
	static const char text[] = "nodes: [x, y]\nlinks: [{ends: [x, z]}]\n";
	struct suite *suite = NULL, *lab = NULL;
	char *settings[] = {"from=y", "link.mtu=9000"};
	struct adhoc words = {.load = "tcp"};
	struct err err = {0};

	(void)state;
	assert_int_equal(suite_parse_lab("l.yaml", text, strlen(text), &lab, &err), 0);
	assert_int_equal(suite_adhoc(&words, lab, &suite, &err), -EINVAL);
	assert_memory_equal(err.text, "l.yaml:2:9: ", 12);
	assert_int_equal(suite_parse_lab("l.yaml", "{nodes: [x, y], links: [{ends: [x, y]}]}", 40,
					 &lab, &err),
			 0);
	words.settings = settings;
	words.n_settings = 2;
	if (suite_adhoc(&words, lab, &suite, &err))
		fail_msg("%s", err.text);
	assert_string_equal(suite->labs[0].name, "l");
	assert_int_equal(suite->labs[0].links[0].mtu, 9000);
	assert_string_equal(suite->labs[0].mark.file, "l.yaml");
	suite_free(suite);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_part_is_read),
		cmocka_unit_test(a_suite_without_labs_has_a_pair),
		cmocka_unit_test(aliases_and_merge_keys_are_resolved),
		cmocka_unit_test(the_whole_file_may_be_wrong),
		cmocka_unit_test(keys_values_and_types_are_checked),
		cmocka_unit_test(cases_are_checked),
		cmocka_unit_test(hostile_files_are_cheap_to_refuse),
		cmocka_unit_test(a_lab_file_is_a_lab),
		cmocka_unit_test(files_that_cannot_be_read),
		cmocka_unit_test(the_command_line_makes_a_suite),
		cmocka_unit_test(the_command_line_may_bring_a_lab),
	};

	return cmocka_run_group_tests_name("suite", tests, NULL, NULL);
}
