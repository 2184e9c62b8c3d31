/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the page a person reads: one line per case, and below it everything that qualifies it. */
#include <errno.h>
#include <libsmartcols.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"
#include "base/units.h"
#include "result/page.h"
#include "result/result.h"

/* Between two columns. */
enum { GAP = 2 };

enum column {
	COL_CASE,
	COL_WHAT,
	COL_MEDIAN,
	COL_SPREAD,
	COL_TIMES,
	COL_CPUS,
	COL_VERDICT,
	COL_REMARK,
	COLUMNS
};

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

struct row {
	char *cell[COLUMNS];
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
static void print_cpu(struct page *page, const char *cpus, const char *model)
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
	page_print(page, "  %s × %s", cpus, *text ? text : "CPU");
	free(text);
}

static void print_header(struct page *page, const struct result *result, bool color)
{
	const char *kernel = host_fact(result, "kernel"), *arch = host_fact(result, "arch");
	const char *cpus = host_fact(result, "cpus"), *mhz = host_fact(result, "cpu_mhz_measured");
	const char *preempt = host_fact(result, "preempt");

	if (color)
		fputs("\033[1m", page->out);
	page_print(page, "netbench %s", result_version());
	if (result->suite)
		page_print(page, "  %s", result->suite);
	if (kernel)
		page_print(page, "  Linux %s%s%s", kernel, arch ? " " : "", arch ? arch : "");
	if (cpus)
		print_cpu(page, cpus, host_fact(result, "cpu"));
	if (mhz)
		page_print(page, ", %s MHz measured", mhz);
	if (preempt)
		page_print(page, "  preempt %s", preempt);
	page_print(page, "  seed %llu", (unsigned long long)result->seed);
	if (color)
		fputs("\033[0m", page->out);
	page_end(page);
}

static double median_of(const struct result *result, const struct metric *metric)
{
	struct stats stats;

	if (!metric)
		return NAN;
	stats_of(metric->samples, metric->n, result->seed, &stats);
	return stats.median;
}

static double median_named(const struct result *result, const struct result_case *c,
			   const char *name)
{
	return median_of(result, case_metric(c, name));
}

/* "2.90 / 14.2 µs"; the unit is said twice only if there are two. */
static int times_text(const struct result *result, const struct result_case *c, char **ret)
{
	static const char *const kinds[] = {"latency", "rtt"};
	char name[32], low[32], high[32];

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		double p50, p999;
		char *unit;

		snprintf(name, sizeof(name), "%s_p50", kinds[i]);
		p50 = median_named(result, c, name);
		snprintf(name, sizeof(name), "%s_p999", kinds[i]);
		p999 = median_named(result, c, name);
		if (isnan(p50) && isnan(p999))
			continue;
		unit_format(p50, "ns", low, sizeof(low));
		unit_format(p999, "ns", high, sizeof(high));
		unit = strchr(low, ' ');
		if (unit && strchr(high, ' ') && !strcmp(unit, strchr(high, ' ')))
			*unit = '\0';
		return asprintf(ret, "%s / %s", low, high) < 0 ? -ENOMEM : 0;
	}
	return 0;
}

static int cpus_text(const struct result_case *c, char **ret)
{
	double busy = 0;

	if (!c->n_cpus)
		return 0;
	for (size_t i = 0; i < c->n_cpus; i++)
		busy += c->cpus[i].user + c->cpus[i].system + c->cpus[i].irq + c->cpus[i].softirq;
	return asprintf(ret, "%.2f", busy) < 0 ? -ENOMEM : 0;
}

static int headline_text(const struct result *result, const struct result_case *c, struct row *row)
{
	const struct metric *metric = c->metrics;
	char text[64];
	struct stats stats;

	if (!c->n_metrics)
		return 0;
	stats_of(metric->samples, metric->n, result->seed, &stats);
	unit_format(stats.median, metric->def->unit, text, sizeof(text));
	row->cell[COL_WHAT] = strdup(metric->def->name);
	row->cell[COL_MEDIAN] = strdup(text);
	/* Of a single trial the spread is unknown, which is not the same as none. */
	unit_format(stats.n < 2 || stats.median == 0
			    ? NAN
			    : (stats.ci_hi - stats.ci_lo) / 2 / fabs(stats.median),
		    "ratio", text, sizeof(text));
	row->cell[COL_SPREAD] = strdup(text);
	return row->cell[COL_WHAT] && row->cell[COL_MEDIAN] && row->cell[COL_SPREAD] ? 0 : -ENOMEM;
}

