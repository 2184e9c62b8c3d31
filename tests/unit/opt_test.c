/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests base/opt.c, opt_argv.c, opt_help.c and nearest.c. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/opt.h"

struct all {
	bool flag, on;
	uint64_t count, size, time;
	struct rate rate;
	double ratio;
	int choice;
	uint64_t set;
	char *text;
	struct texts list;
};

static const char *const sides[] = {"left", "right", "both", NULL};
static const char *const features[] = {"tx", "rx", "tso", NULL};

#define FIELD(f) offsetof(struct all, f)

static const struct opt opts[] = {
	{.name = "flag", .type = OPT_BOOL, .offset = FIELD(flag), .letter = 'f', .help = "a flag"},
	{.name = "on", .type = OPT_BOOL, .offset = FIELD(on), .def = "yes", .letter = 'o'},
	{.name = "count", .type = OPT_COUNT, .offset = FIELD(count), .def = "7", .max = 1000000},
	{.name = "size", .type = OPT_SIZE, .offset = FIELD(size), .def = "64Ki", .letter = 's'},
	{.name = "time",
	 .type = OPT_TIME,
	 .offset = FIELD(time),
	 .def = "3s",
	 .min = 10000000,
	 .max = UINT64_C(86400000000000),
	 .letter = 't',
	 .help = "how long"},
	{.name = "rate", .type = OPT_RATE, .offset = FIELD(rate), .def = "max", .min = 1},
	{.name = "ratio", .type = OPT_RATIO, .offset = FIELD(ratio), .max = 500000},
	{.name = "choice", .type = OPT_CHOICE, .offset = FIELD(choice), .choices = sides},
	{.name = "set", .type = OPT_SET, .offset = FIELD(set), .choices = features},
	{.name = "text", .type = OPT_TEXT, .offset = FIELD(text), .metavar = "NODE"},
	{.name = "list", .type = OPT_LIST, .offset = FIELD(list), .letter = 'l'},
	{0},
};

static void put(struct all *all, const char *name, const char *text)
{
	struct err err;

	if (opt_set(opts_find(opts, name), all, text, &err))
		fail_msg("%s", err.text);
}

static void refused(const char *name, const char *text, const char *sentence)
{
	struct all all = {0};
	struct err err = {0};

	assert_int_equal(opt_set(opts_find(opts, name), &all, text, &err), -EINVAL);
	assert_string_equal(err.text, sentence);
	opts_release(opts, &all);
}

/* The text, read and written again; and read and written once more. */
static void becomes(const char *name, const char *text, const char *written)
{
	const struct opt *opt = opts_find(opts, name);
	struct all all = {0};
	char buf[128];

	put(&all, name, text);
	opt_text(opt, &all, buf, sizeof(buf));
	assert_string_equal(buf, written);
	if (opt->type != OPT_LIST) {
		put(&all, name, buf);
		opt_text(opt, &all, buf, sizeof(buf));
		assert_string_equal(buf, written);
	}
	opts_release(opts, &all);
}

static void values_round_trip(void **state)
{
	(void)state;
	becomes("flag", "on", "yes");
	becomes("flag", "TRUE", "yes");
	becomes("flag", "0", "no");
	becomes("count", "1.5k", "1500");
	becomes("count", "0", "0");
	becomes("size", "1500", "1500");
	becomes("size", "1.5Ki", "1536");
	becomes("size", "2M", "2Mi");
	becomes("size", "3GiB", "3Gi");
	becomes("size", "4096", "4Ki");
	becomes("time", "2", "2s");
	becomes("time", "0.25", "250ms");
	becomes("time", "90s", "90s");
	becomes("time", "120 s", "2min");
	becomes("time", "1.5h", "90min");
	becomes("time", "10000001ns", "10000001ns");
	becomes("time", "20000µs", "20ms");
	becomes("rate", "max", "max");
	becomes("rate", "100kpps", "100kpps");
	becomes("rate", "1.5Gbit/s", "1500Mbit/s");
	becomes("rate", "7 Mbps", "7Mbit/s");
	becomes("rate", "12packet/s", "12pps");
	becomes("ratio", "0.5%", "0.5%");
	becomes("ratio", "0.005", "0.5%");
	becomes("ratio", "0.1", "10%");
	becomes("ratio", "33.3333333 %", "33.3333333%");
	becomes("ratio", "0", "0%");
	becomes("choice", "right", "right");
	becomes("set", "off", "off");
	becomes("set", "on", "on");
	becomes("set", "tso,tx", "tx,tso");
	becomes("set", "tx, rx, tso", "on");
	becomes("text", "", "");
	becomes("text", "a b", "a b");
	becomes("list", "x", "x");
}

