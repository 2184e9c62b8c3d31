/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the page a person reads: one line per case, and below it everything that qualifies it. */
#include <errno.h>
#include <libsmartcols.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "result/page.h"
#include "result/result.h"
#include "result/row.h"

/* Between two columns; a space and a mark after a cell. */
enum { GAP = 2, MARK = 2 };

static const struct {
	const char *title;
	int flags;
} columns[COLUMNS] = {
	[COL_CASE] = {"case", 0},
	[COL_WHAT] = {"what", 0},
	[COL_MEDIAN] = {"median", SCOLS_FL_RIGHT},
	[COL_SPREAD] = {"±95 %", SCOLS_FL_RIGHT},
	[COL_TIMES] = {"p50 / p99.9", SCOLS_FL_RIGHT},
	[COL_CPUS] = {"CPUs busy", SCOLS_FL_RIGHT},
	[COL_VERDICT] = {"verdict", 0},
	[COL_REMARK] = {"remark", 0},
};

static const char *const verdict_colors[] = {
	[CASE_PENDING] = "halfbright", [CASE_OK] = "green",   [CASE_SUSPECT] = "brown",
	[CASE_SKIPPED] = "halfbright", [CASE_FAILED] = "red", [CASE_VOID] = "red",
};

static const char *host_fact(const struct result *result, const char *name)
{
	for (size_t i = 0; i < result->n_host; i++)
		if (!strcmp(result->host[i].name, name))
			return result->host[i].value;
	return NULL;
}

/* "Intel(R) Xeon(R) CPU E5-2670 v3 @ 2.30GHz" is "Intel Xeon E5-2670 v3" to anyone who reads it. */
static void print_cpu(struct page *page, const char *cpus, const char *model, const char *mhz)
{
	static const char *const noise[] = {"(R)", "(TM)", "(tm)", " CPU", " Processor"};
	char *text = strdup(model ? model : "CPU"), *at;

	if (!text)
		return;
	at = strstr(text, " @ ");
	if (at)
		*at = '\0';
	for (size_t i = 0; i < sizeof(noise) / sizeof(*noise); i++)
		while ((at = strstr(text, noise[i])))
			memmove(at, at + strlen(noise[i]), strlen(at + strlen(noise[i])) + 1);
	page_print(page, "  %s × %s%s%s%s", cpus, *text ? text : "CPU", mhz ? ", " : "",
		   mhz ? mhz : "", mhz ? " MHz measured" : "");
	free(text);
}

static void print_header(struct page *page, const struct result *result)
{
	const char *kernel = host_fact(result, "kernel"), *arch = host_fact(result, "arch");
	const char *cpus = host_fact(result, "cpus"), *mhz = host_fact(result, "cpu_mhz_measured");
	const char *preempt = host_fact(result, "preempt");

	if (page->color)
		fputs("\033[1m", page->out);
	page_print(page, "netbench %s", result_version());
	if (result->suite)
		page_print(page, "  %s", result->suite);
	if (kernel)
		page_print(page, "  Linux %s%s%s", kernel, arch ? " " : "", arch ? arch : "");
	if (cpus)
		print_cpu(page, cpus, host_fact(result, "cpu"), mhz);
	if (preempt)
		page_print(page, "  preempt %s", preempt);
	page_print(page, "  seed %llu", (unsigned long long)result->seed);
	if (page->color)
		fputs("\033[0m", page->out);
	page_end(page);
}

/* A case without a number of its own is told below the table. */
static bool has_row(const struct result_case *c)
{
	return c->status != CASE_SKIPPED && c->status != CASE_PENDING;
}

/* The table as it will be printed. */
struct grid {
	struct row *rows;
	size_t n;
	bool used[COLUMNS];
	bool marked[COLUMNS]; /* some cell of it has a mark: room for one beside each */
};

static unsigned int column_width(const struct grid *grid, enum column col)
{
	unsigned int width = 0;

	for (size_t i = 0; i < grid->n; i++) {
		unsigned int cell =
			grid->rows[i].cell[col] ? page_columns(grid->rows[i].cell[col]) : 0;

		width = cell > width ? cell : width;
	}
	if (width && page_columns(columns[col].title) > width)
		width = page_columns(columns[col].title);
	return width || grid->marked[col] ? width + (grid->marked[col] ? MARK : 0) : 0;
}

