/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the reading, writing, copying and freeing of values described by a struct opt. */
#include "base/opt.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct unit {
	const char *name;
	uint64_t factor;
};

/* opt_text writes the first unit that divides the value, so the aliases come after the factor 1. */
static const struct unit count_units[] = {
	{"", 1}, {"k", 1000}, {"K", 1000}, {"M", 1000000}, {"G", 1000000000}, {NULL, 0},
};

static const struct unit size_units[] = {
	{"Gi", 1ull << 30},  {"Mi", 1ull << 20},  {"Ki", 1ull << 10},  {"", 1},
	{"G", 1ull << 30},   {"M", 1ull << 20},	  {"K", 1ull << 10},   {"B", 1},
	{"GiB", 1ull << 30}, {"MiB", 1ull << 20}, {"KiB", 1ull << 10}, {NULL, 0},
};

#define SECOND UINT64_C(1000000000)

static const struct unit time_units[] = {
	{"h", 3600 * SECOND}, {"min", 60 * SECOND}, {"s", SECOND},
	{"ms", 1000000},      {"us", 1000},	    {"ns", 1},
	{"", SECOND},	      {"µs", 1000},	    {NULL, 0},
};

static const struct unit rate_prefixes[] = {
	{"G", 1000000000}, {"M", 1000000}, {"k", 1000}, {"", 1}, {NULL, 0},
};

static const struct rate_name {
	const char *name;
	enum rate_unit unit;
} rate_names[] = {
	{"pps", RATE_PPS},   {"packet/s", RATE_PPS}, {"packets/s", RATE_PPS},
	{"bit/s", RATE_BPS}, {"bps", RATE_BPS},	     {NULL, RATE_MAX},
};

static void *field(const struct opt *opt, void *cfg)
{
	return (char *)cfg + opt->offset;
}

static const void *field_const(const struct opt *opt, const void *cfg)
{
	return (const char *)cfg + opt->offset;
}

/* A decimal number, kept exact: digits * 10^-places. */
struct decimal {
	uint64_t whole, fraction, scale;
};

/* Returns the place after the number and the blanks behind it, or NULL. */
static const char *scan_decimal(const char *text, struct decimal *ret)
{
	struct decimal d = {.scale = 1};

	if (!isdigit((unsigned char)*text))
		return NULL;
	for (; isdigit((unsigned char)*text); text++)
		if (__builtin_mul_overflow(d.whole, UINT64_C(10), &d.whole) ||
		    __builtin_add_overflow(d.whole, (uint64_t)(*text - '0'), &d.whole))
			return NULL;
	if (*text == '.') {
		text++;
		if (!isdigit((unsigned char)*text))
			return NULL;
		for (; isdigit((unsigned char)*text); text++) {
			if (d.scale == UINT64_C(1000000000)) {
				if (*text != '0')
					return NULL;
				continue;
			}
			d.fraction = d.fraction * 10 + (uint64_t)(*text - '0');
			d.scale *= 10;
		}
	}
	while (*text == ' ')
		text++;
	*ret = d;
	return text;
}

/* d * factor, or -EINVAL when that is not a whole number or too large. */
static int scale(struct decimal d, uint64_t factor, uint64_t *ret)
{
	uint64_t whole, part;

	if (__builtin_mul_overflow(d.whole, factor, &whole))
		return -EINVAL;
	while (d.scale > 1 && d.fraction % 10 == 0) {
		d.fraction /= 10;
		d.scale /= 10;
	}
	if (__builtin_mul_overflow(d.fraction, factor, &part) || part % d.scale ||
	    __builtin_add_overflow(whole, part / d.scale, &whole))
		return -EINVAL;
	*ret = whole;
	return 0;
}

static int read_scaled(const char *text, const struct unit *units, uint64_t *ret)
{
	struct decimal d;

	text = scan_decimal(text, &d);
	if (!text)
		return -EINVAL;
	for (; units->name; units++)
		if (!strcmp(units->name, text))
			return scale(d, units->factor, ret);
	return -EINVAL;
}

