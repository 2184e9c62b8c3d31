/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Holds printed figures to what a reader expects, above all where a prefix changes. */
#include "base/units.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct sample {
	double value;
	const char *unit, *text;
};

static void check(const struct sample *samples, size_t n)
{
	char text[64];

	for (size_t i = 0; i < n; i++) {
		unit_format(samples[i].value, samples[i].unit, text, sizeof(text));
		if (strcmp(text, samples[i].text))
			fail_msg("%.17g %s is \"%s\", not \"%s\"", samples[i].value,
				 samples[i].unit, text, samples[i].text);
	}
}

#define CHECK(samples) check(samples, sizeof(samples) / sizeof(*(samples)))

static void every_unit(void **state)
{
	static const struct sample samples[] = {
		{20.9e9, "bit/s", "20.9 Gbit/s"},
		{7.1e6, "packet/s", "7.10 Mpps"},
		{2.02e9, "byte/s", "2.02 GB/s"},
		{64, "byte", "64 B"},
		{807, "ns", "807 ns"},
		{14200, "ns", "14.2 µs"},
		{2.5e6, "ns", "2.50 ms"},
		{61e9, "ns", "61.0 s"},
		{12345, "1/s", "12.3 k/s"},
		{42, "1/s", "42 /s"},
		{0.012, "ratio", "1.2 %"},
		{0.4213, "s/GB", "0.421 s/GB"},
		{17, "", "17"},
		{1234567, "", "1.23 M"},
		{3.5, "× real time", "3.50 × real time"},
	};

	(void)state;
	CHECK(samples);
}

static void prefix_edges(void **state)
{
	static const struct sample samples[] = {
		{999, "", "999"},
		{999.4, "", "999"},
		{999.5, "", "1.00 k"},
		{999.95, "", "1.00 k"},
		{1000, "", "1.00 k"},
		{9994, "", "9.99 k"},
		{9996, "", "10.0 k"},
		{99940, "", "99.9 k"},
		{99960, "", "100 k"},
		{999499, "", "999 k"},
		{999500, "", "1.00 M"},
		{999.6, "ns", "1.00 µs"},
		{999.6e9, "ns", "1000 s"},
		{86400e9, "ns", "86400 s"},
		{999.96e6, "bit/s", "1.00 Gbit/s"},
	};

	(void)state;
	CHECK(samples);
}

static void small_and_signed(void **state)
{
	static const struct sample samples[] = {
		{0, "bit/s", "0 bit/s"},   {-0.0, "bit/s", "0 bit/s"}, {0.4, "ns", "0.400 ns"},
		{0.9996, "ns", "1.00 ns"}, {9.995, "1/s", "10.0 /s"},  {-1500, "ns", "−1.50 µs"},
	};

	(void)state;
	CHECK(samples);
}

static void ratios(void **state)
{
	static const struct sample samples[] = {
		{0, "ratio", "0 %"},	      {1, "ratio", "100 %"},
		{0.9994, "ratio", "99.9 %"},  {0.9996, "ratio", "100 %"},
		{0.5, "ratio", "50.0 %"},     {-0.34, "ratio", "−34.0 %"},
		{0.001, "ratio", "0.1 %"},    {0.00034, "ratio", "0.034 %"},
		{5e-7, "ratio", "<0.0001 %"}, {12.5, "ratio", "1250 %"},
	};

	(void)state;
	CHECK(samples);
}

static void unknown_is_a_dash(void **state)
{
	const struct sample samples[] = {{NAN, "bit/s", "–"}, {NAN, "ratio", "–"}};

	(void)state;
	CHECK(samples);
}

static void a_short_buffer_is_not_overrun(void **state)
{
	char text[8];

	(void)state;
	memset(text, 'x', sizeof(text));
	unit_format(20.9e9, "bit/s", text, 5);
	assert_string_equal(text, "20.9");
	assert_int_equal(text[5], 'x');
}

static void an_error_in_the_scale_of_its_value(void **state)
{
	static const struct {
		double value, error;
		const char *unit, *text, *error_text;
	} samples[] = {
		{421.37, 6.2, "ns", "421 ns", "6"},
		{4.12, 0.2, "ns", "4.12 ns", "0.20"},
		{-1353, 12, "ns", "−1.35 µs", "0.01"},
		{141, 0.31, "ns", "141 ns", "0.3"},
		{807, 0, "ns", "807 ns", "0"},
		{0, 0, "ns", "0 ns", "0"},
		{0.5, 3.5, "ns", "0.50 ns", "3.50"},
		{12.3, 1300, "ns", "0.01 µs", "1.30"},
		{1.24e6, 15e3, "packet/s", "1.24 Mpps", "0.01"},
		{1234, 17.5, "", "1.23 k", "0.02"},
		{17.5, 2, "", "17.5", "2.0"},
		{0.05, 0.012, "ratio", "5.0 %", "1.2"},
		{17, NAN, "ns", "17 ns", "–"},
		{NAN, 1, "ns", "–", "–"},
	};
	char text[64], error[64];

	(void)state;
	for (size_t i = 0; i < sizeof(samples) / sizeof(*samples); i++) {
		unit_format_error(samples[i].value, samples[i].error, samples[i].unit, text, error,
				  sizeof(text));
		if (strcmp(text, samples[i].text) || strcmp(error, samples[i].error_text))
			fail_msg("%g %s is \"%s\" ± \"%s\", not \"%s\" ± \"%s\"", samples[i].value,
				 samples[i].unit, text, error, samples[i].text,
				 samples[i].error_text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_unit),
		cmocka_unit_test(prefix_edges),
		cmocka_unit_test(small_and_signed),
		cmocka_unit_test(ratios),
		cmocka_unit_test(unknown_is_a_dash),
		cmocka_unit_test(a_short_buffer_is_not_overrun),
		cmocka_unit_test(an_error_in_the_scale_of_its_value),
	};

	return cmocka_run_group_tests_name("units", tests, NULL, NULL);
}
