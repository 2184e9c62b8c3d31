/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Paragraphs of text, broken at spaces where the terminal ends. */
#ifndef RESULT_PAGE_H
#define RESULT_PAGE_H

#include <stdio.h>

struct page {
	FILE *out;
	unsigned int width;  /* 0: no limit */
	unsigned int column; /* where the next character goes */
};

/* Continue the paragraph. A word that does not fit goes to a new line, four spaces in. */
int page_print(struct page *page, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void page_end(struct page *page);
/* How many columns the text takes, in the character set of the locale. */
unsigned int page_columns(const char *text);

#endif
