/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the choice of baselines. An arm's baseline has the values that `against` gives, and those of
 * the arm for all else that both of them vary.
 */
#include "suite/baseline.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "suite/path.h"
#include "suite/plan.h"

static const char *label_of(const struct arm *arm, const char *name)
{
	if (path_is_lab(name))
		return arm->lab_name;
	for (size_t i = 0; i < arm->n_labels; i++)
		if (!strcmp(arm->labels[i].name, name))
			return arm->labels[i].value;
	return NULL;
}

static const char *wanted_value(const struct against *against, const char *name)
{
	for (size_t i = 0; i < against->n_values; i++)
		if (!strcmp(against->values[i].path, name))
			return against->values[i].value;
	return NULL;
}

static bool has_values(const struct arm *arm, const struct against *against)
{
	for (size_t i = 0; i < against->n_values; i++) {
		const char *value = label_of(arm, against->values[i].path);

		if (!value || strcmp(value, against->values[i].value) != 0)
			return false;
	}
	return true;
}

static bool fits(const struct arm *arm, const struct arm *other, const struct against *against)
{
	if (!has_values(other, against))
		return false;
	for (size_t i = 0; i < other->n_labels; i++) {
		const struct arm_label *label = &other->labels[i];
		const char *value = label_of(arm, label->name);

		if (value && !wanted_value(against, label->name) &&
		    strcmp(value, label->value) != 0)
			return false;
	}
	return true;
}

/* Arms of [from, to) that fit; with same_lab only those in the same lab. Returns how many. */
static size_t find(const struct plan *plan, const struct arm *arm, const struct against *against,
		   size_t from, size_t to, bool same_lab, size_t *ret)
{
	size_t n = 0;

	for (size_t i = from; i < to; i++) {
		const struct arm *other = &plan->arms[i];

		if (other == arm || !fits(arm, other, against) ||
		    (same_lab && strcmp(other->lab_name, arm->lab_name) != 0))
			continue;
		*ret = i;
		n++;
	}
	return n;
}

/* from, to: the arms of the case that it is compared with. */
static int find_baseline(struct plan *plan, struct arm *arm, const struct against *against,
			 size_t from, size_t to, struct err *err)
{
	const bool own = !against->name;
	size_t at = 0, n;

	/* The arms that others are compared with have nothing below them. */
	if (own && has_values(arm, against))
		return 0;
	n = find(plan, arm, against, from, to, own && !wanted_value(against, "lab"), &at);
	if (n > 1 && !wanted_value(against, "lab"))
		n = find(plan, arm, against, from, to, true, &at);
	if (n > 1)
		return err_at(err, against->mark, EINVAL,
			      "arm '%s' could be compared with %zu arms, such as '%s'", arm->name,
			      n, plan->arms[at].name);
	if (n)
		arm->baseline = (int)at;
	return 0;
}

static size_t case_index(const struct suite *suite, const char *name)
{
	size_t i = 0;

	while (strcmp(suite->cases[i].name, name) != 0)
		i++;
	return i;
}

int baselines_find(struct plan *plan, const size_t *first, struct err *err)
{
	const struct suite *suite = plan->suite;
	int ret = 0;

	for (size_t i = 0; i < suite->n_cases && !ret; i++) {
		const struct against *against = &suite->cases[i].against;
		size_t base = i;

		if (!against->name && !against->n_values)
			continue;
		if (against->name)
			base = case_index(suite, against->name);
		for (size_t k = first[i]; k < first[i + 1] && !ret; k++)
			ret = find_baseline(plan, &plan->arms[k], against, first[base],
					    first[base + 1], err);
	}
	return ret;
}
