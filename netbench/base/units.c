/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns how numbers with units are written for people. */
#include "base/units.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* The text after the number is a prefix and the suffix: "G" "bit/s". */
struct scale {
	const char *unit, *suffix;
	const char *const *prefixes; /* each stands for 1000 of the one before */
};

static const char *const upward[] = {"", "k", "M", "G", "T", "P", "E", NULL};
static const char *const times[] = {"ns", "µs", "ms", "s", NULL};
static const char *const none[] = {"", NULL};

static const struct scale scales[] = {
	{"bit/s", "bit/s", upward}, {"packet/s", "pps", upward}, {"byte", "B", upward},
	{"byte/s", "B/s", upward},  {"1/s", "/s", upward},	 {"ns", "", times},
	{"", "", upward},
};

/* How many decimals show three significant digits. */
static int decimals_of(double magnitude)
{
	if (magnitude < 0.9995)
		return 3;
	if (magnitude < 9.995)
		return 2;
	return magnitude < 99.95 ? 1 : 0;
}

static const char *minus(double value)
{
	return value < 0 ? "−" : "";
}

/*
 * How often 1000 goes into the value. 999.4 stays "999", but 999.5 would be printed as "1000" and
 * has to become "1.00 k": the step is taken by what would be printed.
 */
static unsigned int steps_of(double value, const struct scale *scale)
{
	unsigned int steps = 0;

	for (value = fabs(value); value >= 999.5 && scale->prefixes[steps + 1]; value /= 1000)
		steps++;
	return steps;
}

static void format_steps(double value, const struct scale *scale, unsigned int steps, int decimals,
			 char *buf, size_t len)
{
	const char *prefix = scale->prefixes[steps];

	snprintf(buf, len, "%s%.*f%s%s%s", minus(value), decimals, fabs(value) / pow(1000, steps),
		 *prefix || *scale->suffix ? " " : "", prefix, scale->suffix);
}

static void format_scaled(double value, const struct scale *scale, char *buf, size_t len)
{
	const unsigned int steps = steps_of(value, scale);
	int decimals = decimals_of(fabs(value) / pow(1000, steps));

	/* Nothing smaller than the unit was measured: "807 ns", "3 B" rather than "3.00 B". */
	if (!steps && value == rint(value))
		decimals = 0;
	format_steps(value, scale, steps, decimals, buf, len);
}

/*
 * A tenth of a percent is as much as a spread deserves; but small losses matter, so below that two
 * significant digits are kept, down to one in a million.
 */
static void format_ratio(double value, char *buf, size_t len)
{
	double percent = fabs(value) * 100;

	if (percent == 0)
		snprintf(buf, len, "0 %%");
	else if (percent < 0.0001)
		snprintf(buf, len, "%s<0.0001 %%", minus(value));
	else if (percent < 0.0995)
		snprintf(buf, len, "%s%.2g %%", minus(value), percent);
	else
		snprintf(buf, len, "%s%.*f %%", minus(value), percent < 99.95 ? 1 : 0, percent);
}

static struct scale scale_of(const char *unit)
{
	for (size_t i = 0; i < sizeof(scales) / sizeof(*scales); i++)
		if (!strcmp(unit, scales[i].unit))
			return scales[i];
	return (struct scale){unit, unit, none};
}

void unit_format(double value, const char *unit, char *buf, size_t len)
{
	const struct scale scale = scale_of(unit);

	if (isnan(value)) {
		snprintf(buf, len, "–");
		return;
	}
	if (!strcmp(unit, "ratio")) {
		format_ratio(value, buf, len);
		return;
	}
	format_scaled(value, &scale, buf, len);
}

static void format_digits(double value, int decimals, char *buf, size_t len)
{
	if (value < 0.5 * pow(10, -decimals))
		snprintf(buf, len, "%.1g", value);
	else
		snprintf(buf, len, "%.*f", decimals, value);
}

void unit_format_error(double value, double error, const char *unit, char *ret_value,
		       char *ret_error, size_t len)
{
	const struct scale scale = scale_of(unit);
	const double larger = fmax(fabs(value), error); /* the other one if one is NaN */
	const bool whole = value == rint(value) && error == rint(error);
	unsigned int steps;
	int decimals;

	unit_format(value, unit, ret_value, len);
	snprintf(ret_error, len, "–");
	if (isnan(value) || isnan(error))
		return;
	if (!strcmp(unit, "ratio")) {
		format_digits(error * 100, 1, ret_error, len);
		return;
	}
	steps = steps_of(larger, &scale);
	decimals = whole && !steps ? 0 : decimals_of(larger / pow(1000, steps));
	format_steps(value, &scale, steps, decimals, ret_value, len);
	format_digits(error / pow(1000, steps), decimals, ret_error, len);
}