/* Metrics that qualify the headline, said where they are not the headline themselves. */
static const struct {
	const char *metric, *before, *after;
	bool only_if_some;
	const char *unless; /* a metric that says the same better */
} qualifiers[] = {
	{"loss", "loss ", "", false, NULL},	   {"retransmits", "", " retransmits", true, NULL},
	{"cpu_per_gb", "CPU ", "", false, "cost"}, {"cost", "", " a packet", false, NULL},
	{"missed", "", " missed", true, NULL},
};

static int remark_text(const struct result *result, const struct result_case *c, char **ret)
{
	const char *gap = "";
	size_t len;
	FILE *out = open_memstream(ret, &len);

	if (!out)
		return -ENOMEM;
	if (c->remark) {
		fputs(c->remark, out);
		gap = "; ";
	}
	for (size_t i = 0; i < sizeof(qualifiers) / sizeof(*qualifiers); i++) {
		const struct metric *metric = case_metric(c, qualifiers[i].metric);
		double median = median_of(result, metric);
		char text[64];

		if (isnan(median) || metric == c->metrics ||
		    (qualifiers[i].only_if_some && median == 0) ||
		    (qualifiers[i].unless && case_metric(c, qualifiers[i].unless)))
			continue;
		unit_format(median, metric->def->unit, text, sizeof(text));
		fprintf(out, "%s%s%s%s", gap, qualifiers[i].before, text, qualifiers[i].after);
		gap = "; ";
	}
	if (c->trials_done < c->trials_wanted)
		fprintf(out, "%s%u of %u trials", gap, c->trials_done, c->trials_wanted);
	return fclose(out) ? -ENOMEM : 0;
}

/* A case without a number of its own is told below the table. */
static bool has_row(const struct result_case *c)
{
	return c->status != CASE_SKIPPED && c->status != CASE_PENDING;
}

static int row_fill(const struct result *result, const struct result_case *c, struct row *row)
{
	int ret;

	row->cell[COL_CASE] = strdup(c->name);
	row->cell[COL_VERDICT] = strdup(case_status_name(c->status));
	if (!row->cell[COL_CASE] || !row->cell[COL_VERDICT])
		return -ENOMEM;
	ret = headline_text(result, c, row);
	if (!ret)
		ret = times_text(result, c, &row->cell[COL_TIMES]);
	if (!ret)
		ret = cpus_text(c, &row->cell[COL_CPUS]);
	if (!ret)
		ret = remark_text(result, c, &row->cell[COL_REMARK]);
	return ret;
}

static void row_release(struct row *row)
{
	for (size_t i = 0; i < COLUMNS; i++)
		free(row->cell[i]);
}

/* The table as it will be printed. */
struct grid {
	struct row *rows;
	size_t n;
	bool used[COLUMNS];
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
	return width;
}

/*
 * Columns that would stay empty are left out. When the terminal is too narrow, so are the remarks,
 * which are then told below the table, and next what can be guessed from a unit or is told below
 * anyway. The case and its number stay.
 */
static void choose_columns(struct grid *grid, unsigned int width)
{
	static const enum column dispensable[] = {COL_REMARK, COL_WHAT, COL_VERDICT, COL_CPUS,
						  COL_TIMES};
	unsigned int total = 0;

	for (size_t col = 0; col < COLUMNS; col++) {
		unsigned int cells = column_width(grid, col);

		grid->used[col] = cells;
		if (cells)
			total += cells + (total ? GAP : 0);
	}
	for (size_t i = 0; i < sizeof(dispensable) / sizeof(*dispensable); i++) {
		enum column col = dispensable[i];

		if (!width || total <= width)
			return;
		if (grid->used[col])
			total -= column_width(grid, col) + GAP;
		grid->used[col] = false;
	}
}

