/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns the step from YAML values to options: kinds, unknown keys, lists, places in messages. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "suite/read.h"

int read_kind(const struct tree_entry *entry, enum tree_kind kind, const char *what,
	      struct err *err)
{
	if (entry->value->kind == kind)
		return 0;
	return err_at(err, entry->value->mark, EINVAL, "'%s' wants %s, not %s", what,
		      tree_kind_name(kind), tree_kind_name(entry->value->kind));
}

static int join(const struct tree_value *list, const char *what, char **ret, struct err *err)
{
	char text[TREE_TEXT_MAX + 1];
	size_t at = 0;

	text[0] = '\0';
	if (!list->n)
		return err_at(err, list->mark, EINVAL, "'%s' is an empty list", what);
	for (size_t i = 0; i < list->n; i++) {
		const struct tree_value *item = list->entries[i].value;

		if (item->kind != TREE_TEXT)
			return err_at(err, item->mark, EINVAL,
				      "'%s' wants a list of texts, not of %s", what,
				      tree_kind_name(item->kind));
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s", i ? "," : "",
				       item->text);
		if (at >= sizeof(text))
			return err_at(err, item->mark, EINVAL,
				      "'%s' is a list longer than %d bytes", what, TREE_TEXT_MAX);
	}
	*ret = strdup(text);
	return *ret ? 0 : err_set(err, ENOMEM, "out of memory");
}

int read_text(const struct tree_value *value, const char *what, char **ret, struct err *err)
{
	if (value->kind == TREE_LIST)
		return join(value, what, ret, err);
	if (value->kind != TREE_TEXT)
		return err_at(err, value->mark, EINVAL, "'%s' wants a text, not %s", what,
			      tree_kind_name(value->kind));
	*ret = strdup(value->text);
	return *ret ? 0 : err_set(err, ENOMEM, "out of memory");
}

bool opt_is_file(const struct opt *opt)
{
	return opt->type == OPT_TEXT && opt->metavar && !strcmp(opt->metavar, "FILE");
}

int set_value(const struct opt *opt, void *cfg, const char *text, const char *file, struct err *err)
{
	const char *slash = file ? strrchr(file, '/') : NULL;
	char *joined;
	int ret;

	if (!slash || !opt_is_file(opt) || !*text || *text == '/')
		return opt_set(opt, cfg, text, err);
	if (asprintf(&joined, "%.*s/%s", (int)(slash - file), file, text) < 0)
		return err_set(err, ENOMEM, "out of memory");
	ret = opt_set(opt, cfg, joined, err);
	free(joined);
	return ret;
}

/* Texts, or a map as they are written on the command line: {eth1: wan0} is eth1=wan0. */
static int set_texts(const struct opt *opt, void *cfg, const struct tree_value *value,
		     struct err *err)
{
	for (size_t i = 0; i < value->n; i++) {
		const struct tree_entry *entry = &value->entries[i];
		char text[TREE_KEY_MAX + TREE_TEXT_MAX + 2];
		struct err why;
		int ret = read_kind(entry, TREE_TEXT, opt->name, err);

		if (ret)
			return ret;
		snprintf(text, sizeof(text), "%s%s%s", entry->key ? entry->key : "",
			 entry->key ? "=" : "", entry->value->text);
		ret = opt_set(opt, cfg, text, &why);
		if (ret)
			return err_at(err, entry->value->mark, ret, "%s", why.text);
	}
	return 0;
}

static int set_option(const struct opt *opt, void *cfg, const struct tree_value *value,
		      struct err *err)
{
	bool list = opt->type == OPT_SET || opt->type == OPT_TEXT;
	char *text = NULL;
	struct err why;
	int ret;

	if (opt->type == OPT_LIST && (value->kind == TREE_LIST || value->kind == TREE_MAP))
		return set_texts(opt, cfg, value, err);
	if (value->kind != TREE_TEXT && !(value->kind == TREE_LIST && list)) {
		char wants[256];

		opt_wants_text(opt, wants, sizeof(wants));
		return err_at(err, value->mark, EINVAL, "'%s' wants %s, not %s", opt->name, wants,
			      tree_kind_name(value->kind));
	}
	ret = read_text(value, opt->name, &text, err);
	if (ret)
		return ret;
	ret = set_value(opt, cfg, text, value->mark.file, &why);
	free(text);
	return ret ? err_at(err, value->mark, ret, "%s", why.text) : 0;
}

static int unknown_key(const struct tree_entry *entry, const struct opt *opts,
		       const char *const *keys, const char *where, struct err *err)
{
	const char *names[160], *near;
	size_t n = 0;

	for (; keys && *keys && n < 32; keys++)
		names[n++] = *keys;
	for (; opts && opts->name && n < 160; opts++)
		names[n++] = opts->name;
	near = name_nearest(names, n, entry->key);
	if (near)
		return err_at(err, entry->key_mark, EINVAL,
			      "unknown key '%s' in %s; did you mean '%s'?", entry->key, where,
			      near);
	return err_at(err, entry->key_mark, EINVAL, "unknown key '%s' in %s", entry->key, where);
}

static bool listed(const char *const *keys, const char *key)
{
	for (; keys && *keys; keys++)
		if (!strcmp(*keys, key))
			return true;
	return false;
}

int read_options(const struct tree_value *map, const struct opt *opts, void *cfg,
		 const char *const *keys, const char *where, struct err *err)
{
	for (size_t i = 0; i < map->n; i++) {
		const struct tree_entry *entry = &map->entries[i];
		const struct opt *opt = opts ? opts_find(opts, entry->key) : NULL;
		int ret;

		if (listed(keys, entry->key))
			continue;
		if (!opt)
			return unknown_key(entry, opts, keys, where, err);
		ret = set_option(opt, cfg, entry->value, err);
		if (ret)
			return ret;
	}
	return 0;
}

int read_name(const char *text, struct mark mark, const char *what, const char *also, char **ret,
	      struct err *err)
{
	enum { NAME_MAX_BYTES = 64 };
	size_t n = 0;

	while (isalnum((unsigned char)text[n]) ||
	       (text[n] && (strchr("-_.", text[n]) || strchr(also, text[n]))))
		n++;
	if (!n || text[n] || n > NAME_MAX_BYTES)
		return err_at(
			err, mark, EINVAL,
			"the name of a %s is 1 to %d of letters, digits and '-_.%s', not '%.128s'",
			what, NAME_MAX_BYTES, also, text);
	*ret = strdup(text);
	return *ret ? 0 : err_set(err, ENOMEM, "out of memory");
}