static void wrong_values_say_what_is_wanted(void **state)
{
	(void)state;
	refused("flag", "maybe", "'flag' wants yes or no, not 'maybe'");
	refused("count", "-1", "'count' wants a number from 0 to 1000000, not '-1'");
	refused("count", "", "'count' wants a number from 0 to 1000000, not ''");
	refused("count", "1.0005k", "'count' wants a number from 0 to 1000000, not '1.0005k'");
	refused("count", "2M", "'count' wants a number from 0 to 1000000, not '2M'");
	refused("count", "99999999999999999999999",
		"'count' wants a number from 0 to 1000000, not '99999999999999999999999'");
	refused("size", "20000000000Gi", "'size' wants a size, not '20000000000Gi'");
	refused("size", "4x", "'size' wants a size, not '4x'");
	refused("size", "0x10", "'size' wants a size, not '0x10'");
	refused("time", "10m", "'time' wants a time from 10ms to 24h, not '10m'");
	refused("time", "0", "'time' wants a time from 10ms to 24h, not '0'");
	refused("time", "25h", "'time' wants a time from 10ms to 24h, not '25h'");
	refused("time", "1.", "'time' wants a time from 10ms to 24h, not '1.'");
	refused("ratio", "50.1%",
		"'ratio' wants a ratio such as 0.5% or 0.005 from 0% to 50%, not '50.1%'");
	refused("ratio", "-1%",
		"'ratio' wants a ratio such as 0.5% or 0.005 from 0% to 50%, not '-1%'");
	refused("ratio", "1%%",
		"'ratio' wants a ratio such as 0.5% or 0.005 from 0% to 50%, not '1%%'");
	refused("rate", "0pps",
		"'rate' wants 'max' or a rate such as 100kpps or 1Gbit/s, not '0pps'");
	refused("rate", "10k",
		"'rate' wants 'max' or a rate such as 100kpps or 1Gbit/s, not '10k'");
	refused("rate", "0.5pps",
		"'rate' wants 'max' or a rate such as 100kpps or 1Gbit/s, not '0.5pps'");
	refused("choice", "rihgt",
		"'choice' wants one of left, right, both, not 'rihgt'; did you mean 'right'?");
	refused("set", "tx,,rx", "'set' wants 'on', 'off' or some of tx, rx, tso, not 'tx,,rx'");
	refused("set", "tx,ts",
		"'set' wants 'on', 'off' or some of tx, rx, tso, not 'tx,ts'; did you mean 'tx'?");
}

static void a_refused_value_changes_nothing(void **state)
{
	struct all all = {.count = 5};
	struct err err;

	(void)state;
	put(&all, "text", "kept");
	assert_int_equal(opt_set(opts_find(opts, "count"), &all, "x", &err), -EINVAL);
	assert_int_equal(all.count, 5);
	assert_string_equal(all.text, "kept");
	opts_release(opts, &all);
	assert_null(all.text);
}

static void long_values_are_quoted_in_part(void **state)
{
	char text[600];
	struct err err;
	struct all all = {0};

	(void)state;
	for (size_t i = 0; i + 2 < sizeof(text); i += 2)
		memcpy(text + i, "ä", 3);
	memmove(text + 1, text, sizeof(text) - 2);
	text[0] = 'x';
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(opt_set(opts_find(opts, "flag"), &all, text, &err), -EINVAL);
	assert_true(strlen(err.text) < 120);
	/* 64 bytes would end inside a character. */
	assert_memory_equal(err.text + strlen(err.text) - 3, "ä'", 3);
	assert_int_equal(strlen(err.text), strlen("'flag' wants yes or no, not ''") + 63);
}

static void defaults_and_copies(void **state)
{
	struct all all = {0}, copy;
	struct err err;

	(void)state;
	assert_int_equal(opts_default(opts, &all, &err), 0);
	assert_true(all.on);
	assert_int_equal(all.count, 7);
	assert_int_equal(all.size, 65536);
	assert_int_equal(all.time, UINT64_C(3000000000));
	assert_int_equal(all.rate.unit, RATE_MAX);
	assert_null(all.text);
	put(&all, "text", "first");
	put(&all, "list", "one");
	put(&all, "list", "two");
	assert_int_equal(opts_copy(opts, sizeof(copy), &copy, &all), 0);
	put(&all, "text", "second");
	opts_release(opts, &all);
	assert_string_equal(copy.text, "first");
	assert_int_equal(copy.list.n, 2);
	assert_string_equal(copy.list.list[1], "two");
	assert_int_equal(copy.count, 7);
	opts_release(opts, &copy);
}

static void a_guess_is_near_or_none(void **state)
{
	static const char *const names[] = {"streams", "threads", "size", "offloads", "mtu"};

	(void)state;
	assert_string_equal(name_nearest(names, 5, "steams"), "streams");
	assert_string_equal(name_nearest(names, 5, "sizes"), "size");
	assert_string_equal(name_nearest(names, 5, "tmu"), "mtu");
	assert_string_equal(name_nearest(names, 5, "off"), "offloads");
	assert_null(name_nearest(names, 5, "xyz"));
	assert_null(name_nearest(names, 5, ""));
	assert_null(
		name_nearest(names, 5, "a-word-that-is-much-longer-than-any-name-there-could-be"));
	assert_null(name_nearest(NULL, 0, "streams"));
	assert_string_equal(opts_nearest(opts, "cuont"), "count");
}

