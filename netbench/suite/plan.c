/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the way from a suite to its arms and the order of their trials. */
#include "suite/plan.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "suite/arm.h"
#include "suite/path.h"

/* What a plan may grow to; OBJECTS counts the nodes and links of all arms. */
enum { ARMS_MAX = 4096, TRIALS_MAX = 100000, OBJECTS_MAX = 1000000, AXES_MAX = 16 };

struct setting {
	char *path;
	const char *value;
	bool used;
	struct err why; /* when nothing used it: the most helpful refusal */
};

struct builder {
	struct plan *plan;
	const struct plan_options *options;
	struct setting *settings;
	size_t room, trials, objects;
	char names[384]; /* of the arms that --only left out */
	struct err *err;
};

/* One case on its way to arms. */
struct expansion {
	const struct case_spec *c;
	const struct axis *axes[AXES_MAX]; /* those that --set does not fix */
	size_t n_axes;
	size_t at[AXES_MAX];
	const struct lab_plan *base; /* of the lab as written */
	bool lab_varies;
};

static int no_memory(struct err *err)
{
	return err_set(err, ENOMEM, "out of memory");
}

static int split_settings(struct builder *b)
{
	b->settings = calloc(b->options->n_set + 1, sizeof(*b->settings));
	if (!b->settings)
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

/* "mtu" of "link.*.mtu", or all of it where two axes would read the same. */
static const char *axis_label(const struct expansion *x, const struct axis *axis)
{
	const char *dot = strrchr(axis->path, '.');
	const char *last = dot ? dot + 1 : axis->path;

	for (size_t i = 0; i < x->n_axes; i++) {
		const char *other = strrchr(x->axes[i]->path, '.');

		if (x->axes[i] != axis && !strcmp(other ? other + 1 : x->axes[i]->path, last))
			return axis->path;
	}
	return last;
}

/* "case" or "case/offloads=on,streams=8". */
static char *arm_name(const struct expansion *x)
{
	char *name = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&name, &len);

	if (!out)
		return NULL;
	fputs(x->c->name, out);
	for (size_t i = 0; i < x->n_axes; i++)
		fprintf(out, "%c%s=%s", i ? ',' : '/', axis_label(x, x->axes[i]),
			x->axes[i]->values[x->at[i]]);
	if (fclose(out)) {
		free(name);
		return NULL;
	}
	return name;
}

static int add_labels(struct arm *arm, const struct expansion *x, struct err *err)
{
	arm->labels = calloc(x->n_axes + 1, sizeof(*arm->labels));
	if (!arm->labels)
		return no_memory(err);
	for (; arm->n_labels < x->n_axes; arm->n_labels++) {
		const struct axis *axis = x->axes[arm->n_labels];
		struct arm_label *label = &arm->labels[arm->n_labels];

		label->name = strdup(axis->path);
		label->value = strdup(axis->values[x->at[arm->n_labels]]);
		if (!label->name || !label->value) {
			free(label->name);
			free(label->value);
			return no_memory(err);
		}
	}
	return 0;
}

/* The arm as the case has it, before its matrix and --set. */
static int copy_case(struct arm *arm, const struct expansion *x, const struct suite *suite,
		     struct err *err)
{
	const struct case_spec *c = x->c;

	arm->group = (size_t)(c - suite->cases);
	arm->timing = c->timing;
	arm->lab_name = strdup(suite->labs[c->lab].name);
	arm->beside = calloc(c->n_beside + 1, sizeof(*arm->beside));
	if (!arm->lab_name || !arm->beside || lab_spec_copy(&arm->lab, &suite->labs[c->lab]) ||
	    load_spec_copy(&arm->main, &c->main))
		return no_memory(err);
	for (; arm->n_beside < c->n_beside; arm->n_beside++)
		if (load_spec_copy(&arm->beside[arm->n_beside], &c->beside[arm->n_beside]))
			return no_memory(err);
	return add_labels(arm, x, err);
}

static int apply_axes(const struct path_scope *scope, const struct expansion *x, struct err *err)
{
	struct err why;

	for (size_t i = 0; i < x->n_axes; i++) {
		const struct axis *axis = x->axes[i];
		int ret = path_set(scope, axis->path, axis->values[x->at[i]], &why);

		if (ret == -ENOENT)
			return err_at(err, axis->mark, EINVAL, "%s", why.text);
		if (ret < 0)
			return err_at(err, axis->value_marks[x->at[i]], ret, "%s", why.text);
	}
	return 0;
}

