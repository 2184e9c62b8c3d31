#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Runs at the edges: extreme options, scarce resources, a runner that is held up.

load ../cli/cli
load run

setup() {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
}

# refused WORD… -- GLOB: a usage error with just this line.
refused() {
	local words=()
	while [ "$1" != -- ]; do
		words+=("$1")
		shift
	done
	netbench bench "${words[@]}"
	expect_status 2 && expect_output '' && expect_errors "netbench: $2" || return 1
}

# measured WORD…: bench in small windows works and says so.
measured() {
	netbench bench "${BRIEF[@]}" "$@"
	[ "$status" -eq 0 ] || { echo "bench $*"; show; return 1; }
	expect_errors ''
}

@test "every option of every load refuses what it does not take" {
	local load opt bad n
	"$NETBENCH" list -v --json loads >"$BATS_TEST_TMPDIR/list.json"
	python3 - "$BATS_TEST_TMPDIR/list.json" >"$BATS_TEST_TMPDIR/bad" <<-'END'
		import json, sys
		loads = json.load(open(sys.argv[1]))["loads"]
		for load in loads:
		    for opt in load["options"]:
		        print(load["name"], opt["name"], "x" if opt["type"] != "N" else "99999999999999999999", sep="\t")
	END
	n=0
	while IFS=$'\t' read -r load opt bad; do
		case $opt in
		from | to | congestion) continue ;; # any text
		esac
		"$NETBENCH" bench --dry-run "$load" "$opt=$bad" >"$BATS_TEST_TMPDIR/out" \
			2>"$BATS_TEST_TMPDIR/errors" && status=0 || status=$?
		errors=$(<"$BATS_TEST_TMPDIR/errors")
		[ "$status" -eq 2 ] && [ ! -s "$BATS_TEST_TMPDIR/out" ] &&
			[[ $errors == "netbench: "*"'$opt' wants "* || $errors == "netbench: '$bad' is not a list"* ]] ||
			{ echo "$load $opt=$bad: status $status: $errors"; return 1; }
		n=$((n + 1))
	done <"$BATS_TEST_TMPDIR/bad"
	[ "$n" -ge 30 ]
}

@test "combinations that no packet can have" {
	refused udp size=15 -- "'size' wants *"
	refused udp size=65508 -- "'size' wants *"
	refused udp segment=45 size=1472 -- 'segment × size is 66240 bytes: *'
	refused tcp mss=87 -- "'mss' wants 0 or a number from 88, not '87'"
	refused tcp pacing=1kpps -- 'pacing of tcp is a bit rate *'
	refused rr protocol=udp request=7 -- 'UDP requests and responses *'
	refused tcp from=a to=a -- "load 'tcp' wants two nodes, not 'a' twice"
	refused tcp from=c -- "no node 'c'*"
	refused tcp streams=129 -- "'streams' wants *"
	refused tcp link.mtu=67 -- "'mtu' wants *"
	refused tcp link.mtu=65536 -- "'mtu' wants *"
	refused tcp link.queues=0 -- "'queues' wants *"
	refused tcp duration=9ms -- "'duration' wants *"
	refused tcp repeat=0 -- "'repeat' wants *"
}

@test "the largest and the smallest of everything" {
	measured -t 200ms tcp streams=128 threads=64
	measured -t 200ms udp streams=128 threads=64 direction=both size=1472 rate=10kpps
	measured -t 200ms rr streams=64
	measured tcp link.mtu=65535 link.queues=8
	measured udp size=65507 link.mtu=65535
	measured udp size=65507 rate=500pps
	measured udp size=40 link.mtu=68
	measured udp size=16 rate=1kpps batch=1024
	measured tcp buffer=1 link.mtu=576
	measured udp streams=2 threads=2 duration=10ms warmup=0 repeat=1
	measured ping duration=10ms warmup=0 repeat=1 interval=0
	measured rr duration=10ms warmup=0 repeat=1
	measured tcp duration=10ms warmup=0 repeat=1
}

@test "segments larger than the MTU: failed, and why" {
	netbench bench "${BRIEF[@]}" udp segment=2 size=1473
	expect_status 1
	expect_errors 'netbench: udp: udp sender: cannot send: a segment of 1473 bytes does not fit into the MTU'
}

