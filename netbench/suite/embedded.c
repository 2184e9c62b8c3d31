/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the way from a word on the command line to a suite or lab: embedded name or file. */
#include "suite/embedded.h"

#include <errno.h>
#include <string.h>

#include "base/opt.h"
#include "suite/suite.h"

const struct embedded *embedded_find(const struct embedded *list, const char *name)
{
	for (; list->name; list++)
		if (!strcmp(list->name, name))
			return list;
	return NULL;
}

static bool is_path(const char *word)
{
	const char *dot = strrchr(word, '.');

	return strchr(word, '/') || (dot && (!strcmp(dot, ".yaml") || !strcmp(dot, ".yml")));
}

static int not_found(const struct embedded *list, const char *what, const char *word,
		     struct err *err)
{
	const char *names[256], *near;
	size_t n;

	for (n = 0; n < sizeof(names) / sizeof(names[0]) && list[n].name; n++)
		names[n] = list[n].name;
	near = name_nearest(names, n, word);
	if (near)
		return err_set(err, ENOENT, "no %s is named '%s'; did you mean '%s'?", what, word,
			       near);
	return err_set(err, ENOENT,
		       "no %s is named '%s' (a file is named by a path or ends in .yaml)", what,
		       word);
}

int suite_open(const char *word, struct suite **ret, struct err *err)
{
	const struct embedded *e;

	if (is_path(word))
		return suite_read(word, ret, err);
	e = embedded_find(embedded_suites, word);
	if (!e)
		return not_found(embedded_suites, "suite", word, err);
	return suite_parse(e->name, e->text, e->len, ret, err);
}

int suite_open_lab(const char *word, struct suite **ret, struct err *err)
{
	const struct embedded *e;

	if (is_path(word))
		return suite_read_lab(word, ret, err);
	e = embedded_find(embedded_labs, word);
	if (!e)
		return not_found(embedded_labs, "lab", word, err);
	return suite_parse_lab(e->name, e->text, e->len, ret, err);
}
