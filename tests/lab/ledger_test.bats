#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Packet conservation of udp: every packet of every trial is delivered or dropped by a name.

load ../cli/cli
load run

setup() {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	suite=$BATS_TEST_TMPDIR/s.yaml
	cat >"$suite" <<-'END'
		suite: s
		defaults: {duration: 50ms, warmup: 30ms, repeat: 2}
		labs:
		  pair:
		    nodes: [a, b]
		    links: [{ends: [a, b]}]
		  routed:
		    nodes: {client: , router: {forward: yes}, server: }
		    links: [{ends: [client, router]}, {ends: [router, server]}]
		cases:
	END
}

# balanced CASE…: the cases (YAML lines) are measured, and the books of all are closed.
balanced() {
	printf '  - %s\n' "$@" >>"$suite"
	measure run "$suite"
	expect '{x["status"] for x in cases} <= {"ok", "suspect"}' 'cases and all(x["ledger"] for x in cases if " beside: " not in x["name"])' \
		'all(x["ledger"]["residual"] == 0 for x in cases if x["ledger"])' \
		'all(x["ledger"]["sent"] == x["ledger"]["delivered"] + sum(x["ledger"]["drops"].values()) for x in cases if x["ledger"])' \
		'all(x["ledger"]["delivered"] > 0 for x in cases if x["ledger"])' \
		'all(x["trials"]["done"] == x["trials"]["wanted"] for x in cases)'
	expect_status 0
}

@test "ten trials at full speed and ten at 100,000 packets/s" {
	balanced '{name: full, lab: pair, load: udp, repeat: 10}' \
		'{name: paced, lab: pair, load: {udp: {rate: 100kpps}}, repeat: 10}'
}

@test "both families; small, large and fragmented packets; as fast as it goes and paced" {
	balanced '{name: c, lab: pair, load: udp, matrix: {load.family: [ipv4, ipv6], load.size: [18, 1400, 4000], load.rate: [max, 50kpps]}}'
}

@test "UDP_SEGMENT and UDP_GRO, each alone and together, with offloads off and on" {
	balanced '{name: c, lab: pair, load: {udp: {size: 1400}}, matrix: {load.segment: [0, 16], load.gro: [no, yes], link.*.offloads: [off, on]}}' \
		'{name: six, lab: pair, load: {udp: {size: 200, family: ipv6, gro: yes}}, matrix: {load.segment: [0, 16], link.*.offloads: [off, on]}}'
}

@test "a tiny receive buffer: what it drops is counted under its name" {
	balanced '{name: c, lab: pair, load: {udp: {rcvbuf: 4Ki}}, matrix: {load.family: [ipv4, ipv6], load.size: [18, 4000]}}' \
		'{name: seg, lab: pair, load: {udp: {rcvbuf: 4Ki, size: 500, segment: 32}}, matrix: {load.gro: [no, yes], link.*.offloads: [off, on]}}'
	expect 'all(x["ledger"]["drops"].get("socket buffer", 0) > 0 for x in cases)'
}

@test "through a router, every direction, one stream and four" {
	balanced '{name: c, lab: routed, load: udp, matrix: {load.direction: [forward, reverse, both], load.streams: [1, 4], load.size: [18, 4000]}}' \
		'{name: six, lab: routed, load: {udp: {family: ipv6, size: 1400}}, matrix: {load.direction: [forward, both]}}'
}

@test "beside traffic that is not numbered, and beside other numbered traffic" {
	sed -i 's/duration: 50ms/duration: 150ms/' "$suite"
	balanced '{name: c, lab: routed, load: udp, beside: [tcp: {direction: both}], matrix: {load.size: [18, 4000]}}' \
		'{name: two, lab: routed, load: udp, beside: [udp: {size: 1400, from: server, to: client}]}'
}
