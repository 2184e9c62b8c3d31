#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# Completion, as bash calls it: COMP_WORDS split at '=' and ':', the replies without what stands.

load cli

setup() {
	mkdir "$BATS_TEST_TMPDIR/here"
	cd "$BATS_TEST_TMPDIR/here"
	touch mine.yaml notes.txt result.json
	mkdir folder
}

# offers LINE: what TAB at the end of the line offers, one a line, sorted.
offers() {
	bash -c '
		. "$1"; program=$2 line=$3
		COMP_WORDBREAKS=$'"' \\t\\n\"\\'@><=;|&(:'"'
		# As readline does it: at spaces, and each run of = and : is a word.
		COMP_WORDS=("$program")
		read -ra typed <<<"$line"
		for word in "${typed[@]}"; do
			while [[ $word =~ ^([^=:]*)([=:]+)(.*)$ ]]; do
				[ -z "${BASH_REMATCH[1]}" ] || COMP_WORDS+=("${BASH_REMATCH[1]}")
				COMP_WORDS+=("${BASH_REMATCH[2]}")
				word=${BASH_REMATCH[3]}
			done
			[ -z "$word" ] || COMP_WORDS+=("$word")
		done
		[[ $line && $line != *" " ]] || COMP_WORDS+=("")
		COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
		_netbench
		printf "%s\n" "${COMPREPLY[@]}" | sort' \
		bash "$BATS_TEST_DIRNAME/../../docs/completion.bash" "$NETBENCH" "$1"
}

# expect LINE WORD…: exactly these.
expect() {
	local line=$1 got want
	shift
	got=$(offers "$line")
	want=$(printf '%s\n' "$@" | sort)
	[ "$got" = "$want" ] || { printf '%s\n-- wanted\n%s\n-- got\n%s\n' "$line" "$want" "$got"; return 1; }
}

# includes LINE WORD…: these among others.
includes() {
	local line=$1 got word
	shift
	got=$(offers "$line")
	for word; do
		grep -qxF -- "$word" <<<"$got" || { printf '%s\n-- wanted %s in\n%s\n' "$line" "$word" "$got"; return 1; }
	done
}

@test "commands, also after help" {
	expect doc doctor
	includes '' run bench lab list doctor help
	includes 'help ' run bench lab
	expect 'help lab u' up
}

@test "options of a command" {
	expect 'doctor --js' --json
	includes 'run --' --set --only --output --dry-run
	expect 'lab up --na' --name
}

@test "loads, their options, and the values of these" {
	includes 'bench ' tcp udp rr ping
	expect 'bench tcp streams=8 con' congestion=
	expect 'bench tcp direction=r' reverse
	expect 'bench tcp direction=' forward reverse both
	expect 'bench tcp zerocopy=' yes no
	includes 'bench udp ' duration= warmup= repeat= link.offloads= link.mtu=
	expect 'bench tcp dur' duration=
	expect 'bench tcp duration=' ''
	includes 'bench tcp link.offloads=' on off tso gro
	expect 'bench tcp link.offloads=of' off
	includes 'bench tcp duration=1s st' streams=
	expect 'bench nosuch s' ''
}

@test "filters: stages, behind a comma their options, and the values of these" {
	includes 'bench udp -f ' none xdp nft-input
	expect 'bench udp --filter nft-inp' nft-input
	expect 'bench udp -f nft-input,str' nft-input,structure=
	expect 'bench udp -f nft-input,rules=1,hi' 1,hit=
	expect 'bench udp -f nft-input,action=dr' drop
	expect 'bench udp -f nft-file,file=mi' mine.yaml
	includes 'bench udp filter.act' filter.action=
	expect 'bench udp filter.action=dr' drop
	expect 'bench udp --search qu' quick
	expect 'run --set search.preset=cs' csit
	includes 'list filters ' none nft-forward
}

@test "values of options are not taken for operands" {
	expect 'bench -t 1s tcp st' streams=
	expect 'bench --duration 1s tcp st' streams=
	expect 'bench --duration=1s tcp st' streams=
	expect 'bench -t 1s tc' tcp
	expect 'bench -v tc' tcp
}

@test "files only where files are meant" {
	expect 'run -o ' folder mine.yaml notes.txt result.json
	expect 'run --output=no' notes.txt
	expect 'run --only ' ''
	expect 'run -t ' ''
	expect 'run --set lin' $(offers 'run --set link')
	includes 'run --set link.*.' 'link.*.mtu=' 'link.*.offloads='
	expect 'run --set link.*.offloads=of' off
	expect 'run --set load.direction=r' reverse
}

@test "suites and YAML files for run, labs and YAML files for lab up" {
	includes 'run ' quick latency mine.yaml folder
	! offers 'run ' | grep -x notes.txt
	expect 'run mi' mine.yaml
	includes 'lab up ' pair routed mine.yaml
	includes 'lab ' up down list exec show
	expect 'lab up zzz' ''
	includes 'list ' loads filters suites labs
}

@test "labs that are up, and their nodes" {
	[ "$(id -u)" -eq 0 ] || skip "lab up needs root"
	local lab=complete-$$
	"$NETBENCH" lab up --name "$lab" routed
	down() { "$NETBENCH" lab down "$lab"; }
	includes 'lab down ' "$lab" && includes 'lab show ' "$lab" routed &&
		expect "lab exec $lab " client router server &&
		expect "lab exec $lab rou" router && includes "lab exec $lab client ca" cat ||
		{ down; return 1; }
	down
	! offers 'lab down ' | grep -x "$lab"
}
