#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Help, version, exit codes and mistyped words.

load cli

@test "no command: the table of contents on standard error, exit 2" {
	netbench
	expect_status 2
	expect_output ''
	expect_errors 'Usage: netbench COMMAND*list*doctor*'
}

@test "--help: the table of contents on standard output" {
	netbench --help
	expect_status 0
	expect_output 'Usage: netbench COMMAND*list*doctor*'
	expect_errors ''
}

@test "--help lists every command with one line of help" {
	netbench list --names commands
	expect_status 0
	commands=$output
	netbench --help
	for command in $commands; do
		[[ $output == *"  $command "* ]] || { echo "no $command"; return 1; }
	done
}

@test "every command answers --help and help COMMAND alike" {
	netbench list --names commands
	commands=$output
	[ -n "$commands" ]
	for command in $commands; do
		netbench "$command" --help
		expect_status 0
		expect_errors ''
		expect_output "Usage: netbench $command*Options:*--json*--help*"
		direct=$output
		netbench help "$command"
		expect_status 0
		[ "$output" = "$direct" ]
	done
}

@test "every command refuses an unknown option with exit 2 and one line" {
	netbench list --names commands
	for command in $output; do
		netbench "$command" --jsn
		expect_status 2
		expect_output ''
		expect_errors "netbench: $command: unknown option '--jsn'; did you mean '--json'?*"
		[ "$(wc -l <<<"$errors")" -eq 1 ]
	done
}

@test "a mistyped command: did you mean" {
	netbench lst
	expect_status 2
	expect_errors "netbench: unknown command 'lst'; did you mean 'list'?"
}

@test "a command that is nothing like one" {
	netbench frobnicate
	expect_status 2
	expect_errors "netbench: unknown command 'frobnicate'*"
}

@test "an unknown global option" {
	netbench --frobnicate
	expect_status 2
	expect_errors "netbench: unknown option '--frobnicate'*"
}

@test "help of an unknown command" {
	netbench help docter
	expect_status 2
	expect_errors "netbench: unknown command 'docter'; did you mean 'doctor'?"
}

@test "--version names the version and the libraries" {
	netbench --version
	expect_status 0
	expect_output 'netbench [0-9]*libmnl [0-9]*jansson [0-9]*'
}

@test "a full disk is an error" {
	[ -c /dev/full ] || skip "no /dev/full"
	status=0
	errors=$("$NETBENCH" --help 2>&1 >/dev/full) || status=$?
	expect_status 1
	expect_errors 'netbench: cannot write*No space left on device'
}

@test "help fits 80 columns" {
	netbench list --names loads
	loads=$output
	netbench list --names commands
	{
		"$NETBENCH" --help
		for command in $output; do "$NETBENCH" "$command" --help; done
		for load in $loads; do "$NETBENCH" bench "$load" --help; done
		for verb in up down list exec show; do "$NETBENCH" lab "$verb" --help; done
	} >"$BATS_TEST_TMPDIR/help"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/help")" -gt 150 ]
	! grep -nE '^.{81}' "$BATS_TEST_TMPDIR/help"
}

@test "help of a load has its options, help of a verb is about the verb" {
	netbench bench tcp streams=8 --help
	expect_status 0
	expect_output 'Usage: netbench bench *Options of tcp*streams=N *congestion=*'
	direct=$output
	netbench help bench tcp
	[ "$output" = "$direct" ]
	netbench bench -h
	expect_output '*Loads*tcp *udp *'
	netbench lab up --help
	expect_status 0
	expect_output 'Usage: netbench lab up *'
	[[ $output != *exec* ]]
	direct=$output
	netbench help lab up
	[ "$output" = "$direct" ]
}

@test "help of what there is not: exit 2" {
	netbench help doctr
	expect_status 2
	expect_output ''
	expect_errors "netbench: unknown command 'doctr'; did you mean 'doctor'?"
	netbench help lab upp
	expect_status 2
	expect_errors "netbench: lab: cannot 'upp'; did you mean 'up'?"
}

@test "--help behind operands" {
	netbench run quick -h
	expect_status 0
	expect_output 'Usage: netbench run *'
	netbench lab show routed --help
	expect_status 0
	expect_output 'Usage: netbench lab show *'
}

@test "standard output that is closed or full: exit 1 and one line" {
	for command in --help --version list 'lab show pair' 'run --dry-run' 'run --dry-run --json'; do
		for target in '-' /dev/full; do
			status=0
			# shellcheck disable=SC2086
			if [ "$target" = - ]; then
				errors=$("$NETBENCH" $command 2>&1 >&-) || status=$?
			else
				errors=$("$NETBENCH" $command 2>&1 >"$target") || status=$?
			fi
			expect_status 1 && expect_errors 'netbench: cannot write the output: *' &&
				[ "$(wc -l <<<"$errors")" -eq 1 ] || { echo "$command $target"; return 1; }
		done
	done
}
