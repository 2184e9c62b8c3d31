#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# netbench doctor: its findings, its exit code, and that it leaves nothing.

load cli

@test "doctor says for each finding ok, warn, missing or absent, and the remedy unless ok" {
	netbench doctor --json
	[ "$status" -eq 0 ] || [ "$status" -eq 3 ] || { show; return 1; }
	expect_errors ''
	python3 -c 'import json, sys
findings = json.load(sys.stdin)
assert len(findings) > 15, len(findings)
for f in findings:
    assert f["status"] in ("ok", "warn", "missing", "absent"), f
    assert f["detail"], f
    assert (f["remedy"] is None) == (f["status"] == "ok"), f
lost = [f for f in findings if f["vital"] and f["status"] == "missing"]
assert bool(lost) == (int(sys.argv[1]) == 3), lost' "$status" <<<"$output"
}

@test "the table has the same findings, and ends with a verdict" {
	netbench doctor
	[ "$status" -eq 0 ] || [ "$status" -eq 3 ] || { show; return 1; }
	expect_output '*area*what*status*detail*remedy*kernel*veth link*tools*privileges*sysctls*machine*ok,*'
	[[ $output != *$'\e'* ]]
}

@test "a tool that is there is found, one that is not is missing" {
	printf '#!/bin/sh\n' >"$BATS_TEST_TMPDIR/iperf3"
	chmod +x "$BATS_TEST_TMPDIR/iperf3"
	PATH=$BATS_TEST_TMPDIR:$PATH netbench doctor --json
	python3 -c 'import json, sys
tool, = [f for f in json.load(sys.stdin) if f["name"] == "iperf3"]
assert tool["status"] == "ok" and tool["detail"] == sys.argv[1] + "/iperf3", tool' \
		"$BATS_TEST_TMPDIR" <<<"$output"
	[ ! -e /usr/sbin/iperf3 ] && [ ! -e /usr/local/sbin/iperf3 ] || skip "iperf3 is in sbin"
	mkdir "$BATS_TEST_TMPDIR/bin"
	ln -s /bin/cat "$BATS_TEST_TMPDIR/bin/cat"
	PATH=$BATS_TEST_TMPDIR/bin netbench doctor --json
	python3 -c 'import json, sys
tool, = [f for f in json.load(sys.stdin) if f["name"] == "iperf3"]
assert tool["status"] == "missing", tool' <<<"$output"
}

@test "what filters and frames need is tried by putting it in place" {
	netbench doctor --json
	python3 -c 'import json, sys
findings = json.load(sys.stdin)
filters = {f["name"]: f for f in findings if f["group"] == "filters"}
assert {"xdp", "tcx", "nf_tables", "conntrack", "nat", "flowtable"} <= set(filters), filters
assert not [f for f in filters.values() if f["vital"] or "wants one of" in f["detail"]], filters
assert [f for f in findings if f["group"] == "frames"]' <<<"$output"
}

@test "what nothing needs yet is not called missing" {
	netbench doctor --json
	python3 -c 'import json, sys
findings = json.load(sys.stdin)
later = [f for f in findings if f["group"] == "later"]
assert later and all(f["status"] in ("ok", "absent") and not f["vital"] for f in later), later
assert all(f["status"] != "absent" for f in findings if f["group"] != "later")
assert not [f for f in findings if f["name"] in ("openvpn", "wireguard-go")]' <<<"$output"
}

@test "without any privilege it says so and still answers" {
	[ "$(id -u)" -eq 0 ] || skip "only root can drop to nobody"
	cp "$NETBENCH" "$BATS_TEST_TMPDIR/netbench"
	chmod 755 "$BATS_TEST_TMPDIR" "$BATS_TEST_TMPDIR/netbench"
	status=0
	output=$(cd / && setpriv --reuid=65534 --regid=65534 --clear-groups \
		"$BATS_TEST_TMPDIR/netbench" doctor) || status=$?
	[ "$status" -eq 0 ] || [ "$status" -eq 3 ] || { show; return 1; }
	expect_output '*CAP_NET_ADMIN*warn*not held*run as root*'
}

@test "it leaves no namespace, link or process" {
	inventory() {
		ls /sys/class/net
		ls /run/netns 2>/dev/null
		pgrep -P $$ netbench || true
	}
	before=$(inventory)
	netbench doctor
	[ "$(inventory)" = "$before" ]
}

@test "doctor takes no argument" {
	netbench doctor everything
	expect_status 2
	expect_errors "netbench: doctor takes no argument, such as 'everything'"
}
