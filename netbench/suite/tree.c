/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owns the tree of a YAML document, built from libyaml's events: its document API compares every
 * anchor with every other and every key is left to the caller, so limits would come too late.
 */
#include "suite/tree.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

enum { TEXT_WEIGHT = 32 };

struct anchor {
	char *name;
	struct tree_value *value;
};

struct tree {
	struct tree_value *root;
	struct tree_value **values; /* all of them, keys too: freed without recursion */
	size_t n, room;
};

/* A list or map that is not closed yet. */
struct frame {
	struct tree_value *value;
	struct tree_value *key; /* of a map: read, its value is awaited */
};

struct reader {
	yaml_parser_t parser;
	const char *file;
	const char *text;
	struct tree *tree;
	struct frame stack[TREE_DEPTH_MAX];
	size_t depth;
	struct anchor anchors[TREE_ANCHORS_MAX];
	size_t n_anchors;
	struct err *err;
};

static struct mark mark_of(const struct reader *r, yaml_mark_t at)
{
	return (struct mark){
		.file = r->file,
		.line = (unsigned int)at.line + 1,
		.col = (unsigned int)at.column + 1,
	};
}

/* libyaml gives only a byte offset when the text is not valid UTF-8 or holds control characters. */
static struct mark mark_of_offset(const struct reader *r, size_t offset)
{
	struct mark mark = {.file = r->file, .line = 1, .col = 1};

	for (size_t i = 0; i < offset; i++) {
		if (r->text[i] == '\n') {
			mark.line++;
			mark.col = 1;
		} else if (((unsigned char)r->text[i] & 0xc0) != 0x80) {
			mark.col++;
		}
	}
	return mark;
}

static int no_memory(struct reader *r)
{
	err_set(r->err, ENOMEM, "out of memory");
	return -ENOMEM;
}

static int syntax_error(struct reader *r, size_t len)
{
	const yaml_parser_t *p = &r->parser;
	const char *problem = p->problem ? p->problem : "not YAML";

	if (p->error == YAML_MEMORY_ERROR)
		return no_memory(r);
	if (p->error == YAML_READER_ERROR)
		return err_at(r->err,
			      mark_of_offset(r, p->problem_offset < len ? p->problem_offset : len),
			      EINVAL, "not a text file: %s", problem);
	return err_at(r->err, mark_of(r, p->problem_mark), EINVAL, "%s%s%s", problem,
		      p->context ? " " : "", p->context ? p->context : "");
}

static int new_value(struct reader *r, enum tree_kind kind, struct mark mark,
		     struct tree_value **ret)
{
	struct tree *tree = r->tree;
	struct tree_value *value;

	if (tree->n == TREE_VALUES_MAX) {
		err_at(r->err, mark, EINVAL, "more than %d values", TREE_VALUES_MAX);
		return -EINVAL;
	}
	if (tree->n == tree->room) {
		size_t room = tree->room ? 2 * tree->room : 64;
		struct tree_value **values =
			reallocarray(tree->values, room, sizeof(struct tree_value *));

		if (!values)
			return no_memory(r);
		tree->values = values;
		tree->room = room;
	}
	value = calloc(1, sizeof(*value));
	if (!value)
		return no_memory(r);
	value->kind = kind;
	value->mark = mark;
	value->weight = 1;
	tree->values[tree->n++] = value;
	*ret = value;
	return 0;
}

static int append(struct reader *r, struct tree_value *to, const struct tree_entry *entry)
{
	if (to->n == to->room) {
		size_t room = to->room ? 2 * to->room : 4;
		struct tree_entry *entries = reallocarray(to->entries, room, sizeof(*entries));

		if (!entries)
			return no_memory(r);
		to->entries = entries;
		to->room = room;
	}
	to->entries[to->n++] = *entry;
	to->weight += entry->value->weight;
	if (to->weight > TREE_VALUES_MAX)
		return err_at(r->err, entry->key_mark, EINVAL,
			      "aliases expand to more than %d values", TREE_VALUES_MAX);
	return 0;
}

/* A finished value goes where the innermost open list or map, or the document, awaits it. */
static int attach(struct reader *r, struct tree_value *value, struct mark mark)
{
	struct frame *top = r->depth ? &r->stack[r->depth - 1] : NULL;
	struct tree_entry entry = {.key_mark = mark, .value = value};

	if (!top) {
		r->tree->root = value;
		return 0;
	}
	if (top->value->kind == TREE_MAP) {
		if (!top->key) {
			if (value->kind != TREE_TEXT || value->mark.line != mark.line ||
			    value->mark.col != mark.col)
				return err_at(r->err, mark, EINVAL, "a key must be a word");
			if (strlen(value->text) > TREE_KEY_MAX)
				return err_at(r->err, mark, EINVAL, "a key longer than %d bytes",
					      TREE_KEY_MAX);
			top->key = value;
			return 0;
		}
		entry.key = top->key->text;
		entry.key_mark = top->key->mark;
		top->key = NULL;
	}
	return append(r, top->value, &entry);
}

