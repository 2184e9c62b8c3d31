#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Every load in every shape: figures come, from the right side, with nothing failed.

load ../cli/cli
load run

setup() {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	suite=$BATS_TEST_TMPDIR/s.yaml
	cat >"$suite" <<-'END'
		suite: s
		defaults: {duration: 60ms, warmup: 30ms, repeat: 1}
		labs:
		  routed:
		    nodes: {client: , router: {forward: yes}, server: }
		    links: [{ends: [client, router]}, {ends: [router, server]}]
		cases:
	END
}

# figures CASE…: the cases (YAML lines) are measured; the headline of each is a number above 0.
figures() {
	printf '  - %s\n' "$@" >>"$suite"
	measure run "$suite"
	expect 'cases and all(x["status"] in ("ok", "suspect") for x in cases)' \
		'all(x["metrics"][0]["n"] == 1 and x["metrics"][0]["median"] > 0 for x in cases)'
	expect_status 0
}

@test "tcp: families, directions, streams" {
	figures '{name: c, load: tcp, matrix: {load.family: [ipv4, ipv6], load.direction: [forward, reverse, both], load.streams: [1, 4]}}'
	expect 'len(cases) == 12' \
		'all({"goodput", "retransmits", "rtt", "cwnd", "cpu_per_gb"} <= {y["name"] for y in x["metrics"]} for x in cases)' \
		'all(("goodput_reverse" in {y["name"] for y in x["metrics"]}) == ("direction=both" in x["name"]) for x in cases)'
}

@test "tcp both ways: the sum is that of the two directions, and each moves" {
	figures '{name: c, load: {tcp: {direction: both, streams: 2}}}'
	expect 'm["goodput_forward"]["median"] > 0 and m["goodput_reverse"]["median"] > 0' \
		'abs(m["goodput"]["median"] - m["goodput_forward"]["median"] - m["goodput_reverse"]["median"]) < 1'
}

@test "tcp: each option that changes how it moves" {
	cpu=$(python3 -c 'import os; print(min(os.sched_getaffinity(0)))')
	figures '{name: zerocopy, load: {tcp: {zerocopy: yes}}}' \
		'{name: truncate, load: {tcp: {truncate: yes}}}' \
		'{name: reno, load: {tcp: {congestion: reno}}}' \
		'{name: mss, load: {tcp: {mss: 500, nodelay: yes, dscp: 46}}}' \
		'{name: small, load: {tcp: {buffer: 100, sndbuf: 16Ki, rcvbuf: 16Ki}}}' \
		'{name: threads, load: {tcp: {streams: 8, threads: 2, cpus_from: '"$cpu, cpus_to: $cpu"'}}}' \
		'{name: paced, load: {tcp: {pacing: 50Mbit/s}}}'
	expect 'cases[-1]["metrics"][0]["median"] < 75e6' \
		'"zero-copy sends" in named(cases[0]["validity"])'
}

@test "udp: families, directions, streams" {
	figures '{name: c, load: udp, matrix: {load.family: [ipv4, ipv6], load.direction: [forward, reverse, both], load.streams: [1, 4]}}'
	expect 'len(cases) == 12' \
		'all({"offered", "sent", "delivered", "goodput", "loss", "jitter", "cost", "latency_p50", "latency_p99", "latency_p999", "latency_max"} <= {y["name"] for y in x["metrics"]} for x in cases)' \
		'all(y["median"] == 0 for x in cases for y in x["metrics"] if y["name"] in ("duplicates", "reordered"))'
}

@test "udp: the goodput is that of the payload of what was delivered" {
	figures '{name: c, load: {udp: {size: 1000, rate: 20kpps}}}'
	expect 'abs(m["goodput"]["median"] - 8000 * m["delivered"]["median"]) < 1' \
		'abs(m["cost"]["median"] * m["delivered"]["median"] / (m["cpu_per_gb"]["median"] * m["goodput"]["median"] / 8) - 1) < 1e-6' \
		'm["latency_min"]["median"] <= m["latency_p50"]["median"] <= m["latency_p99"]["median"] <= m["latency_max"]["median"]'
}

@test "rr: protocols, families, streams, sizes" {
	figures '{name: c, load: rr, matrix: {load.protocol: [tcp, udp], load.family: [ipv4, ipv6], load.streams: [1, 4]}}' \
		'{name: sizes, load: rr, matrix: {load.protocol: [tcp, udp], load.request: [100, 20000], load.response: [9, 3000]}}'
	expect 'len(cases) == 16' \
		'all({"transactions", "latency_p50", "latency_p99", "latency_p999", "latency_max"} <= {y["name"] for y in x["metrics"]} for x in cases)'
}

@test "ping: families, sizes up to fragments, as fast as the answers come" {
	figures '{name: c, load: {ping: {interval: 0}}, matrix: {load.family: [ipv4, ipv6], load.size: [8, 56, 4000]}}'
	expect 'all({"rtt_min", "rtt_p50", "rtt_max"} <= {y["name"] for y in x["metrics"]} for x in cases)' \
		'all(y["median"] == 0 for x in cases for y in x["metrics"] if y["name"] == "loss")'
}

@test "side loads report beside the main load, each in a case of its own" {
	figures '{name: c, load: rr, duration: 150ms, beside: [tcp: {streams: 2}, udp: {rate: 1kpps}, ping: {interval: 1ms}]}' \
		'{name: twice, load: tcp, duration: 150ms, beside: [tcp, tcp: {family: ipv6}]}'
	expect '[x["name"] for x in cases] == ["c", "c beside: tcp", "c beside: udp", "c beside: ping", "twice", "twice beside: tcp", "twice beside: tcp"]' \
		'[x["metrics"][0]["unit"] for x in cases[:4]] == ["1/s", "bit/s", "packet/s", "ns"]'
}
