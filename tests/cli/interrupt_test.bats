#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# A run that is interrupted says so once: in the table, or where there is none on standard error.

load cli

# interrupted ARGUMENT…: stopped in the third of many trials; $output and $errors.
interrupted() {
	local line messages
	exec {messages}< <(exec "$NETBENCH" bench -v -t 100ms --warmup 0 -n 1000 tcp "$@" 2>&1 \
		>"$BATS_TEST_TMPDIR/output" </dev/null)
	local pid=$!
	while read -rt 30 -u "$messages" line && [[ $line != *'trial 3'* ]]; do :; done
	kill -INT "$pid"
	errors=$(timeout 30 grep -v ' trial ' <&"$messages") || true
	status=0
	wait "$pid" || status=$?
	output=$(<"$BATS_TEST_TMPDIR/output")
}

@test "interrupted: said once" {
	[ "$(id -u)" -eq 0 ] || skip "labs need root"
	interrupted
	expect_status 130
	expect_output '*Not complete: interrupted*'
	expect_errors ''
	interrupted --json
	expect_status 130
	expect_output '*"error": "interrupted"*'
	expect_errors 'netbench: interrupted'
}
