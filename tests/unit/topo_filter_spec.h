/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Filters in one line, for tests. */
#ifndef TESTS_TOPO_FILTER_SPEC_H
#define TESTS_TOPO_FILTER_SPEC_H

#include "tests/unit/topo_spec.h"

#include "topo/filter/filter.h"

/* "stage=xdp action=drop rules=3": the rest has its default. */
static inline struct filter_spec filter_spec_of(const char *options)
{
	char *text = strdup(options), *save, *word;
	struct filter_spec spec;
	struct err err = {""};

	assert_int_equal(filter_spec_init(&spec, &err), 0);
	for (word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		char *value = strchr(word, '=');

		assert_non_null(value);
		*value++ = '\0';
		if (opt_set(opts_find(filter_opts, word), &spec, value, &err))
			fail_msg("%s=%s: %s", word, value, err.text);
	}
	free(text);
	return spec;
}

#endif
