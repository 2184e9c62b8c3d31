#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# A run that is killed at any instant leaves nothing: no process, link, namespace, rule or file.
# KILLS=200 for a thorough go; SEED to repeat one.

load ../cli/cli

setup() {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	suite=$BATS_TEST_TMPDIR/s.yaml
	cat >"$suite" <<-'END'
		suite: s
		defaults: {duration: 60ms, warmup: 30ms, repeat: 1}
		labs:
		  routed:
		    nodes: {client: , router: {forward: yes}, server: }
		    links: [{ends: [client, router]}, {ends: [router, server]}]
		cases:
		  - {name: tcp, load: {tcp: {streams: 2}}}
		  - {name: udp, load: {udp: {family: ipv6}}, beside: [ping]}
		  - {name: frames, load: {frames: {flows: 100}}}
	END
	kills=${KILLS:-40}
	seed=${SEED:-$((RANDOM * 32768 + RANDOM))}
}

# alone PART KILLS [UNSHARE-OPTION…]: the part as the first process of namespaces that nobody else uses.
alone() {
	local part=$1 n=$2
	shift 2
	mkdir -p "$BATS_TEST_TMPDIR/home"
	cp "$NETBENCH" "$BATS_TEST_TMPDIR/home/netbench"
	cp "$suite" "$BATS_TEST_DIRNAME/leave_nothing.py" "$BATS_TEST_TMPDIR/home"
	unshare "$@" --mount --propagation private --net --pid --fork --kill-child --ipc --mount-proc \
		bash -ec '
			home=$1 part=$2 kills=$3 seed=$4
			# Namespaces that others have mounted may go at any time.
			awk "/ - nsfs /{print \$5}" /proc/self/mountinfo | xargs -r umount 2>/dev/null || true
			mount -t tmpfs home /mnt
			cp "$home"/* /mnt
			for folder in /tmp /run /dev/shm; do mount -t tmpfs none "$folder"; done
			mkdir /run/netns /tmp/own
			export TMPDIR=/tmp/own
			cd /mnt
			exec python3 -B leave_nothing.py "$part" ./netbench s.yaml "$kills" "$seed"
		' bash "$BATS_TEST_TMPDIR/home" "$part" "$n" "$seed"
}

@test "SIGKILL at random instants of a run" {
	command -v bpftool >/dev/null || echo "# no bpftool: BPF programs are not compared" >&3
	command -v nft >/dev/null || echo "# no nft: rules are not compared" >&3
	alone random "$kills"
}

@test "every network namespace of killed runs is freed: the kernel's own count" {
	unshare --user --map-root-user true || skip "the kernel has no user namespaces"
	alone count $((kills / 8)) --user --map-root-user
}

@test "SIGTERM and SIGINT at random instants: exit 130, nothing left" {
	alone signals $((kills / 5))
}

@test "SIGKILL of a worker: that trial fails, the run goes on and exits 1" {
	alone worker 2
}
