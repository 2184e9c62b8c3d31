#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Suites that are wrong: one line that starts with file:line:col, exit 2, at little cost.

load cli

# refused FILE LINE:COL:SENTENCE (a glob): exactly that, on one line.
refused() {
	netbench run --dry-run "$1"
	expect_status 2 && expect_output '' && expect_errors "netbench: $1:$2" &&
		[ "$(wc -l <<<"$errors")" -eq 1 ] || { show; return 1; }
}

@test "every suite in bad/ is refused with the sentence in its first line" {
	local file want n=0
	for file in "$BATS_TEST_DIRNAME"/bad/*.yaml; do
		read -r want <"$file"
		[[ $want == '# want: '* ]] || { echo "$file does not say what it wants"; return 1; }
		refused "$file" "${want#\# want: }" || { echo "file: $file"; return 1; }
		n=$((n + 1))
	done
	[ "$n" -ge 30 ]
}

@test "an empty file" {
	: >"$BATS_TEST_TMPDIR/x.yaml"
	refused "$BATS_TEST_TMPDIR/x.yaml" '1:1: the file is empty'
}

@test "binary files: a program, NULs, invalid UTF-8, UTF-16" {
	head -c 65536 "$NETBENCH" >"$BATS_TEST_TMPDIR/x.yaml"
	refused "$BATS_TEST_TMPDIR/x.yaml" '1:1: not a text file: *'
	head -c 1000 /dev/zero >"$BATS_TEST_TMPDIR/x.yaml"
	refused "$BATS_TEST_TMPDIR/x.yaml" '1:1: not a text file: *'
	printf 'suite: a\nabout: caf\351 noir\n' >"$BATS_TEST_TMPDIR/x.yaml"
	refused "$BATS_TEST_TMPDIR/x.yaml" '2:12: not a text file: *'
	printf '\377\376c\0a\0s\0e\0s\0' >"$BATS_TEST_TMPDIR/x.yaml"
	refused "$BATS_TEST_TMPDIR/x.yaml" '1:1: not a text file: *'
}

@test "a file of 10 MB" {
	yes '# nothing' | head -c 10000000 >"$BATS_TEST_TMPDIR/x.yaml"
	refused "$BATS_TEST_TMPDIR/x.yaml" '1:1: the file is larger than 1024 KiB'
}

@test "deep nesting: lists, maps, block lists" {
	head -c 1000000 /dev/zero | tr '\0' '[' >"$BATS_TEST_TMPDIR/x.yaml"
	refused "$BATS_TEST_TMPDIR/x.yaml" '1:33: nested deeper than 32 levels'
	yes '{a: ' | head -n 100000 | tr -d '\n' >"$BATS_TEST_TMPDIR/x.yaml"
	refused "$BATS_TEST_TMPDIR/x.yaml" '1:129: nested deeper than 32 levels'
	yes -- '- ' | head -n 100000 | tr -d '\n' >"$BATS_TEST_TMPDIR/x.yaml"
	refused "$BATS_TEST_TMPDIR/x.yaml" '1:65: nested deeper than 32 levels'
}

@test "alias bombs: lists, merge keys, many anchors" {
	{
		echo 'a0: &a0 [x, x, x, x, x, x, x, x, x]'
		for i in 1 2 3 4 5 6 7 8 9; do
			p="*a$((i - 1))"
			echo "a$i: &a$i [$p, $p, $p, $p, $p, $p, $p, $p, $p]"
		done
	} >"$BATS_TEST_TMPDIR/x.yaml"
	refused "$BATS_TEST_TMPDIR/x.yaml" '6:*: aliases expand to more than 200000 values'
	{
		printf 'a: &a {'
		for ((i = 0; i < 5000; i++)); do printf 'k%s: x, ' "$i"; done
		printf '}\nb: {<<: ['
		for ((i = 0; i < 5000; i++)); do printf '*a, '; done
		printf ']}\n'
	} >"$BATS_TEST_TMPDIR/x.yaml"
	refused "$BATS_TEST_TMPDIR/x.yaml" '2:*: aliases expand to more than 200000 values'
	for ((i = 0; i < 1000; i++)); do echo "k$i: &a$i x"; done >"$BATS_TEST_TMPDIR/x.yaml"
	refused "$BATS_TEST_TMPDIR/x.yaml" '257:*: more than 256 anchors'
}

@test "a million small values" {
	{ printf 'cases: ['; yes 'x,' | head -n 500000 | tr -d '\n'; } >"$BATS_TEST_TMPDIR/x.yaml"
	refused "$BATS_TEST_TMPDIR/x.yaml" '1:*: more than 200000 values'
}

@test "files that cannot be read" {
	netbench run --dry-run "$BATS_TEST_TMPDIR/none.yaml"
	expect_status 2
	expect_errors "netbench: cannot read '*none.yaml': No such file or directory"
	netbench run --dry-run "$BATS_TEST_TMPDIR/"
	expect_status 2
	expect_errors "netbench: cannot read '*': Is a directory"
}

@test "a suite where a lab is wanted, and the other way round" {
	local suite=$BATS_TEST_TMPDIR/s.yaml
	printf 'suite: s\ncases:\n- {name: t, load: tcp}\n' >"$suite"
	netbench lab up "$suite"
	expect_status 2
	expect_errors "netbench: $suite:2:1: this is a suite, not a lab: netbench run $suite"
	netbench bench --dry-run --lab "$suite" tcp
	expect_status 2
	expect_errors "netbench: $suite:2:1: this is a suite, not a lab: *"
	netbench lab up quick
	expect_status 2
	expect_errors "netbench: 'quick' is a suite, not a lab: netbench run quick"
	netbench run --dry-run routed
	expect_status 2
	expect_errors "netbench: 'routed' is a lab, not a suite: netbench lab up routed"
}
