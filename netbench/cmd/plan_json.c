/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the plan as a JSON document. */
#include "cmd/plan_json.h"

#include <errno.h>

#include "cmd/show.h"
#include "load/load.h"
#include "search/search.h"
#include "suite/plan.h"

static json_t *json_options(const struct opt *opts, const void *cfg)
{
	json_t *map = json_object();

	for (; opts->name; opts++) {
		char value[4200];

		opt_text(opts, cfg, value, sizeof(value));
		json_object_set_new(map, opts->name, json_string(value));
	}
	return map;
}

static json_t *json_load(const struct load_spec *spec)
{
	return json_pack("{s:s, s:o}", "name", spec->load->kind.name, "options",
			 json_options(spec->load->kind.opts, spec->cfg));
}

static json_t *json_arm(const struct plan *plan, const struct arm *arm, struct err *err)
{
	const char *against = arm->baseline == NO_BASELINE ? NULL : plan->arms[arm->baseline].name;
	json_t *lab = show_json(&arm->lab, arm->lab_name, err), *labels, *beside;

	if (!lab)
		return NULL;
	labels = json_object();
	for (size_t i = 0; i < arm->n_labels; i++)
		json_object_set_new(labels, arm->labels[i].name, json_string(arm->labels[i].value));
	beside = json_array();
	for (size_t i = 0; i < arm->n_beside; i++)
		json_array_append_new(beside, json_load(&arm->beside[i]));
	return json_pack("{s:s, s:s?, s:o, s:s?, s:s?, s:o, s:o, s:o, s:o, s:o}", "name", arm->name,
			 "skip", arm->skip, "labels", labels, "against", against, "slope",
			 arm->slope, "timing", json_options(timing_opts, &arm->timing), "search",
			 arm->search ? json_options(search_opts, arm->search) : json_null(), "load",
			 json_load(&arm->main), "beside", beside, "lab", lab);
}

static json_t *json_plan(const struct plan *plan, struct err *err)
{
	json_t *arms = json_array(), *order = json_array();

	for (size_t i = 0; i < plan->n_arms; i++) {
		json_t *arm = json_arm(plan, &plan->arms[i], err);

		if (!arm) {
			json_decref(arms);
			json_decref(order);
			return NULL;
		}
		json_array_append_new(arms, arm);
	}
	for (size_t i = 0; i < plan->n_order; i++)
		json_array_append_new(order, json_string(plan->arms[plan->order[i]].name));
	return json_pack("{s:s, s:s?, s:s, s:I, s:f, s:o, s:o}", "name", plan->suite->name, "about",
			 plan->suite->about, "file", plan->suite->file, "seed",
			 (json_int_t)plan->seed, "seconds", (double)plan_duration_ns(plan) / 1e9,
			 "arms", arms, "order", order);
}

json_t *plans_json(struct plan *const *plans, size_t n, struct err *err)
{
	json_t *suites = json_array();

	err_set(err, ENOMEM, "out of memory");
	for (size_t i = 0; i < n; i++) {
		json_t *plan = json_plan(plans[i], err);

		if (!plan) {
			json_decref(suites);
			return NULL;
		}
		json_array_append_new(suites, plan);
	}
	return json_pack("{s:s, s:o}", "schema", "netbench-plan/1", "suites", suites);
}