static int line_add(struct libscols_table *table, const struct row *row, const char *color,
		    const bool used[COLUMNS])
{
	struct libscols_line *line = scols_table_new_line(table, NULL);
	size_t at = 0;

	if (!line)
		return -ENOMEM;
	for (size_t col = 0; col < COLUMNS; col++) {
		if (!used[col])
			continue;
		if (scols_line_set_data(line, at, row->cell[col] ? row->cell[col] : ""))
			return -ENOMEM;
		if (col == COL_VERDICT)
			scols_cell_set_color(scols_line_get_cell(line, at), color);
		at++;
	}
	return 0;
}

static int table_fill(struct libscols_table *table, const struct result *result,
		      const struct grid *grid)
{
	size_t row = 0;
	int ret = 0;

	for (size_t col = 0; col < COLUMNS; col++)
		if (grid->used[col] &&
		    !scols_table_new_column(table, columns[col].title, 0, columns[col].flags))
			return -ENOMEM;
	for (size_t i = 0; i < result->n_cases && !ret; i++)
		if (has_row(&result->cases[i]))
			ret = line_add(table, &grid->rows[row++],
				       verdict_colors[result->cases[i].status], grid->used);
	return ret;
}

static int print_grid(const struct result *result, const struct grid *grid, FILE *out, bool color)
{
	struct libscols_table *table = scols_new_table();
	int ret;

	if (!table)
		return -ENOMEM;
	scols_table_set_stream(table, out);
	scols_table_set_column_separator(table, "  ");
	scols_table_enable_colors(table, color);
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

static int print_table(struct page *page, const struct result *result, bool color)
{
	struct grid grid = {0};
	int ret = grid_fill(result, &grid);

	if (ret || !grid.n)
		goto release_grid;
	choose_columns(&grid, page->width);
	ret = print_grid(result, &grid, page->out, color);
	if (!ret && !grid.used[COL_REMARK])
		print_remarks(page, &grid);
release_grid:
	grid_release(&grid);
	return ret;
}

static void print_problems(struct page *page, const struct result *result)
{
	for (size_t i = 0; i < result->n_cases; i++) {
		const struct result_case *c = &result->cases[i];

		if (!has_row(c) || c->status == CASE_OK)
			continue;
		page_print(page, "%s: %s: %s", case_status_name(c->status), c->name,
			   c->reason ? c->reason : "the reason was lost");
		page_end(page);
	}
}

/* Said only when it is so for every case that counts packets one by one. */
static void print_ledger(struct page *page, const struct result *result)
{
	unsigned int trials = 0;

	for (size_t i = 0; i < result->n_cases; i++) {
		const struct result_case *c = &result->cases[i];

		if (!c->ledger.present)
			continue;
		if (c->ledger.residual || c->status == CASE_VOID)
			return;
		trials += c->trials_done;
	}
	if (!trials)
		return;
	page_print(page, "Every packet accounted for in %u of %u trials.", trials, trials);
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

static int print_page(const struct result *result, FILE *out, bool color, unsigned int width)
{
	struct page page = {.out = out, .width = width};
	int ret;

	print_header(&page, result, color);
	ret = print_table(&page, result, color);
	if (ret)
		return ret;
	print_problems(&page, result);
	print_ledger(&page, result);
	print_skipped(&page, result);
	print_pending(&page, result);
	if (result->error || !result->complete) {
		page_print(&page, "Not complete: %s",
			   result->error ? result->error : "the run did not finish");
		page_end(&page);
	}
	return 0;
}

int result_write_table(const struct result *result, FILE *out, bool color, unsigned int width,
		       struct err *err)
{
	/*
	 * "µs" and "±" are written whatever the locale; in the C locale (sudo, cron, CI) they would
	 * count as two columns each, and libsmartcols would spell their bytes out.
	 */
	locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", NULL), before = NULL;
	int ret;

	if (utf8)
		before = uselocale(utf8);
	errno = 0;
	ret = print_page(result, out, color, width);
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
