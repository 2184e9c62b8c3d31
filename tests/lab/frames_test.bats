#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# The load frames: every engine sends the same frames, and every one of them is accounted for.

load ../cli/cli
load run

setup() {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
}

exact=('c["ledger"]["sent"] == c["ledger"]["delivered"] == N' 'c["ledger"]["residual"] == 0'
	'c["status"] in ("ok", "suspect")' 'm["duplicates"]["median"] == 0' 'm["loss"]["median"] == 0')

# counted N SETTING…: so many frames are sent, and all arrive.
counted() {
	local n=$1
	shift
	measure bench frames --duration 300ms --warmup 0 --repeat 1 count="$n" "$@"
	expect_status 0
	expect "${exact[@]//N/$n}"
}

# engine NAME: the engine that the result says was used.
engine() {
	expect "named(c['proofs'])['engine']['detail'].startswith('$1:')"
}

@test "every engine delivers 10,000 frames, exactly" {
	for e in xdp inject tc packet udp; do
		counted 10000 engine=$e rate=100kpps
		engine $e
		expect 'm["reordered"]["median"] == 0' 'm["gaps"]["median"] == 0' 'm["latency_p50"]["median"] > 0'
	done
}

@test "the same through a router" {
	for e in xdp inject tc packet udp; do
		counted 5000 engine=$e rate=50kpps --lab routed
	done
}

@test "the engine is chosen, and the reason given" {
	counted 1000
	engine xdp
	expect '"live frames" in named(c["proofs"])["engine"]["detail"]'
}

@test "sizes, IMIX, families, protocols, tags" {
	counted 4800 size=imix
	expect 'abs(m["rate_l2"]["median"] / m["delivered"]["median"] - 8 * 16984 / 48) < 0.01'
	counted 4800 size=aaafg flows=100 --lab routed
	counted 4800 size=1518 engine=packet
	counted 4800 family=ipv6 size=84 sink=socket
	counted 4800 family=ipv6 size=128 flows=100 --lab routed
	counted 4800 proto=tcp-syn size=76 sink=socket
	counted 4800 proto=tcp-syn family=ipv6 size=96 flows=9
	counted 4800 vlan=7 size=68
	counted 4800 vlan=7 size=68 engine=packet
	counted 4800 vlan=7 size=68 engine=tc
}

@test "a million flows, and several threads" {
	counted 100000 flows=1000000
	counted 100000 flows=1M order=random
	counted 100001 threads=2 flows=10 cpus_from=0
}

@test "counted at a socket, as at the XDP hook" {
	counted 10000 sink=socket rate=100kpps
	expect '"socket filter" in named(c["proofs"])["engine"]["detail"]'
}

@test "bursts leave together, a rate in bit/s is one of its layer" {
	counted 6400 burst=64 rate=100kpps
	measure bench frames --duration 60ms --warmup 0 --repeat 1 rate=67.2Mbit/s
	expect 'abs(m["asked"]["median"] - 100000) < 1'
	measure bench frames --duration 60ms --warmup 0 --repeat 1 rate=51.2Mbit/s layer=l2
	expect 'abs(m["asked"]["median"] - 100000) < 1'
}

@test "more than the generator can do is unsent, never lost" {
	measure bench frames "${BRIEF[@]}" engine=udp rate=50Mpps
	expect 'c["ledger"]["residual"] == 0' 'm["loss"]["median"] == 0' 'm["sent"]["median"] < m["asked"]["median"]'
}

@test "a filter that drops: what it dropped is the figure" {
	cat >"$BATS_TEST_TMPDIR/s.yaml" <<-'END'
		suite: s
		defaults: {duration: 300ms, warmup: 0s, repeat: 1}
		labs:
		  pair:
		    nodes: [a, b]
		    links: [{ends: [a, b]}]
		    filters: [{stage: xdp, node: b}]
		cases:
		  - {name: drop, lab: pair, load: {frames: {count: 20000, rate: 100kpps}}}
	END
	measure run "$BATS_TEST_TMPDIR/s.yaml"
	expect_status 0
	expect 'c["metrics"][0]["name"] == "dropped"' 'c["ledger"]["sent"] == 20000' 'c["ledger"]["delivered"] == 0' \
		'c["ledger"]["residual"] == 0' 'm["loss"]["median"] == 0'
}

@test "without privileges for programs it falls back to a packet socket and a reader" {
	unshare --user --map-root-user true || skip "the kernel has no user namespaces"
	result=$BATS_TEST_TMPDIR/result.json
	unshare --user --map-root-user "$NETBENCH" bench frames --duration 200ms --warmup 0 --repeat 1 count=2000 \
		rate=50kpps --json >"$result"
	expect "${exact[@]//N/2000}" '"reader" in named(c["proofs"])["engine"]["detail"]'
	engine packet
}

# refused TEXT SETTING…: one line, exit status 2.
refused() {
	local text=$1
	shift
	run "$NETBENCH" bench frames "$@"
	expect_status 2
	[ "${#lines[@]}" -eq 1 ]
	[[ $output == *"$text"* ]] || { show; return 1; }
}

@test "settings that contradict themselves: one line, exit 2" {
	refused 'size 63' size=63
	refused 'need 84 bytes' family=ipv6
	refused 'need 76 bytes' proto=tcp-syn
	refused 'need 68 bytes' vlan=3
	refused 'genome' size=abcx
	refused 'flows' flows=1000001
	refused 'engine udp sends one flow' engine=udp flows=2
	refused 'engine udp' engine=udp proto=tcp-syn size=128
	refused 'vlan' engine=inject vlan=3 size=68
	refused '3 frames for 4 threads' count=3 threads=4
	refused 'warp' engine=warp
}

@test "what only the lab can tell: one line" {
	run "$NETBENCH" bench frames "${BRIEF[@]}" size=1519
	[ "$status" -ne 0 ]
	[[ $output == *'MTU 1500'* ]] || { show; return 1; }
	run "$NETBENCH" bench frames "${BRIEF[@]}" vlan=3 size=68 --lab routed
	[[ $output == *"node 'router' on the way takes no tagged frames"* ]] || { show; return 1; }
	[ "$(nproc)" -gt 1 ] || skip "needs two CPUs"
	run "$NETBENCH" bench frames "${BRIEF[@]}" threads=2 cpus_from=0,1
	[[ $output == *'share a queue'* ]] || { show; return 1; }
	measure bench frames "${BRIEF[@]}" threads=2 cpus_from=0,1 link.queues=2
	expect 'c["ledger"]["residual"] == 0'
}
