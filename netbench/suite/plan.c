/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the plan as a whole: what --set and --only must find, and the order of the trials. */
#include "suite/plan.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "search/search.h"
#include "suite/baseline.h"
#include "suite/matrix.h"

static int no_memory(struct err *err)
{
	return err_set(err, ENOMEM, "out of memory");
}

static int prepare(struct builder *b)
{
	b->settings = calloc(b->options->n_set + 1, sizeof(*b->settings));
	b->bases = calloc(b->plan->suite->n_labs + 1, sizeof(*b->bases));
	b->first = calloc(b->plan->suite->n_cases + 1, sizeof(*b->first));
	if (!b->settings || !b->bases || !b->first)
		return no_memory(b->err);
	for (size_t i = 0; i < b->options->n_set; i++) {
		const char *text = b->options->set[i], *equals = strchr(text, '=');

		if (!equals)
			return err_set(b->err, EINVAL, "'%.128s' is not of the form path=value",
				       text);
		b->settings[i].path = strndup(text, (size_t)(equals - text));
		b->settings[i].value = equals + 1;
		if (!b->settings[i].path)
			return no_memory(b->err);
	}
	return 0;
}

static void builder_release(struct builder *b)
{
	for (size_t i = 0; b->settings && i < b->options->n_set; i++)
		free(b->settings[i].path);
	free(b->settings);
	for (size_t i = 0; b->bases && i < b->plan->suite->n_labs; i++)
		lab_plan_free(b->bases[i]);
	free(b->bases);
	free(b->first);
	filter_checks_release(&b->checks);
}

static int check_used(struct builder *b)
{
	if (!b->plan->n_arms && b->options->only)
		return err_set(b->err, EINVAL, "no arm matches '%.64s'; there are: %s%s",
			       b->options->only, b->names,
			       strlen(b->names) == sizeof(b->names) - 1 ? "…" : "");
	for (size_t i = 0; i < b->options->n_set; i++)
		if (!b->settings[i].used)
			return err_set(b->err, EINVAL, "%s", b->settings[i].why.text);
	return 0;
}

static void exchange(size_t *list, size_t i, size_t j)
{
	size_t kept = list[i];

	list[i] = list[j];
	list[j] = kept;
}

/*
 * Round by round over all arms, each round a fresh shuffle: a drift of the machine hits all alike.
 * No arm comes twice in a row where there is another to put between. Arms with fewer repeats are
 * missing from the last rounds.
 */
static int make_order(struct plan *plan, size_t trials)
{
	struct rng rng;
	size_t start = 0, n;

	plan->order = calloc(trials + 1, sizeof(*plan->order));
	if (!plan->order)
		return -ENOMEM;
	rng_seed(&rng, plan->seed);
	for (uint64_t round = 0;; round++, start += n) {
		size_t *list = plan->order + start;

		n = 0;
		for (size_t i = 0; i < plan->n_arms; i++)
			if (!plan->arms[i].skip && plan->arms[i].timing.repeat > round)
				list[n++] = i;
		if (!n)
			break;
		for (size_t left = n; left > 1; left--)
			exchange(list, left - 1, (size_t)rng_below(&rng, left));
		if (start && n > 1 && list[0] == list[-1])
			exchange(list, 0, 1 + (size_t)rng_below(&rng, n - 1));
	}
	plan->n_order = start;
	return 0;
}

int plan_make(const struct suite *suite, const struct plan_options *options, struct plan **ret_plan,
	      struct err *err)
{
	struct builder b = {.options = options, .err = err};
	int ret;

	b.plan = calloc(1, sizeof(*b.plan));
	if (!b.plan)
		return no_memory(err);
	b.plan->suite = suite;
	b.plan->seed = options->seed;
	ret = prepare(&b);
	for (size_t i = 0; i < suite->n_cases && !ret; i++) {
		ret = matrix_expand(&b, &suite->cases[i]);
		b.first[i + 1] = b.plan->n_arms;
	}
	if (!ret)
		ret = check_used(&b);
	if (!ret)
		ret = baselines_find(b.plan, b.first, err);
	if (!ret && make_order(b.plan, b.trials))
		ret = no_memory(err);
	builder_release(&b);
	if (ret)
		plan_free(b.plan);
	else
		*ret_plan = b.plan;
	return ret;
}

void plan_free(struct plan *plan)
{
	if (!plan)
		return;
	for (size_t i = 0; i < plan->n_arms; i++)
		arm_release(&plan->arms[i]);
	free(plan->arms);
	free(plan->order);
	free(plan);
}

uint64_t plan_duration_ns(const struct plan *plan)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < plan->n_order; i++) {
		const struct arm *arm = &plan->arms[plan->order[i]];

		sum += arm->search ? search_cap_ns(arm->search)
				   : arm->timing.duration_ns + arm->timing.warmup_ns;
	}
	return sum;
}
