#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# netbench list: text, JSON and names, and the completion that is made of them.

load cli

@test "list shows loads, suites and labs" {
	netbench list
	expect_status 0
	expect_errors ''
	expect_output 'Loads:*Suites:*Labs:*pair*routed*'
}

@test "list labs shows only labs" {
	netbench list labs
	expect_status 0
	expect_output 'Labs:*pair*'
	[[ $output != *Loads:* ]]
}

@test "list of something else: did you mean" {
	netbench list suits
	expect_status 2
	expect_errors "netbench: cannot list 'suits'; did you mean 'suites'?"
}

@test "list --json is JSON with the same names as --names" {
	for part in loads suites labs; do
		netbench list --names "$part"
		expect_status 0
		names=$output
		netbench list --json "$part"
		expect_status 0
		got=$(python3 -c 'import json, sys
for entry in json.load(sys.stdin)[sys.argv[1]]: print(entry["name"])' "$part" <<<"$output")
		[ "$got" = "$names" ] || { echo "$part: $got / $names"; return 1; }
	done
}

@test "list labs FILE shows a file beside the built-in ones" {
	cp "$BATS_TEST_DIRNAME/../../configs/labs/pair.yaml" "$BATS_TEST_TMPDIR/mine.yaml"
	netbench list labs "$BATS_TEST_TMPDIR/mine.yaml"
	expect_status 0
	expect_output '*mine.yaml*2 nodes, 1 links*'
}

@test "list labs FILE says why a file cannot be read" {
	echo 'nodes: 7' >"$BATS_TEST_TMPDIR/bad.yaml"
	netbench list labs "$BATS_TEST_TMPDIR/bad.yaml"
	expect_status 2
	expect_output "*bad.yaml:1:8: 'nodes' wants*"
}

@test "list loads does not read files" {
	netbench list loads x.yaml
	expect_status 2
	expect_errors "netbench: loads are not read from files, such as 'x.yaml'"
}

@test "completion offers commands, options, labs" {
	mkdir "$BATS_TEST_TMPDIR/bin"
	ln -s "$NETBENCH" "$BATS_TEST_TMPDIR/bin/netbench"
	complete_words() {
		PATH=$BATS_TEST_TMPDIR/bin:$PATH bash -c '
			. "$1"; shift
			COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
			_netbench; printf "%s\n" "${COMPREPLY[@]}"' \
			bash "$BATS_TEST_DIRNAME/../../docs/completion.bash" "$@"
	}
	[ "$(complete_words netbench doc)" = doctor ]
	[ "$(complete_words netbench doctor --js)" = --json ]
	[ "$(complete_words netbench lab ex)" = exec ]
	[ "$(complete_words netbench lab up rou)" = routed ]
	[ -z "$(complete_words netbench lab up zzz)" ]
}
