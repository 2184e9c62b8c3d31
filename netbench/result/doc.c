/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owns how values of a result become values of JSON. */
#include "result/doc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void doc_put(struct doc *doc, json_t *object, const char *key, json_t *value)
{
	if (json_object_set_new(object, key, value) < 0)
		doc->failed = true;
}

void doc_push(struct doc *doc, json_t *array, json_t *value)
{
	if (json_array_append_new(array, value) < 0)
		doc->failed = true;
}

/* How many bytes at text form one UTF-8 character; 0 when they do not. */
static size_t character(const char *text)
{
	for (size_t len = 1; len <= 4 && text[len - 1]; len++) {
		json_t *valid = json_stringn(text, len);

		json_decref(valid);
		if (valid)
			return len;
	}
	return 0;
}

static json_t *repaired(const char *text)
{
	char *buf = malloc(3 * strlen(text) + 1), *end = buf;
	json_t *string;

	if (!buf)
		return NULL;
	while (*text) {
		size_t len = character(text);

		end = mempcpy(end, len ? text : "\xef\xbf\xbd", len ? len : 3);
		text += len ? len : 1;
	}
	*end = '\0';
	string = json_string(buf);
	free(buf);
	return string;
}

json_t *doc_text(const char *text_or_null)
{
	json_t *string;

	if (!text_or_null)
		return json_null();
	string = json_string(text_or_null);
	return string ? string : repaired(text_or_null);
}

json_t *doc_number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

/* jansson's integers are signed. */
json_t *doc_count(uint64_t count)
{
	return json_integer(count > INT64_MAX ? INT64_MAX : (json_int_t)count);
}

json_t *doc_unit(const char *unit)
{
	return doc_text(*unit ? unit : "1");
}

json_t *doc_interval(struct doc *doc, double lo, double hi)
{
	json_t *array = json_array();

	doc_push(doc, array, doc_number(lo));
	doc_push(doc, array, doc_number(hi));
	return array;
}
