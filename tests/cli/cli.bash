# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# What the command-line tests share: where the program is, and how to look at what it says.

NETBENCH=${NETBENCH:-$BATS_TEST_DIRNAME/../../build/netbench/netbench}

# netbench ARGUMENT…: runs it; $status, $output (standard output) and $errors (standard error).
netbench() {
	errors=
	status=0
	output=$("$NETBENCH" "$@" 2>"$BATS_TEST_TMPDIR/errors" </dev/null) || status=$?
	errors=$(<"$BATS_TEST_TMPDIR/errors")
}

show() {
	printf 'status %s\n-- output\n%s\n-- errors\n%s\n' "$status" "$output" "$errors"
}

# expect_status N
expect_status() {
	[ "$status" -eq "$1" ] || { show; return 1; }
}

# expect_output GLOB, expect_errors GLOB: the text as a whole matches.
expect_output() {
	# shellcheck disable=SC2053
	[[ $output == $1 ]] || { echo "wanted: $1"; show; return 1; }
}

expect_errors() {
	# shellcheck disable=SC2053
	[[ $errors == $1 ]] || { echo "wanted: $1"; show; return 1; }
}
