#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# netbench lab: what needs no privilege. Building is in tests/lab.

load cli

@test "show draws the routed lab: tree, addresses, path" {
	netbench lab show routed
	expect_status 0
	expect_errors ''
	expect_output "Lab 'routed': 3 nodes, 2 links*client*router (forwards)*server*"
	expect_output '*client:eth0*198.18.*2001:2:*router:lan*'
	expect_output '*Paths:*client → server  198.18.*→ 198.18.*through router'
}

@test "show draws a ring: every link once" {
	cat >"$BATS_TEST_TMPDIR/ring.yaml" <<-'END'
		nodes: {a: {forward: yes}, b: {forward: yes}, c: {forward: yes}}
		links: [{ends: "a,b"}, {ends: "b,c"}, {ends: "c,a"}]
	END
	netbench lab show "$BATS_TEST_TMPDIR/ring.yaml"
	expect_status 0
	[ "$(grep -c '└──' <<<"$output")" -eq 3 ]
	[ "$(grep -c 'see above' <<<"$output")" -eq 1 ]
}

@test "show --json has nodes, links and both ends" {
	netbench lab show --json routed
	expect_status 0
	python3 -c 'import json, sys
lab = json.load(sys.stdin)
assert [n["name"] for n in lab["nodes"]] == ["client", "router", "server"]
assert [n["forward"] for n in lab["nodes"]] == [False, True, False]
assert lab["links"][0]["ends"][1]["interface"] == "lan"
assert lab["links"][0]["ends"][0]["address"].startswith("198.18.")
assert lab["links"][0]["offloads"] == "off"' <<<"$output"
}

@test "a chain of 300 nodes is drawn" {
	{
		echo 'nodes:'
		for i in $(seq 300); do echo "  n$i: {forward: yes}"; done
		echo 'links:'
		for i in $(seq 299); do echo "  - ends: n$i,n$((i + 1))"; done
	} >"$BATS_TEST_TMPDIR/chain.yaml"
	netbench lab show "$BATS_TEST_TMPDIR/chain.yaml"
	expect_status 0
	expect_output '*n299-n300 ── n300 (forwards)*'
}

@test "an impossible lab: place and reason, exit 2" {
	cat >"$BATS_TEST_TMPDIR/bad.yaml" <<-'END'
		nodes: [a, b]
		links:
		  - ends: a,c
	END
	netbench lab show "$BATS_TEST_TMPDIR/bad.yaml"
	expect_status 2
	expect_output ''
	expect_errors "netbench: *bad.yaml:3:*'c'*"
}

@test "an unknown lab: did you mean" {
	netbench lab show ruted
	expect_status 2
	expect_errors "netbench: no lab is named 'ruted'; did you mean 'routed'?"
}

@test "a missing file" {
	netbench lab show ./nowhere.yaml
	expect_status 2
	expect_errors "netbench: cannot read './nowhere.yaml': No such file or directory"
}

@test "wrong words: usage, exit 2" {
	netbench lab
	expect_status 2
	netbench lab upp pair
	expect_status 2
	expect_errors "netbench: lab: cannot 'upp'; did you mean 'up'?"
	netbench lab up
	expect_status 2
	expect_errors 'netbench: usage: netbench lab up *'
	netbench lab exec only-a-name
	expect_status 2
	expect_errors 'netbench: usage: netbench lab exec *'
}

@test "without privilege, up says what is missing: exit 3" {
	[ "$(id -u)" -eq 0 ] || skip "only root can drop to nobody"
	cp "$NETBENCH" "$BATS_TEST_TMPDIR/netbench"
	chmod 755 "$BATS_TEST_TMPDIR" "$BATS_TEST_TMPDIR/netbench"
	status=0
	errors=$(cd / && setpriv --reuid=65534 --regid=65534 --clear-groups \
		"$BATS_TEST_TMPDIR/netbench" lab up pair 2>&1 >/dev/null) || status=$?
	expect_status 3
	expect_errors 'netbench: lab up needs root: sudo netbench lab up pair (*)'
}

@test "down of what is not up is no mistake, and -v tells" {
	netbench lab down nosuch
	expect_status 0
	expect_output ''
	expect_errors ''
	netbench lab down -v nosuch
	expect_status 0
	expect_output "Lab 'nosuch' was not up."
	netbench lab down no/such
	expect_status 2
}
