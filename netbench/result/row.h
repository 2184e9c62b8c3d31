/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the cells of the table say about a case. */
#ifndef RESULT_ROW_H
#define RESULT_ROW_H

struct result;
struct result_case;

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

struct row {
	char *cell[COLUMNS]; /* NULL: nothing to say */
	char mark[COLUMNS];  /* one character to stand beside the cell, or 0 */
};

/* On failure, -ENOMEM, what was filled so far is the caller's to release. */
int row_fill(const struct result *result, const struct result_case *c, struct row *row);
void row_release(struct row *row);

#endif