static int read_rate(const char *text, struct rate *ret)
{
	const struct rate_name *name;
	const struct unit *prefix;
	struct rate rate = {0};
	struct decimal d;

	if (!strcmp(text, "max")) {
		*ret = rate;
		return 0;
	}
	text = scan_decimal(text, &d);
	if (!text)
		return -EINVAL;
	for (prefix = rate_prefixes; prefix->name; prefix++) {
		size_t len = strlen(prefix->name);

		if (strncmp(text, prefix->name, len) != 0)
			continue;
		for (name = rate_names; name->name; name++) {
			if (strcmp(text + len, name->name) != 0)
				continue;
			rate.unit = name->unit;
			if (scale(d, prefix->factor, &rate.value) || !rate.value)
				return -EINVAL;
			*ret = rate;
			return 0;
		}
	}
	return -EINVAL;
}

/* The division is rounded once, so "0.5%" and "0.005" are the same number. */
static int read_ratio(const char *text, double *ret)
{
	struct decimal d;
	double unit;

	text = scan_decimal(text, &d);
	if (!text || (*text && strcmp(text, "%") != 0) || d.whole > 1000000)
		return -EINVAL;
	unit = *text ? 100 : 1;
	*ret = (double)(d.whole * d.scale + d.fraction) / ((double)d.scale * unit);
	return 0;
}

static int read_bool(const char *text, bool *ret)
{
	static const char *const names[] = {"no", "yes", "false", "true", "off", "on", "0", "1"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (strcasecmp(text, names[i]) != 0)
			continue;
		*ret = i & 1;
		return 0;
	}
	return -EINVAL;
}

static size_t count_choices(const struct opt *opt)
{
	size_t n = 0;

	while (opt->choices && opt->choices[n])
		n++;
	return n;
}

static int find_choice(const struct opt *opt, const char *word, size_t len)
{
	for (size_t i = 0; i < count_choices(opt); i++)
		if (strlen(opt->choices[i]) == len && !strncmp(opt->choices[i], word, len))
			return (int)i;
	return -1;
}

static uint64_t full_set(const struct opt *opt)
{
	size_t n = count_choices(opt);

	return n >= 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1;
}

/* On failure *bad is the word that is not a choice. */
static int read_set(const struct opt *opt, const char *text, uint64_t *ret, const char **bad)
{
	uint64_t set = 0;

	if (!strcasecmp(text, "off") || !strcasecmp(text, "no") || !strcasecmp(text, "false"))
		set = 0;
	else if (!strcasecmp(text, "on") || !strcasecmp(text, "yes") || !strcasecmp(text, "true"))
		set = full_set(opt);
	else
		for (;;) {
			size_t len = strcspn(text, ",");
			int i = find_choice(opt, text, len);

			if (i < 0) {
				*bad = text;
				return -EINVAL;
			}
			set |= UINT64_C(1) << i;
			text += len;
			if (!*text)
				break;
			text++;
			text += strspn(text, " ");
		}
	*ret = set;
	return 0;
}

static bool in_range(const struct opt *opt, uint64_t value)
{
	return value >= opt->min && (!opt->max || value <= opt->max);
}

/* Bytes of text to quote in a message: a bounded number, never half a character. */
static int quote_len(const char *text)
{
	size_t n = strnlen(text, 64);

	if (n == 64)
		while (n && ((unsigned char)text[n] & 0xc0) == 0x80)
			n--;
	return (int)n;
}

static int refuse(const struct opt *opt, const char *text, const char *word, struct err *err)
{
	char wants[256];
	const char *near = NULL;

	opt_wants_text(opt, wants, sizeof(wants));
	if (word && count_choices(opt)) {
		char one[64];

		snprintf(one, sizeof(one), "%.*s", (int)strcspn(word, ","), word);
		near = name_nearest(opt->choices, count_choices(opt), one);
	}
	if (near)
		return err_set(err, EINVAL, "'%s' wants %s, not '%.*s'; did you mean '%s'?",
			       opt->name, wants, quote_len(text), text, near);
	return err_set(err, EINVAL, "'%s' wants %s, not '%.*s'", opt->name, wants, quote_len(text),
		       text);
}

