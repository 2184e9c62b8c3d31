/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the ladders: what each case costs more than its baseline, from cheap to dear. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"
#include "base/units.h"
#include "result/listing.h"
#include "result/page.h"
#include "result/result.h"

/* Cases with one baseline, compared by one metric. */
struct ladder {
	const struct versus *first;
	const struct result_case *baseline; /* NULL: not in this result */
	const struct result_case **rungs;
	size_t n;
};

/* CPU time of all that ran, not time that passed. */
static bool by_cpu(const struct metric_def *def)
{
	return !strcmp(def->name, "cost");
}

static bool same_ladder(const struct versus *a, const struct versus *b)
{
	return a->baseline && b->baseline && a->def == b->def && !strcmp(a->baseline, b->baseline);
}

static const struct result_case *case_named(const struct result *result, const char *name)
{
	for (size_t i = 0; i < result->n_cases; i++)
		if (!strcmp(result->cases[i].name, name))
			return &result->cases[i];
	return NULL;
}

/* What is not known stands at the end. */
static int by_difference(const void *a, const void *b)
{
	const struct result_case *const *x = a, *const *y = b;
	const double left = (*x)->versus.difference, right = (*y)->versus.difference;

	if (isnan(left) || isnan(right))
		return isnan(left) - isnan(right);
	return (left > right) - (left < right);
}

static size_t word_end(const char *text)
{
	return strcspn(text, "/,");
}

static bool has_word(const char *name, const char *word, size_t len)
{
	for (; *name; name += name[word_end(name)] ? word_end(name) + 1 : word_end(name))
		if (word_end(name) == len && !memcmp(name, word, len))
			return true;
	return false;
}

static bool all_have_word(const char *const *names, size_t n, const char *word, size_t len)
{
	for (size_t i = 0; i < n; i++)
		if (!has_word(names[i], word, len))
			return false;
	return true;
}

/*
 * "drop/wire,stage=nft-input" against "drop/wire,stage=none" is "nft-input": of the parts of the
 * name those that not all others have, and of one setting alone its value, if that says what it is.
 * The whole name if nothing is left.
 */
static char *short_name(const char *name, const char *const *others, size_t n)
{
	char *text = calloc(1, strlen(name) + 1), *end = text, *value;
	size_t words = 0;

	if (!text)
		return NULL;
	for (const char *word = name; *word; word += *word ? 1 : 0) {
		const size_t len = word_end(word);

		if (len && !all_have_word(others, n, word, len)) {
			if (words++)
				*end++ = ',';
			end = mempcpy(end, word, len);
		}
		word += len;
	}
	if (!words)
		strcpy(text, name);
	value = strrchr(text, '=');
	if (words == 1 && value && value[1] && !strchr("0123456789", value[1]))
		memmove(text, value + 1, strlen(value + 1) + 1);
	return text;
}

static int add_rung(struct listing *listing, const struct result_case *c)
{
	const struct versus *v = &c->versus;
	char *name = short_name(c->name, (const char *const *)&v->baseline, 1);
	char added[64], error[64];
	bool unclear;

	if (!name)
		return -ENOMEM;
	unit_format_error(v->difference, (v->hi - v->lo) / 2, v->def->unit, added, error,
			  sizeof(added));
	unclear = v->lo <= 0 && v->hi >= 0;
	listing_add(listing, "%s", name);
	listing_add(listing, "%s%s", v->difference > 0 ? "+" : "", added);
	listing_add(listing, "± %s", error);
	listing_add(listing, "%s%s%s", c->status == CASE_SUSPECT ? "suspect" : "",
		    c->status == CASE_SUSPECT && unclear ? ", " : "",
		    unclear ? "no difference shown" : "");
	free(name);
	return 0;
}

