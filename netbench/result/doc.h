/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How the JSON document is put together; for the files that write its parts. */
#ifndef RESULT_DOC_H
#define RESULT_DOC_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct result;
struct result_case;

/*
 * Building a document fails only for want of memory. The value goes into the object or is freed;
 * one failure anywhere spoils the whole, so it is noted and looked at once, in the end.
 */
struct doc {
	bool failed;
	uint64_t seed;
};

void doc_put(struct doc *doc, json_t *object, const char *key, json_t *value);
void doc_push(struct doc *doc, json_t *array, json_t *value);
/* Arguments and file names are bytes; JSON is UTF-8. What is not becomes U+FFFD, one per byte. */
json_t *doc_text(const char *text_or_null);
/* What is not finite is null. */
json_t *doc_number(double value);
json_t *doc_count(uint64_t count);
/* "1" is the unit of what has none (UCUM): an empty text would read as unknown. */
json_t *doc_unit(const char *unit);
/* [lo, hi] */
json_t *doc_interval(struct doc *doc, double lo, double hi);

/* The parts that have files of their own. */
json_t *doc_versus(struct doc *doc, const struct result_case *c);
json_t *doc_fits(struct doc *doc, const struct result *result);
json_t *doc_searches(struct doc *doc, const struct result_case *c);
json_t *doc_curves(struct doc *doc, const struct result_case *c);

#endif
