#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# netbench run and bench: what they report, in every way that a run can end.

load ../cli/cli
load run

setup() {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
}

@test "the quick suite in small windows: a valid document, every case with proofs" {
	measure run "${BRIEF[@]}" --repeat 2 --seed 7
	expect_status 0
	expect_errors ''
	expect 'd["complete"] and d["error"] is None and d["suite"]["name"] == "quick"' \
		'd["suite"]["file"] == "(built in) quick"' \
		'd["suite"]["seed"] == 7 and d["suite"]["options"]["duration"] == "60ms"' \
		'd["started"] and d["command"][1] == "run"' \
		'len(cases) > 5 and {x["status"] for x in cases} <= {"ok", "suspect"}' \
		'all(x["trials"] == {"done": 2, "wanted": 2} for x in cases)' \
		'all(y["n"] == 2 for x in cases for y in x["metrics"][:1])' \
		'all(named(x["proofs"])["reachable"]["ok"] for x in cases)' \
		'all(y["ok"] for x in cases for y in x["proofs"])' \
		'all("timing" in named(x["validity"]) and "clock" in named(x["validity"]) for x in cases)' \
		'all(x["ledger"] for x in cases if "udp64" in x["name"])' \
		'all(len(x["cpu"]) >= 1 for x in cases)' \
		'{x["labels"]["lab"] for x in cases} == {"veth", "routed", "guarded"}' \
		'd["host"]["kernel"] and d["host"]["arch"]'
}

