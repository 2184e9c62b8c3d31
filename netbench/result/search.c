/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the memory of searches and curves. */
#include "result/search.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "result/append.h"
#include "result/result.h"

void search_result_release(struct search_result *search)
{
	for (size_t i = 0; i < search->n_goals; i++)
		free(search->goals[i].name);
	free(search->goals);
	free(search->trials);
}

/* NULL for a list without elements too: an error only if there are some. */
static void *copy_of(const void *list, size_t n, size_t size)
{
	void *copy = n ? reallocarray(NULL, n, size) : NULL;

	return copy ? memcpy(copy, list, n * size) : NULL;
}

static int copy_goals(struct search_result *to, const struct search_result *from)
{
	to->goals = copy_of(from->goals, from->n_goals, sizeof(*to->goals));
	if (from->n_goals && !to->goals)
		return -ENOMEM;
	for (; to->n_goals < from->n_goals; to->n_goals++) {
		struct search_goal_result *goal = &to->goals[to->n_goals];

		goal->name = strdup(from->goals[to->n_goals].name);
		if (!goal->name)
			return -ENOMEM;
	}
	return 0;
}

int case_add_search(struct result_case *c, const struct search_result *search)
{
	struct search_result *added = APPEND(c->searches, c->n_searches);

	if (!added)
		return -ENOMEM;
	added->duration_s = search->duration_s;
	added->capped = search->capped;
	if (copy_goals(added, search))
		goto release_added;
	added->trials = copy_of(search->trials, search->n_trials, sizeof(*added->trials));
	if (search->n_trials && !added->trials)
		goto release_added;
	added->n_trials = search->n_trials;
	c->n_searches++;
	return 0;
release_added:
	search_result_release(added);
	return -ENOMEM;
}

void curve_release(struct curve *curve)
{
	for (size_t i = 0; i < curve->n_columns; i++) {
		if (curve->columns)
			free(curve->columns[i]);
		if (curve->units)
			free(curve->units[i]);
	}
	free(curve->name);
	free(curve->columns);
	free(curve->units);
	free(curve->rows);
}

static int copy_columns(struct curve *to, const struct curve *from)
{
	to->n_columns = from->n_columns;
	to->columns = calloc(from->n_columns + 1, sizeof(*to->columns));
	to->units = calloc(from->n_columns + 1, sizeof(*to->units));
	if (!to->columns || !to->units)
		return -ENOMEM;
	for (size_t i = 0; i < from->n_columns; i++) {
		to->columns[i] = strdup(from->columns[i]);
		to->units[i] = strdup(from->units[i]);
		if (!to->columns[i] || !to->units[i])
			return -ENOMEM;
	}
	return 0;
}

int case_add_curve(struct result_case *c, const struct curve *curve)
{
	struct curve *added = APPEND(c->curves, c->n_curves);
	const size_t cells = curve->n_rows * curve->n_columns;

	if (!added)
		return -ENOMEM;
	added->name = strdup(curve->name);
	if (!added->name || copy_columns(added, curve))
		goto release_added;
	added->rows = copy_of(curve->rows, cells, sizeof(*added->rows));
	if (cells && !added->rows)
		goto release_added;
	added->n_rows = curve->n_rows;
	c->n_curves++;
	return 0;
release_added:
	curve_release(added);
	return -ENOMEM;
}
