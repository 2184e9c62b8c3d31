/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the JSON of comparisons: what a case costs more than another, and what one more of something. */
#include "result/doc.h"
#include "result/result.h"

json_t *doc_versus(struct doc *doc, const struct result_case *c)
{
	const struct versus *versus = &c->versus;
	json_t *object;

	if (!versus->baseline)
		return json_null();
	object = json_object();
	doc_put(doc, object, "baseline", doc_text(versus->baseline));
	doc_put(doc, object, "metric", doc_text(versus->def->name));
	doc_put(doc, object, "unit", doc_unit(versus->def->unit));
	doc_put(doc, object, "difference", doc_number(versus->difference));
	doc_put(doc, object, "ci95", doc_interval(doc, versus->lo, versus->hi));
	return object;
}

static json_t *fit_json(struct doc *doc, const struct fit *fit)
{
	json_t *object = json_object();

	doc_put(doc, object, "name", doc_text(fit->name));
	doc_put(doc, object, "per", doc_text(fit->per));
	doc_put(doc, object, "metric", doc_text(fit->def->name));
	doc_put(doc, object, "unit", doc_unit(fit->def->unit));
	doc_put(doc, object, "slope", doc_number(fit->slope));
	doc_put(doc, object, "ci95", doc_interval(doc, fit->lo, fit->hi));
	doc_put(doc, object, "n", doc_count(fit->n));
	return object;
}

json_t *doc_fits(struct doc *doc, const struct result *result)
{
	json_t *array = json_array();

	for (size_t i = 0; i < result->n_fits; i++)
		doc_push(doc, array, fit_json(doc, &result->fits[i]));
	return array;
}