static int name_anchor(struct reader *r, const yaml_char_t *name, struct tree_value *value)
{
	struct anchor *anchor = &r->anchors[r->n_anchors];

	if (!name)
		return 0;
	if (r->n_anchors == TREE_ANCHORS_MAX)
		return err_at(r->err, value->mark, EINVAL, "more than %d anchors",
			      TREE_ANCHORS_MAX);
	anchor->name = strdup((const char *)name);
	if (!anchor->name)
		return no_memory(r);
	anchor->value = value;
	r->n_anchors++;
	return 0;
}

static int take_alias(struct reader *r, const yaml_event_t *event)
{
	const char *name = (const char *)event->data.alias.anchor;
	struct mark mark = mark_of(r, event->start_mark);
	size_t i = r->n_anchors;

	while (i && strcmp(r->anchors[i - 1].name, name) != 0)
		i--;
	if (!i)
		return err_at(r->err, mark, EINVAL, "no anchor '&%.64s' above", name);
	for (size_t open = 0; open < r->depth; open++)
		if (r->stack[open].value == r->anchors[i - 1].value)
			return err_at(r->err, mark, EINVAL, "'*%.64s' would contain itself", name);
	return attach(r, r->anchors[i - 1].value, mark);
}

/* Line breaks of block texts become spaces; other control characters have no place in a suite. */
static int clean(struct reader *r, char *text, size_t len, struct mark mark)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i], next = (unsigned char)text[i + 1];

		if (c == '\n' || c == '\t')
			text[i] = ' ';
		else if (c < 0x20 || c == 0x7f || (c == 0xc2 && next >= 0x80 && next < 0xa0))
			return err_at(r->err, mark, EINVAL, "a control character in a text");
	}
	while (len && text[len - 1] == ' ')
		text[--len] = '\0';
	return 0;
}

static int take_scalar(struct reader *r, const yaml_event_t *event)
{
	const char *text = (const char *)event->data.scalar.value;
	bool plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	bool none = plain && (!*text || !strcmp(text, "~") || !strcmp(text, "null"));
	struct mark mark = mark_of(r, event->start_mark);
	size_t len = event->data.scalar.length;
	struct tree_value *value;
	int ret;

	if (len > TREE_TEXT_MAX)
		return err_at(r->err, mark, EINVAL, "a text longer than %d bytes", TREE_TEXT_MAX);
	ret = new_value(r, none && len <= 4 ? TREE_NOTHING : TREE_TEXT, mark, &value);
	if (ret)
		return ret;
	value->text = strndup(text, len);
	if (!value->text)
		return no_memory(r);
	/* An alias of a long text costs its copies. */
	value->weight += len / TEXT_WEIGHT;
	ret = strlen(value->text) < len ? err_at(r->err, mark, EINVAL, "a NUL character in a text")
					: clean(r, value->text, len, mark);
	if (!ret)
		ret = name_anchor(r, event->data.scalar.anchor, value);
	return ret ? ret : attach(r, value, mark);
}

static int open_value(struct reader *r, enum tree_kind kind, const yaml_char_t *anchor,
		      yaml_mark_t at)
{
	struct mark mark = mark_of(r, at);
	struct tree_value *value;
	int ret;

	if (r->depth == TREE_DEPTH_MAX)
		return err_at(r->err, mark, EINVAL, "nested deeper than %d levels", TREE_DEPTH_MAX);
	if (r->depth && r->stack[r->depth - 1].value->kind == TREE_MAP &&
	    !r->stack[r->depth - 1].key)
		return err_at(r->err, mark, EINVAL, "a key must be a word");
	ret = new_value(r, kind, mark, &value);
	if (!ret)
		ret = name_anchor(r, anchor, value);
	if (!ret)
		r->stack[r->depth++] = (struct frame){.value = value};
	return ret;
}

/* Append what "<<" stands for behind the map's own entries. */
static int merge(struct reader *r, struct tree_value *map)
{
	const struct tree_entry *merged = tree_find(map, "<<");
	const struct tree_value *from = merged ? merged->value : NULL;
	struct mark mark;
	int ret = 0;

	if (!from)
		return 0;
	mark = merged->key_mark;
	for (size_t i = 0; i < (from->kind == TREE_LIST ? from->n : 1) && !ret; i++) {
		const struct tree_value *one =
			from->kind == TREE_LIST ? from->entries[i].value : from;

		if (one->kind != TREE_MAP)
			return err_at(r->err, mark, EINVAL, "'<<' wants a map, not %s",
				      tree_kind_name(one->kind));
		for (size_t j = 0; j < one->n && !ret; j++)
			ret = append(r, map, &one->entries[j]);
	}
	return ret;
}

struct ranked {
	const char *key;
	size_t at;
};

static int rank(const void *left, const void *right)
{
	const struct ranked *a = left, *b = right;
	int order = strcmp(a->key, b->key);

	return order ? order : (a->at > b->at) - (a->at < b->at);
}

