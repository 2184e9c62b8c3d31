/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the JSON of searches, with every trial of theirs, and of curves. */
#include "result/doc.h"
#include "result/result.h"

static json_t *goal_json(struct doc *doc, const struct search_goal_result *goal)
{
	json_t *object = json_object();

	doc_put(doc, object, "name", doc_text(goal->name));
	doc_put(doc, object, "loss_ratio", doc_number(goal->loss_ratio));
	doc_put(doc, object, "exceed_ratio", doc_number(goal->exceed_ratio));
	doc_put(doc, object, "width", doc_number(goal->width));
	doc_put(doc, object, "final_s", doc_number(goal->final_s));
	doc_put(doc, object, "sum_s", doc_number(goal->sum_s));
	doc_put(doc, object, "lower", doc_number(goal->lower));
	doc_put(doc, object, "upper", doc_number(goal->upper));
	doc_put(doc, object, "throughput", doc_number(goal->throughput));
	return object;
}

static json_t *trial_json(struct doc *doc, const struct search_trial *trial)
{
	json_t *object = json_object();

	doc_put(doc, object, "load", doc_number(trial->load));
	doc_put(doc, object, "duration_s", doc_number(trial->duration_s));
	doc_put(doc, object, "loss_ratio", doc_number(trial->loss_ratio));
	return object;
}

json_t *doc_searches(struct doc *doc, const struct result_case *c)
{
	json_t *array = json_array();

	for (size_t i = 0; i < c->n_searches; i++) {
		const struct search_result *search = &c->searches[i];
		json_t *object = json_object(), *goals = json_array(), *trials = json_array();

		for (size_t k = 0; k < search->n_goals; k++)
			doc_push(doc, goals, goal_json(doc, &search->goals[k]));
		for (size_t k = 0; k < search->n_trials; k++)
			doc_push(doc, trials, trial_json(doc, &search->trials[k]));
		doc_put(doc, object, "duration_s", doc_number(search->duration_s));
		doc_put(doc, object, "capped", json_boolean(search->capped));
		doc_put(doc, object, "goals", goals);
		doc_put(doc, object, "trials", trials);
		doc_push(doc, array, object);
	}
	return array;
}

static json_t *columns_json(struct doc *doc, const struct curve *curve)
{
	json_t *array = json_array();

	for (size_t i = 0; i < curve->n_columns; i++) {
		json_t *object = json_object();

		doc_put(doc, object, "name", doc_text(curve->columns[i]));
		doc_put(doc, object, "unit", doc_unit(curve->units[i]));
		doc_push(doc, array, object);
	}
	return array;
}

static json_t *rows_json(struct doc *doc, const struct curve *curve)
{
	json_t *array = json_array();

	for (size_t i = 0; i < curve->n_rows; i++) {
		json_t *row = json_array();

		for (size_t k = 0; k < curve->n_columns; k++)
			doc_push(doc, row, doc_number(curve->rows[i * curve->n_columns + k]));
		doc_push(doc, array, row);
	}
	return array;
}

json_t *doc_curves(struct doc *doc, const struct result_case *c)
{
	json_t *array = json_array();

	for (size_t i = 0; i < c->n_curves; i++) {
		json_t *object = json_object();

		doc_put(doc, object, "name", doc_text(c->curves[i].name));
		doc_put(doc, object, "columns", columns_json(doc, &c->curves[i]));
		doc_put(doc, object, "rows", rows_json(doc, &c->curves[i]));
		doc_push(doc, array, object);
	}
	return array;
}
