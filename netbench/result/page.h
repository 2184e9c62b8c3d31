/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Paragraphs of text, broken at spaces where the terminal ends. */
#ifndef RESULT_PAGE_H
#define RESULT_PAGE_H

#include <stdbool.h>
#include <stdio.h>

struct result;

struct page {
	FILE *out;
	bool color;	     /* ANSI colours */
	unsigned int width;  /* 0: no limit */
	unsigned int column; /* where the next character goes */
};

/* Continue the paragraph. A word that does not fit goes to a new line, four spaces in. */
int page_print(struct page *page, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void page_end(struct page *page);
/* How many columns the text takes, in the character set of the locale. */
unsigned int page_columns(const char *text);

/* A paragraph of its own, in bold where there are colours. */
void page_heading(struct page *page, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * The sections below the table; each prints nothing when it has nothing to tell. 0 or -ENOMEM.
 * page_notes: what is wrong or missing. page_ladders: what cases cost more than their baseline,
 * one ladder per baseline and metric, from cheap to dear. page_fits: what one more of something costs.
 * page_searches: goals and bounds, and with verbose every trial. page_curves: the tables of RFC 2544.
 */
void page_notes(struct page *page, const struct result *result);
int page_ladders(struct page *page, const struct result *result);
int page_fits(struct page *page, const struct result *result);
int page_searches(struct page *page, const struct result *result, bool verbose);
int page_curves(struct page *page, const struct result *result);

#endif
