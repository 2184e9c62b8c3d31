#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Searches in real labs, with trials far too short to mean anything: they end, their bounds are in
# order, every packet of every shot is accounted for.

load ../cli/cli
load run

setup() {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	suite=$BATS_TEST_TMPDIR/s.yaml
	cat >"$suite" <<-'END'
		suite: s
		defaults: {duration: 200ms, warmup: 50ms, repeat: 1}
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

# Goals that are quick to decide, and coarse; a busy machine must not make the search long.
BRISK='final: 40ms, sum: 80ms, width: 10%, cap: 20s'

# sought CASE…: the cases (YAML lines) are run, and what every search must have holds.
sought() {
	printf '  - %s\n' "$@" >>"$suite"
	measure run "$suite"
	expect_status 0
	expect 'all(x["status"] in ("ok", "suspect") for x in cases)' \
		'all(len(x["searches"]) == x["trials"]["done"] == x["trials"]["wanted"] for x in cases if " beside: " not in x["name"])' \
		'all(s["trials"] and s["duration_s"] > 0 for x in cases for s in x["searches"])' \
		'all(t["load"] >= 1000 and t["duration_s"] > 0 and 0 <= t["loss_ratio"] <= 1 for x in cases for s in x["searches"] for t in s["trials"])' \
		'all(g["lower"] is None or g["upper"] is None or g["lower"] < g["upper"] for x in cases for s in x["searches"] for g in s["goals"])' \
		'all(g["lower"] is not None or g["upper"] is not None for x in cases for s in x["searches"] for g in s["goals"])' \
		'all(g["lower"] is None or g["lower"] in [t["load"] for t in s["trials"]] for x in cases for s in x["searches"] for g in s["goals"])'
	# Every shot keeps its own books, those that were not listed (the warm-up) and the last trial too.
	expect 'all(x["ledger"]["residual"] == 0 and x["ledger"]["trials_closed"] == x["ledger"]["trials"] for x in cases if x["ledger"])' \
		'all(x["ledger"]["trials"] == sum(len(s["trials"]) + 2 for s in x["searches"]) for x in cases if x["searches"] and not x["curves"])' \
		'all(x["ledger"]["sent"] == x["ledger"]["delivered"] + sum(x["ledger"]["drops"].values()) for x in cases if x["ledger"])'
}

@test "udp: ndr and pdr between two nodes and through a router" {
	sought "{name: pair, lab: pair, load: udp, search: {$BRISK}}" \
		"{name: routed, lab: routed, load: {udp: {size: 500}}, search: {$BRISK}, repeat: 2}"
	expect 'all([y["name"] for y in x["metrics"]][:2] == ["ndr", "pdr"] for x in cases)' \
		'all(y["n"] == x["trials"]["done"] for x in cases for y in x["metrics"][:2])' \
		'all({"delivered", "loss", "latency_p50"} <= {y["name"] for y in x["metrics"]} for x in cases)' \
		'all(y["unit"] == "packet/s" and y["observer"] == "receiver" for x in cases for y in x["metrics"][:2])' \
		'all(y["samples"][i] == x["searches"][i]["goals"][k]["throughput"] for x in cases for k, y in enumerate(x["metrics"][:2]) for i in range(y["n"]))' \
		'all("crossed" in " ".join(named(x["proofs"])) for x in cases)'
}

@test "frames: ndr and pdr through a router" {
	sought "{name: routed, lab: routed, load: frames, search: {$BRISK}}"
	expect '[g["name"] for g in c["searches"][0]["goals"]] == ["ndr", "pdr"]'
}

@test "own goals by name, within the range that was given" {
	sought "{name: own, lab: pair, load: udp, search: {$BRISK, goals: off, own: 'half:loss=50%,final=30ms', min: 2kpps, max: 20kpps}}"
	expect '[g["name"] for g in c["searches"][0]["goals"]] == ["half"]' \
		'c["metrics"][0]["name"] == "half"' \
		'c["searches"][0]["goals"][0]["loss_ratio"] == 0.5' \
		'all(2000 <= t["load"] <= 20000 for t in c["searches"][0]["trials"])'
}

@test "a load beside it runs in every shot, and has its own figures" {
	sought "{name: noisy, lab: routed, load: udp, beside: [{tcp: {}}], search: {$BRISK, goals: pdr}}"
	expect 'len(cases) == 2' 'not cases[1]["searches"]' \
		'"goodput" in {y["name"] for y in cases[1]["metrics"]}'
}

@test "also: loss curve, latency at shares of pdr, back-to-back bursts" {
	sought "{name: all, lab: pair, load: frames, search: {$BRISK, max: 50kpps, also: on, bursts: 2}}"
	expect '{y["name"] for y in c["curves"]} == {"loss", "latency", "back-to-back"}' \
		'[r[0] for y in c["curves"] if y["name"] == "latency" for r in y["rows"]] == [0, 0.1, 0.5, 0.9, 1]' \
		'all(r[1] > 0 for y in c["curves"] if y["name"] == "loss" for r in y["rows"])' \
		'all(r[0] == 2 and r[2] <= r[1] <= r[3] and r[6] <= r[5] for y in c["curves"] if y["name"] == "back-to-back" for r in y["rows"])' \
		'c["ledger"]["residual"] == 0'
}

@test "interrupted: exit 130, a valid document, nothing left of the search" {
	printf '  - %s\n' "{name: long, lab: routed, load: udp, search: {final: 100ms, sum: 60s, cap: 60s}}" >>"$suite"
	start run -v "$suite"
	await_message '*long trial 1*'
	await_message '*long trial 1*'
	kill -INT "$pid"
	finish
	expect_status 130
	valid
	expect 'not d["complete"]' 'd["error"] == "interrupted"' 'not c["searches"]' 'not c["metrics"]'
}

@test "a load without a rate, or one that cannot burst, is an error in one line" {
	printf '  - %s\n' '{name: c, lab: pair, load: tcp, search: quick}' >>"$suite"
	document run "$suite"
	expect_status 2
	expect_errors "*load 'tcp' has no rate*"
	sed -i '$d' "$suite"
	printf '  - %s\n' '{name: c, lab: pair, load: udp, search: {also: back-to-back}}' >>"$suite"
	measure run "$suite"
	expect_status 1
	expect 'c["status"] == "failed"' \
		'c["reason"] == "load '"'udp'"' has no count, which back-to-back needs"'
}