/*
 * Columns that would stay empty are left out, and so are those that do not fit into the terminal:
 * the number comes first, what it is next, then what qualifies it. The verdict is also in the mark
 * and the remarks are told below the table when they have no room in it.
 */
static void choose_columns(struct grid *grid, unsigned int width)
{
	static const enum column by_worth[COLUMNS] = {COL_CASE,	   COL_MEDIAN, COL_SPREAD,
						      COL_WHAT,	   COL_TIMES,  COL_CPUS,
						      COL_VERDICT, COL_REMARK};
	unsigned int total = 0;

	for (size_t i = 0; i < COLUMNS; i++) {
		enum column col = by_worth[i];
		unsigned int cells = column_width(grid, col);
		unsigned int wider = total + (total ? GAP : 0) + cells;

		/* The case and its number stay even where they do not fit. */
		grid->used[col] = cells && (!width || wider <= width || i < 2);
		if (grid->used[col])
			total = wider;
	}
}

/* The text of a cell or a title, with its mark or the room for one. */
static int marked_text(const struct grid *grid, enum column col, const char *text, char mark,
		       char **ret)
{
	int len;

	if (!grid->marked[col])
		len = asprintf(ret, "%s", text ? text : "");
	else
		len = asprintf(ret, "%s %c", text ? text : "", mark ? mark : ' ');
	return len < 0 ? -ENOMEM : 0;
}

static int cell_add(struct libscols_line *line, size_t at, const struct grid *grid,
		    const struct row *row, enum column col)
{
	char *text;
	int ret;

	ret = marked_text(grid, col, row->cell[col], row->mark[col], &text);
	if (ret)
		return ret;
	ret = scols_line_refer_data(line, at, text);
	if (ret)
		free(text);
	return ret ? -ENOMEM : 0;
}

static int line_add(struct libscols_table *table, const struct grid *grid, const struct row *row,
		    const char *color)
{
	struct libscols_line *line = scols_table_new_line(table, NULL);
	size_t at = 0;

	if (!line)
		return -ENOMEM;
	for (size_t col = 0; col < COLUMNS; col++) {
		if (!grid->used[col])
			continue;
		if (cell_add(line, at, grid, row, col))
			return -ENOMEM;
		if (col == COL_VERDICT || (col == COL_MEDIAN && row->mark[col]))
			scols_cell_set_color(scols_line_get_cell(line, at), color);
		at++;
	}
	return 0;
}

static int titles_add(struct libscols_table *table, const struct grid *grid)
{
	for (size_t col = 0; col < COLUMNS; col++) {
		struct libscols_column *added;
		char *title;

		if (!grid->used[col])
			continue;
		if (marked_text(grid, col, columns[col].title, 0, &title))
			return -ENOMEM;
		added = scols_table_new_column(table, title, 0, columns[col].flags);
		free(title);
		if (!added)
			return -ENOMEM;
	}
	return 0;
}

static int table_fill(struct libscols_table *table, const struct result *result,
		      const struct grid *grid)
{
	size_t row = 0;
	int ret = titles_add(table, grid);

	for (size_t i = 0; i < result->n_cases && !ret; i++)
		if (has_row(&result->cases[i]))
			ret = line_add(table, grid, &grid->rows[row++],
				       verdict_colors[result->cases[i].status]);
	return ret;
}

static int print_grid(const struct result *result, const struct grid *grid, struct page *page)
{
	struct libscols_table *table = scols_new_table();
	int ret;

	if (!table)
		return -ENOMEM;
	scols_table_set_stream(table, page->out);
	scols_table_set_column_separator(table, "  ");
	scols_table_enable_colors(table, page->color);
	/* What fits was chosen already; libsmartcols would break words. */
	scols_table_set_termforce(table, SCOLS_TERMFORCE_NEVER);
	scols_table_enable_minout(table, 1);
	ret = table_fill(table, result, grid);
	if (!ret && scols_print_table(table))
		ret = -ENOMEM;
	scols_unref_table(table);
	return ret;
}

