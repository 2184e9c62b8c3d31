#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# .ci/deps: what it says about missing packages, and what it would have apt-get do.

setup() {
	deps=$BATS_TEST_DIRNAME/../../.ci/deps
	# A machine of our own: only these commands, an apt-get that notes what it is asked, any user.
	bin=$BATS_TEST_TMPDIR/bin
	mkdir "$bin"
	for tool in bash sort cat touch; do ln -s "$(command -v $tool)" "$bin/$tool"; done
	printf '#!/bin/sh\necho "${FAKE_UID:-0}"\n' >"$bin/id"
	chmod +x "$bin/id"
}

fake_apt() {
	cat >"$bin/apt-get" <<-END
		#!$bin/bash
		echo "\$DEBIAN_FRONTEND \$*" >>"$BATS_TEST_TMPDIR/asked"
		[ "\$1" = update ] && { touch "$BATS_TEST_TMPDIR/updated"; exit 0; }
		[ ! -e "$BATS_TEST_TMPDIR/stale" ] || [ -e "$BATS_TEST_TMPDIR/updated" ]
	END
	chmod +x "$bin/apt-get"
}

run_deps() {
	run env PATH="$bin" FAKE_UID="${uid:-0}" bash "$deps" "$@"
}

@test "nothing is said when nothing is missing" {
	run_deps --install bash=bash bash=/etc/passwd
	[ "$status" -eq 0 ]
	[ -z "$output" ]
}

@test "root: says what is missing, then installs just that, once each" {
	fake_apt
	run_deps --install bash=bash no-such-tool=no-such-tool libnone-dev=none.pc no-such-tool=other
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = "Installing missing packages: libnone-dev no-such-tool" ]
	[ "$(cat "$BATS_TEST_TMPDIR/asked")" = \
		"noninteractive install -y -q --no-install-recommends libnone-dev no-such-tool" ]
}

@test "root with old package lists: they are fetched, then it is tried again" {
	fake_apt
	touch "$BATS_TEST_TMPDIR/stale"
	run_deps --install no-such-tool=no-such-tool
	[ "$status" -eq 0 ]
	[ "$(cat "$BATS_TEST_TMPDIR/asked")" = "\
noninteractive install -y -q --no-install-recommends no-such-tool
noninteractive update -q
noninteractive install -y -q --no-install-recommends no-such-tool" ]
}

@test "without root: the command to run, and nothing is installed" {
	fake_apt
	uid=1000 run_deps --install no-such-tool=no-such-tool
	[ "$status" -eq 1 ]
	[ "${lines[1]}" = "Install them with: sudo apt-get install no-such-tool" ]
	[ ! -e "$BATS_TEST_TMPDIR/asked" ]
}

@test "a plain make as root installs nothing" {
	fake_apt
	run_deps no-such-tool=no-such-tool
	[ "$status" -eq 1 ]
	[ ! -e "$BATS_TEST_TMPDIR/asked" ]
}

@test "away from apt: what is missing, by command and pkg-config name" {
	run_deps --install no-such-tool=no-such-tool libnone-dev=none.pc
	[ "$status" -eq 1 ]
	[[ $output == *"no-such-tool (Debian: no-such-tool)"* ]]
	[[ $output == *"none (development files for pkg-config; Debian: libnone-dev)"* ]]
}

@test "every package of the Makefile is probed by something that exists on this machine" {
	cd "$BATS_TEST_DIRNAME/../.."
	run make --no-print-directory -s deps-build deps-test
	[ "$status" -eq 0 ] || { echo "$output"; return 1; }
	[ -z "$output" ]
}
