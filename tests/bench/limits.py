#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What netbench promises of itself: its size, its speed, and how well it keeps a rate.

Each line shows a median of several runs, the limit, and whether it is met. Labs are compared with
the same lab built by ip(8), on this machine in the same minute.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

NETBENCH = os.environ.get("NETBENCH", "build/netbench/netbench")
HERE = os.path.dirname(os.path.abspath(__file__))


def line(what, value, unit, limit, met):
    print(f"{what:58} {value:10.2f} {unit:4} {limit:>12}  {'met' if met else 'MISSED'}", flush=True)


def seconds_of(*command):
    start = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - start


def median(n, measure):
    return statistics.median(measure() for _ in range(n))


def dry_run():
    ms = median(15, lambda: seconds_of(NETBENCH, "run", "--dry-run")) * 1e3
    line("run --dry-run of the quick suite", ms, "ms", "≤ 50", ms <= 50)


def small_lab():
    def up_and_down():
        return (seconds_of(NETBENCH, "lab", "up", "routed", "--name", "bench3") +
                seconds_of(NETBENCH, "lab", "down", "bench3"))

    ms = median(15, up_and_down) * 1e3
    line("a lab of 3 nodes, up, proven, pinned and down again", ms, "ms", "≤ 60", ms <= 60)


def resident():
    """The largest resident size of the runner itself; its workers are other processes."""
    runner = subprocess.Popen([NETBENCH, "run", "-n", "1", "-t", "300ms", "--warmup", "100ms"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    peak = 0
    while runner.poll() is None:
        try:
            with open(f"/proc/{runner.pid}/status", encoding="ascii") as status:
                peak = max([peak] + [int(l.split()[1]) for l in status if l.startswith("VmHWM")])
        except (OSError, ProcessLookupError):
            pass
        time.sleep(0.02)
    line("runner of the quick suite, resident", peak / 1024, "MiB", "≤ 20", peak <= 20 * 1024)


def star(nodes):
    """netbench's time for a star of so many nodes, every one of them reached over both families."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as lab:
        lab.write("nodes:\n  router: {forward: yes}\n")
        lab.writelines(f"  h{i}: {{}}\n" for i in range(nodes - 1))
        lab.write("links:\n")
        lab.writelines(f"  - {{ends: [router, h{i}]}}\n" for i in range(nodes - 1))
        lab.flush()
        took = seconds_of(NETBENCH, "lab", "up", lab.name, "--name", "bench-star")
    subprocess.run([NETBENCH, "lab", "down", "bench-star"], check=True)
    return took


def star_by_ip(nodes):
    out = subprocess.run([os.path.join(HERE, "lab_ip.sh"), "-n", str(nodes)], check=True, capture_output=True)
    return float(out.stdout)


def big_lab(ip_nodes):
    took = star(1000)
    line("a star of 1,000 nodes, up, every one reached", took, "s", "≤ 4", took <= 4)
    took = star(ip_nodes)
    ratio = star_by_ip(ip_nodes) / took
    line(f"a star of {ip_nodes} nodes: ip(8)'s time against netbench's", ratio, "×", "≥ 5", ratio >= 5)


def udp(rate):
    command = [NETBENCH, "bench", "--json", "-n", "10", "-t", "1s", "udp", f"rate={rate}", "cpus_from=0", "cpus_to=1"]
    case = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["cases"][0]
    return case, next(m for m in case["metrics"] if m["name"] == "offered")


def rates():
    for rate in ("max", "100kpps"):
        case, offered = udp(rate)
        line(f"udp at {rate}: packets of 10 trials without a trace", case["ledger"]["residual"], "", "0",
             case["ledger"]["residual"] == 0 and case["trials"]["done"] == 10)
        if rate != "max":
            worst = max(abs(s / 1e5 - 1) for s in offered["samples"]) * 100
            line(f"udp at {rate}: offered differs from asked by at most", worst, "%", "≤ 0.5", worst <= 0.5)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ip-nodes", type=int, default=50, metavar="N",
                        help="size of the star that ip(8) builds too; 1000 takes it some minutes")
    args = parser.parse_args()
    dry_run()
    small_lab()
    resident()
    rates()
    big_lab(args.ip_nodes)


if os.geteuid():
    sys.exit("tests/bench/limits.py: needs root")
try:
    main()
except KeyboardInterrupt:
    sys.exit(130)
