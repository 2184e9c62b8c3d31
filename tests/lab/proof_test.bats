#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# What a trial proves: offloads as read back, frames as received, links crossed.

load ../cli/cli
load run

setup() {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
}

# A few times the usual warm-up: that is when frames are looked at.
LOOK=("${BRIEF[@]}" --warmup 150ms)

largest='int(named(c["proofs"])["largest frame received"]["detail"].split()[0])'

@test "offloads off: every feature is off at every end, no frame exceeds MTU and header" {
	cat >"$BATS_TEST_TMPDIR/s.yaml" <<-'END'
		suite: s
		labs: {pair: {nodes: [a, b], links: [{ends: [a, b]}]}}
		cases:
		  - {name: tcp, load: {tcp: {streams: 2}}, matrix: {load.family: [ipv4, ipv6]}}
		  - {name: udp, load: udp, matrix: {load.size: [1472, 4000]}}
		  - {name: segments, load: {udp: {size: 1000, segment: 32, gro: yes}}}
	END
	measure run "${LOOK[@]}" "$BATS_TEST_TMPDIR/s.yaml"
	expect_status 0
	expect 'len(cases) == 5' \
		'all({y for y in named(x["proofs"]) if y.startswith("offloads")} == {"offloads of a:eth0", "offloads of b:eth0"} for x in cases)' \
		'all(z.endswith(" off") or z.endswith(" absent") for x in cases for y in x["proofs"] if y["what"].startswith("offloads") for z in y["detail"].split(", "))' \
		'all(0 < int(named(x["proofs"])["largest frame received"]["detail"].split()[0]) <= 1514 for x in cases)' \
		'all(x["remark"] is None for x in cases)'
}

@test "another MTU is another limit" {
	measure bench "${LOOK[@]}" tcp link.mtu=9000
	expect_status 0
	expect "1514 < $largest <= 9014"
	measure bench "${LOOK[@]}" tcp link.mtu=576
	expect_status 0
	expect "0 < $largest <= 590"
}

@test "offloads on: every feature is on, super-packets are found and remarked" {
	measure bench "${LOOK[@]}" tcp link.offloads=on
	expect_status 0
	expect 'all(y.endswith(" on") or y.endswith(" absent") for x in c["proofs"] if x["what"].startswith("offloads") for y in x["detail"].split(", "))' \
		"$largest > 1514" 'c["remark"].startswith("super-packets of up to ")'
}

@test "a list of offloads: those on, the others off" {
	measure bench "${LOOK[@]}" tcp link.offloads=tx,rx
	expect_status 0
	expect 'all(named(c["proofs"])["offloads of %s:eth0" % n]["detail"].startswith("tx on, rx on, tso off, gso off, gro off") for n in "ab")' \
		"0 < $largest <= 1514"
}

@test "every link on the way carried what was received, and those beside the way are not asked" {
	cat >"$BATS_TEST_TMPDIR/s.yaml" <<-'END'
		suite: s
		labs:
		  star:
		    nodes: {a: , r: {forward: yes}, b: , c: }
		    links: [{name: ra, ends: [a, r]}, {name: rb, ends: [r, b]}, {name: rc, ends: [r, c]}]
		cases:
		  - {name: tcp, lab: star, load: {tcp: {from: a, to: b}}}
		  - {name: udp, lab: star, load: {udp: {from: b, to: a, size: 1000}}}
		  - {name: rr, lab: star, load: {rr: {from: a, to: b}}}
	END
	measure run "${BRIEF[@]}" "$BATS_TEST_TMPDIR/s.yaml"
	expect_status 0
	expect '[{x for x in named(y["proofs"]) if x.startswith("crossed")} for y in cases] == [{"crossed ra", "crossed rb"}] * 3' \
		'all(x["ok"] for y in cases for x in y["proofs"])' \
		'all(n[0] > n[2] > 0 for y in cases[:2] for x in y["proofs"] if x["what"].startswith("crossed") for n in [[int(w) for w in x["detail"].split() if w.isdigit()]])'
}
