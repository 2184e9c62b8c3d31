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

@test "bench --filter: two arms, the second compared with the first" {
	netbench bench --dry-run --seed 1 --lab routed udp -f nft-forward,rules=100,hit=first filter.hit=last
	expect_status 0
	expect_errors ''
	expect_output '*arms   2,*arm udp/bare*arm udp/nft-forward*  filter 1 stage=nft-forward node=router *rules=100 *hit=last *  against udp/bare*'
	[ "$(grep -c '  filter' <<<"$output")" -eq 1 ]
	order=$(sed -n 's/^ *[0-9]\+  //p' <<<"$output")
	[ "$(sed -n 1,2p <<<"$order" | sort)" = $'udp/bare\nudp/nft-forward' ]
	netbench bench --dry-run udp --search csit search.width=1%
	expect_status 0
	expect_output '*arms   1,*  search preset=csit *width=1% *time   at most *'
}

@test "bench --filter: what is wrong is told in one line" {
	complains() {
		local want=$1
		shift
		netbench bench --dry-run udp "$@"
		expect_status 2 && expect_output '' && expect_errors "netbench: $want"
	}
	complains "--filter: 'stage' wants one of *, not 'nft-imput'; did you mean 'nft-input'?" -f nft-imput
	complains "--filter: a filter has no option 'rulse'; did you mean 'rules'?" -f xdp,rulse=1
	complains "--filter: 'rules' wants a number from 0 to 50000, not '-1'" -f xdp,rules=-1
	complains "filter 'nft-input': *" -f nft-input,structure=bpf-hash
	complains "filter 'nft-input': node 'b' has no interface 'eth7'*" -f nft-input,on=eth7
	complains "filter 'nft-input': *'x'*" -f nft-input,node=x
	complains "'filter.rules': the lab has no filters" filter.rules=1
	complains "'preset' wants one of *" --search quik
}

@test "filters of a lab file come with the lab; files are beside the suite, or where one is" {
	mkdir "$BATS_TEST_TMPDIR/dir"
	printf 'nodes: [x, y]\nlinks: [{ends: [x, y]}]\nfilters: [{stage: none, file: my.nft}]\n' \
		>"$BATS_TEST_TMPDIR/dir/own.yaml"
	cd "$BATS_TEST_TMPDIR"
	netbench bench --dry-run -l dir/own.yaml udp
	expect_status 0
	expect_output '*  filter 1 stage=none node=y *file=dir/my.nft *'
	netbench bench --dry-run -l dir/own.yaml udp filter.file=my.nft
	expect_output '*  filter 1 stage=none node=y *file=my.nft *'
	printf 'labs: {l: {nodes: [x, y], links: [{ends: [x, y]}], filters: [none]}}\n' >dir/s.yaml
	printf 'cases: [{name: t, load: udp, matrix: {filter.file: [my.nft, /my.nft]}}]\n' >>dir/s.yaml
	netbench run --dry-run dir/s.yaml
	expect_output '*arm t/file=my.nft*file=dir/my.nft *arm t/file=/my.nft*file=/my.nft *'
}

@test "the quick suite: all arms in every round, in both labs, in little more than a minute" {
	netbench run --dry-run --seed 3
	expect_status 0
	expect_output '*file   (built in) quick*seed   3*arm tcp/veth,offloads=on*arm tcp/routed,offloads=off*arm ping*'
	order=$(sed -n 's/^ *[0-9]\+  //p' <<<"$output")
	arms=$(sort -u <<<"$order" | wc -l)
	[ "$(wc -l <<<"$order")" -eq $((3 * arms)) ]
	for round in 0 1 2; do
		[ "$(sed -n "$((round * arms + 1)),$((round * arms + arms))p" <<<"$order" | sort -u | wc -l)" -eq "$arms" ]
	done
	seconds=$(sed -n 's/^time   \([0-9]*\).* s in .*/\1/p' <<<"$output")
	[ "$seconds" -gt 10 ] && [ "$seconds" -le 75 ]
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
