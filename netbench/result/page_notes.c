/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what is said below the table about cases that went wrong, and about those that did not run. */
#include <string.h>

#include "result/page.h"
#include "result/result.h"

static void print_problems(struct page *page, const struct result *result)
{
	for (size_t i = 0; i < result->n_cases; i++) {
		const struct result_case *c = &result->cases[i];

		if (c->status == CASE_OK || c->status == CASE_SKIPPED || c->status == CASE_PENDING)
			continue;
		page_print(page, "%s: %s: %s", case_status_name(c->status), c->name,
			   c->reason ? c->reason : "the reason was lost");
		page_end(page);
	}
}

static const char *load_of(const struct result_case *c)
{
	for (size_t i = 0; i < c->n_labels; i++)
		if (!strcmp(c->labels[i].name, "load"))
			return c->labels[i].value;
	return "udp";
}

/* The ledger stands with the main case; what numbered its packets may be a case beside it, which follows. */
static bool of_frames(const struct result *result, size_t at)
{
	for (; at < result->n_cases; at++) {
		if (!strcmp(load_of(&result->cases[at]), "frames"))
			return true;
		if (!strcmp(load_of(&result->cases[at]), "udp"))
			return false;
	}
	return false;
}

/* Only udp and frames number their packets, so only of those can anything be said. */
static void print_ledger(struct page *page, const struct result *result)
{
	unsigned int trials = 0, closed = 0;
	bool udp = false, frames = false;

	for (size_t i = 0; i < result->n_cases; i++) {
		const struct ledger *ledger = &result->cases[i].ledger;
		const bool is_frames = ledger->trials && of_frames(result, i);

		trials += ledger->trials;
		closed += ledger->trials_closed;
		frames |= is_frames;
		udp |= ledger->trials && !is_frames;
	}
	if (!trials)
		return;
	page_print(page, "%s%s%s: ", udp ? "UDP" : "", udp && frames ? ", frames" : "",
		   frames && !udp ? "Frames" : "");
	if (closed == trials)
		page_print(page, "every packet accounted for in %u of %u trials.", closed, trials);
	else
		page_print(page, "packets unaccounted for in %u of %u trials.", trials - closed,
			   trials);
	page_end(page);
}

static bool same_skip(const struct result_case *a, const struct result_case *b)
{
	if (a->status != CASE_SKIPPED || b->status != CASE_SKIPPED)
		return false;
	return a->reason && b->reason ? !strcmp(a->reason, b->reason) : a->reason == b->reason;
}

/* One paragraph per reason, with all cases that share it. */
static void print_skipped(struct page *page, const struct result *result)
{
	for (size_t i = 0; i < result->n_cases; i++) {
		const struct result_case *c = &result->cases[i];
		bool told = c->status != CASE_SKIPPED;

		for (size_t k = 0; k < i && !told; k++)
			told = same_skip(&result->cases[k], c);
		if (told)
			continue;
		page_print(page, "Skipped: %s", c->name);
		for (size_t k = i + 1; k < result->n_cases; k++)
			if (same_skip(&result->cases[k], c))
				page_print(page, ", %s", result->cases[k].name);
		if (c->reason)
			page_print(page, " (%s)", c->reason);
		page_end(page);
	}
}

static void print_pending(struct page *page, const struct result *result)
{
	const char *gap = "Not run: ";

	for (size_t i = 0; i < result->n_cases; i++) {
		if (result->cases[i].status != CASE_PENDING)
			continue;
		page_print(page, "%s%s", gap, result->cases[i].name);
		gap = ", ";
	}
	if (page->column)
		page_end(page);
}

void page_notes(struct page *page, const struct result *result)
{
	print_problems(page, result);
	print_ledger(page, result);
	print_skipped(page, result);
	print_pending(page, result);
	if (result->error || !result->complete) {
		page_print(page, "Not complete: %s",
			   result->error ? result->error : "the run did not finish");
		page_end(page);
	}
}
