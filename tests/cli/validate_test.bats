#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# The judge of result documents, judged: what it must accept, and what it must not.

setup() {
	[ -e /usr/lib/python3/dist-packages/jsonschema ] || skip "python3-jsonschema is not installed"
	judge=$BATS_TEST_DIRNAME/validate.py
	good=$BATS_TEST_TMPDIR/good.json
	cat >"$good" <<-'END'
	{"schema": "netbench-result/1", "complete": true, "error": null, "started": "2026-01-02T03:04:05Z",
	 "command": ["netbench"], "netbench": {"version": "1", "compiler": "gcc", "libs": {}},
	 "host": {"kernel": "6.18", "cpus": 2, "governor": null},
	 "suite": {"name": "s", "file": null, "about": null, "seed": 1, "options": {}},
	 "cases": [{"name": "a", "labels": {}, "status": "ok", "reason": null, "remark": null,
	  "trials": {"done": 1, "wanted": 1},
	  "metrics": [{"name": "goodput", "unit": "bit/s", "better": "higher", "observer": "receiver",
	   "layer": null, "n": 1, "median": 5.0, "mad": 0.0, "min": 5.0, "max": 5.0,
	   "ci95": [5.0, 5.0], "samples": [5.0, null]}],
	  "ledger": {"sent": 10, "delivered": 9, "duplicates": 0, "drops": {"qdisc": 1}, "residual": 0,
	   "trials": 1, "trials_closed": 1},
	  "proofs": [{"what": "reachable", "ok": true, "detail": null, "checked": 1, "failed": 0}], "validity": [],
	  "cpu": [{"cpu": 0, "user": 0.5, "system": 0.5, "irq": 0, "softirq": 0, "steal": 0, "idle": 0}],
	  "intervals": []},
	 {"name": "b", "labels": {}, "status": "ok", "reason": null, "remark": null,
	  "trials": {"done": 1, "wanted": 1},
	  "metrics": [{"name": "goodput", "unit": "bit/s", "better": "higher", "observer": "receiver",
	   "layer": null, "n": 1, "median": 7.5, "mad": 0.0, "min": 7.5, "max": 7.5,
	   "ci95": [7.5, 7.5], "samples": [7.5]}],
	  "ledger": null, "proofs": [], "validity": [], "cpu": [], "intervals": [], "generator_limited": true,
	  "versus": {"baseline": "a", "metric": "goodput", "unit": "ns", "difference": 2.5, "ci95": [2.0, 3.0]},
	  "searches": [{"duration_s": 2.5, "goals": [{"name": "ndr", "loss_ratio": 0, "exceed_ratio": 0,
	   "width": 0.005, "final_s": 1, "sum_s": 1, "lower": 10.5, "upper": 11.5, "throughput": 10.0}],
	   "trials": [{"load": 10.5, "duration_s": 1, "loss_ratio": 0}, {"load": 11.5, "duration_s": 1, "loss_ratio": 0.5}]}],
	  "curves": [{"name": "loss", "columns": [{"name": "load", "unit": "packet/s"}, {"name": "loss", "unit": "ratio"}],
	   "rows": [[1, 0.25], [2, null]]}]}],
	 "fits": [{"name": "f", "per": "rules", "metric": "cost", "unit": "ns", "slope": 4.5, "ci95": [4.0, 5.0], "n": 3}]}
	END
}

judge() {
	run /usr/bin/python3 -W ignore "$judge" "$@"
}

# The good document with one thing changed is refused, for the reason given.
refuses() {
	sed "$1" "$good" >"$BATS_TEST_TMPDIR/bad.json"
	! cmp -s "$good" "$BATS_TEST_TMPDIR/bad.json" || { echo "nothing changed: $1"; return 1; }
	judge "$BATS_TEST_TMPDIR/bad.json"
	[ "$status" -eq 1 ] && [[ $output == *$2* ]] || { echo "$1: $status $output"; return 1; }
}

@test "a good document is accepted, from a file and from standard input" {
	judge "$good"
	[ "$status" -eq 0 ] && [ -z "$output" ]
	judge <"$good"
	[ "$status" -eq 0 ]
}

@test "what is not JSON is refused" {
	refuses 's/"median": 5.0/"median": NaN/' 'NaN is not JSON'
	refuses 's/"median": 5.0/"median": -Infinity/' '-Infinity is not JSON'
	refuses 's/"median": 5.0/"median": 1e999/' 'out of range'
	refuses 's/"name": "a"/"name": "a", "name": "a"/' 'key "name" appears twice'
	refuses '$s/}$//' 'bad.json: '
	refuses '1s/^/[/' 'bad.json: '
	printf '' >"$BATS_TEST_TMPDIR/empty.json"
	judge "$BATS_TEST_TMPDIR/empty.json"
	[ "$status" -eq 1 ]
}

