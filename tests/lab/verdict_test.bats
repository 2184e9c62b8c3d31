#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# What a run makes of cases that are to be compared.

setup() {
	load ../cli/cli
	load run
	cat >"$BATS_TEST_TMPDIR/suite.yaml" <<-'END'
	suite: ladder
	defaults: {duration: 60ms, warmup: 20ms, repeat: 2}
	labs:
	  pair: {nodes: {a: , b: }, links: [{name: wire, ends: [a, b], offloads: off}]}
	cases:
	  - name: sizes
	    load: udp
	    lab: pair
	    matrix: {load.size: [18, 1400]}
	    against: {load.size: 18}
	    slope: load.size
	END
}

@test "a baseline and a slope come to a difference and a line, in the document and on the page" {
	measure run "$BATS_TEST_TMPDIR/suite.yaml"
	expect 'c["versus"] is None' \
		'cases[1]["versus"]["baseline"] == "sizes/size=18"' \
		'cases[1]["versus"]["metric"] == "cost"' \
		'None not in cases[1]["versus"]["ci95"]' \
		'len(d["fits"]) == 1 and d["fits"][0]["name"] == "sizes"' \
		'd["fits"][0]["per"] == "load.size" and d["fits"][0]["n"] == 2' \
		'abs(d["fits"][0]["slope"] - cases[1]["versus"]["difference"] / 1382) < 1e-6'
	netbench run "$BATS_TEST_TMPDIR/suite.yaml"
	expect_output '*added CPU time per packet against sizes/size=18 (*s)*size=1400 *s ± *each one more adds*sizes: *s ± * CPU time per byte*'
}

@test "a baseline that cannot be compared leaves nothing, and no complaint" {
	measure run "$BATS_TEST_TMPDIR/suite.yaml" --only '*1400'
	expect_errors ''
	expect 'len(cases) == 1 and c["versus"] is None and d["fits"] == []'
}
