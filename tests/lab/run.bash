# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash disable=SC2034
# What the tests of run and bench share: short windows, and how to look at a result document.

# Enough for every proof; nothing here asserts a speed.
BRIEF=(--duration 60ms --warmup 40ms --repeat 1)

# document COMMAND ARGUMENT…: netbench with --json into $result; $status, $errors.
document() {
	result=$BATS_TEST_TMPDIR/result.json
	errors=
	status=0
	"$NETBENCH" "$@" --json >"$result" 2>"$BATS_TEST_TMPDIR/errors" </dev/null || status=$?
	errors=$(<"$BATS_TEST_TMPDIR/errors")
	output='(a document)'
}

# measure COMMAND ARGUMENT…: the same, and the document is valid.
measure() {
	document "$@"
	valid
}

valid() {
	python3 "$BATS_TEST_DIRNAME/../cli/validate.py" "$result" || { show; return 1; }
}

# expect PYTHON…: each expression is true of the document: d, its cases, the first of them c, its
# metrics by name m, and named(findings) as a dictionary of those.
expect() {
	python3 - "$result" "$@" <<-'END' || { echo "status $status, errors: $errors"; return 1; }
		import json, sys
		d = json.load(open(sys.argv[1]))
		cases = d["cases"]
		c = cases[0] if cases else None
		m = {x["name"]: x for x in c["metrics"]} if c else {}
		def named(findings):
		    return {x["what"]: x for x in findings}
		for text in sys.argv[2:]:
		    if not eval(text):
		        for x in cases:
		            print(x["name"], x["status"], x["reason"], x["trials"], x["ledger"])
		        sys.exit("not true: " + text)
	END
}

# start COMMAND ARGUMENT…: netbench in the background with --json into $result; its pid is $pid.
start() {
	result=$BATS_TEST_TMPDIR/result.json
	exec {messages}< <(exec "$NETBENCH" "$@" --json 2>&1 >"$result" </dev/null)
	pid=$!
}

# await_message GLOB: until it says that on standard error; 30 s at most.
await_message() {
	local line
	while read -rt 30 -u "$messages" line; do
		# shellcheck disable=SC2053
		[[ $line != $1 ]] || return 0
	done
	echo "it never said: $1"
	return 1
}

# finish: wait for it; $status, and what it said since in $errors.
finish() {
	errors=$(timeout 30 cat <&"$messages")
	status=0
	wait "$pid" || status=$?
	exec {messages}<&-
	output='(a document)'
}

# within SECONDS COMMAND…: until it succeeds; for what gives no sign when it happens.
within() {
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		[ $SECONDS -lt $end ] || { echo "still not so: $*"; return 1; }
		sleep 0.05
	done
}

# A copy that another user can execute.
shared_copy() {
	cp "$NETBENCH" "$BATS_TEST_TMPDIR/netbench"
	chmod 755 "$BATS_TEST_TMPDIR" "$BATS_TEST_TMPDIR/netbench"
	NETBENCH=$BATS_TEST_TMPDIR/netbench
}