@test "what the schema does not know is refused, and so is what it misses" {
	refuses 's/"labels": {}/"labels": {}, "label": {}/' "'label' was unexpected"
	refuses 's/"remark": null,//' "'remark' is a required property"
	refuses 's/"status": "ok"/"status": "fine"/' 'cases/0/status'
	refuses 's/"sent": 10/"sent": 10.5/' 'ledger'
	refuses 's/"seed": 1/"seed": -1/' 'suite/seed'
	refuses 's/"cpus": 2/"cpus": "2"/' 'host/cpus'
	refuses 's/"unit": "bit.s"/"unit": ""/' 'metrics/0/unit'
	refuses 's/"softirq": 0/"softirq": 1.01/' 'cases/0/cpu/0/softirq'
	refuses 's/T03:04:05Z/ 03:04:05/' 'started'
}

@test "a document is complete or says why it is not" {
	refuses 's/"complete": true/"complete": false/' 'error: None is not of type'
	refuses 's/"error": null/"error": "cut short"/' 'error: '
	refuses 's/"status": "ok"/"status": "pending"/' 'cases/0/status'
	refuses 's/"status": "ok"/"status": "failed"/' 'cases/0/reason'
}

@test "sums are held to their parts" {
	refuses 's/"sent": 10/"sent": 11/' 'does not add up'
	refuses 's/"sent": 10/"sent": 11/; s/"residual": 0/"residual": 1/' 'a residual, and yet "ok"'
	refuses 's/"n": 1/"n": 2/' 'is not its samples'
	refuses 's/"user": 0.5/"user": 0.4/' 'shares of cpu 0'
	refuses 's/"trials_closed": 1/"trials_closed": 2/' 'more ledgers closed'
	refuses 's/"sent": 10/"sent": 11/; s/"residual": 0/"residual": 1/; s/"status": "ok", "reason": null/"status": "void", "reason": "x"/' 'all ledgers closed'
	refuses 's/"failed": 0/"failed": 1/' '"reachable" contradicts its counts'
}

@test "comparisons and slopes are held to what they compare" {
	refuses 's/"difference": 2.5/"difference": 2.6/' 'not that of the samples'
	refuses 's/"difference": 2.5/"difference": null/' 'which is unknown'
	refuses 's/"metric": "goodput"/"metric": "loss"/' 'compared by "loss", which is unknown'
	refuses 's/"baseline": "a"/"baseline": "c"/' 'no baseline "c"'
	refuses 's/"baseline": "a"/"baseline": "b"/' 'no baseline "b"'
	refuses 's/\[2.0, 3.0\]/[3.0, 2.0]/' 'interval of the difference'
	refuses 's/\[2.0, 3.0\]/[null, 2.0]/' 'interval of the difference'
	refuses 's/"slope": 4.5/"slope": "4.5"/' 'fits/0/slope'
	refuses 's/"n": 3/"n": 1/' 'of too little'
	refuses 's/\[4.0, 5.0\]/[4.0, null]/' 'of too little'
}

@test "searches are held to their trials, curves to their columns" {
	refuses 's/"lower": 10.5/"lower": 10.4/' 'a bound that was never tried'
	refuses 's/"lower": 10.5, "upper": 11.5/"lower": 11.5, "upper": 10.5/' 'out of order'
	refuses 's/"throughput": 10.0/"throughput": 10.6/' 'above the lower bound'
	refuses 's/"loss_ratio": 0.5/"loss_ratio": 1.5/' 'trials/1/loss_ratio'
	refuses 's/\[1, 0.25\]/[1]/' 'a row of another length'
	refuses 's/"generator_limited": true/"generator_limited": null/' 'generator_limited'
}

@test "an older document, without comparisons and searches, is accepted" {
	/usr/bin/python3 - "$good" >"$BATS_TEST_TMPDIR/old.json" <<-'END'
	import json, sys
	document = json.load(open(sys.argv[1]))
	del document["fits"]
	for key in "generator_limited", "versus", "searches", "curves":
	    del document["cases"][1][key]
	print(json.dumps(document))
	END
	judge "$BATS_TEST_TMPDIR/old.json"
	[ "$status" -eq 0 ] || { echo "$output"; return 1; }
}

@test "a file that cannot be read is exit 2" {
	judge "$BATS_TEST_TMPDIR/nowhere.json"
	[ "$status" -eq 2 ] && [[ $output == *'No such file'* ]]
}
