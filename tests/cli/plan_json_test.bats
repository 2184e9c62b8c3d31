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