@test "--only and --set choose and change; the table goes to standard output" {
	netbench run "${BRIEF[@]}" --only '*p*/routed*' --set link.*.mtu=9000
	expect_status 0
	expect_errors ''
	expect_output '*tcp/routed*goodput*bit/s*udp64/routed*delivered*pps*UDP: every packet accounted for in 1 of 1 trials.'
	[[ $output != */veth* && $output != *rr/* ]]
}

@test "-v prints a line per interval on standard error, with a window of seconds" {
	netbench bench -v -t 1100ms --warmup 0 -n 1 tcp
	expect_status 0
	expect_errors 'tcp trial 1 *0.0*–*1.0* s *bit/s*tcp trial 1 *1.0*–*1.1* s *bit/s'
	[ "$(wc -l <<<"$errors")" -eq 2 ]
	measure bench -t 1100ms --warmup 0 -n 2 tcp
	expect '[x["trial"] for x in c["intervals"]] == [0, 0, 1, 1]' \
		'all(x["value"] > 0 and 0 <= x["start_s"] < x["end_s"] < 2 for x in c["intervals"])' \
		'c["intervals"][0]["end_s"] == c["intervals"][1]["start_s"]'
}

@test "a failed case: exit 1, the reason in the document, the others measured" {
	cat >"$BATS_TEST_TMPDIR/s.yaml" <<-'END'
		suite: s
		labs: {pair: {nodes: [a, b], links: [{ends: [a, b]}]}}
		cases:
		  - {name: bad, lab: pair, load: {udp: {size: 1473, segment: 2}}}
		  - {name: good, lab: pair, load: tcp}
	END
	measure run "${BRIEF[@]}" "$BATS_TEST_TMPDIR/s.yaml"
	expect_status 1
	expect_errors "netbench: bad: udp sender: cannot send: a segment of 1473 bytes does not fit into the MTU"
	expect 'not d["complete"] and "failed" in d["error"] and [x["status"] for x in cases][0] == "failed"' \
		'cases[0]["reason"].endswith("does not fit into the MTU") and cases[0]["trials"]["done"] == 0' \
		'cases[1]["status"] in ("ok", "suspect") and cases[1]["trials"]["done"] == 1'
}

@test "a case in which nothing arrives is void: exit 1" {
	# One request, long before the window.
	measure bench "${BRIEF[@]}" ping interval=1s
	expect_status 1
	expect 'c["status"] == "void" and c["reason"] == "nothing arrived within the window"'
}

@test "what cannot run here is skipped with its reason; alone, that is exit 3" {
	measure bench "${BRIEF[@]}" tcp family=ipv6 link.mtu=1279
	expect_status 3
	expect 'd["complete"] and c["status"] == "skipped"' \
		'c["reason"] == "tcp: IPv6 needs an MTU of 1280, link '\''a-b'\'' has 1279"'
}

@test "usage errors with --json: a document, one line on standard error, exit 2" {
	local words documents=()
	for words in 'bench --nosuch' 'bench tcp --nosuch' 'bench' 'bench tpc' 'bench tcp streams=0' \
		'bench tcp duration=1ms' 'bench tcp link.mtu=1' 'run nosuch' 'run --seed x' 'run -t 1us' \
		'run --only nosuch*' 'run --set a' 'run -o /nonexistent/x'; do
		# shellcheck disable=SC2086
		document $words
		expect_status 2
		expect_errors 'netbench: *'
		[ "$(wc -l <<<"$errors")" -eq 1 ]
		grep -q '"complete": false' "$result"
		mv "$result" "$result.${#documents[@]}"
		documents+=("$result.${#documents[@]}")
	done
	python3 "$BATS_TEST_DIRNAME/../cli/validate.py" "${documents[@]}"
}

@test "interrupted: exit 130, and what is done is whole" {
	start bench -v -t 300ms --warmup 0 -n 200 tcp
	# The interval that ends the third trial's window: two trials are done.
	await_message '*trial 3*'
	kill -INT "$pid"
	finish
	expect_status 130
	expect_errors 'netbench: interrupted'
	valid
	expect 'not d["complete"] and d["error"] == "interrupted"' \
		'2 <= c["trials"]["done"] < 200 and c["status"] in ("ok", "suspect")' \
		'all(y["n"] == x["trials"]["done"] for x in cases for y in x["metrics"])' \
		'all(i["trial"] < x["trials"]["done"] for x in cases for i in x["intervals"])'
}

@test "SIGTERM is an interrupt too, and so is one between trials that fail" {
	start bench -n 10000 udp segment=2 size=1473
	await_message '*does not fit*'
	kill -TERM "$pid"
	finish
	expect_status 130
	[ "$(tail -n 1 <<<"$errors")" = 'netbench: interrupted' ]
	valid
	expect 'not d["complete"] and c["status"] == "failed"'
}

@test "without privilege: one line that says what is missing, exit 3, a valid document" {
	shared_copy
	# The limit is that of a user namespace of our own: the machine's stays as it is.
	cat >"$BATS_TEST_TMPDIR/forbid" <<-'END'
		echo 0 >/proc/sys/user/max_user_namespaces || exit 77
		exec setpriv --inh-caps=-all --ambient-caps=-all --bounding-set=-all "$@"
	END
	before=$(</proc/sys/user/max_user_namespaces)
	unshare --user --map-root-user true || skip "the kernel has no user namespaces"
	result=$BATS_TEST_TMPDIR/result.json
	status=0
	(cd / && unshare --user --map-root-user sh "$BATS_TEST_TMPDIR/forbid" "$NETBENCH" run --json) \
		>"$result" 2>"$BATS_TEST_TMPDIR/errors" || status=$?
	errors=$(<"$BATS_TEST_TMPDIR/errors")
	[ "$(</proc/sys/user/max_user_namespaces)" = "$before" ]
	expect_status 3
	expect_errors 'netbench: labs need root or user namespaces with networking (*); run it with sudo, or see: netbench doctor'
	[ "$(wc -l <<<"$errors")" -eq 1 ]
	valid
	expect 'not d["complete"] and cases == [] and "labs need root" in d["error"]'
}

@test "an ordinary user where user namespaces are allowed: it runs, and says so" {
	setpriv --reuid=65534 --regid=65534 --clear-groups unshare --user --net true 2>/dev/null ||
		skip "user namespaces are not allowed"
	shared_copy
	result=$BATS_TEST_TMPDIR/result.json
	status=0
	(cd / && setpriv --reuid=65534 --regid=65534 --clear-groups "$NETBENCH" run --json "${BRIEF[@]}") \
		>"$result" 2>"$BATS_TEST_TMPDIR/errors" || status=$?
	errors=$(<"$BATS_TEST_TMPDIR/errors")
	expect_status 0
	expect_errors ''
	valid
	expect 'd["host"]["user_namespace"] == "yes"' \
		'all(x["status"] in ("ok", "suspect") or "only root may load BPF programs" in x["reason"] for x in cases)' \
		'len([x for x in cases if x["status"] != "skipped"]) > 9' \
		'all(y["ok"] for x in cases for y in x["proofs"])'
}

@test "as root, no user namespace is used" {
	measure bench "${BRIEF[@]}" rr
	expect_status 0
	expect '"user_namespace" not in d["host"]'
}

@test "the same seed gives the same order, interleaved; another seed another" {
	cat >"$BATS_TEST_TMPDIR/s.yaml" <<-'END'
		suite: s
		defaults: {repeat: 6}
		labs: {pair: {nodes: [a, b], links: [{ends: [a, b]}]}}
		cases: [{name: c, lab: pair, load: tcp, matrix: {load.streams: [1, 2, 3, 4, 5]}}]
	END
	plan() {
		netbench run --dry-run --seed "$1" "$BATS_TEST_TMPDIR/s.yaml"
		expect_status 0
		sed -n 's/^ *[0-9]* *\(c\/streams=[0-9]\)$/\1/p' <<<"$output"
	}
	first=$(plan 11)
	[ "$(wc -l <<<"$first")" -eq 30 ]
	[ "$(plan 11)" = "$first" ]
	[ "$(plan 12)" != "$first" ]
	# Every round holds every arm once.
	for round in 0 1 2 3 4 5; do
		[ "$(sed -n "$((round * 5 + 1)),$((round * 5 + 5))p" <<<"$first" | sort -u | wc -l)" -eq 5 ]
	done
	# And the trials run in that order.
	netbench run "${BRIEF[@]}" --repeat 2 --seed 11 -v --only 'c/streams=[12]' "$BATS_TEST_TMPDIR/s.yaml"
	ran=$(sed -n 's/^\(c\/streams=[0-9]\) trial .*/\1/p' <<<"$errors")
	netbench run --dry-run --repeat 2 --seed 11 --only 'c/streams=[12]' "$BATS_TEST_TMPDIR/s.yaml"
	[ "$ran" = "$(sed -n 's/^ *[0-9]* *\(c\/streams=[0-9]\)$/\1/p' <<<"$output")" ]
}

@test "two runs at once do not disturb each other" {
	local pids=() status=0 i
	for i in 1 2; do
		"$NETBENCH" run --json "${BRIEF[@]}" -t 200ms >"$BATS_TEST_TMPDIR/$i.json" 2>"$BATS_TEST_TMPDIR/$i.errors" &
		pids+=($!)
	done
	for i in "${pids[@]}"; do wait "$i" || status=$?; done
	[ "$status" -eq 0 ] || { cat "$BATS_TEST_TMPDIR"/*.errors; return 1; }
	for i in 1 2; do
		result=$BATS_TEST_TMPDIR/$i.json
		valid
		expect 'len(cases) > 5 and {x["status"] for x in cases} <= {"ok", "suspect"}' \
			'all(y["ok"] for x in cases for y in x["proofs"])'
	done
}

@test "-o writes the document beside the table; a file that was there stays until then" {
	result=$BATS_TEST_TMPDIR/out.json
	echo old >"$result"
	netbench bench "${BRIEF[@]}" -o "$result" tcp
	expect_status 0
	expect_output '*goodput*'
	valid
	expect 'c["name"] == "tcp"'
	[ "$(ls -A "$BATS_TEST_TMPDIR" | sort | tr '\n' ' ')" = "errors out.json " ]
}
