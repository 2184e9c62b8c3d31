/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests how libnftables' reports become one line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "topo/filter/nft_error.h"

static void expect(const char *file, const char *report, int code, const char *text)
{
	struct err err = {""};

	assert_int_equal(nft_error(file, report, &err), code);
	assert_string_equal(err.text, text);
}

static void test_places(void **state)
{
	static const char report[] = "./fw-1:2.nft:3:8-14: Error: syntax error, unexpected x\n"
				     "  jump x\n       ^^^^^^^\n"
				     "./fw-1:2.nft:9:1-2: Error: another\nline\n^^\n";

	(void)state;
	expect("fw-1:2.nft", report, -EINVAL, "fw-1:2.nft:3:8: syntax error, unexpected x");
	expect("/etc/x/fw-1:2.nft", report, -EINVAL,
	       "/etc/x/fw-1:2.nft:3:8: syntax error, unexpected x");
	expect("../fw-1:2.nft", report, -EINVAL, "../fw-1:2.nft:3:8: syntax error, unexpected x");
}

static void test_includes(void **state)
{
	static const char report[] = "In file included from ./main.nft:2:1-22:\n"
				     "                 from ./a/b.nft:1:1-3:\n"
				     "./a/c.nft:1:48-48: Error: bad\nline\n";
	static const char absolute[] = "In file included from ./main.nft:2:1-22:\n"
				       "/etc/c.nft:1:48-48: Error: bad\nline\n";

	(void)state;
	expect("x/main.nft", report, -EINVAL, "x/a/c.nft:1:48: bad");
	expect("x/main.nft", absolute, -EINVAL, "/etc/c.nft:1:48: bad");
}

/* A missing chain and a missing expression get the same words from the kernel. */
static void test_lacks(void **state)
{
#define MISSING "Could not process rule: No such file or directory"
	(void)state;
	expect("a.nft", "./a.nft:3:2-6: Error: " MISSING "\n queue num 1\n ^^^^^\n", -EOPNOTSUPP,
	       "a.nft:3:2: " MISSING ": the kernel has no such feature");
	expect("a.nft", "./a.nft:2:12-12: Error: " MISSING "\n flowtable f {\n           ^\n",
	       -EOPNOTSUPP, "a.nft:2:12: " MISSING ": the kernel has no such feature");
	expect("a.nft", "./a.nft:3:8-14: Error: " MISSING "\n  jump nochain\n       ^^^^^^^\n",
	       -EINVAL, "a.nft:3:8: " MISSING);
	expect("a.nft", "./a.nft:3:8-14: Error: " MISSING, -EINVAL, "a.nft:3:8: " MISSING);
	expect("a.nft",
	       "./a.nft:1:1-2: Error: Could not process rule: Operation not supported\nx\n^\n",
	       -EOPNOTSUPP,
	       "a.nft:1:1: Could not process rule: Operation not supported: the kernel has no such "
	       "feature");
#undef MISSING
}

static void test_without_place(void **state)
{
	(void)state;
	expect("a.nft", "Error: syntax error\ndefine p={9,; \n            ^\n", -EINVAL,
	       "a.nft: syntax error: 'define p={9,; '");
	expect("a.nft", "internal:0:0-0: Error: no\n\n\n", -EINVAL, "a.nft: no");
	expect("a.nft", "something else\n", -EINVAL, "a.nft: something else");
	expect("a.nft", "", -EINVAL, "a.nft: cannot load it");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_includes),
		cmocka_unit_test(test_lacks),
		cmocka_unit_test(test_without_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
