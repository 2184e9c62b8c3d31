/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the suite of one case that the command line describes, for `bench`. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "load/load.h"
#include "suite/path.h"
#include "suite/read.h"

static int no_key(const struct load *load, const char *key, struct err *err)
{
	const char *names[160], *near;
	size_t n = 0;

	if (!strcmp(key, "lab"))
		return err_set(err, EINVAL, "the lab is chosen with --lab, not 'lab='");
	for (const struct opt *opt = load->kind.opts; opt->name && n < 150; opt++)
		names[n++] = opt->name;
	for (const struct opt *opt = timing_opts; opt->name; opt++)
		names[n++] = opt->name;
	near = name_nearest(names, n, key);
	if (near)
		return err_set(err, EINVAL, "load '%s' has no option '%.128s'; did you mean '%s'?",
			       load->kind.name, key, near);
	return err_set(err, EINVAL, "load '%s' has no option '%.128s'", load->kind.name, key);
}

/* A load's own option first, then duration, warmup and repeat, then any path. */
static int apply(const struct path_scope *scope, const char *setting, struct err *err)
{
	const struct load *load = scope->main->load;
	const char *equals = strchr(setting, '=');
	const struct opt *opt;
	char *key;
	int ret;

	if (!equals)
		return err_set(err, EINVAL, "'%.128s' is not of the form key=value", setting);
	key = strndup(setting, (size_t)(equals - setting));
	if (!key)
		return err_set(err, ENOMEM, "out of memory");
	opt = opts_find(load->kind.opts, key);
	if (opt)
		ret = opt_set(opt, scope->main->cfg, equals + 1, err);
	else if (opts_find(timing_opts, key) || strchr(key, '.'))
		ret = path_set(scope, key, equals + 1, err);
	else
		ret = no_key(load, key, err);
	free(key);
	if (ret == -ENOENT)
		return -EINVAL;
	return ret < 0 ? ret : 0;
}

/* The lab with its marks, or a pair. */
static int take_lab(struct suite *suite, struct suite *lab, struct err *err)
{
	if (lab) {
		char *mark_file = suite->mark_file;

		suite->labs = lab->labs;
		suite->n_labs = lab->n_labs;
		suite->mark_file = lab->mark_file;
		lab->labs = NULL;
		lab->n_labs = 0;
		lab->mark_file = mark_file;
		return 0;
	}
	suite->labs = calloc(1, sizeof(*suite->labs));
	if (!suite->labs)
		return err_set(err, ENOMEM, "out of memory");
	suite->n_labs = 1;
	return lab_pair(&suite->labs[0], err);
}

static int fill(struct suite *suite, const char *load, char *const *settings, size_t n,
		struct err *err)
{
	struct path_scope scope = {0};
	struct lab_plan *plan = NULL;
	struct case_spec *c;
	int ret = 0;

	suite->cases = c = calloc(1, sizeof(*suite->cases));
	if (!c)
		return err_set(err, ENOMEM, "out of memory");
	suite->n_cases = 1;
	c->name = strdup(load);
	if (!c->name)
		return err_set(err, ENOMEM, "out of memory");
	c->timing = suite->defaults;
	ret = load_spec_init(&c->main, load, (struct mark){0}, err);
	if (!ret)
		ret = lab_plan_make(&suite->labs[0], &plan, err);
	scope.timing = &c->timing;
	scope.lab = &suite->labs[0];
	scope.plan = plan;
	scope.main = &c->main;
	for (size_t i = 0; i < n && !ret; i++)
		ret = apply(&scope, settings[i], err);
	lab_plan_free(plan);
	return ret;
}

int suite_adhoc(const char *load, char *const *settings, size_t n, struct suite *lab,
		struct suite **ret_suite, struct err *err)
{
	struct suite *suite = suite_new("command line", "bench", err);
	int ret = suite ? take_lab(suite, lab, err) : -ENOMEM;

	suite_free(lab);
	if (!ret)
		ret = fill(suite, load, settings, n, err);
	if (ret)
		suite_free(suite);
	else
		*ret_suite = suite;
	return ret;
}
