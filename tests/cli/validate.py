#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hold result documents to docs/result.schema.json and to strict JSON.

usage: validate.py [--schema FILE] [FILE…]      (no file, or -: standard input)

Prints one line per fault and exits 1 if there was any, 2 if a file cannot be read.
"""
import argparse
import json
import statistics
import pathlib
import sys

import jsonschema

SCHEMA = pathlib.Path(__file__).resolve().parents[2] / "docs" / "result.schema.json"


def refuse_constant(name):
    raise ValueError(f"{name} is not JSON")


def finite(text):
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise ValueError(f"number {text} is out of range")
    return value


def unique(pairs):
    keys = [key for key, _ in pairs]
    for key in keys:
        if keys.count(key) > 1:
            raise ValueError(f'key "{key}" appears twice')
    return dict(pairs)


def balance(document):
    """What a schema cannot say: the sums within each case."""
    for case in document["cases"]:
        ledger = case["ledger"]
        if ledger:
            gone = ledger["delivered"] + sum(ledger["drops"].values()) + ledger["residual"]
            if gone != ledger["sent"]:
                yield f'case "{case["name"]}": the ledger does not add up to sent'
            if ledger["residual"] and case["status"] != "void":
                yield f'case "{case["name"]}": a residual, and yet "{case["status"]}"'
            if ledger["trials_closed"] > ledger["trials"]:
                yield f'case "{case["name"]}": more ledgers closed than there are'
            if ledger["residual"] and ledger["trials_closed"] == ledger["trials"]:
                yield f'case "{case["name"]}": a residual, and yet all ledgers closed'
        for finding in case["proofs"] + case["validity"]:
            if finding["failed"] > finding["checked"] or finding["ok"] != (not finding["failed"]):
                yield f'case "{case["name"]}": "{finding["what"]}" contradicts its counts'
        for metric in case["metrics"]:
            if metric["n"] != sum(sample is not None for sample in metric["samples"]):
                yield f'case "{case["name"]}": n of "{metric["name"]}" is not its samples'
        for cpu in case["cpu"]:
            shares = [value for key, value in cpu.items() if key != "cpu"]
            if None not in shares and abs(sum(shares) - 1) > 0.001:
                yield f'case "{case["name"]}": shares of cpu {cpu["cpu"]} do not add up to 1'


def close(a, b):
    return abs(a - b) <= 1e-9 * max(abs(a), abs(b), 1)


def difference(case, base, metric):
    """Round by round where all are known, else of the medians."""
    ours, theirs = ([m["samples"] for m in one["metrics"] if m["name"] == metric][0] for one in (case, base))
    if len(ours) == len(theirs) > 1 and None not in ours + theirs:
        return statistics.median(a - b for a, b in zip(ours, theirs))
    return median_of(case, metric) - median_of(base, metric)


def median_of(case, metric):
    """The median of the metric of that name, None when unknown or missing."""
    return next((m["median"] for m in case["metrics"] if m["name"] == metric), None)


def ordered(interval):
    return (interval[0] is None) == (interval[1] is None) and (
        interval[0] is None or interval[0] <= interval[1])


def compared(document):
    """What differences and slopes must agree with."""
    cases = {case["name"]: case for case in document["cases"]}
    for name, case in cases.items():
        versus = case.get("versus")
        if not versus:
            continue
        base = cases.get(versus["baseline"])
        if not base or base is case:
            yield f'case "{name}": no baseline "{versus["baseline"]}"'
            continue
        medians = [median_of(one, versus["metric"]) for one in (case, base)]
        if None in medians or versus["difference"] is None:
            yield f'case "{name}": compared by "{versus["metric"]}", which is unknown'
        elif not close(difference(case, base, versus["metric"]), versus["difference"]):
            yield f'case "{name}": the difference is not that of the samples'
        if not ordered(versus["ci95"]):
            yield f'case "{name}": the interval of the difference is none'
    for fit in document.get("fits", []):
        if (fit["slope"] is not None and fit["n"] < 2) or not ordered(fit["ci95"]):
            yield f'fit "{fit["name"]}": a slope or an interval of too little'


def searched(document):
    """What searches must have tried, and the shape of curves."""
    for case in document["cases"]:
        for search in case.get("searches", []):
            loads = [trial["load"] for trial in search["trials"]]
            for goal in search["goals"]:
                what = f'case "{case["name"]}": goal "{goal["name"]}"'
                lower, upper = goal["lower"], goal["upper"]
                if any(bound is not None and bound not in loads for bound in (lower, upper)):
                    yield f"{what}: a bound that was never tried"
                if None not in (lower, upper) and lower >= upper:
                    yield f"{what}: the bounds are out of order"
                if goal["throughput"] is not None and (lower is None or goal["throughput"] > lower):
                    yield f"{what}: a throughput above the lower bound"
        for curve in case.get("curves", []):
            if any(len(row) != len(curve["columns"]) for row in curve["rows"]):
                yield f'case "{case["name"]}": curve "{curve["name"]}" has a row of another length'


def faults(raw, validator):
    try:
        text = raw.decode("utf-8")
        document = json.loads(text, parse_constant=refuse_constant, parse_float=finite,
                              object_pairs_hook=unique)
    except ValueError as error:  # UnicodeDecodeError and JSONDecodeError are ValueErrors
        yield str(error)
        return
    broken = False
    for error in validator.iter_errors(document):
        broken = True
        place = "/".join(str(part) for part in error.absolute_path) or "document"
        yield f"{place}: {error.message[:300]}"
    if not text.endswith("\n"):
        yield "no newline at the end"
    if not broken:
        yield from balance(document)
        yield from compared(document)
        yield from searched(document)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--schema", type=pathlib.Path, default=SCHEMA)
    parser.add_argument("files", nargs="*", default=["-"])
    args = parser.parse_args()
    schema = json.loads(args.schema.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    bad = False
    for name in args.files:
        try:
            raw = sys.stdin.buffer.read() if name == "-" else pathlib.Path(name).read_bytes()
        except OSError as error:
            print(f"{name}: {error.strerror}")
            return 2
        for fault in faults(raw, validator):
            bad = True
            print(f"{name}: {fault}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
