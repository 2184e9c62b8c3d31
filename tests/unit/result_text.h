/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A result as its readers get it: the document, held to the schema, and the page. */
#ifndef TESTS_UNIT_RESULT_TEXT_H
#define TESTS_UNIT_RESULT_TEXT_H

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "result/result.h"

/* Hold the text to the schema, and parse it. */
static inline json_t *document(const struct result *result)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	json_error_t error;
	struct err err;
	json_t *root;

	assert_non_null(out);
	if (result_write_json(result, out, &err) < 0)
		fail_msg("%s", err.text);
	fclose(out);
	assert_true(len > 0 && text[len - 1] == '\n');
	root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &error);
	if (!root)
		fail_msg("line %d: %s", error.line, error.text);
	if (!access("/usr/lib/python3/dist-packages/jsonschema", R_OK)) {
		FILE *check = popen("/usr/bin/python3 -W ignore tests/cli/validate.py", "w");

		assert_non_null(check);
		assert_int_equal(fwrite(text, 1, len, check), len);
		assert_int_equal(pclose(check), 0);
	}
	free(text);
	return root;
}

static inline json_t *at(json_t *root, const char *path)
{
	char *copy = strdup(path), *rest = copy;

	for (char *part; root && (part = strsep(&rest, "/"));)
		root = json_is_array(root) ? json_array_get(root, (size_t)atoi(part))
					   : json_object_get(root, part);
	free(copy);
	if (!root)
		fail_msg("no '%s'", path);
	return root;
}

#define assert_json_text(root, path, text) \
	assert_string_equal(json_string_value(at(root, path)), text)

static inline char *page(const struct result *result, bool color, unsigned int width)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	struct err err;

	const struct table_style style = {.color = color, .width = width};

	assert_non_null(out);
	if (result_write_table(result, out, &style, &err) < 0)
		fail_msg("%s", err.text);
	fclose(out);
	return text;
}

/* In columns: continuation bytes of UTF-8 take none, and every character here takes one. */
static inline size_t longest_line(const char *text)
{
	size_t longest = 0, columns = 0;

	for (; *text; text++) {
		if (*text == '\n')
			columns = 0;
		else if ((*text & 0xc0) != 0x80)
			columns++;
		longest = columns > longest ? columns : longest;
	}
	return longest;
}

#endif
