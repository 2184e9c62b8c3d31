/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the fitting of columns of text into a line. */
#include "cmd/columns.h"

#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "result/page.h"

enum { GAP = 2 };

struct row {
	char *cell[COLUMNS_MAX];
	int color[COLUMNS_MAX]; /* 0: none */
};

struct columns {
	const struct column *column;
	size_t n;
	struct row *rows;
	size_t n_rows;
	bool lost; /* a row, for want of memory */
};

struct columns *columns_new(const struct column *column, size_t n)
{
	struct columns *table = n <= COLUMNS_MAX ? calloc(1, sizeof(*table)) : NULL;

	if (table)
		*table = (struct columns){.column = column, .n = n};
	return table;
}

void columns_free(struct columns *table)
{
	if (!table)
		return;
	for (size_t i = 0; i < table->n_rows; i++)
		for (size_t c = 0; c < table->n; c++)
			free(table->rows[i].cell[c]);
	free(table->rows);
	free(table);
}

void columns_add(struct columns *table, const char *const *cells)
{
	struct row *rows = reallocarray(table->rows, table->n_rows + 1, sizeof(*rows));
	struct row row = {0};

	if (rows)
		table->rows = rows;
	else
		table->lost = true;
	for (size_t c = 0; c < table->n && !table->lost; c++) {
		row.cell[c] = strdup(cells[c] ? cells[c] : "");
		table->lost = !row.cell[c];
	}
	if (!table->lost)
		rows[table->n_rows++] = row;
	for (size_t c = 0; c < table->n && table->lost; c++)
		free(row.cell[c]);
}

void columns_paint(struct columns *table, size_t column, int color)
{
	if (table->n_rows)
		table->rows[table->n_rows - 1].color[column] = color;
}

/* Columns of the first len bytes. */
static unsigned int columns_of(const char *text, size_t len)
{
	char *part = strndup(text, len);
	unsigned int width = part ? page_columns(part) : (unsigned int)len;

	free(part);
	return width;
}

static unsigned int longest_word(const char *text)
{
	unsigned int longest = 0;

	while (*text) {
		size_t len = strcspn(text, " ");
		unsigned int width = columns_of(text, len);

		longest = width > longest ? width : longest;
		text += len + strspn(text + len, " ");
	}
	return longest;
}

/* The widest cell of a column, or its longest word. */
static unsigned int widest(const struct columns *table, size_t c, unsigned int (*of)(const char *))
{
	const char *title = table->column[c].title;
	unsigned int width = title ? page_columns(title) : 0;

	for (size_t i = 0; i < table->n_rows; i++) {
		unsigned int cell = of(table->rows[i].cell[c]);

		width = cell > width ? cell : width;
	}
	return width;
}

/* Widths that fit into `room`, taken from the widest that wrap; false: there are none. */
static bool fit(const struct columns *table, unsigned int room, unsigned int width[COLUMNS_MAX])
{
	unsigned int least[COLUMNS_MAX], total = GAP * (unsigned int)(table->n - 1);

	for (size_t c = 0; c < table->n; c++) {
		width[c] = widest(table, c, page_columns);
		least[c] = table->column[c].wraps ? widest(table, c, longest_word) : width[c];
		total += width[c];
	}
	while (room && total > room) {
		size_t most = table->n;

		for (size_t c = 0; c < table->n; c++)
			if (width[c] > least[c] && (most == table->n || width[c] > width[most]))
				most = c;
		if (most == table->n)
			return false;
		width[most]--;
		total--;
	}
	return true;
}

/* How many bytes of text go on a line of this width; at least a word. */
static size_t line_length(const char *text, unsigned int width)
{
	size_t len = strcspn(text, " "), next;

	for (; text[len]; len = next) {
		next = len + strspn(text + len, " ");
		next += strcspn(text + next, " ");
		if (columns_of(text, next) > width)
			break;
	}
	return len;
}

static void put_line(const struct columns *table, const char *at[COLUMNS_MAX],
		     const int color[COLUMNS_MAX], const unsigned int width[COLUMNS_MAX],
		     unsigned int indent, FILE *out)
{
	unsigned int owed = indent; /* spaces before the next text: none at the end of a line */

	for (size_t c = 0; c < table->n; c++) {
		size_t len = line_length(at[c], width[c]);
		unsigned int used = columns_of(at[c], len);

		if (len) {
			fprintf(out, "%*s", (int)owed, "");
			owed = 0;
			if (color && color[c])
				fprintf(out, "\033[%dm%.*s\033[0m", color[c], (int)len, at[c]);
			else
				fwrite(at[c], 1, len, out);
		}
		owed += (width[c] > used ? width[c] - used : 0) + GAP;
		at[c] += len + strspn(at[c] + len, " ");
	}
	fputc('\n', out);
}

static void put_row(const struct columns *table, const struct row *row, bool color,
		    const unsigned int width[COLUMNS_MAX], unsigned int indent, FILE *out)
{
	const char *at[COLUMNS_MAX];
	bool more = true;

	for (size_t c = 0; c < table->n; c++)
		at[c] = row->cell[c];
	while (more) {
		put_line(table, at, color ? row->color : NULL, width, indent, out);
		more = false;
		for (size_t c = 0; c < table->n; c++)
			more |= *at[c] != '\0';
	}
}

static void put_paragraph(const struct columns *table, const struct row *row, unsigned int indent,
			  unsigned int width, FILE *out)
{
	struct page page = {.out = out, .width = width};

	fprintf(out, "%*s", (int)indent, "");
	page.column = indent;
	for (size_t c = 0; c < table->n; c++)
		if (*row->cell[c])
			page_print(&page, "%s%s", page.column > indent ? "  " : "", row->cell[c]);
	page_end(&page);
}

static void put_titles(const struct columns *table, const unsigned int width[COLUMNS_MAX],
		       unsigned int indent, FILE *out)
{
	const char *titles[COLUMNS_MAX];

	if (!table->column[0].title)
		return;
	for (size_t c = 0; c < table->n; c++)
		titles[c] = table->column[c].title;
	put_line(table, titles, NULL, width, indent, out);
}

int columns_print(const struct columns *table, unsigned int indent, unsigned int width, bool color,
		  FILE *out)
{
	/* The texts are UTF-8, whatever the locale of the caller. */
	locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", NULL), before = NULL;
	unsigned int widths[COLUMNS_MAX];

	if (utf8)
		before = uselocale(utf8);
	if (fit(table, width > indent ? width - indent : width, widths)) {
		put_titles(table, widths, indent, out);
		for (size_t i = 0; i < table->n_rows; i++)
			put_row(table, &table->rows[i], color, widths, indent, out);
	} else {
		for (size_t i = 0; i < table->n_rows; i++)
			put_paragraph(table, &table->rows[i], indent, width, out);
	}
	if (utf8) {
		uselocale(before);
		freelocale(utf8);
	}
	return table->lost ? -ENOMEM : 0;
}