static void print_title(struct page *page, const struct result *result, const struct ladder *ladder)
{
	const struct versus *v = ladder->first;
	const struct metric *metric =
		ladder->baseline ? case_metric(ladder->baseline, v->def->name) : NULL;
	struct stats stats;
	char cost[64] = "–";

	if (metric) {
		stats_of(metric->samples, metric->n, result->seed, &stats);
		unit_format(stats.median, v->def->unit, cost, sizeof(cost));
	}
	page_heading(page, "added %s against %s (%s)",
		     by_cpu(v->def) ? "CPU time per packet" : "per frame", v->baseline, cost);
}

static int print_ladder(struct page *page, const struct result *result, const struct ladder *ladder)
{
	struct listing listing = {.n_columns = 4, .right = {false, true}, .gap = {2, 2, 1, 2}};
	int r = 0;

	print_title(page, result, ladder);
	for (size_t i = 0; !r && i < ladder->n; i++)
		r = add_rung(&listing, ladder->rungs[i]);
	listing.failed |= r != 0;
	return listing_end(&listing, page);
}

/* The ladder that starts with this case; no rungs if it stands on an earlier one. */
static void collect(const struct result *result, size_t first, struct ladder *ladder)
{
	ladder->n = 0;
	ladder->first = &result->cases[first].versus;
	for (size_t i = 0; i < result->n_cases; i++) {
		const struct result_case *c = &result->cases[i];

		if (!same_ladder(&c->versus, ladder->first))
			continue;
		if (i < first) {
			ladder->n = 0;
			return;
		}
		ladder->rungs[ladder->n++] = c;
	}
}

int page_ladders(struct page *page, const struct result *result)
{
	struct ladder ladder = {.rungs = calloc(result->n_cases + 1, sizeof(*ladder.rungs))};
	int r = 0;

	if (!ladder.rungs)
		return -ENOMEM;
	for (size_t i = 0; !r && i < result->n_cases; i++) {
		collect(result, i, &ladder);
		if (!ladder.n)
			continue;
		ladder.baseline = case_named(result, ladder.first->baseline);
		qsort(ladder.rungs, ladder.n, sizeof(*ladder.rungs), by_difference);
		r = print_ladder(page, result, &ladder);
	}
	free(ladder.rungs);
	return r;
}

/* "rule" for "filter.rules", "byte" for "size". */
static void one_of(const char *path, char *buf, size_t len)
{
	static const char *const known[][2] = {
		{"size", "byte"}, {"mtu", "byte"}, {"entries", "entry"}};
	const char *name = strrchr(path, '.');
	size_t end;

	name = name ? name + 1 : path;
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (!strcmp(name, known[i][0])) {
			snprintf(buf, len, "%s", known[i][1]);
			return;
		}
	end = strlen(name);
	if (end > 1 && name[end - 1] == 's')
		end--;
	snprintf(buf, len, "%.*s", (int)end, name);
}

static int add_fit(struct listing *listing, const struct fit *fit, const char *const *names,
		   size_t n)
{
	char *name = short_name(fit->name, names, n);
	char slope[64], error[64], one[64];

	if (!name)
		return -ENOMEM;
	unit_format_error(fit->slope, (fit->hi - fit->lo) / 2, fit->def->unit, slope, error,
			  sizeof(slope));
	one_of(fit->per, one, sizeof(one));
	listing_add(listing, "%s:", name);
	listing_add(listing, "%s ± %s%s per %s", slope, error, by_cpu(fit->def) ? " CPU time" : "",
		    one);
	listing_add(listing, "%s", fit->lo <= 0 && fit->hi >= 0 ? "no difference shown" : "");
	free(name);
	return 0;
}

int page_fits(struct page *page, const struct result *result)
{
	const char **names = calloc(result->n_fits + 1, sizeof(*names));
	struct listing listing = {.n_columns = 3};
	int r = 0;

	if (!names)
		return -ENOMEM;
	for (size_t i = 0; i < result->n_fits; i++)
		names[i] = result->fits[i].name;
	if (result->n_fits)
		page_heading(page, "each one more adds");
	for (size_t i = 0; !r && i < result->n_fits; i++)
		r = add_fit(&listing, &result->fits[i], names, result->n_fits);
	listing.failed |= r != 0;
	r = listing_end(&listing, page);
	free(names);
	return r;
}
