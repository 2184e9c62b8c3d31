/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the expansion of a case: which arms its matrix makes, what they are called and what they hold. */
#include "suite/matrix.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "suite/arm.h"
#include "suite/path.h"

/* What a plan may grow to; OBJECTS counts the nodes, links and filters of all arms. */
enum { ARMS_MAX = 4096, TRIALS_MAX = 100000, OBJECTS_MAX = 1000000, AXES_MAX = 16 };

/* One case on its way to arms. */
struct expansion {
	const struct case_spec *c;
	const struct axis *axes[AXES_MAX]; /* those that --set does not fix */
	size_t n_axes;
	const struct axis *labs; /* the one among them that chooses the lab, if any */
	char **texts[AXES_MAX];	 /* how the values read back once an arm has them: 1000 for 1k */
	bool used[AXES_MAX];	 /* some lab has it */
	struct err why[AXES_MAX];
	bool lab_varies;
	bool lab_forced; /* by --set: the case was not written for it */

	/* of the arm at hand */
	size_t at[AXES_MAX];
	bool here[AXES_MAX]; /* its lab has what the axis sets */
	size_t lab;
};

static int no_memory(struct err *err)
{
	return err_set(err, ENOMEM, "out of memory");
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

/* "case" or "case/veth,offloads=on,streams=8". */
static char *arm_name(const struct expansion *x)
{
	char *name = NULL, separator = '/';
	size_t len = 0;
	FILE *out = open_memstream(&name, &len);

	if (!out)
		return NULL;
	fputs(x->c->name, out);
	for (size_t i = 0; i < x->n_axes; i++) {
		const char *value = x->axes[i]->values[x->at[i]];

		if (!x->here[i])
			continue;
		if (x->axes[i] == x->labs)
			fprintf(out, "%c%s", separator, value);
		else
			fprintf(out, "%c%s=%s", separator, axis_label(x, x->axes[i]), value);
		separator = ',';
	}
	if (fclose(out)) {
		free(name);
		return NULL;
	}
	return name;
}

/* Not the lab: every arm has one, and that is arm->lab_name. */
static int add_labels(struct arm *arm, const struct expansion *x, struct err *err)
{
	arm->labels = calloc(x->n_axes + 1, sizeof(*arm->labels));
	if (!arm->labels)
		return no_memory(err);
	for (size_t i = 0; i < x->n_axes; i++) {
		struct arm_label *label = &arm->labels[arm->n_labels];

		if (!x->here[i] || x->axes[i] == x->labs)
			continue;
		label->name = strdup(x->axes[i]->path);
		label->value = strdup(x->axes[i]->values[x->at[i]]);
		if (!label->name || !label->value) {
			free(label->name);
			free(label->value);
			return no_memory(err);
		}
		arm->n_labels++;
		if (x->c->slope && !strcmp(x->c->slope, label->name))
			arm->slope = label->name;
	}
	return 0;
}

/* The arm as the case has it, before its matrix and --set. */
static int copy_case(struct arm *arm, const struct expansion *x, const struct suite *suite,
		     struct err *err)
{
	const struct case_spec *c = x->c;
	const struct lab_spec *lab = &suite->labs[x->lab];

	arm->timing = c->timing;
	arm->baseline = NO_BASELINE;
	arm->lab_name = strdup(lab->name);
	arm->beside = calloc(c->n_beside + 1, sizeof(*arm->beside));
	if (!arm->lab_name || !arm->beside || lab_spec_copy(&arm->lab, lab) ||
	    load_spec_copy(&arm->main, &c->main))
		return no_memory(err);
	for (; arm->n_beside < c->n_beside; arm->n_beside++)
		if (load_spec_copy(&arm->beside[arm->n_beside], &c->beside[arm->n_beside]))
			return no_memory(err);
	if (c->search) {
		arm->search = search_spec_copy(c->search);
		if (!arm->search)
			return no_memory(err);
	}
	return 0;
}

/* Two values of an axis that mean the same would make two arms that are the same. */
static int check_repeated(const struct path_scope *scope, struct expansion *x, size_t i,
			  struct err *err)
{
	const struct axis *axis = x->axes[i];
	size_t at = x->at[i];
	char **texts = x->texts[i];

	if (texts[at])
		return 0;
	if (path_text(scope, axis->path, &texts[at], NULL) < 0)
		return no_memory(err);
	for (size_t j = 0; j < at; j++) {
		bool same = !strcmp(axis->values[j], axis->values[at]);

		if (texts[j] && !strcmp(texts[j], texts[at]))
			return err_at(err, axis->value_marks[at], EINVAL,
				      "'%s' has the value '%s' twice%s%s%s", axis->path,
				      axis->values[at], same ? "" : ", first as '",
				      same ? "" : axis->values[j], same ? "" : "'");
	}
	return 0;
}

/* With a choice of labs, not every lab has every link; filters go by stages that may vary. */
static bool may_lack(const struct expansion *x, const struct axis *axis)
{
	return x->labs || x->lab_forced || path_of_filter(axis->path);
}

/* Which axes the arm has. */
static int apply_axes(const struct path_scope *scope, struct expansion *x, struct err *err)
{
	struct err why;

	for (size_t i = 0; i < x->n_axes; i++) {
		const struct axis *axis = x->axes[i];
		int ret = 0;

		x->here[i] = true;
		if (axis == x->labs)
			continue;
		ret = path_set(scope, axis->path, axis->values[x->at[i]], &why);
		if (ret == -ENOENT && may_lack(x, axis)) {
			x->here[i] = false;
			x->why[i] = why;
			continue;
		}
		if (ret == -ENOENT)
			return err_at(err, axis->mark, EINVAL, "%s", why.text);
		if (ret < 0)
			return err_at(err, axis->value_marks[x->at[i]], ret, "%s", why.text);
		x->used[i] = true;
		ret = check_repeated(scope, x, i, err);
		if (ret)
			return ret;
	}
	return 0;
}

/* Where the lab lacks what an axis sets, that axis makes one arm, not one for each value. */
static bool distinct(const struct expansion *x)
{
	for (size_t i = 0; i < x->n_axes; i++)
		if (!x->here[i] && x->at[i])
			return false;
	return true;
}

static int apply_settings(struct builder *b, const struct path_scope *scope)
{
	for (size_t i = 0; i < b->options->n_set; i++) {
		struct setting *s = &b->settings[i];
		struct err why;
		int ret;

		if (path_is_lab(s->path))
			continue;
		ret = path_set(scope, s->path, s->value, &why);
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

static bool selected(struct builder *b, const char *name, const char *case_name)
{
	const char *only = b->options->only;
	size_t at = strlen(b->names);

	if (!only || !fnmatch(only, name, 0) || !fnmatch(only, case_name, 0))
		return true;
	snprintf(b->names + at, sizeof(b->names) - at, "%s%s", at ? ", " : "", name);
	return false;
}

/* A lab's name stands in an arm's without "lab=", so that it may look like the name of a case. */
static int check_name(const struct suite *suite, const struct expansion *x, const char *name,
		      struct err *err)
{
	for (size_t i = 0; x->labs && i < suite->n_cases; i++)
		if (!strcmp(suite->cases[i].name, name))
			return err_at(err, x->labs->mark, EINVAL,
				      "an arm of case '%s' is called '%s', as the case in line %u",
				      x->c->name, name, suite->cases[i].mark.line);
	return 0;
}

static int base_of(struct builder *b, size_t lab, const struct lab_plan **ret)
{
	int r = 0;

	if (!b->bases[lab])
		r = lab_plan_make(&b->plan->suite->labs[lab], &b->bases[lab], b->err);
	*ret = b->bases[lab];
	return r;
}

/* 1: the arm counts; 0: it does not. arm can be released whatever happens. */
static int fill_arm(struct builder *b, struct arm *arm, struct expansion *x)
{
	struct path_scope scope = {.timing = &arm->timing,
				   .lab = &arm->lab,
				   .main = &arm->main,
				   .file = b->plan->suite->mark_file};
	struct lab_plan *own = NULL;
	int ret = base_of(b, x->lab, &scope.plan);

	if (!ret)
		ret = copy_case(arm, x, b->plan->suite, b->err);
	scope.beside = arm->beside;
	scope.n_beside = arm->n_beside;
	scope.search = arm->search;
	if (!ret)
		ret = apply_axes(&scope, x, b->err);
	if (ret || !distinct(x))
		return ret;
	arm->name = arm_name(x);
	if (!arm->name)
		return no_memory(b->err);
	if (!selected(b, arm->name, x->c->name))
		return 0;
	ret = check_name(b->plan->suite, x, arm->name, b->err);
	if (!ret)
		ret = add_labels(arm, x, b->err);
	scope.file = NULL;
	if (!ret)
		ret = apply_settings(b, &scope);
	if (!ret && x->lab_varies)
		ret = lab_plan_make(&arm->lab, &own, b->err);
	if (!ret)
		ret = arm_check(arm, own ? own : scope.plan, &b->checks, b->err);
	if (!ret && arm->search)
		ret = arm_check_search(arm, x->c->search_mark, b->err);
	lab_plan_free(own);
	return ret ? ret : 1;
}

void arm_release(struct arm *arm)
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
	search_spec_free(arm->search);
	free(arm->skip);
}

static int add_arm(struct builder *b, struct expansion *x)
{
	struct plan *plan = b->plan;
	struct arm arm = {0};
	int ret = fill_arm(b, &arm, x);

	if (ret > 0 && plan->n_arms == b->room) {
		size_t room = b->room ? 2 * b->room : 16;
		struct arm *arms = reallocarray(plan->arms, room, sizeof(*arms));

		if (arms) {
			plan->arms = arms;
			b->room = room;
		} else {
			ret = no_memory(b->err);
		}
	}
	if (ret <= 0) {
		arm_release(&arm);
		return ret;
	}
	plan->arms[plan->n_arms++] = arm;
	return 0;
}

/* The matrix of a case decides how large the plan gets, so that is where too much is reported. */
static struct mark size_mark(const struct case_spec *c)
{
	return c->n_axes ? c->axes[0].mark : c->mark;
}

static size_t objects_of(const struct lab_spec *lab)
{
	return lab->n_nodes + lab->n_links + lab->n_filters;
}

/* Nodes, links and filters of the largest lab that the case may run in. */
static size_t lab_objects(const struct suite *suite, const struct expansion *x)
{
	size_t most = objects_of(&suite->labs[x->lab]);

	for (size_t i = 0; x->labs && i < x->labs->n_values; i++) {
		size_t lab, objects;

		if (suite_find_lab(suite, x->labs->values[i], &lab, NULL))
			continue;
		objects = objects_of(&suite->labs[lab]);
		most = objects > most ? objects : most;
	}
	return most;
}

static int check_size(struct builder *b, const struct expansion *x)
{
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
	b->objects += arms * lab_objects(b->plan->suite, x);
	if (b->objects > OBJECTS_MAX)
		return err_at(
			b->err, mark, EINVAL,
			"the %zu arms of case '%s' have more than %d nodes, links and filters",
			arms, x->c->name, OBJECTS_MAX);
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
		if (path_is_lab(axis->path))
			x->labs = axis;
	}
	for (size_t j = 0; j < b->options->n_set; j++) {
		struct setting *s = &b->settings[j];
		int ret;

		x->lab_varies |= path_of_lab(s->path);
		if (!path_is_lab(s->path))
			continue;
		ret = suite_find_lab(b->plan->suite, s->value, &x->lab, b->err);
		if (ret)
			return ret;
		s->used = true;
		x->lab_forced = true;
	}
	return 0;
}

/* The lab of the arm at hand. */
static int choose_lab(struct builder *b, struct expansion *x)
{
	for (size_t i = 0; x->labs && i < x->n_axes; i++)
		if (x->axes[i] == x->labs)
			return suite_find_lab(b->plan->suite, x->labs->values[x->at[i]], &x->lab,
					      b->err);
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

static int make_arms(struct builder *b, struct expansion *x)
{
	int ret = 0;

	for (size_t i = 0; i < x->n_axes; i++) {
		x->texts[i] = calloc(x->axes[i]->n_values, sizeof(char *));
		if (!x->texts[i])
			return no_memory(b->err);
	}
	do {
		ret = choose_lab(b, x);
		if (!ret)
			ret = add_arm(b, x);
	} while (!ret && advance(x));
	for (size_t i = 0; i < x->n_axes && !ret; i++)
		if (x->axes[i] != x->labs && !x->used[i] && !x->lab_forced)
			ret = err_at(b->err, x->axes[i]->mark, EINVAL, "%s", x->why[i].text);
	return ret;
}

int matrix_expand(struct builder *b, const struct case_spec *c)
{
	struct expansion x = {.c = c, .lab = c->lab};
	size_t first = b->plan->n_arms;
	int ret = choose_axes(b, &x);

	if (!ret)
		ret = check_size(b, &x);
	if (!ret)
		ret = make_arms(b, &x);
	for (size_t i = 0; i < x.n_axes; i++) {
		for (size_t j = 0; x.texts[i] && j < x.axes[i]->n_values; j++)
			free(x.texts[i][j]);
		free(x.texts[i]);
	}
	for (size_t i = first; i < b->plan->n_arms && !ret; i++) {
		b->trials += b->plan->arms[i].timing.repeat;
		if (b->trials > TRIALS_MAX)
			ret = err_at(b->err, size_mark(c), EINVAL,
				     "with case '%s' the suite has more than %d trials", c->name,
				     TRIALS_MAX);
	}
	return ret;
}
