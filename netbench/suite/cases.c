/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the cases of a suite: their loads, side loads and matrices, from YAML to typed structs. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "load/load.h"
#include "suite/path.h"
#include "suite/read.h"

enum { BESIDE_MAX = 64, AXES_MAX = 16, AXIS_TEXT_MAX = 256, CASES_MAX = 4096 };

int load_spec_init(struct load_spec *spec, const char *name, struct mark mark, struct err *err)
{
	const struct load *load;
	int ret = load_find(name, &load, err);

	if (ret)
		return ret;
	spec->mark = mark;
	spec->cfg = calloc(1, load->kind.cfg_size ? load->kind.cfg_size : 1);
	if (!spec->cfg) {
		err_set(err, ENOMEM, "out of memory");
		return -ENOMEM;
	}
	spec->load = load;
	return opts_default(load->kind.opts, spec->cfg, err);
}

int load_spec_copy(struct load_spec *dst, const struct load_spec *src)
{
	size_t size = src->load->kind.cfg_size;
	void *cfg = calloc(1, size ? size : 1);

	if (!cfg)
		return -ENOMEM;
	if (opts_copy(src->load->kind.opts, size, cfg, src->cfg)) {
		free(cfg);
		return -ENOMEM;
	}
	*dst = *src;
	dst->cfg = cfg;
	return 0;
}

void load_spec_release(struct load_spec *spec)
{
	if (spec->load && spec->cfg)
		opts_release(spec->load->kind.opts, spec->cfg);
	free(spec->cfg);
	*spec = (struct load_spec){0};
}

/* "tcp" or {tcp: {streams: 4}}. spec can be released whatever happens. */
static int read_load(const struct tree_value *value, struct load_spec *spec, struct err *err)
{
	const struct tree_entry *entry = NULL;
	struct mark mark = value->mark;
	const char *name = value->text;
	char where[TREE_KEY_MAX + 16];
	struct err why;
	int ret;

	if (value->kind == TREE_MAP && value->n == 1) {
		entry = &value->entries[0];
		mark = entry->key_mark;
		name = entry->key;
	} else if (value->kind != TREE_TEXT) {
		return err_at(err, value->mark, EINVAL,
			      "a load is a name or '{name: {options}}', not %s",
			      value->kind == TREE_MAP ? "this map" : tree_kind_name(value->kind));
	}
	ret = load_spec_init(spec, name, mark, &why);
	if (ret)
		return err_at(err, mark, ret, "%s", why.text);
	if (!entry || entry->value->kind == TREE_NOTHING)
		return 0;
	ret = read_kind(entry, TREE_MAP, name, err);
	if (ret)
		return ret;
	snprintf(where, sizeof(where), "load '%s'", name);
	return read_options(entry->value, spec->load->kind.opts, spec->cfg, NULL, where, err);
}

static int read_beside(const struct tree_entry *entry, struct case_spec *c, struct err *err)
{
	const struct tree_value *list = entry->value;
	int ret = read_kind(entry, TREE_LIST, "beside", err);

	if (ret || !list->n)
		return ret;
	if (list->n > BESIDE_MAX)
		return err_at(err, list->mark, EINVAL, "more than %d loads beside", BESIDE_MAX);
	c->beside = calloc(list->n, sizeof(*c->beside));
	if (!c->beside)
		return err_set(err, ENOMEM, "out of memory");
	for (c->n_beside = 0; c->n_beside < list->n && !ret; c->n_beside++)
		ret = read_load(list->entries[c->n_beside].value, &c->beside[c->n_beside], err);
	return ret;
}

static int read_axis(const struct tree_entry *entry, struct axis *axis, struct err *err)
{
	const struct tree_value *list = entry->value;
	int ret = read_kind(entry, TREE_LIST, entry->key, err);

	if (ret)
		return ret;
	if (!list->n)
		return err_at(err, list->mark, EINVAL, "'%s' has no values", entry->key);
	axis->mark = entry->key_mark;
	axis->path = strdup(entry->key);
	axis->values = calloc(list->n, sizeof(*axis->values));
	axis->value_marks = calloc(list->n, sizeof(*axis->value_marks));
	if (!axis->path || !axis->values || !axis->value_marks)
		return err_set(err, ENOMEM, "out of memory");
	for (size_t i = 0; i < list->n; i++) {
		const struct tree_value *value = list->entries[i].value;

		ret = read_text(value, entry->key, &axis->values[i], err);
		if (ret)
			return ret;
		axis->value_marks[i] = list->entries[i].key_mark;
		axis->n_values++;
		/* It becomes part of the names of arms. */
		if (strlen(axis->values[i]) > AXIS_TEXT_MAX)
			return err_at(err, value->mark, EINVAL,
				      "'%s' has a value longer than %d bytes", entry->key,
				      AXIS_TEXT_MAX);
	}
	return 0;
}

static int read_matrix(const struct tree_entry *entry, struct case_spec *c, struct err *err)
{
	int ret = read_kind(entry, TREE_MAP, "matrix", err);

	if (ret)
		return ret;
	if (!entry->value->n)
		return err_at(err, entry->value->mark, EINVAL, "'matrix' is empty");
	if (entry->value->n > AXES_MAX)
		return err_at(err, entry->value->mark, EINVAL, "'matrix' has more than %d axes",
			      AXES_MAX);
	c->axes = calloc(entry->value->n, sizeof(*c->axes));
	if (!c->axes)
		return err_set(err, ENOMEM, "out of memory");
	for (c->n_axes = 0; c->n_axes < entry->value->n && !ret; c->n_axes++)
		ret = read_axis(&entry->value->entries[c->n_axes], &c->axes[c->n_axes], err);
	return ret;
}