static int apply_settings(struct builder *b, const struct path_scope *scope)
{
	for (size_t i = 0; i < b->options->n_set; i++) {
		struct setting *s = &b->settings[i];
		struct err why;
		int ret = path_set(scope, s->path, s->value, &why);

		if (ret == -ENOENT) {
			if (!s->why.text[0] || (!strstr(s->why.text, "did you mean") &&
						strstr(why.text, "did you mean")))
				s->why = why;
			continue;
		}
		if (ret < 0)
			return err_set(b->err, ret, "%s", why.text);
		s->used = true;
	}
	return 0;
}

static int fill_arm(struct builder *b, struct arm *arm, const struct expansion *x)
{
	struct path_scope scope = {
		.timing = &arm->timing,
		.lab = &arm->lab,
		.plan = x->base,
		.main = &arm->main,
	};
	struct lab_plan *own = NULL;
	int ret = copy_case(arm, x, b->plan->suite, b->err);

	scope.beside = arm->beside;
	scope.n_beside = arm->n_beside;
	if (!ret)
		ret = apply_axes(&scope, x, b->err);
	if (!ret)
		ret = apply_settings(b, &scope);
	if (!ret && x->lab_varies)
		ret = lab_plan_make(&arm->lab, &own, b->err);
	if (!ret)
		ret = arm_check(arm, own ? own : x->base, b->err);
	lab_plan_free(own);
	return ret;
}

static bool selected(struct builder *b, const char *name, const char *case_name)
{
	const char *only = b->options->only;
	size_t at = strlen(b->names);

	if (!only || !fnmatch(only, name, 0) || !fnmatch(only, case_name, 0))
		return true;
	snprintf(b->names + at, sizeof(b->names) - at, "%s%s", at ? ", " : "", name);
	return false;
}

static void arm_release(struct arm *arm)
{
	free(arm->name);
	free(arm->lab_name);
	lab_spec_release(&arm->lab);
	load_spec_release(&arm->main);
	for (size_t i = 0; i < arm->n_beside; i++)
		load_spec_release(&arm->beside[i]);
	free(arm->beside);
	for (size_t i = 0; i < arm->n_labels; i++) {
		free(arm->labels[i].name);
		free(arm->labels[i].value);
	}
	free(arm->labels);
	free(arm->skip);
}

static int add_arm(struct builder *b, const struct expansion *x)
{
	struct plan *plan = b->plan;
	struct arm *arm;
	char *name = arm_name(x);

	if (!name)
		return no_memory(b->err);
	if (!selected(b, name, x->c->name)) {
		free(name);
		return 0;
	}
	if (plan->n_arms == b->room) {
		size_t room = b->room ? 2 * b->room : 16;
		struct arm *arms = reallocarray(plan->arms, room, sizeof(*arms));

		if (!arms) {
			free(name);
			return no_memory(b->err);
		}
		plan->arms = arms;
		b->room = room;
	}
	arm = memset(&plan->arms[plan->n_arms++], 0, sizeof(*arm));
	arm->name = name;
	return fill_arm(b, arm, x);
}

/* The matrix of a case decides how large the plan gets, so that is where too much is reported. */
static struct mark size_mark(const struct case_spec *c)
{
	return c->n_axes ? c->axes[0].mark : c->mark;
}

static int check_size(struct builder *b, const struct expansion *x)
{
	const struct lab_spec *lab = &b->plan->suite->labs[x->c->lab];
	struct mark mark = size_mark(x->c);
	size_t arms = 1;

	for (size_t i = 0; i < x->n_axes; i++)
		if (__builtin_mul_overflow(arms, x->axes[i]->n_values, &arms) || arms > ARMS_MAX)
			return err_at(b->err, mark, EINVAL, "case '%s' makes more than %d arms",
				      x->c->name, ARMS_MAX);
	if (arms + b->plan->n_arms > ARMS_MAX)
		return err_at(b->err, mark, EINVAL,
			      "with case '%s' the suite has more than %d arms", x->c->name,
			      ARMS_MAX);
	b->objects += arms * (lab->n_nodes + lab->n_links);
	if (b->objects > OBJECTS_MAX)
		return err_at(b->err, mark, EINVAL,
			      "the %zu arms of case '%s' have more than %d nodes and links", arms,
			      x->c->name, OBJECTS_MAX);
	return 0;
}

