/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One YAML document as a tree of located values, for input that may be hostile: bounded in bytes,
 * depth, number of values and in what aliases expand to. Aliases and merge keys ("<<") are resolved;
 * duplicate keys are errors; tags are ignored.
 */
#ifndef SUITE_TREE_H
#define SUITE_TREE_H

#include <stddef.h>

#include "base/err.h"

enum {
	TREE_BYTES_MAX = 1 << 20,
	TREE_DEPTH_MAX = 32,
	TREE_VALUES_MAX = 200000, /* an alias counts as all it stands for, a long text as several */
	TREE_ANCHORS_MAX = 256,
	TREE_KEY_MAX = 128,
	TREE_TEXT_MAX = 4096,
};

enum tree_kind { TREE_NOTHING, TREE_TEXT, TREE_LIST, TREE_MAP };

struct tree_entry;

struct tree_value {
	enum tree_kind kind;
	struct mark mark;
	char *text; /* TEXT: one line without control characters */
	struct tree_entry *entries;
	size_t n;
	size_t room, weight; /* private to tree.c */
};

struct tree_entry {
	const char *key;      /* NULL in a list */
	struct mark key_mark; /* in a list: that of the value */
	struct tree_value *value;
};

struct tree;

/* file is borrowed by every mark. Errors: -EINVAL at a mark, or -ENOMEM. */
int tree_parse(const char *file, const char *text, size_t len, struct tree **ret, struct err *err);
void tree_free(struct tree *tree);
const struct tree_value *tree_root(const struct tree *tree);
/* The entry of a map, or NULL. */
const struct tree_entry *tree_find(const struct tree_value *map, const char *key);
/* "a text", "a list", "a map", "nothing". */
const char *tree_kind_name(enum tree_kind kind);

#endif
