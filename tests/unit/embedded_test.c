/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is compiled in is what configs/ holds, and a word finds it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "suite/embedded.h"
#include "suite/suite.h"
#include "topo/lab.h"

static void test_same_as_the_file(void **state)
{
	const struct embedded *pair = embedded_find(embedded_labs, "pair");
	char text[4096];
	FILE *file = fopen("configs/labs/pair.yaml", "r");
	size_t n;

	(void)state;
	assert_non_null(pair);
	if (!file) {
		print_message("not run in the source folder\n");
		skip();
	}
	n = fread(text, 1, sizeof(text), file);
	fclose(file);
	assert_int_equal(pair->len, n);
	assert_memory_equal(pair->text, text, n);
	assert_int_equal(pair->text[n], '\0');
}

static void test_every_suite_reads(void **state)
{
	struct suite *suite;
	struct err err = {""};

	(void)state;
	for (const struct embedded *e = embedded_suites; e->name; e++) {
		if (suite_open(e->name, &suite, &err))
			fail_msg("%s: %s", e->name, err.text);
		assert_non_null(suite->about);
		assert_true(suite->n_cases > 0);
		suite_free(suite);
	}
}

static void test_every_lab_plans(void **state)
{
	struct lab_plan *plan;
	struct suite *suite;
	struct err err = {""};

	(void)state;
	assert_non_null(embedded_labs[0].name);
	for (const struct embedded *e = embedded_labs; e->name; e++) {
		if (suite_open_lab(e->name, &suite, &err))
			fail_msg("%s: %s", e->name, err.text);
		assert_non_null(suite->about);
		assert_string_equal(suite->labs[0].name, e->name);
		if (lab_plan_make(&suite->labs[0], &plan, &err))
			fail_msg("%s: %s", e->name, err.text);
		lab_plan_free(plan);
		suite_free(suite);
	}
}

static void test_words(void **state)
{
	struct suite *suite;
	struct err err;

	(void)state;
	assert_null(embedded_find(embedded_labs, "pai"));
	assert_int_equal(suite_open_lab("pai", &suite, &err), -ENOENT);
	assert_string_equal(err.text, "no lab is named 'pai'; did you mean 'pair'?");
	assert_int_equal(suite_open("xyzzy-plugh", &suite, &err), -ENOENT);
	assert_string_equal(err.text, "no suite is named 'xyzzy-plugh' "
				      "(a file is named by a path or ends in .yaml)");
	assert_int_equal(suite_open_lab("./pair", &suite, &err), -ENOENT);
	assert_int_equal(suite_open_lab("pair.yml", &suite, &err), -ENOENT);
	assert_string_equal(err.text, "cannot read 'pair.yml': No such file or directory");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_as_the_file),
		cmocka_unit_test(test_every_suite_reads),
		cmocka_unit_test(test_every_lab_plans),
		cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
