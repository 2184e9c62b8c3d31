/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text in columns that fit the terminal: cells are broken between words, never inside one. */
#ifndef CMD_COLUMNS_H
#define CMD_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { COLUMNS_MAX = 8 };

struct column {
	const char *title; /* NULL in all: no line of titles */
	bool wraps;	   /* may be made narrower than its widest cell */
};

struct columns;

/* The last of n columns is not padded. NULL: out of memory. column is borrowed. */
struct columns *columns_new(const struct column *column, size_t n);
/* Copies the texts. A failure is remembered and reported by columns_print. */
void columns_add(struct columns *table, const char *const *cells);
/* Give a cell of the row added last a colour: the number of an ANSI one, such as 31 for red. */
void columns_paint(struct columns *table, size_t column, int color);
/*
 * indent spaces come before each line. width: of the terminal, 0: no limit. Where even the longest
 * words do not fit side by side, each row becomes a paragraph. 0 or -ENOMEM.
 */
int columns_print(const struct columns *table, unsigned int indent, unsigned int width, bool color,
		  FILE *out);
void columns_free(struct columns *table);

#endif