static int grid_fill(const struct result *result, struct grid *grid)
{
	int ret = 0;

	grid->rows = calloc(result->n_cases + 1, sizeof(*grid->rows));
	if (!grid->rows)
		return -ENOMEM;
	for (size_t i = 0; i < result->n_cases && !ret; i++)
		if (has_row(&result->cases[i]))
			ret = row_fill(result, &result->cases[i], &grid->rows[grid->n++]);
	for (size_t i = 0; i < grid->n; i++)
		for (size_t col = 0; col < COLUMNS; col++)
			grid->marked[col] |= grid->rows[i].mark[col] != 0;
	return ret;
}

static void grid_release(struct grid *grid)
{
	for (size_t i = 0; i < grid->n; i++)
		row_release(&grid->rows[i]);
	free(grid->rows);
}

static void print_remarks(struct page *page, const struct grid *grid)
{
	for (size_t i = 0; i < grid->n; i++) {
		const struct row *row = &grid->rows[i];

		if (!*row->cell[COL_REMARK])
			continue;
		page_print(page, "%s: %s", row->cell[COL_CASE], row->cell[COL_REMARK]);
		page_end(page);
	}
}

static bool has_mark(const struct grid *grid, enum column col, char mark)
{
	for (size_t i = 0; i < grid->n; i++)
		if (grid->rows[i].mark[col] == mark)
			return true;
	return false;
}

static void print_marks(struct page *page, const struct grid *grid)
{
	const bool suspect = has_mark(grid, COL_MEDIAN, '!');
	const bool bad = has_mark(grid, COL_MEDIAN, 'x');
	const bool others = grid->used[COL_CPUS] && grid->marked[COL_CPUS];

	if (!suspect && !bad && !others)
		return;
	page_print(page, "%s%s%s%s%s", suspect ? "! suspect" : "", suspect && bad ? "; " : "",
		   bad ? "x failed or void" : "", (suspect || bad) && others ? "; " : "",
		   others ? "! of CPUs: other processes among them" : "");
	page_end(page);
}

static bool some_limited(const struct result *result)
{
	for (size_t i = 0; i < result->n_cases; i++)
		if (has_row(&result->cases[i]) && result->cases[i].generator_limited)
			return true;
	return false;
}

/* What the marks mean, if there are any in what is shown. */
static void print_legend(struct page *page, const struct result *result, const struct grid *grid)
{
	if (some_limited(result)) {
		page_print(page, "≥ the generator was the limit: the true rate is at least this");
		page_end(page);
	}
	print_marks(page, grid);
}

static int print_table(struct page *page, const struct result *result)
{
	struct grid grid = {0};
	int ret = grid_fill(result, &grid);

	if (ret || !grid.n)
		goto release_grid;
	choose_columns(&grid, page->width);
	ret = print_grid(result, &grid, page);
	if (!ret)
		print_legend(page, result, &grid);
	if (!ret && !grid.used[COL_REMARK])
		print_remarks(page, &grid);
release_grid:
	grid_release(&grid);
	return ret;
}

static int print_page(const struct result *result, struct page *page, bool verbose)
{
	int ret;

	print_header(page, result);
	ret = print_table(page, result);
	if (!ret)
		ret = page_ladders(page, result);
	if (!ret)
		ret = page_fits(page, result);
	if (!ret)
		ret = page_searches(page, result, verbose);
	if (!ret)
		ret = page_curves(page, result);
	if (!ret)
		page_notes(page, result);
	return ret;
}

int result_write_table(const struct result *result, FILE *out, const struct table_style *style,
		       struct err *err)
{
	struct page page = {.out = out, .color = style->color, .width = style->width};
	/*
	 * "µs" and "±" are written whatever the locale; in the C locale (sudo, cron, CI) they would
	 * count as two columns each, and libsmartcols would spell their bytes out.
	 */
	locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", NULL), before = NULL;
	int ret;

	if (utf8)
		before = uselocale(utf8);
	errno = 0;
	ret = print_page(result, &page, style->verbose);
	if (ret)
		err_sys(err, -ret, "cannot put the table together");
	else if (fflush(out) || ferror(out))
		ret = err_sys(err, errno ? errno : EIO, "cannot write the table");
	if (utf8) {
		uselocale(before);
		freelocale(utf8);
	}
	return ret;
}