/* Which axes are left, and whether anything changes the lab. */
static int choose_axes(struct builder *b, struct expansion *x)
{
	for (size_t i = 0; i < x->c->n_axes; i++) {
		const struct axis *axis = &x->c->axes[i];
		bool fixed = false;

		for (size_t j = 0; j < b->options->n_set; j++)
			fixed |= path_covers(b->settings[j].path, axis->path);
		if (fixed)
			continue;
		if (x->n_axes == AXES_MAX)
			return err_at(b->err, axis->mark, EINVAL, "more than %d axes", AXES_MAX);
		x->axes[x->n_axes++] = axis;
		x->lab_varies |= path_of_lab(axis->path);
	}
	for (size_t j = 0; j < b->options->n_set; j++)
		x->lab_varies |= path_of_lab(b->settings[j].path);
	return 0;
}

/* The next combination, the last axis turning fastest; false after the last one. */
static bool advance(struct expansion *x)
{
	for (size_t i = x->n_axes; i-- > 0;) {
		if (++x->at[i] < x->axes[i]->n_values)
			return true;
		x->at[i] = 0;
	}
	return false;
}

static int expand(struct builder *b, const struct case_spec *c)
{
	struct expansion x = {.c = c};
	struct lab_plan *base = NULL;
	size_t first = b->plan->n_arms;
	int ret = choose_axes(b, &x);

	if (!ret)
		ret = check_size(b, &x);
	if (!ret)
		ret = lab_plan_make(&b->plan->suite->labs[c->lab], &base, b->err);
	if (ret)
		return ret;
	x.base = base;
	do
		ret = add_arm(b, &x);
	while (!ret && advance(&x));
	lab_plan_free(base);
	for (size_t i = first; i < b->plan->n_arms && !ret; i++) {
		b->trials += b->plan->arms[i].timing.repeat;
		if (b->trials > TRIALS_MAX)
			ret = err_at(b->err, size_mark(c), EINVAL,
				     "with case '%s' the suite has more than %d trials", c->name,
				     TRIALS_MAX);
	}
	return ret;
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

/*
 * Group by group in the order of the file, so that what is compared is measured close together;
 * within a group round by round, each round a fresh shuffle: drift of the machine hits all arms alike.
 */
static int make_order(struct plan *plan, size_t trials)
{
	struct rng rng;
	size_t first = 0;

	plan->order = calloc(trials + 1, sizeof(*plan->order));
	if (!plan->order)
		return -ENOMEM;
	rng_seed(&rng, plan->seed);
	while (first < plan->n_arms) {
		size_t end = first;
		uint64_t rounds = 0;

		for (; end < plan->n_arms && plan->arms[end].group == plan->arms[first].group;
		     end++)
			if (!plan->arms[end].skip && plan->arms[end].timing.repeat > rounds)
				rounds = plan->arms[end].timing.repeat;
		for (uint64_t round = 0; round < rounds; round++) {
			size_t start = plan->n_order;

			for (size_t i = first; i < end; i++)
				if (!plan->arms[i].skip && plan->arms[i].timing.repeat > round)
					plan->order[plan->n_order++] = i;
			for (size_t n = plan->n_order - start; n > 1; n--) {
				size_t *list = plan->order + start, j = (size_t)rng_below(&rng, n);
				size_t swap = list[n - 1];

				list[n - 1] = list[j];
				list[j] = swap;
			}
		}
		first = end;
	}
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
	ret = split_settings(&b);
	for (size_t i = 0; i < suite->n_cases && !ret; i++)
		ret = expand(&b, &suite->cases[i]);
	if (!ret)
		ret = check_used(&b);
	if (!ret && make_order(b.plan, b.trials))
		ret = no_memory(err);
	for (size_t i = 0; b.settings && i < options->n_set; i++)
		free(b.settings[i].path);
	free(b.settings);
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
		const struct timing *timing = &plan->arms[plan->order[i]].timing;

		sum += timing->duration_ns + timing->warmup_ns;
	}
	return sum;
}