static int set_number(const struct opt *opt, uint64_t *where, const char *text, struct err *err)
{
	const struct unit *units = opt->type == OPT_SIZE   ? size_units
				   : opt->type == OPT_TIME ? time_units
							   : count_units;
	uint64_t value;

	if (read_scaled(text, units, &value) || !in_range(opt, value))
		return refuse(opt, text, NULL, err);
	*where = value;
	return 0;
}

static int set_rate(const struct opt *opt, struct rate *where, const char *text, struct err *err)
{
	struct rate rate;

	if (read_rate(text, &rate) || (rate.unit != RATE_MAX && !in_range(opt, rate.value)))
		return refuse(opt, text, NULL, err);
	*where = rate;
	return 0;
}

static int set_ratio(const struct opt *opt, double *where, const char *text, struct err *err)
{
	double ratio;

	if (read_ratio(text, &ratio) || ratio * 1e6 < (double)opt->min ||
	    (opt->max && ratio * 1e6 > (double)opt->max))
		return refuse(opt, text, NULL, err);
	*where = ratio;
	return 0;
}

static int set_text(char **where, const char *text, struct err *err)
{
	char *copy = NULL;

	if (*text) {
		copy = strdup(text);
		if (!copy)
			return err_set(err, ENOMEM, "out of memory");
	}
	free(*where);
	*where = copy;
	return 0;
}

static int add_text(struct texts *where, const char *text, struct err *err)
{
	char *copy = strdup(text);
	char **list = copy ? reallocarray(where->list, where->n + 1, sizeof(*list)) : NULL;

	if (!list) {
		free(copy);
		return err_set(err, ENOMEM, "out of memory");
	}
	where->list = list;
	where->list[where->n++] = copy;
	return 0;
}

int opt_set(const struct opt *opt, void *cfg, const char *text, struct err *err)
{
	void *where = field(opt, cfg);
	const char *bad = text;
	int choice;

	switch (opt->type) {
	case OPT_BOOL:
		return read_bool(text, where) ? refuse(opt, text, NULL, err) : 0;
	case OPT_COUNT:
	case OPT_SIZE:
	case OPT_TIME:
		return set_number(opt, where, text, err);
	case OPT_RATE:
		return set_rate(opt, where, text, err);
	case OPT_RATIO:
		return set_ratio(opt, where, text, err);
	case OPT_CHOICE:
		choice = find_choice(opt, text, strlen(text));
		if (choice < 0)
			return refuse(opt, text, text, err);
		*(int *)where = choice;
		return 0;
	case OPT_SET:
		return read_set(opt, text, where, &bad) ? refuse(opt, text, bad, err) : 0;
	case OPT_TEXT:
		return set_text(where, text, err);
	case OPT_LIST:
		return add_text(where, text, err);
	}
	return err_set(err, EINVAL, "'%s' is of no known type", opt->name);
}

int opts_default(const struct opt *opts, void *cfg, struct err *err)
{
	for (const struct opt *opt = opts; opt->name; opt++) {
		int ret = opt->def ? opt_set(opt, cfg, opt->def, err) : 0;

		if (ret) {
			opts_release(opts, cfg);
			return ret;
		}
	}
	return 0;
}

void opts_release(const struct opt *opts, void *cfg)
{
	for (const struct opt *opt = opts; opt->name; opt++) {
		if (opt->type == OPT_TEXT) {
			char **text = field(opt, cfg);

			free(*text);
			*text = NULL;
		} else if (opt->type == OPT_LIST) {
			struct texts *texts = field(opt, cfg);

			while (texts->n)
				free(texts->list[--texts->n]);
			free(texts->list);
			texts->list = NULL;
		}
	}
}

