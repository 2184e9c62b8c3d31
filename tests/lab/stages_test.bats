#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Frames against filters: what the stage counts, what the sink counts and the ledger agree to the frame.

load ../cli/cli
load run

setup() {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
}

N=10000

# filtered FILTERS LAB FRAMES [MATRIX]: N frames through the filters, for each arm of the matrix.
filtered() {
	local more=("$@")
	{
		echo "suite: stages"
		echo "defaults: {duration: 300ms, warmup: 0, repeat: 1}"
		echo "labs:"
		echo "  pair: {nodes: [a, b], links: [{ends: [a, b]}], filters: [$1]}"
		echo "  routed: {nodes: {a: , router: {forward: yes}, b: }, filters: [$1],"
		echo "    links: [{ends: [a, router]}, {ends: [router, b]}]}"
		echo "cases:"
		echo "  - {name: frames, lab: $2, load: {frames: {count: $N, rate: ${RATE:-200kpps}, $3}}${more[3]:+, matrix: {${more[3]}\}}}"
	} >"$BATS_TEST_TMPDIR/stages.yaml"
	measure run "$BATS_TEST_TMPDIR/stages.yaml"
}

# each PYTHON…: true of every case that ran (c, its labels l, its proofs p); the others say why they did not.
each() {
	python3 - "$result" "$N" "$@" <<-'END'
		import json, sys
		d, N, ran = json.load(open(sys.argv[1])), int(sys.argv[2]), 0
		for c in d["cases"]:
		    l, p = c["labels"], {x["what"]: x["detail"] for x in c["proofs"]}
		    if c["status"] == "skipped":
		        print("# skipped:", c["name"], c["reason"])
		        continue
		    ran += 1
		    for text in ("c['status'] in ('ok', 'suspect')", "c['ledger']['sent'] == N", "c['ledger']['residual'] == 0", *sys.argv[3:]):
		        if not eval(text):
		            sys.exit(f"{c['name']}: not true: {text}: {c['status']} {c['reason']} {c['ledger']} {p}")
		sys.exit("nothing ran" if not ran else 0)
	END
}

STAGES="xdp, xdp-generic, tcx, tc-bpf, tc-u32, tc-flower, nft-ingress, nft-raw, nft-input, socket"

@test "every stage drops every frame, and counted it" {
	filtered none pair "" "filter.stage: [$STAGES], load.family: [ipv4, ipv6], load.size: [128]"
	each 'c["ledger"]["delivered"] == 0' 'c["ledger"]["drops"] == {l["filter.stage"] + " b": N}' \
		'p["filter " + l["filter.stage"] + " at b"] == f"{N} packets hit its rules, {N} dropped"'
}

@test "every stage lets every frame pass that it accepts or only counts" {
	filtered none pair "" "filter.stage: [$STAGES], filter.action: [accept, count]"
	each 'c["ledger"]["delivered"] == N' \
		'p["filter " + l["filter.stage"] + " at b"] == f"{N} packets hit its rules, 0 dropped"'
}

@test "an application discards what its socket had room for" {
	RATE=50kpps filtered app pair ""
	each 'c["ledger"]["delivered"] + c["ledger"]["drops"].get("socket buffer", 0) == N'
}

@test "a router drops in forward, tracks every flow, translates every flow" {
	filtered nft-forward routed ""
	each 'c["ledger"]["drops"] == {"nft-forward router": N}'
	filtered "{stage: nft-forward, rules: 0}" routed "flows: 500" "filter.conntrack: [tracked, masquerade, notrack]"
	each 'c["ledger"]["delivered"] == N' \
		'l["filter.conntrack"] == "notrack" or p["connection tracking at router"].startswith("500 entries")'
}

@test "more flows than connection tracking has room for are refused" {
	[ "$(cat /proc/sys/net/netfilter/nf_conntrack_max 2>/dev/null || echo 0)" -gt 0 ] || skip "no conntrack here"
	[ "$(cat /proc/sys/net/netfilter/nf_conntrack_max)" -lt 1000000 ] || skip "a million flows fit"
	filtered "{stage: nft-forward, rules: 0, conntrack: tracked}" routed "flows: 1000000"
	expect_status 1
	expect '"nf_conntrack_max" in c["reason"]' 'c["status"] == "failed"'
}

@test "a user's own ruleset and program: dropped by difference, and what they pass is exact" {
	cat >"$BATS_TEST_TMPDIR/own.nft" <<-'END'
		table inet own {
			chain forward {
				type filter hook forward priority filter; policy accept;
				udp dport 9 udp sport 32768-49151 drop
			}
		}
	END
	filtered "{stage: nft-file, file: own.nft}" routed "flows: 1000"
	each 'list(c["ledger"]["drops"]) == ["nft-file (by difference) router"]' '0 < c["ledger"]["delivered"] < N'
	cat >"$BATS_TEST_TMPDIR/own.bpf.c" <<-'END'
		#include <linux/bpf.h>
		__attribute__((section("xdp"), used)) int discard(struct xdp_md *ctx)
		{
			return (char *)(long)ctx->data_end - (char *)(long)ctx->data == 60 ? XDP_DROP : XDP_PASS;
		}
	END
	clang -O2 -g -target bpf -idirafter "/usr/include/$(gcc -print-multiarch)" -c \
		-o "$BATS_TEST_TMPDIR/own.o" "$BATS_TEST_TMPDIR/own.bpf.c"
	filtered "{stage: xdp, object: own.o}" routed ""
	each 'c["ledger"]["drops"] == {"xdp (by difference) router": N}'
}

@test "a flood beside a client is dropped, and both are accounted for" {
	cat >"$BATS_TEST_TMPDIR/flood.yaml" <<-'END'
		suite: flood
		labs: {pair: {nodes: [a, b], links: [{ends: [a, b]}], filters: [nft-input]}}
		cases: [{name: rr, load: rr, beside: [{frames: {rate: 20kpps}}]}]
	END
	measure run "${BRIEF[@]}" "$BATS_TEST_TMPDIR/flood.yaml"
	expect_status 0
	expect 'm["transactions"]["median"] > 0' 'c["ledger"]["residual"] == 0' \
		'list(c["ledger"]["drops"]) == ["nft-input b"]'
}
