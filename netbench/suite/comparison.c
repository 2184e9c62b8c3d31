/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns what a case says beyond its trials: the search for a rate, the baseline, the fitted line. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "search/search.h"
#include "suite/read.h"

struct search_cfg *search_spec_new(const char *preset, struct err *err)
{
	struct search_cfg *search = calloc(1, sizeof(*search));

	if (!search) {
		err_set(err, ENOMEM, "out of memory");
		return NULL;
	}
	if (opts_default(search_opts, search, err) ||
	    (preset && opt_set(opts_find(search_opts, "preset"), search, preset, err))) {
		search_spec_free(search);
		return NULL;
	}
	return search;
}

struct search_cfg *search_spec_copy(const struct search_cfg *src)
{
	struct search_cfg *copy = calloc(1, sizeof(*copy));

	if (copy && opts_copy(search_opts, sizeof(*copy), copy, src)) {
		free(copy);
		copy = NULL;
	}
	return copy;
}

void search_spec_free(struct search_cfg *search)
{
	if (search)
		opts_release(search_opts, search);
	free(search);
}

/* "quick" is the preset, a map has the options, nothing means the defaults. */
static int read_search(const struct tree_entry *entry, struct case_spec *c, struct err *err)
{
	const struct tree_value *value = entry->value;
	struct err why;

	c->search_mark = entry->key_mark;
	c->search = search_spec_new(value->kind == TREE_TEXT ? value->text : NULL, &why);
	if (!c->search)
		return err_at(err, value->mark, EINVAL, "%s", why.text);
	if (value->kind == TREE_TEXT || value->kind == TREE_NOTHING)
		return 0;
	if (value->kind != TREE_MAP)
		return err_at(err, value->mark, EINVAL,
			      "a search is a preset or a map of options, not %s",
			      tree_kind_name(value->kind));
	return read_options(value, search_opts, c->search, NULL, "search", err);
}

static const struct axis *find_axis(const struct case_spec *c, const char *path, struct mark mark,
				    const char *what, struct err *err)
{
	const char *names[64], *near;
	size_t n = 0;

	for (size_t i = 0; i < c->n_axes; i++) {
		if (!strcmp(c->axes[i].path, path))
			return &c->axes[i];
		if (n < 64)
			names[n++] = c->axes[i].path;
	}
	near = name_nearest(names, n, path);
	err_at(err, mark, EINVAL, "'%s' wants an axis of the case's matrix, not '%s'%s%s%s", what,
	       path, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
	return NULL;
}

static int check_value(const struct axis *axis, const struct axis_value *value, struct err *err)
{
	const char *near;

	for (size_t i = 0; i < axis->n_values; i++)
		if (!strcmp(axis->values[i], value->value))
			return 0;
	near = name_nearest((const char *const *)axis->values, axis->n_values, value->value);
	return err_at(err, value->mark, EINVAL, "'%s' has no value '%.128s' in the matrix%s%s%s",
		      axis->path, value->value, near ? "; did you mean '" : "", near ? near : "",
		      near ? "'?" : "");
}

/* {axis: value}: the arms that differ in these. */
static int read_values(const struct tree_value *map, struct case_spec *c, struct err *err)
{
	struct against *against = &c->against;
	int ret = 0;

	if (!map->n)
		return err_at(err, map->mark, EINVAL, "'against' is empty");
	against->values = calloc(map->n, sizeof(*against->values));
	if (!against->values)
		return err_set(err, ENOMEM, "out of memory");
	for (size_t i = 0; i < map->n && !ret; i++) {
		const struct tree_entry *entry = &map->entries[i];
		struct axis_value *value = &against->values[against->n_values++];
		const struct axis *axis = find_axis(c, entry->key, entry->key_mark, "against", err);

		if (!axis)
			return -EINVAL;
		value->mark = entry->value->mark;
		value->path = strdup(entry->key);
		if (!value->path)
			return err_set(err, ENOMEM, "out of memory");
		ret = read_text(entry->value, entry->key, &value->value, err);
		if (!ret)
			ret = check_value(axis, value, err);
	}
	return ret;
}

static int read_against(const struct tree_entry *entry, struct case_spec *c, struct err *err)
{
	c->against.mark = entry->value->mark;
	if (entry->value->kind == TREE_MAP)
		return read_values(entry->value, c, err);
	if (entry->value->kind != TREE_TEXT)
		return err_at(
			err, entry->value->mark, EINVAL,
			"'against' wants the name of a case or a map of axes to values, not %s",
			tree_kind_name(entry->value->kind));
	return read_text(entry->value, "against", &c->against.name, err);
}

/* The label is what is fitted, so it must mean the number that it shows. */
static bool plain_number(const char *text)
{
	size_t digits = strspn(text, "0123456789");

	if (text[digits] == '.')
		return digits && text[digits + 1] &&
		       !text[digits + 1 + strspn(text + digits + 1, "0123456789")];
	return digits && !text[digits];
}

static int read_slope(const struct tree_entry *entry, struct case_spec *c, struct err *err)
{
	const struct axis *axis;
	int ret = read_kind(entry, TREE_TEXT, "slope", err);

	if (ret)
		return ret;
	axis = find_axis(c, entry->value->text, entry->value->mark, "slope", err);
	if (!axis)
		return -EINVAL;
	for (size_t i = 0; i < axis->n_values; i++)
		if (!plain_number(axis->values[i]))
			return err_at(err, axis->value_marks[i], EINVAL,
				      "'slope' wants an axis of plain numbers; '%s' has '%s'",
				      axis->path, axis->values[i]);
	if (axis->n_values < 2)
		return err_at(err, entry->value->mark, EINVAL,
			      "a slope needs two values, and '%s' has one", axis->path);
	return read_text(entry->value, "slope", &c->slope, err);
}

int read_comparison(const struct tree_value *map, struct case_spec *c, struct err *err)
{
	const struct tree_entry *part = tree_find(map, "search");
	int ret = part ? read_search(part, c, err) : 0;

	part = tree_find(map, "against");
	if (!ret && part)
		ret = read_against(part, c, err);
	part = tree_find(map, "slope");
	return ret || !part ? ret : read_slope(part, c, err);
}

int check_baselines(const struct suite *suite, struct err *err)
{
	const char *names[256], *near;
	size_t n = 0;

	for (size_t i = 0; i < suite->n_cases && n < 256; i++)
		names[n++] = suite->cases[i].name;
	for (size_t i = 0; i < suite->n_cases; i++) {
		const struct against *against = &suite->cases[i].against;
		size_t k = 0;

		if (!against->name)
			continue;
		if (!strcmp(against->name, suite->cases[i].name))
			return err_at(err, against->mark, EINVAL,
				      "case '%s' cannot be compared with itself; 'against: {axis: "
				      "value}' compares its arms",
				      against->name);
		while (k < suite->n_cases && strcmp(suite->cases[k].name, against->name) != 0)
			k++;
		if (k < suite->n_cases)
			continue;
		near = name_nearest(names, n, against->name);
		return err_at(err, against->mark, EINVAL, "no case '%.128s'%s%s%s", against->name,
			      near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
	}
	return 0;
}

void comparison_release(struct case_spec *c)
{
	search_spec_free(c->search);
	free(c->against.name);
	for (size_t i = 0; i < c->against.n_values; i++) {
		free(c->against.values[i].path);
		free(c->against.values[i].value);
	}
	free(c->against.values);
	free(c->slope);
}