int opts_copy(const struct opt *opts, size_t size, void *dst, const void *src)
{
	const struct opt *opt;
	int ret = 0;

	memcpy(dst, src, size);
	for (opt = opts; opt->name; opt++) {
		if (opt->type == OPT_TEXT)
			*(char **)field(opt, dst) = NULL;
		else if (opt->type == OPT_LIST)
			*(struct texts *)field(opt, dst) = (struct texts){0};
	}
	for (opt = opts; opt->name && !ret; opt++) {
		if (opt->type == OPT_TEXT) {
			const char *text = *(char *const *)field_const(opt, src);

			ret = text ? set_text(field(opt, dst), text, NULL) : 0;
		} else if (opt->type == OPT_LIST) {
			const struct texts *texts = field_const(opt, src);

			for (size_t i = 0; i < texts->n && !ret; i++)
				ret = add_text(field(opt, dst), texts->list[i], NULL);
		}
	}
	if (ret)
		opts_release(opts, dst);
	return ret;
}

const struct opt *opts_find(const struct opt *opts, const char *name)
{
	for (; opts->name; opts++)
		if (!strcmp(opts->name, name))
			return opts;
	return NULL;
}

/* The largest unit that divides the value; the units that may be written come first, down to 1. */
static void write_scaled(uint64_t value, const struct unit *units, const char *unit, char *buf,
			 size_t len)
{
	while (units->factor > 1 && (!value || value % units->factor))
		units++;
	snprintf(buf, len, "%" PRIu64 "%s%s", value / units->factor, units->name, unit);
}

static void write_rate(const struct rate *rate, char *buf, size_t len)
{
	if (rate->unit == RATE_MAX)
		snprintf(buf, len, "max");
	else
		write_scaled(rate->value, rate_prefixes, rate->unit == RATE_PPS ? "pps" : "bit/s",
			     buf, len);
}

static void append(char *buf, size_t len, const char *separator, const char *word)
{
	size_t at = strlen(buf);

	snprintf(buf + at, len - at, "%s%s", at ? separator : "", word);
}

static void write_set(const struct opt *opt, uint64_t set, char *buf, size_t len)
{
	size_t n = count_choices(opt);

	buf[0] = '\0';
	if (!set)
		append(buf, len, "", "off");
	else if ((set & full_set(opt)) == full_set(opt))
		append(buf, len, "", "on");
	else
		for (size_t i = 0; i < n; i++)
			if (set >> i & 1)
				append(buf, len, ",", opt->choices[i]);
}

static void write_number(const struct opt *opt, uint64_t value, char *buf, size_t len)
{
	if (opt->type == OPT_SIZE)
		write_scaled(value, size_units, "", buf, len);
	else if (opt->type == OPT_TIME && !value)
		snprintf(buf, len, "0s");
	else if (opt->type == OPT_TIME)
		write_scaled(value, time_units, "", buf, len);
	else
		snprintf(buf, len, "%" PRIu64, value);
}

void opt_text(const struct opt *opt, const void *cfg, char *buf, size_t len)
{
	const void *where = field_const(opt, cfg);
	const struct texts *texts;
	const char *text;

	if (!len)
		return;
	buf[0] = '\0';
	switch (opt->type) {
	case OPT_BOOL:
		snprintf(buf, len, "%s", *(const bool *)where ? "yes" : "no");
		break;
	case OPT_COUNT:
	case OPT_SIZE:
	case OPT_TIME:
		write_number(opt, *(const uint64_t *)where, buf, len);
		break;
	case OPT_RATE:
		write_rate(where, buf, len);
		break;
	case OPT_RATIO:
		snprintf(buf, len, "%.9g%%", *(const double *)where * 100);
		break;
	case OPT_CHOICE:
		snprintf(buf, len, "%s", opt->choices[*(const int *)where]);
		break;
	case OPT_SET:
		write_set(opt, *(const uint64_t *)where, buf, len);
		break;
	case OPT_TEXT:
		text = *(const char *const *)where;
		snprintf(buf, len, "%s", text ? text : "");
		break;
	case OPT_LIST:
		texts = where;
		for (size_t i = 0; i < texts->n; i++)
			append(buf, len, " ", texts->list[i]);
		break;
	}
}

char *opts_text(const struct opt *opts, const void *cfg, bool (*skip)(const char *name))
{
	char *text = NULL, value[4200];
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	for (const struct opt *opt = opts; opt->name; opt++) {
		if (skip && skip(opt->name))
			continue;
		opt_text(opt, cfg, value, sizeof(value));
		fprintf(out, "%s=%s\n", opt->name, value);
	}
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}
