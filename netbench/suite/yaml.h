/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One YAML document as a tree of located values, for input that may be hostile: bounded in bytes,
 * depth, number of values and in what aliases expand to. Aliases and merge keys ("<<") are resolved;
 * duplicate keys are errors; tags are ignored.
 */
#ifndef SUITE_YAML_H
#define SUITE_YAML_H

#include <stddef.h>

#include "base/err.h"

enum {
	YAML_BYTES_MAX = 1 << 20,
	YAML_DEPTH_MAX = 32,
	YAML_VALUES_MAX = 200000, /* an alias counts as all it stands for */
	YAML_ANCHORS_MAX = 256,
	YAML_KEY_MAX = 128,
	YAML_TEXT_MAX = 4096,
};

enum yaml_kind { YAML_NOTHING, YAML_TEXT, YAML_LIST, YAML_MAP };

struct yaml_entry;

struct yaml_value {
	enum yaml_kind kind;
	struct mark mark;
	char *text;		/* TEXT: one line without control characters */
	struct yaml_entry *entries;
	size_t n;
	size_t room, weight;	/* private to yaml.c */
};

struct yaml_entry {
	const char *key;	/* NULL in a list */
	struct mark key_mark;	/* in a list: that of the value */
	struct yaml_value *value;
};

struct yaml;

/* file is borrowed by every mark. Errors: -EINVAL at a mark, or -ENOMEM. */
int yaml_parse(const char *file, const char *text, size_t len, struct yaml **ret, struct err *err);
void yaml_free(struct yaml *yaml);
const struct yaml_value *yaml_root(const struct yaml *yaml);
/* The entry of a map, or NULL. */
const struct yaml_entry *yaml_find(const struct yaml_value *map, const char *key);
/* "a text", "a list", "a map", "nothing". */
const char *yaml_kind_name(enum yaml_kind kind);

#endif
