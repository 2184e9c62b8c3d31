/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the columns of small tables. */
#include "result/listing.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "result/append.h"
#include "result/page.h"

void listing_add(struct listing *listing, const char *fmt, ...)
{
	char **cell = APPEND(listing->cells, listing->n_cells);
	va_list ap;

	if (!cell) {
		listing->failed = true;
		return;
	}
	va_start(ap, fmt);
	if (vasprintf(cell, fmt, ap) < 0) {
		*cell = NULL;
		listing->failed = true;
	}
	va_end(ap);
	listing->n_cells++;
}

static unsigned int gap_before(const struct listing *listing, size_t column)
{
	return listing->gap[column] ? listing->gap[column] : 2;
}

static unsigned int width_of(const struct listing *listing, size_t column)
{
	unsigned int width = 0;

	for (size_t i = column; i < listing->n_cells; i += listing->n_columns) {
		const unsigned int cell = page_columns(listing->cells[i]);

		width = cell > width ? cell : width;
	}
	return width;
}

/*
 * In a narrow terminal the first column, names of any length, gives way to the others: longer names
 * push what follows them aside, and the page breaks what does not fit then.
 */
static void choose_widths(const struct listing *listing, unsigned int limit, unsigned int *widths)
{
	unsigned int total = 0, excess;

	for (size_t i = 0; i < listing->n_columns; i++) {
		widths[i] = width_of(listing, i);
		total += gap_before(listing, i) + widths[i];
	}
	if (!limit || total <= limit)
		return;
	excess = total - limit;
	widths[0] -= excess < widths[0] ? excess : widths[0];
}

static void print_row(const struct listing *listing, size_t first, const unsigned int *widths,
		      struct page *page)
{
	unsigned int spaces = 0;

	for (size_t i = 0; i < listing->n_columns; i++) {
		const char *cell = listing->cells[first + i];
		const unsigned int cells = page_columns(cell);
		const unsigned int rest = cells < widths[i] ? widths[i] - cells : 0;

		spaces += gap_before(listing, i) + (listing->right[i] ? rest : 0);
		/* Kept back until something follows: no spaces at the end of a line. */
		if (*cell) {
			page_print(page, "%*s%s", (int)spaces, "", cell);
			spaces = 0;
		}
		spaces += listing->right[i] ? 0 : rest;
	}
	page_end(page);
}

int listing_end(struct listing *listing, struct page *page)
{
	const bool whole = !listing->failed;
	unsigned int widths[LISTING_COLUMNS];

	if (whole) {
		choose_widths(listing, page->width, widths);
		for (size_t i = 0; i < listing->n_cells; i += listing->n_columns)
			print_row(listing, i, widths, page);
	}
	for (size_t i = 0; i < listing->n_cells; i++)
		free(listing->cells[i]);
	free(listing->cells);
	listing->cells = NULL;
	listing->n_cells = 0;
	return whole ? 0 : -ENOMEM;
}
