#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# netbench list: text, JSON and names, and how it fits a terminal.

load cli

@test "list shows loads, filters, suites and labs" {
	netbench list
	expect_status 0
	expect_errors ''
	expect_output 'Loads:*Filter stages:*none*Suites:*Labs:*pair*routed*'
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
	for part in loads filters suites labs; do
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

@test "list filters STAGE shows what the stage takes" {
	netbench list filters nft-input
	expect_status 0
	expect_errors ''
	expect_output '*nft-input *action=CHOICE *rules=N *structure=CHOICE *linear, set*conntrack=CHOICE *'
	[[ $output != *flowtable=* && $output != *bpf-hash* ]] || { show; return 1; }
	netbench list filter xdp
	expect_status 0
	expect_output '*xdp *structure=CHOICE *bpf-hash*'
	[[ $output != *conntrack=* && $output != *interval-set* ]] || { show; return 1; }
	netbench list filters xpd
	expect_status 2
	expect_output ''
	expect_errors "netbench: no filter stage 'xpd'; did you mean 'xdp'?"
}

@test "list filters: one line for a stage, its options only with -v" {
	netbench list filters
	expect_status 0
	expect_output 'Filter stages:*'
	[[ $output != *rules=* ]]
	netbench list -v filters
	expect_output '*rules=N *flowtable=yes|no*'
}

@test "list labs FILE shows a file beside the built-in ones" {
	cp "$BATS_TEST_DIRNAME/../../configs/labs/pair.yaml" "$BATS_TEST_TMPDIR/mine.yaml"
	netbench list labs "$BATS_TEST_TMPDIR/mine.yaml"
	expect_status 0
	expect_output '*mine.yaml*2 nodes, 1 link)*'
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

@test "list says why a suite's cases cannot run here" {
	cat >"$BATS_TEST_TMPDIR/mine.yaml" <<-'END'
		cases:
		  - name: a
		    load: { tcp: { congestion: nosuch } }
		  - name: b
		    load: tcp
	END
	netbench list suites "$BATS_TEST_TMPDIR/mine.yaml"
	expect_status 0
	expect_output "*1 of 2 cases cannot run here: *'nosuch'*"
	netbench list -v suites "$BATS_TEST_TMPDIR/mine.yaml"
	expect_output "*cannot run here: a: *'nosuch'*"
}

@test "one link is not '1 links'" {
	netbench list -v
	expect_status 0
	expect_output '*1 link*'
	[[ $output != *'1 links'* && $output != *'1 nodes'* ]] || { show; return 1; }
	netbench lab show pair
	expect_output '*, 1 link*'
	[[ $output != *'1 links'* ]]
}

@test "on a narrow terminal lines are broken between words" {
	local width program
	for width in 60 80; do
		for program in doctor 'lab show routed' 'list -v'; do
			# shellcheck disable=SC2086
			TERM=dumb script -qec "stty cols $width; '$NETBENCH' $program" \
				"$BATS_TEST_TMPDIR/typed" </dev/null >/dev/null
			tr -d '\r' <"$BATS_TEST_TMPDIR/typed" | sed '/^Script /d' >"$BATS_TEST_TMPDIR/narrow"
			# shellcheck disable=SC2086
			netbench $program
			python3 - "$width" "$BATS_TEST_TMPDIR/narrow" <<-'END' "$output" || { echo "$program"; return 1; }
				import sys
				width, narrow, wide = int(sys.argv[1]), open(sys.argv[2]).read(), sys.argv[3]
				long = [l for l in narrow.splitlines() if len(l) > width and " " in l.strip()]
				assert not long, long
				missing = set(narrow.split()) - set(wide.split())
				assert not missing, missing
			END
		done
	done
}
