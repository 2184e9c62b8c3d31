#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hold result documents to docs/result.schema.json and to strict JSON.

usage: validate.py [--schema FILE] [FILE…]      (no file, or -: standard input)

Prints one line per fault and exits 1 if there was any, 2 if a file cannot be read.
"""
import argparse
import json
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
