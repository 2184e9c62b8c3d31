/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Small tables below the main one: cells in columns, two spaces in. */
#ifndef RESULT_LISTING_H
#define RESULT_LISTING_H

#include <stdbool.h>
#include <stddef.h>

struct page;

enum { LISTING_COLUMNS = 16 };

struct listing {
	size_t n_columns;		   /* at most LISTING_COLUMNS */
	bool right[LISTING_COLUMNS];	   /* aligned to the right */
	unsigned int gap[LISTING_COLUMNS]; /* spaces before the column; 0: two */
	char **cells;			   /* row by row, the titles like any other */
	size_t n_cells;
	bool failed; /* for want of memory: noted, and told in the end */
};

/* Add a cell, a copy, to the right of the last one. */
void listing_add(struct listing *listing, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Print and empty the listing. -ENOMEM if it is not whole; then nothing is printed. */
int listing_end(struct listing *listing, struct page *page);

#endif
