/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Feeds suites and labs of any bytes to the reader and what it accepts to the planner. A refusal is
 * one line that starts with file:line:col.
 *
 *   clang -g -O1 -fsanitize=fuzzer,address,undefined -D_GNU_SOURCE -Inetbench -I. \
 *         tests/fuzz/suite_fuzz.c netbench/base/[a-z]*.c netbench/suite/[!e]*.c \
 *         netbench/search/preset.c topo/[a-z]*.c topo/filter/{place,map}.c \
 *         -lyaml -lmnl -lm -o suite_fuzz
 *   ./suite_fuzz -max_len=65536 -dict=tests/fuzz/suite.dict CORPUS configs/suites
 */
#include <stdlib.h>

#include "suite/plan.h"
#include "tests/unit/fake_filters.h"
#include "tests/unit/fake_loads.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Text of "f:LINE:COL: sentence", one line, or the program ends here. */
static void check_refusal(int ret, const struct err *err)
{
	unsigned int line = 0, col = 0;
	int at = 0;

	if (ret != -EINVAL || sscanf(err->text, "f:%u:%u: %n", &line, &col, &at) != 2 || !at ||
	    !line || !col || !err->text[at])
		abort();
	for (const char *c = err->text; *c; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			abort();
}

static void plan(const struct suite *suite)
{
	struct plan_options options = {.seed = 1};
	struct plan *plan;
	struct err err = {0};
	FILE *out;
	int ret = plan_make(suite, &options, &plan, &err);

	if (ret) {
		/*
		 * The pair that netbench itself adds has no place in the file, and a fault in a
		 * filter's own ruleset has its place there.
		 */
		if (suite->labs[0].mark.line && !strstr(err.text, FAKE_FAULT))
			check_refusal(ret, &err);
		return;
	}
	out = fopen("/dev/null", "w");
	if (out) {
		if (plan->n_arms < 64)
			plan_print(plan, out);
		fclose(out);
	}
	plan_free(plan);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct suite *suite;
	struct err err = {0};
	int ret = suite_parse("f", (const char *)data, size, &suite, &err);

	if (ret) {
		check_refusal(ret, &err);
	} else {
		plan(suite);
		suite_free(suite);
	}
	ret = suite_parse_lab("f", (const char *)data, size, &suite, &err);
	if (ret)
		check_refusal(ret, &err);
	else
		suite_free(suite);
	return 0;
}
