#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# netbench lab: up, exec, list, show and down, and that down leaves nothing.

load ../cli/cli

setup() {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	lab=nbtest$$
}

teardown() {
	[ "$(id -u)" -ne 0 ] || "$NETBENCH" lab down "$lab" 2>/dev/null
}

inventory() {
	ls /sys/class/net
	ls /run/netns /run/netbench 2>/dev/null || true
	grep -c . /proc/self/mountinfo
}

@test "up, ping through the router, down: nothing is left" {
	mkdir -p /run/netns
	before=$(inventory)
	netbench lab up routed --name "$lab"
	expect_status 0
	expect_output "Lab '$lab' is up: 3 nodes, 2 links.*"
	netbench lab list
	expect_output "*$lab *3 nodes, 2 links*"
	address=$("$NETBENCH" lab show --json "$lab" | python3 -c 'import json, sys
print(json.load(sys.stdin)["links"][1]["ends"][1]["address"].split("/")[0])')
	netbench lab exec "$lab" client ip -o -4 address show dev eth0
	expect_status 0
	expect_output '*198.18.*'
	netbench lab exec "$lab" client ip route get "$address"
	expect_status 0
	expect_output "$address via *"
	ip netns exec "$lab.server" ip -o -4 address show dev eth0 | grep -q "$address"
	netbench lab down "$lab"
	expect_status 0
	# The folders themselves may stay, empty.
	[ "$(inventory)" = "$before" ] || { diff <(echo "$before") <(inventory); return 1; }
}

@test "up twice: the second is refused and the first is not touched" {
	netbench lab up pair --name "$lab"
	expect_status 0
	netbench lab up pair --name "$lab"
	expect_status 2
	expect_errors "netbench: *'$lab*'*"
	netbench lab exec "$lab" a true
	expect_status 0
}

@test "exec passes options, output and the exit code" {
	netbench lab up pair --name "$lab"
	netbench lab exec "$lab" a sh -c 'echo "$1"; exit 7' sh --json
	expect_status 7
	expect_output --json
	netbench lab exec "$lab" a /nonexistent
	expect_status 127
	netbench lab exec "$lab" c true
	expect_status 2
	expect_errors "netbench: *'c'*"
}

@test "down of a lab that is not up is no failure" {
	netbench lab down "$lab"
	expect_status 0
	expect_output ""
	netbench lab down -v "$lab"
	expect_status 0
	expect_output "Lab '$lab' was not up."
}

@test "filters of the lab are in place while it is up, and shown" {
	cat >"$BATS_TEST_TMPDIR/f.yaml" <<-'END'
	nodes: {a: , r: {forward: yes}, b: }
	links: [{ends: [a, r]}, {ends: [r, b]}]
	filters: [{stage: nft-forward, rules: 7, action: accept}]
	END
	netbench lab up --name "$lab" "$BATS_TEST_TMPDIR/f.yaml"
	expect_status 0
	netbench lab show "$lab"
	expect_output "Lab '$lab': 3 nodes, 2 links, 1 filter*filter *nft-forward *r *action accept, rules 7*"
	netbench lab show --json "$lab"
	python3 -c 'import json, sys
only, = json.load(sys.stdin)["filters"]
assert only["stage"] == "nft-forward" and only["node"] == "r" and only["rules"] == "7", only' <<<"$output"
	if [ -x /usr/sbin/nft ]; then
		netbench lab exec "$lab" r /usr/sbin/nft list ruleset
		expect_output '*hook forward*accept*'
	fi
}

@test "a filter that ends with its process is refused, and so is one that cannot be" {
	printf 'nodes: [a, b]\nlinks: [{ends: [a, b]}]\nfilters: [none, xdp]\n' >"$BATS_TEST_TMPDIR/f.yaml"
	netbench lab up --name "$lab" "$BATS_TEST_TMPDIR/f.yaml"
	expect_status 2
	expect_errors "netbench: *f.yaml:3:17: filter 'xdp' ends with the process that made it: 'lab up' cannot leave it in place"
	printf 'nodes: [a, b]\nlinks: [{ends: [a, b]}]\nfilters: [{stage: nft-input, on: eth9}]\n' \
		>"$BATS_TEST_TMPDIR/f.yaml"
	netbench lab up --name "$lab" "$BATS_TEST_TMPDIR/f.yaml"
	expect_status 2
	expect_errors "netbench: *f.yaml:3:11: filter 'nft-input': node 'b' has no interface 'eth9'*"
	netbench lab list
	[[ $output != *$lab* ]]
}

@test "interfaces that a ruleset renames keep their new names while the lab is up" {
	printf 'table ip t {\n\tchain f {\n\t\ttype filter hook forward priority 0;\n\t\tiifname "wan0" accept\n\t}\n}\n' \
		>"$BATS_TEST_TMPDIR/f.nft"
	cat >"$BATS_TEST_TMPDIR/f.yaml" <<-'END'
		nodes: {a: , r: {forward: yes}, b: }
		links: [{ends: [a, "r:lan"]}, {ends: ["r:wan", b]}]
		filters: [{stage: nft-file, file: f.nft, map: {wan: wan0}}]
	END
	netbench lab up --name "$lab" "$BATS_TEST_TMPDIR/f.yaml"
	expect_status 0
	netbench lab exec "$lab" r ip -br link show dev wan0
	expect_status 0
	expect_output 'wan0*'
	netbench lab show "$lab"
	expect_status 0
	netbench lab down "$lab"
	expect_status 0
}
