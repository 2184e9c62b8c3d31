/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the way from a word on the command line to a suite or lab: embedded name or file. */
#include "suite/embedded.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
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

static int no_suite(const char *word, struct err *err)
{
	if (embedded_find(embedded_labs, word))
		return err_set(err, ENOENT, "'%s' is a lab, not a suite: netbench lab up %s", word,
			       word);
	return not_found(embedded_suites, "suite", word, err);
}

static int no_lab(const char *word, struct err *err)
{
	if (embedded_find(embedded_suites, word))
		return err_set(err, ENOENT, "'%s' is a suite, not a lab: netbench run %s", word,
			       word);
	return not_found(embedded_labs, "lab", word, err);
}

/* Results must not look as if they came from a file of that name; messages say the word as typed. */
static int name_origin(struct suite *suite, const char *name, struct err *err)
{
	char *file;

	if (asprintf(&file, "(built in) %s", name) < 0)
		return err_set(err, ENOMEM, "out of memory");
	free(suite->file);
	suite->file = file;
	return 0;
}

static int open_embedded(const struct embedded *e,
			 int (*parse)(const char *, const char *, size_t, struct suite **,
				      struct err *),
			 struct suite **ret_suite, struct err *err)
{
	struct suite *suite;
	int ret = parse(e->name, e->text, e->len, &suite, err);

	if (ret)
		return ret;
	ret = name_origin(suite, e->name, err);
	if (ret)
		suite_free(suite);
	else
		*ret_suite = suite;
	return ret;
}

int suite_open(const char *word, struct suite **ret, struct err *err)
{
	const struct embedded *e;

	if (is_path(word))
		return suite_read(word, ret, err);
	e = embedded_find(embedded_suites, word);
	if (!e)
		return no_suite(word, err);
	return open_embedded(e, suite_parse, ret, err);
}

int suite_open_lab(const char *word, struct suite **ret, struct err *err)
{
	const struct embedded *e;

	if (is_path(word))
		return suite_read_lab(word, ret, err);
	e = embedded_find(embedded_labs, word);
	if (!e)
		return no_lab(word, err);
	return open_embedded(e, suite_parse_lab, ret, err);
}
