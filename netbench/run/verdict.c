/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns which cases are held against each other. */
#include "run/verdict.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "result/fit.h"
#include "result/ladder.h"
#include "result/result.h"
#include "run/run.h"
#include "suite/plan.h"

static int compare(const struct plan *plan, size_t first_case, struct result *result)
{
	for (size_t i = 0; i < plan->n_arms; i++) {
		const int baseline = plan->arms[i].baseline;
		int r;

		if (baseline == NO_BASELINE)
			continue;
		r = result_compare_case(result, run_case_index(plan, first_case, i),
					run_case_index(plan, first_case, (size_t)baseline));
		if (r == -ENOMEM)
			return r;
	}
	return 0;
}

static const char *slope_value(const struct arm *arm)
{
	for (size_t i = 0; i < arm->n_labels; i++)
		if (!strcmp(arm->labels[i].name, arm->slope))
			return arm->labels[i].value;
	return "nan";
}

/* How the axis is called in the names of cases: by its path or the end of that. */
static bool is_axis(const char *word, size_t len, const char *path, const char *value)
{
	const char *equals = memchr(word, '=', len);
	const size_t key = equals ? (size_t)(equals - word) : 0, whole = strlen(path);

	if (!equals || key > whole || strlen(value) != len - key - 1 ||
	    memcmp(equals + 1, value, len - key - 1) || memcmp(path + whole - key, word, key))
		return false;
	return key == whole || path[whole - key - 1] == '.';
}

/*
 * The name of a case without the value along its slope: what the cases on one line have in common.
 * "rules/lab,shape=linear,rules=10" is "rules/lab,shape=linear".
 */
static char *line_name(const char *name, const struct arm *arm)
{
	char *text = calloc(1, strlen(name) + 1), *end = text;

	if (!text)
		return NULL;
	for (const char *word = name; *word;) {
		const size_t start = word > name; /* the separator belongs to what follows it */
		const size_t len = start + strcspn(word + start, "/,");

		if (!is_axis(word + start, len - start, arm->slope, slope_value(arm)))
			end = mempcpy(end, word, len);
		word += len;
	}

	return text;
}

/* The cases of a plan on one line. */
struct group {
	char **names; /* by arm: of its line, NULL without one */
	struct fit_point *points;
	size_t n;
};

static bool usable(const struct result_case *c)
{
	return c->status == CASE_OK || c->status == CASE_SUSPECT;
}

static const struct metric_def *collect(const struct plan *plan, size_t first_case,
					const struct result *result, size_t first,
					const char *metric_name, struct group *group)
{
	const struct metric_def *def = NULL;

	group->n = 0;
	for (size_t i = first; i < plan->n_arms; i++) {
		const struct result_case *c = &result->cases[run_case_index(plan, first_case, i)];
		const struct metric *metric = case_metric(c, metric_name);

		if (!group->names[i] || strcmp(group->names[i], group->names[first]) ||
		    strcmp(plan->arms[i].slope, plan->arms[first].slope) || !usable(c) || !metric)
			continue;
		def = metric->def;
		group->points[group->n++] = (struct fit_point){
			strtod(slope_value(&plan->arms[i]), NULL), metric->samples, metric->n};
	}
	return def;
}

/* One line, by the first metric of which at least two cases know something. */
static int fit_group(const struct plan *plan, size_t first_case, struct result *result,
		     size_t first, struct group *group)
{
	static const char *const metrics[] = {"time_per_frame", "cost"};
	struct fit fit = {.name = group->names[first], .per = (char *)plan->arms[first].slope};

	for (size_t i = 0; i < sizeof(metrics) / sizeof(*metrics); i++) {
		int r;

		fit.def = collect(plan, first_case, result, first, metrics[i], group);
		r = fit_line(group->points, group->n, result->seed, &fit);
		if (r)
			return r;
		if (!isnan(fit.slope))
			return result_add_fit(result, &fit);
	}
	return 0;
}

static bool is_first(const struct plan *plan, const struct group *group, size_t arm)
{
	for (size_t i = 0; i < arm; i++)
		if (group->names[i] && !strcmp(group->names[i], group->names[arm]) &&
		    !strcmp(plan->arms[i].slope, plan->arms[arm].slope))
			return false;
	return true;
}

static int fit(const struct plan *plan, size_t first_case, struct result *result)
{
	struct group group = {.names = calloc(plan->n_arms + 1, sizeof(*group.names)),
			      .points = calloc(plan->n_arms + 1, sizeof(*group.points))};
	int r = group.names && group.points ? 0 : -ENOMEM;

	for (size_t i = 0; !r && i < plan->n_arms; i++) {
		const size_t at = run_case_index(plan, first_case, i);

		if (!plan->arms[i].slope)
			continue;
		group.names[i] = line_name(result->cases[at].name, &plan->arms[i]);
		if (!group.names[i])
			r = -ENOMEM;
	}
	for (size_t i = 0; !r && i < plan->n_arms; i++)
		if (group.names[i] && is_first(plan, &group, i))
			r = fit_group(plan, first_case, result, i, &group);
	for (size_t i = 0; group.names && i < plan->n_arms; i++)
		free(group.names[i]);
	free(group.names);
	free(group.points);
	return r;
}

int verdict_draw(const struct plan *plan, size_t first_case, struct result *result)
{
	int r = compare(plan, first_case, result);

	return r ? r : fit(plan, first_case, result);
}