static int parse(struct all *all, int argc, char **argv, bool stop, struct err *err)
{
	memset(all, 0, sizeof(*all));
	return opts_argv(opts, all, argc, argv, stop, err);
}

static void the_command_line_sets_options(void **state)
{
	char *argv[] = {"one", "--count", "3",	 "--no-on", "-f",  "--text=x=y", "two", "-t5",
			"-l",  "a",	  "-lb", "--list",  "c=d", "-",		 "--",	"-f"};
	struct all all;
	struct err err;

	(void)state;
	all.on = true;
	assert_int_equal(parse(&all, 16, argv, false, &err), 4);
	assert_string_equal(argv[0], "one");
	assert_string_equal(argv[1], "two");
	assert_string_equal(argv[2], "-");
	assert_string_equal(argv[3], "-f");
	assert_int_equal(all.count, 3);
	assert_true(all.flag);
	assert_false(all.on);
	assert_string_equal(all.text, "x=y");
	assert_int_equal(all.time, UINT64_C(5000000000));
	assert_int_equal(all.list.n, 3);
	assert_string_equal(all.list.list[2], "c=d");
	opts_release(opts, &all);
}

static void options_end_at_the_first_operand_on_request(void **state)
{
	char *argv[] = {"-fo", "node", "ls", "-f", "--count", "x"};
	struct all all;
	struct err err;

	(void)state;
	assert_int_equal(parse(&all, 6, argv, true, &err), 5);
	assert_true(all.flag && all.on);
	assert_string_equal(argv[2], "-f");
	opts_release(opts, &all);
}

static void command_line_fails(const char *arg, const char *next, const char *sentence)
{
	char *argv[] = {(char *)arg, (char *)next};
	struct all all;
	struct err err;

	assert_int_equal(parse(&all, next ? 2 : 1, argv, false, &err), -EINVAL);
	assert_string_equal(err.text, sentence);
	opts_release(opts, &all);
}

static void command_line_mistakes_are_explained(void **state)
{
	char name[200];

	(void)state;
	command_line_fails("--cuont", "1", "unknown option '--cuont'; did you mean '--count'?");
	command_line_fails("--zzzzz=1", NULL, "unknown option '--zzzzz'");
	command_line_fails("-x", NULL, "unknown option '-x' in '-x'");
	command_line_fails("--count", NULL, "'--count' needs a value");
	command_line_fails("-t", NULL, "'-t' needs a value");
	command_line_fails("--no-on=1", NULL, "'--no-on' takes no value");
	command_line_fails("--no-count", "1",
			   "unknown option '--no-count'; did you mean '--count'?");
	command_line_fails("--flag=perhaps", NULL, "'flag' wants yes or no, not 'perhaps'");
	memset(name, 'n', sizeof(name));
	memcpy(name, "--", 2);
	name[sizeof(name) - 1] = '\0';
	command_line_fails(name, NULL,
			   "unknown option '--nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
			   "nnnnnnnnnnnnn'");
}

static void help_is_aligned_and_complete(void **state)
{
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	(void)state;
	opts_help(opts, out);
	fclose(out);
	assert_non_null(strstr(text, "  -f, --flag           a flag\n"));
	assert_non_null(
		strstr(text, "  -t, --time TIME      how long (10ms to 24h; default 3s)\n"));
	assert_non_null(strstr(text, "  -o, --no-on"));
	assert_non_null(strstr(text, "      --text NODE"));
	assert_non_null(strstr(text, "(left, right, both)"));
	free(text);
}

static void types_and_ranges_in_words(void **state)
{
	char buf[128];

	(void)state;
	assert_string_equal(opt_type_text(opts_find(opts, "text")), "NODE");
	assert_string_equal(opt_type_text(opts_find(opts, "flag")), "");
	assert_string_equal(opt_type_text(opts_find(opts, "size")), "SIZE");
	opt_range_text(opts_find(opts, "time"), buf, sizeof(buf));
	assert_string_equal(buf, "10ms to 24h");
	opt_range_text(opts_find(opts, "size"), buf, sizeof(buf));
	assert_string_equal(buf, "");
	opt_range_text(opts_find(opts, "set"), buf, sizeof(buf));
	assert_string_equal(buf, "tx, rx, tso");
	opt_range_text(opts_find(opts, "set"), buf, 5);
	assert_string_equal(buf, "tx, ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_round_trip),
		cmocka_unit_test(wrong_values_say_what_is_wanted),
		cmocka_unit_test(a_refused_value_changes_nothing),
		cmocka_unit_test(long_values_are_quoted_in_part),
		cmocka_unit_test(defaults_and_copies),
		cmocka_unit_test(a_guess_is_near_or_none),
		cmocka_unit_test(the_command_line_sets_options),
		cmocka_unit_test(options_end_at_the_first_operand_on_request),
		cmocka_unit_test(command_line_mistakes_are_explained),
		cmocka_unit_test(help_is_aligned_and_complete),
		cmocka_unit_test(types_and_ranges_in_words),
	};

	return cmocka_run_group_tests_name("opt", tests, NULL, NULL);
}
