/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what searches found, their trials, and the curves of RFC 2544. */
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "result/listing.h"
#include "result/page.h"
#include "result/result.h"

static void add_value(struct listing *listing, double value, const char *unit)
{
	char text[64];

	unit_format(value, unit, text, sizeof(text));
	listing_add(listing, "%s", text);
}

static void add_titles(struct listing *listing, const char *const *titles)
{
	for (size_t i = 0; i < listing->n_columns; i++)
		listing_add(listing, "%s", titles[i]);
}

static int print_goals(struct page *page, const struct search_result *search)
{
	static const char *const titles[] = {"goal",	   "loss up to", "throughput",
					     "load works", "load fails", ""};
	struct listing listing = {.n_columns = 6, .right = {false, true, true, true, true}};

	add_titles(&listing, titles);
	for (size_t i = 0; i < search->n_goals; i++) {
		const struct search_goal_result *goal = &search->goals[i];

		listing_add(&listing, "%s", goal->name);
		add_value(&listing, goal->loss_ratio, "ratio");
		add_value(&listing, goal->throughput, "packet/s");
		add_value(&listing, goal->lower, "packet/s");
		add_value(&listing, goal->upper, "packet/s");
		listing_add(&listing, "%s",
			    search->capped && (isnan(goal->lower) || isnan(goal->upper))
				    ? "not found in time"
			    : isnan(goal->lower) ? "no load met the goal"
			    : isnan(goal->upper) ? "no load failed: the limit is higher"
						 : "");
	}
	return listing_end(&listing, page);
}

static int print_trials(struct page *page, const struct search_result *search)
{
	static const char *const titles[] = {"trial", "load", "seconds", "loss"};
	struct listing listing = {.n_columns = 4, .right = {true, true, true, true}};

	add_titles(&listing, titles);
	for (size_t i = 0; i < search->n_trials; i++) {
		const struct search_trial *trial = &search->trials[i];

		listing_add(&listing, "%zu", i + 1);
		add_value(&listing, trial->load, "packet/s");
		listing_add(&listing, "%.2f", trial->duration_s);
		add_value(&listing, trial->loss_ratio, "ratio");
	}
	return listing_end(&listing, page);
}

static int print_search(struct page *page, const struct result_case *c, size_t at, bool verbose)
{
	const struct search_result *search = &c->searches[at];
	char number[48] = "";
	int r;

	if (c->n_searches > 1)
		snprintf(number, sizeof(number), " %zu of %zu", at + 1, c->n_searches);
	page_heading(page, "search%s in %s: %zu trial%s, %.1f s", number, c->name, search->n_trials,
		     search->n_trials == 1 ? "" : "s", search->duration_s);
	r = print_goals(page, search);
	return r || !verbose ? r : print_trials(page, search);
}

int page_searches(struct page *page, const struct result *result, bool verbose)
{
	bool some = false;
	int r = 0;

	for (size_t i = 0; i < result->n_cases; i++) {
		const struct result_case *c = &result->cases[i];

		for (size_t k = 0; !r && k < c->n_searches; k++)
			r = print_search(page, c, k, verbose);
		some |= c->n_searches != 0;
	}
	if (!r && some) {
		page_print(page, "ndr: the highest rate without loss; pdr: with the little loss "
				 "given; throughput: what arrived at the load that works");
		page_end(page);
	}
	return r;
}

static int print_curve(struct page *page, const struct result_case *c, const struct curve *curve)
{
	struct listing listing = {.n_columns = curve->n_columns < LISTING_COLUMNS
						       ? curve->n_columns
						       : LISTING_COLUMNS};

	page_heading(page, "%s in %s", curve->name, c->name);
	for (size_t i = 0; i < listing.n_columns; i++) {
		listing.right[i] = true;
		listing_add(&listing, "%s", curve->columns[i]);
	}
	for (size_t row = 0; row < curve->n_rows; row++)
		for (size_t i = 0; i < listing.n_columns; i++)
			add_value(&listing, curve->rows[row * curve->n_columns + i],
				  curve->units[i]);
	return listing_end(&listing, page);
}

int page_curves(struct page *page, const struct result *result)
{
	int r = 0;

	for (size_t i = 0; i < result->n_cases; i++)
		for (size_t k = 0; !r && k < result->cases[i].n_curves; k++)
			r = print_curve(page, &result->cases[i], &result->cases[i].curves[k]);
	return r;
}
