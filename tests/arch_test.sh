#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Asserts which room may include which, and who may print or speak netlink (docs/design.md).
set -uo pipefail

cd "$(dirname "$0")/.." || exit
n=0 failed=0

# check NAME OFFENDERS: passes when there are none.
check() {
	n=$((n + 1))
	if [ -z "$2" ]; then
		echo "ok $n - $1"
	else
		echo "not ok $n - $1"
		printf "#   %s\n" "${2//$'\n'/$'\n#   '}"
		failed=1
	fi
}

# room NAME DIR ALLOWED…: the sources under DIR include only headers of those rooms.
room() {
	local name=$1 dir=$2 allowed
	shift 2
	allowed=$(IFS='|'; echo "$*")
	[ -d "$dir" ] || return 0
	check "$name includes only: $*" "$(grep -rnE '^[[:space:]]*#[[:space:]]*include "' \
		--include='*.[ch]' "$dir" | grep -vE "include \"($allowed)(/|\.h\")")"
}

room base     netbench/base   base
room topo     topo            base topo bpf
room search   netbench/search base search
room host     netbench/host   base topo host result/result
room result   netbench/result base result version
room bpf      bpf             bpf
room load     netbench/load   base topo host result load bpf
room suite    netbench/suite  base topo load search suite
room run      netbench/run    base topo host result load search suite run
room cmd      netbench/cmd    base topo host result load search suite run cmd version
room main     netbench/main.c cmd version

check "quoted includes name their room" "$(grep -rnE '^[[:space:]]*#[[:space:]]*include "[^/"]+"' \
	--include='*.[ch]' topo netbench | grep -v '"version.h"')"
check "netbench/ never speaks netlink" "$(grep -rnE 'libmnl|libnftnl|linux/(rtnetlink|netlink|genetlink)\.h' \
	--include='*.[ch]' netbench | grep -vE ':[[:space:]]*(/?\*|//)')"
check "topo/ never prints" "$(grep -rnE '\b(v?printf|puts|putchar|perror|stderr|stdout)\b' \
	--include='*.[ch]' topo | grep -vE ':[[:space:]]*(/?\*|//)')"
check "only main.c and cmd/ print errors or exit" "$(grep -rnE '\b(stderr|exit)\b[[:space:]]*[,(;)]' \
	--include='*.c' netbench | grep -vE '^netbench/(main\.c|cmd/|run/worker\.c)' |
	grep -vE ':[[:space:]]*(/?\*|//)|_exit')"
check "no drawer for leftovers" "$(find topo netbench bpf tests -regextype posix-extended \
	-regex '.*/(util|utils|common|misc|helpers?)(\.[ch])?' 2>/dev/null)"
check "every source says its licence" "$(find topo netbench bpf tests docs -name '*.[ch]' \
	-exec grep -L 'SPDX-License-Identifier: GPL-3.0-or-later' {} + 2>/dev/null)"

echo "1..$n"
exit $failed
