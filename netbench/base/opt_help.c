/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns how an option is described in words: in help, in the manual and in complaints. */
#include <string.h>

#include "base/opt.h"

const char *opt_type_text(const struct opt *opt)
{
	static const char *const names[] = {
		[OPT_BOOL] = "",	 [OPT_COUNT] = "N",   [OPT_SIZE] = "SIZE",
		[OPT_TIME] = "TIME",	 [OPT_RATE] = "RATE", [OPT_RATIO] = "RATIO",
		[OPT_CHOICE] = "CHOICE", [OPT_SET] = "SET",   [OPT_TEXT] = "TEXT",
		[OPT_LIST] = "TEXT",
	};

	return opt->metavar ? opt->metavar : names[opt->type];
}

static bool has_range(const struct opt *opt)
{
	/* No rate is 0, so that goes without saying. */
	if (opt->type == OPT_RATE && opt->min <= 1 && !opt->max)
		return false;
	return opt->type >= OPT_COUNT && opt->type <= OPT_RATIO && (opt->min || opt->max);
}

/* A bound is written as a value of the option would be; that of a rate has no unit. */
static void write_bound(const struct opt *opt, uint64_t bound, char *buf, size_t len)
{
	const struct opt alike = {.type = opt->type == OPT_RATE ? OPT_COUNT : opt->type};
	const double ratio = (double)bound / 1e6;

	opt_text(&alike, opt->type == OPT_RATIO ? (const void *)&ratio : &bound, buf, len);
}

void opt_range_text(const struct opt *opt, char *buf, size_t len)
{
	char low[32], high[32];
	size_t at = 0;

	if (!len)
		return;
	buf[0] = '\0';
	for (size_t i = 0; opt->choices && opt->choices[i] && at < len; i++)
		at += (size_t)snprintf(buf + at, len - at, "%s%s", i ? ", " : "", opt->choices[i]);
	if (!has_range(opt))
		return;
	write_bound(opt, opt->min, low, sizeof(low));
	write_bound(opt, opt->max, high, sizeof(high));
	if (opt->max)
		snprintf(buf, len, "%s to %s", low, high);
	else
		snprintf(buf, len, "%s or more", low);
}

void opt_wants_text(const struct opt *opt, char *buf, size_t len)
{
	static const char *const nouns[] = {
		[OPT_BOOL] = "yes or no",
		[OPT_COUNT] = "a number",
		[OPT_SIZE] = "a size",
		[OPT_TIME] = "a time",
		[OPT_RATE] = "'max' or a rate such as 100kpps or 1Gbit/s",
		[OPT_RATIO] = "a ratio such as 0.5% or 0.005",
		[OPT_CHOICE] = "one of",
		[OPT_SET] = "'on', 'off' or some of",
		[OPT_TEXT] = "a text",
		[OPT_LIST] = "a text",
	};
	char range[192];

	opt_range_text(opt, range, sizeof(range));
	if (!range[0] && opt->type == OPT_TIME)
		snprintf(buf, len, "a time such as 500ms");
	else if (!range[0])
		snprintf(buf, len, "%s", nouns[opt->type]);
	else
		snprintf(buf, len, "%s %s%s", nouns[opt->type],
			 has_range(opt) && opt->max ? "from "
			 : has_range(opt)	    ? "of "
						    : "",
			 range);
}

enum { LEFT_MAX = 26, WIDTH = 80 };

static int write_left(const struct opt *opt, char *buf, size_t len)
{
	const char *type = opt_type_text(opt);
	/* A flag that is on by default is only ever turned off. */
	const char *no = opt->type == OPT_BOOL && opt->def && !strcmp(opt->def, "yes") ? "no-" : "";
	char letter[8] = "    ";

	if (opt->letter)
		snprintf(letter, sizeof(letter), "-%c, ", opt->letter);
	return snprintf(buf, len, "  %s--%s%s%s%s", letter, no, opt->name, *type ? " " : "", type);
}

static void write_right(const struct opt *opt, char *buf, size_t len)
{
	const char *def = opt->type == OPT_BOOL || !opt->def || !*opt->def ? NULL : opt->def;
	char range[256];
	size_t at;

	opt_range_text(opt, range, sizeof(range));
	at = (size_t)snprintf(buf, len, "%s", opt->help ? opt->help : "");
	if (at >= len || (!range[0] && !def))
		return;
	snprintf(buf + at, len - at, " (%s%s%s%s)", range, range[0] && def ? "; " : "",
		 def ? "default " : "", def ? def : "");
}

static void wrap(const char *text, int column, FILE *out)
{
	int room = WIDTH - column;

	while (*text) {
		int n = (int)strlen(text), cut = n;

		if (n > room) {
			for (cut = room; cut > 0 && text[cut] != ' '; cut--)
				;
			if (!cut)
				cut = (int)strcspn(text, " ");
		}
		fprintf(out, "%.*s\n", cut, text);
		text += cut;
		text += strspn(text, " ");
		if (*text)
			fprintf(out, "%*s", column, "");
	}
}

void opts_help(const struct opt *opts, FILE *out)
{
	char left[96], right[512];
	int column = 0;

	for (const struct opt *opt = opts; opt->name; opt++) {
		int n = write_left(opt, left, sizeof(left)) + 2;

		if (n > column && n <= LEFT_MAX + 2)
			column = n;
	}
	for (const struct opt *opt = opts; opt->name; opt++) {
		int n = write_left(opt, left, sizeof(left));

		write_right(opt, right, sizeof(right));
		if (n + 2 > column)
			fprintf(out, "%s\n%*s", left, column, "");
		else
			fprintf(out, "%-*s", column, left);
		if (*right)
			wrap(right, column, out);
		else
			fputc('\n', out);
	}
}
