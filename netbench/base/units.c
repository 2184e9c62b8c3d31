/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns how numbers with units are written for people. */
#include "base/units.h"

#include <math.h>
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

static void format_scaled(double value, const struct scale *scale, char *buf, size_t len)
{
	const char *const *prefix = scale->prefixes;
	double magnitude = fabs(value);
	int decimals;

	/*
	 * 999.4 stays "999", but 999.5 would be printed as "1000" and has to become "1.00 k": the
	 * step is taken by what would be printed.
	 */
	while (magnitude >= 999.5 && prefix[1]) {
		magnitude /= 1000;
		prefix++;
	}
	decimals = decimals_of(magnitude);
	/* Nothing smaller than the unit was measured: "807 ns", "3 B" rather than "3.00 B". */
	if (prefix == scale->prefixes && magnitude == rint(magnitude))
		decimals = 0;
	snprintf(buf, len, "%s%.*f%s%s%s", minus(value), decimals, magnitude,
		 **prefix || *scale->suffix ? " " : "", *prefix, scale->suffix);
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

void unit_format(double value, const char *unit, char *buf, size_t len)
{
	struct scale other = {unit, unit, none};
	const struct scale *scale = &other;

	if (isnan(value)) {
		snprintf(buf, len, "–");
		return;
	}
	if (!strcmp(unit, "ratio")) {
		format_ratio(value, buf, len);
		return;
	}
	for (size_t i = 0; i < sizeof(scales) / sizeof(*scales); i++)
		if (!strcmp(unit, scales[i].unit))
			scale = &scales[i];
	format_scaled(value, scale, buf, len);
}