@test "one CPU for everything" {
	cpu=$(python3 -c 'import os; print(min(os.sched_getaffinity(0)))')
	local load
	for load in 'tcp streams=2 direction=both' udp 'rr streams=2' ping; do
		# shellcheck disable=SC2086
		errors=$(taskset -c "$cpu" "$NETBENCH" bench "${BRIEF[@]}" $load 2>&1 >/dev/null) ||
			{ echo "$load: $errors"; return 1; }
	done
}

@test "standard streams that are closed or full" {
	status=0
	errors=$("$NETBENCH" bench "${BRIEF[@]}" rr 2>&1 >&-) || status=$?
	expect_status 1
	expect_errors 'netbench: cannot write the table: Bad file descriptor'
	errors=$("$NETBENCH" bench "${BRIEF[@]}" --json rr 2>&1 >/dev/full) && false || status=$?
	expect_status 1
	expect_errors 'netbench: cannot write the result: No space left on device'
	status=0
	output=$("$NETBENCH" bench "${BRIEF[@]}" rr <&- 2>&-) || status=$?
	expect_status 0
	expect_output '*transactions*'
	status=0
	output=$("$NETBENCH" bench "${BRIEF[@]}" udp segment=2 size=1473 2>/dev/full) || status=$?
	expect_status 1
	expect_output '*does not fit*'
}

@test "a result file that cannot be: said before measuring, or beside the table" {
	netbench bench -t 60s -o "$BATS_TEST_TMPDIR/none/x.json" rr
	expect_status 2
	expect_errors "netbench: cannot write '*none/x.json': No such file or directory"
	netbench bench -t 60s -o "$BATS_TEST_TMPDIR" rr
	expect_status 2
	expect_errors "netbench: cannot write '*': Is a directory"
	netbench bench "${BRIEF[@]}" -o /dev/full rr
	expect_status 1
	expect_output '*transactions*'
	expect_errors 'netbench: cannot write the result: No space left on device'
}

@test "from a folder that cannot be written" {
	unshare --mount sh -c 'mount -t tmpfs -o ro none /mnt && cd /mnt && "$@"' sh \
		"$NETBENCH" bench "${BRIEF[@]}" rr
}

@test "few open files: the soft limit is raised, the hard one is named" {
	status=0
	errors=$(ulimit -Sn 16 && "$NETBENCH" bench "${BRIEF[@]}" tcp streams=64 2>&1 >/dev/null) || status=$?
	expect_status 0
	errors=$(ulimit -n 16 && "$NETBENCH" bench "${BRIEF[@]}" tcp 2>&1 >/dev/null) || status=$?
	expect_status 1
	expect_errors 'netbench: tcp: *open files*hard limit of 16*'
	status=0
	errors=$(ulimit -n 100 && "$NETBENCH" bench "${BRIEF[@]}" tcp streams=128 2>&1 >/dev/null) || status=$?
	expect_status 1
	expect_errors 'netbench: tcp: *Too many open files'
}

@test "few processes: which one could not be started" {
	setpriv --reuid=65533 --regid=65533 --clear-groups unshare --user --net true 2>/dev/null ||
		skip "user namespaces are not allowed"
	[ -z "$(ps -U 65533 -o pid=)" ] || skip "user 65533 runs something"
	shared_copy
	status=0
	errors=$(cd / && prlimit --nproc=3 setpriv --reuid=65533 --regid=65533 --clear-groups \
		"$NETBENCH" bench "${BRIEF[@]}" tcp streams=8 2>&1 >/dev/null) || status=$?
	expect_status 1
	expect_errors 'netbench: tcp: cannot start a worker: Resource temporarily unavailable'
}

@test "a runner that is stopped and continued: the run goes on, the trial is suspect" {
	start bench -v -t 3500ms --warmup 0 -n 1 tcp
	await_message 'tcp trial 1 *'
	kill -STOP "$pid"
	# All its workers end meanwhile; they are zombies until it can look.
	within 30 all_defunct "$pid"
	kill -CONT "$pid"
	finish
	expect_status 0
	valid
	expect 'd["complete"] and c["status"] == "suspect" and c["trials"]["done"] == 1' \
		'not named(c["validity"])["timing"]["ok"]' \
		'len(c["intervals"]) == 2 and all(x["value"] > 0 for x in c["intervals"])' \
		'"timing" in c["reason"]'
}

all_defunct() {
	local states
	states=$(ps -o stat= --ppid "$1")
	[ -n "$states" ] && ! grep -qv '^Z' <<<"$states"
}