static int find_lab(const struct suite *suite, const char *name, struct mark mark, size_t *ret_lab,
		    struct err *err)
{
	struct err why;

	if (suite_find_lab(suite, name, ret_lab, &why))
		return err_at(err, mark, EINVAL, "%s", why.text);
	return 0;
}

/* The axis "lab" names labs, each once. */
static int check_lab_axis(const struct suite *suite, const struct axis *axis, size_t *ret_lab,
			  struct err *err)
{
	for (size_t i = axis->n_values; i-- > 0;) {
		int ret = find_lab(suite, axis->values[i], axis->value_marks[i], ret_lab, err);

		if (ret)
			return ret;
		for (size_t j = 0; j < i; j++)
			if (!strcmp(axis->values[i], axis->values[j]))
				return err_at(err, axis->value_marks[i], EINVAL,
					      "'lab' has the value '%s' twice", axis->values[i]);
	}
	return 0;
}

static int read_case_lab(const struct suite *suite, const struct tree_value *map,
			 struct case_spec *c, struct err *err)
{
	const struct tree_entry *lab = tree_find(map, "lab");
	int ret = lab ? read_kind(lab, TREE_TEXT, "lab", err) : 0;

	if (!ret && lab)
		ret = find_lab(suite, lab->value->text, lab->value->mark, &c->lab, err);
	if (ret)
		return ret;
	for (size_t i = 0; i < c->n_axes; i++)
		if (path_is_lab(c->axes[i].path))
			return check_lab_axis(suite, &c->axes[i], &c->lab, err);
	if (!lab && suite->n_labs > 1)
		return err_at(err, map->mark, EINVAL, "case '%s' needs a 'lab': there are %zu",
			      c->name, suite->n_labs);
	return 0;
}

static int read_case_name(const struct suite *suite, const struct tree_value *map,
			  struct case_spec *c, struct err *err)
{
	const struct tree_entry *name = tree_find(map, "name");
	int ret;

	if (!name)
		return err_at(err, map->mark, EINVAL, "a case needs a 'name'");
	ret = read_kind(name, TREE_TEXT, "name", err);
	if (!ret)
		ret = read_name(name->value->text, name->value->mark, "case", "+/", &c->name, err);
	for (const struct case_spec *other = suite->cases; !ret && other < c; other++)
		if (!strcmp(other->name, c->name))
			ret = err_at(err, name->value->mark, EINVAL,
				     "case '%s' appears twice, first in line %u", c->name,
				     other->mark.line);
	return ret;
}

static int read_case(struct suite *suite, const struct tree_entry *entry, struct case_spec *c,
		     struct err *err)
{
	static const char *const keys[] = {"name",   "lab",	"load",	 "beside", "matrix",
					   "search", "against", "slope", NULL};
	const struct tree_value *map = entry->value;
	const struct tree_entry *part;
	int ret = read_kind(entry, TREE_MAP, "cases", err);

	if (ret)
		return ret;
	c->mark = map->mark;
	c->timing = suite->defaults;
	ret = read_options(map, timing_opts, &c->timing, keys, "case", err);
	if (!ret)
		ret = read_case_name(suite, map, c, err);
	if (ret)
		return ret;
	part = tree_find(map, "load");
	if (!part)
		return err_at(err, map->mark, EINVAL, "case '%s' needs a 'load'", c->name);
	ret = read_load(part->value, &c->main, err);
	part = tree_find(map, "beside");
	if (!ret && part)
		ret = read_beside(part, c, err);
	part = tree_find(map, "matrix");
	if (!ret && part)
		ret = read_matrix(part, c, err);
	if (!ret)
		ret = read_case_lab(suite, map, c, err);
	return ret ? ret : read_comparison(map, c, err);
}

int read_cases(struct suite *suite, const struct tree_value *root, struct err *err)
{
	const struct tree_entry *cases = tree_find(root, "cases");
	int ret;

	if (!cases)
		return err_at(err, root->mark, EINVAL, "a suite needs 'cases'");
	ret = read_kind(cases, TREE_LIST, "cases", err);
	if (ret)
		return ret;
	if (!cases->value->n)
		return err_at(err, cases->value->mark, EINVAL, "the suite has no cases");
	if (cases->value->n > CASES_MAX)
		return err_at(err, cases->value->mark, EINVAL, "more than %d cases", CASES_MAX);
	suite->cases = calloc(cases->value->n, sizeof(*suite->cases));
	if (!suite->cases)
		return err_set(err, ENOMEM, "out of memory");
	for (suite->n_cases = 0; suite->n_cases < cases->value->n && !ret; suite->n_cases++)
		ret = read_case(suite, &cases->value->entries[suite->n_cases],
				&suite->cases[suite->n_cases], err);
	return ret ? ret : check_baselines(suite, err);
}

void case_release(struct case_spec *c)
{
	free(c->name);
	load_spec_release(&c->main);
	for (size_t i = 0; i < c->n_beside; i++)
		load_spec_release(&c->beside[i]);
	free(c->beside);
	for (size_t i = 0; i < c->n_axes; i++) {
		free(c->axes[i].path);
		for (size_t j = 0; j < c->axes[i].n_values; j++)
			free(c->axes[i].values[j]);
		free(c->axes[i].values);
		free(c->axes[i].value_marks);
	}
	free(c->axes);
	comparison_release(c);
}
