#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Builds the star of a large lab (one router, N-1 hosts) with ip(8) and prints the seconds it took:
# what `netbench lab` is compared with. It does all its work in namespaces of its own, so the host
# sees nothing of it and the end of the script ends the lab. It does less than netbench: offloads
# and most sysctls, for which ip(8) has no words, stay as they are.
#
# usage: lab_ip.sh [-b] [-n NODES]     -b: ip -batch, one process per node, instead of one per command
set -euo pipefail

nodes=1000
batch=
while getopts bn: option; do
	case $option in
	b) batch=1 ;;
	n) nodes=$OPTARG ;;
	*) exit 2 ;;
	esac
done

# A private network, mount and process namespace: /run/netns is ours alone.
if [ -z "${LAB_IP_INSIDE-}" ]; then
	[ "$(id -u)" -eq 0 ] || {
		echo "lab_ip.sh: needs root" >&2
		exit 77
	}
	LAB_IP_INSIDE=1 exec unshare --net --mount --pid --fork --kill-child --mount-proc "$0" "$@"
fi
mount -t tmpfs tmpfs /run

# Run the commands on standard input in a node: one ip(8) each, or all in one.
in_node() {
	local node=$1 command
	if [ "$batch" ]; then
		ip -n "$node" -batch -
	else
		while read -r command; do
			# shellcheck disable=SC2086
			ip -n "$node" $command
		done
	fi
}

# Like the addresses that netbench plans: 198.18.0.0/15 in /30s, 2001:2::/48 in /64s.
address4() {
	local n=$((0xc6120000 + 4 * $1 + $2))
	echo "$((n >> 24)).$((n >> 16 & 255)).$((n >> 8 & 255)).$((n & 255))"
}

address6() {
	printf '2001:2:0:%x::%d\n' "$1" "$2"
}

mac() {
	printf '02:00:00:%02x:%02x:%02x\n' "$(($1 >> 8))" "$(($1 & 255))" "$2"
}

end() { # LINK SIDE INTERFACE
	local far=$((3 - $2))
	echo "address add $(address4 "$1" "$2")/30 dev $3"
	echo "address add $(address6 "$1" "$2")/64 dev $3 nodad"
	echo "link set dev $3 up"
	echo "neighbour add $(address4 "$1" "$far") lladdr $(mac "$1" "$far") dev $3 nud permanent"
	echo "neighbour add $(address6 "$1" "$far") lladdr $(mac "$1" "$far") dev $3 nud permanent"
}

build() {
	local i host
	ip netns add router
	ip netns exec router sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1
	for ((i = 0; i < nodes - 1; i++)); do
		host=h$i
		ip netns add "$host"
		ip link add "eth$i" netns router address "$(mac "$i" 1)" type veth \
			peer name eth0 netns "$host" address "$(mac "$i" 2)"
		end "$i" 1 "eth$i" | in_node router
		{
			end "$i" 2 eth0
			echo "link set dev lo up"
			echo "route add default via $(address4 "$i" 1)"
			echo "route add default via $(address6 "$i" 1)"
		} | in_node "$host"
	done
}

# A refused connection is an answer.
answers() {
	local said
	said=$(ip netns exec router timeout 5 bash -c "echo >/dev/tcp/$1/9" 2>&1) || true
	[[ $said == *refused* ]] || {
		echo "lab_ip.sh: the last host does not answer at $1: $said" >&2
		exit 1
	}
}

start=$EPOCHREALTIME
build
stop=$EPOCHREALTIME
echo "${start/./} ${stop/./}" | awk '{ printf "%.3f\n", ($2 - $1) / 1e6 }'

# The last host answers the router, or the time above means nothing.
answers "$(address4 $((nodes - 2)) 2)"
answers "$(address6 $((nodes - 2)) 2)"