/* Of each key the first entry stays. Two of the map's own are an error, reported for the first such. */
static int drop_repeated(struct reader *r, struct tree_value *map, size_t own)
{
	struct ranked *ranked = calloc(map->n ? map->n : 1, sizeof(*ranked));
	size_t repeated = own, kept = 0;

	if (!ranked)
		return no_memory(r);
	for (size_t i = 0; i < map->n; i++)
		ranked[i] = (struct ranked){map->entries[i].key, i};
	qsort(ranked, map->n, sizeof(*ranked), rank);
	for (size_t i = 1; i < map->n; i++) {
		if (strcmp(ranked[i].key, ranked[i - 1].key) != 0)
			continue;
		if (ranked[i].at < repeated)
			repeated = ranked[i].at;
		map->entries[ranked[i].at].value = NULL;
	}
	free(ranked);
	if (repeated < own)
		return err_at(r->err, map->entries[repeated].key_mark, EINVAL, "'%s' appears twice",
			      map->entries[repeated].key);
	for (size_t i = 0; i < map->n; i++)
		if (map->entries[i].value && strcmp(map->entries[i].key, "<<") != 0)
			map->entries[kept++] = map->entries[i];
	map->n = kept;
	return 0;
}

static int close_value(struct reader *r)
{
	struct tree_value *value = r->stack[r->depth - 1].value;
	size_t own = value->n;
	int ret = 0;

	if (value->kind == TREE_MAP) {
		ret = merge(r, value);
		if (!ret)
			ret = drop_repeated(r, value, own);
	}
	if (ret)
		return ret;
	r->depth--;
	return attach(r, value, value->mark);
}

static int take(struct reader *r, const yaml_event_t *event)
{
	switch (event->type) {
	case YAML_DOCUMENT_START_EVENT:
		if (r->tree->root)
			return err_at(r->err, mark_of(r, event->start_mark), EINVAL,
				      "a second document starts here; a file holds one");
		return 0;
	case YAML_ALIAS_EVENT:
		return take_alias(r, event);
	case YAML_SCALAR_EVENT:
		return take_scalar(r, event);
	case YAML_SEQUENCE_START_EVENT:
		return open_value(r, TREE_LIST, event->data.sequence_start.anchor,
				  event->start_mark);
	case YAML_MAPPING_START_EVENT:
		return open_value(r, TREE_MAP, event->data.mapping_start.anchor, event->start_mark);
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		return close_value(r);
	default:
		return 0;
	}
}

static int read_events(struct reader *r, size_t len)
{
	bool more = true;
	int ret = 0;

	while (more && !ret) {
		yaml_event_t event;

		if (!yaml_parser_parse(&r->parser, &event))
			return syntax_error(r, len);
		ret = take(r, &event);
		more = event.type != YAML_STREAM_END_EVENT;
		yaml_event_delete(&event);
	}
	if (!ret && (!r->tree->root || r->tree->root->kind == TREE_NOTHING))
		ret = err_at(r->err, (struct mark){r->file, 1, 1}, EINVAL, "the file is empty");
	return ret;
}

int tree_parse(const char *file, const char *text, size_t len, struct tree **ret_tree,
	       struct err *err)
{
	struct reader *r;
	int ret;

	if (len > TREE_BYTES_MAX)
		return err_at(err, (struct mark){file, 1, 1}, EINVAL,
			      "the file is larger than %d KiB", TREE_BYTES_MAX / 1024);
	r = calloc(1, sizeof(*r));
	if (!r)
		return err_set(err, ENOMEM, "out of memory");
	r->file = file;
	r->text = text;
	r->err = err;
	r->tree = calloc(1, sizeof(*r->tree));
	if (!r->tree || !yaml_parser_initialize(&r->parser)) {
		ret = no_memory(r);
		goto free_tree;
	}
	yaml_parser_set_encoding(&r->parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&r->parser, (const unsigned char *)text, len);
	ret = read_events(r, len);
	yaml_parser_delete(&r->parser);
	for (size_t i = 0; i < r->n_anchors; i++)
		free(r->anchors[i].name);
free_tree:
	if (ret)
		tree_free(r->tree);
	else
		*ret_tree = r->tree;
	free(r);
	return ret;
}

void tree_free(struct tree *tree)
{
	if (!tree)
		return;
	for (size_t i = 0; i < tree->n; i++) {
		free(tree->values[i]->text);
		free(tree->values[i]->entries);
		free(tree->values[i]);
	}
	free(tree->values);
	free(tree);
}

const struct tree_value *tree_root(const struct tree *tree)
{
	return tree->root;
}

const struct tree_entry *tree_find(const struct tree_value *map, const char *key)
{
	for (size_t i = 0; i < map->n; i++)
		if (map->entries[i].key && !strcmp(map->entries[i].key, key))
			return &map->entries[i];
	return NULL;
}

const char *tree_kind_name(enum tree_kind kind)
{
	static const char *const names[] = {"nothing", "a text", "a list", "a map"};

	return names[kind];
}
