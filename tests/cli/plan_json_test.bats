#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# --dry-run --json: the plan as programs get it.

load cli

@test "the same plan as in the text" {
	netbench run --dry-run --seed 3 quick latency
	expect_status 0
	text=$output
	netbench run --dry-run --json --seed 3 quick latency
	expect_status 0
	expect_errors ''
	python3 -c 'import json, sys
plan = json.load(sys.stdin)
assert plan["schema"] == "netbench-plan/1"
assert [s["name"] for s in plan["suites"]] == ["quick", "latency"]
order = [line.split(None, 1)[1] for line in sys.argv[1].splitlines() if line.lstrip()[:1].isdigit()]
assert [name for s in plan["suites"] for name in s["order"]] == order, order
for suite in plan["suites"]:
    assert suite["seed"] == 3 and suite["seconds"] > 1
    for arm in suite["arms"]:
        assert arm["skip"] is None and arm["timing"]["duration"] and arm["load"]["name"], arm
        assert arm["lab"]["nodes"] and arm["lab"]["links"][0]["mtu"], arm
    assert set(suite["order"]) == {arm["name"] for arm in suite["arms"]}' "$text" <<<"$output"
}

@test "filters, baselines, slopes and searches" {
	cat >"$BATS_TEST_TMPDIR/s.yaml" <<-'END'
	labs: {l: {nodes: [x, y], links: [{ends: [x, y]}], filters: [none]}}
	cases:
	- {name: t, load: udp, matrix: {filter.rules: [1, 2]}, against: {filter.rules: 1}, slope: filter.rules}
	- {name: u, load: udp, search: csit}
	END
	netbench run --dry-run --json "$BATS_TEST_TMPDIR/s.yaml"
	expect_status 0
	python3 -c 'import json, sys
suite, = json.load(sys.stdin)["suites"]
one, two, u = suite["arms"]
assert one["against"] is None and two["against"] == "t/rules=1", (one, two)
assert two["slope"] == "filter.rules" and u["slope"] is None
assert two["search"] is None and u["search"]["preset"] == "csit", u
only, = two["lab"]["filters"]
assert only["stage"] == "none" and only["node"] == "y" and only["rules"] == "2", only' <<<"$output"
}

@test "what is skipped, and why; a refusal is a document too" {
	netbench bench --dry-run --json tcp congestion=nosuch
	expect_status 0
	python3 -c 'import json, sys
suite, = json.load(sys.stdin)["suites"]
assert "nosuch" in suite["arms"][0]["skip"] and suite["order"] == []' <<<"$output"
	netbench run --dry-run --json nosuch
	expect_status 2
	python3 -c 'import json, sys
assert "nosuch" in json.load(sys.stdin)["error"]' <<<"$output"
}
