#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# What --dry-run shows of suites and of bench, and the suite in the README.

load cli

@test "bench in a lab that comes with netbench, and in one from a file" {
	netbench bench --dry-run --lab routed tcp link.mtu=9000
	expect_status 0
	expect_errors ''
	expect_output '*arm tcp*  lab    routed*  link   client-router * mtu=9000 *  load   tcp from=client to=server *'
	printf 'nodes: [x, y]\nlinks: [{ends: [x, y]}]\n' >"$BATS_TEST_TMPDIR/own.yaml"
	netbench bench --dry-run -l "$BATS_TEST_TMPDIR/own.yaml" rr from=y to=x
	expect_status 0
	expect_output '*  lab    own*  load   rr from=y to=x *'
	netbench bench --dry-run --lab ruoted tcp
	expect_status 2
	expect_errors "netbench: no lab is named 'ruoted'; did you mean 'routed'?"
	netbench bench --dry-run --lab pair tcp lab=routed
	expect_status 2
	expect_errors "netbench: the lab is chosen with --lab, not 'lab='"
}

@test "the quick suite: all arms in every round, in both labs, within a minute" {
	netbench run --dry-run --seed 3
	expect_status 0
	expect_output '*file   (built in) quick*seed   3*arm tcp/veth,offloads=on*arm tcp/routed,offloads=off*arm ping*'
	order=$(sed -n 's/^ *[0-9]\+  //p' <<<"$output")
	[ "$(wc -l <<<"$order")" -eq 27 ]
	for round in 0 1 2; do
		[ "$(sed -n "$((round * 9 + 1)),$((round * 9 + 9))p" <<<"$order" | sort -u | wc -l)" -eq 9 ]
	done
	seconds=$(sed -n 's/^time   \([0-9]*\).* s in .*/\1/p' <<<"$output")
	[ "$seconds" -le 50 ]
}

@test "--set lab=NAME runs every case in that lab" {
	netbench run --dry-run --only 'tcp*' --set lab=routed quick
	expect_status 0
	expect_output '*arms   2, of these 0 skipped*arm tcp/offloads=on*  lab    routed*'
	[[ $output != *'lab    veth'* ]]
	netbench run --dry-run --set lab=vteh quick
	expect_status 2
	expect_errors "netbench: no lab 'vteh'; did you mean 'veth'?"
}

@test "the suite in the README is the suite 'hop'" {
	local root=$BATS_TEST_DIRNAME/../..
	diff <(sed 1d "$root/configs/suites/hop.yaml") \
		<(sed -n '/^suite: hop$/,/^[^ a-z]/{/^[^ a-z]/d;p}' "$root/README.md")
}
