#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The frames load against a bare program that only redirects, trafgen and iperf3, in turn and pinned alike.

All send 64-byte frames (with FCS) from one CPU over a veth pair, and all are counted where they arrive. Printed are
the medians and the ratio of netbench to each, pair by pair. Then asked rates, and what was sent of them.
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
HOLDUP = os.path.join(os.path.dirname(os.environ.get("CEILING", "build/tests/bench/ceiling")), "holdup")
CEILING = os.environ.get("CEILING", "build/tests/bench/ceiling")
PORT = 5302
TO = "198.18.0.2"
WANTED = {"ceiling": 0.85, "trafgen": 10, "iperf3": 20}
RATES = [1000, 10_000, 100_000, 1_000_000, 2_000_000]
# The frame of trafgen: the same 60 bytes in memory, UDP to the discard port.
TRAFGEN = """{ eth(da=%(to)s, sa=%(source)s), ipv4(da=198.18.0.2, sa=198.19.0.1, ttl=64), udp(sp=40000, dp=9, csum=0),
fill(0x00, 18) }"""


def run(command, **options):
    return subprocess.run(PREFIX + command, check=True, capture_output=True, **options).stdout


def netbench(seconds, *settings):
    document = json.loads(run([NETBENCH, "bench", "frames", "--json", "--repeat", "1", "--warmup", "200ms",
                               "--duration", f"{seconds}s", "cpus_from=0", *settings]))
    return {m["name"]: m["median"] for m in document["cases"][0]["metrics"]}


def ceiling(seconds, _lab):
    return float(run([CEILING, str(seconds), "0"]))


def node(lab, name, *command):
    return [NETBENCH, "lab", "exec", lab, name, *command]


def link(lab, name):
    return json.loads(run(node(lab, name, "ip", "-j", "-s", "link", "show", "dev", "eth0")))[0]


def trafgen(seconds, lab):
    with tempfile.NamedTemporaryFile("w", suffix=".cfg") as config:
        config.write(TRAFGEN % {"to": link(lab, "b")["address"], "source": link(lab, "a")["address"]})
        config.flush()
        sender = subprocess.Popen(PREFIX + node(lab, "a", "timeout", "-k", "1", f"{seconds + 1.5}", "taskset", "-c", "0", "trafgen", "--dev", "eth0", "--conf",
                                                config.name, "--cpus", "1", "--qdisc-path", "--no-cpu-stats"),
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(1)
        before, start = link(lab, "b")["stats64"]["rx"]["packets"], time.monotonic()
        time.sleep(seconds)
        after, span = link(lab, "b")["stats64"]["rx"]["packets"], time.monotonic() - start
        sender.wait(timeout=10)
    return (after - before) / span


def iperf3(seconds, lab):
    server = subprocess.Popen(PREFIX + node(lab, "b", "iperf3", "-s", "-1", "--forceflush", "-A", "1", "-p", str(PORT)),
                              stdout=subprocess.PIPE)
    server.stdout.readline()
    server.stdout.readline()  # "Server listening on …"
    end = json.loads(run(node(lab, "a", "iperf3", "-c", TO, "-p", str(PORT), "-A", "0", "-t", str(seconds), "-J", "-u",
                              "-b", "0", "-l", "18", "-w", "4M"), timeout=seconds + 30))["end"]["sum"]
    server.communicate(timeout=10)
    return (end["packets"] - end["lost_packets"]) / end["seconds"]


def lab_up():
    name = f"bench-frames-{os.getpid()}"
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as lab:
        lab.write("nodes: [a, b]\nlinks: [{ends: 'a:eth0,b:eth0'}]\n")
        lab.flush()
        run([NETBENCH, "lab", "up", lab.name, "--name", name])
    return name


def compare(rounds, seconds, lab):
    for name, other in (("ceiling", ceiling), ("trafgen", trafgen), ("iperf3", iperf3)):
        ours, theirs = [], []
        for _ in range(rounds):
            theirs.append(other(seconds, lab))
            ours.append(netbench(seconds)["delivered"])
        ratios = [mine / its for mine, its in zip(ours, theirs)]
        ratio = statistics.median(ratios)
        print(f"{name:10} netbench {statistics.median(ours) / 1e6:7.2f} Mpps  {name} {statistics.median(theirs) / 1e6:7.3f} Mpps"
              f"  ratio {ratio:6.2f} [{min(ratios):.2f}–{max(ratios):.2f}]  wanted {WANTED[name]:5.2f} "
              f"{'met' if ratio >= WANTED[name] else 'MISSED'}", flush=True)


def rates(seconds):
    for rate in RATES:
        floor = float(run([HOLDUP, str(seconds), "0"]))
        m = netbench(seconds, f"rate={rate}pps")
        print(f"asked {rate:8} pps  sent {m['sent'] / rate:.4f} of it  departure p99 {m['departure_p99'] / 1e3:6.1f} µs"
              f" (the machine's own hold-ups: {floor / 1e3:.1f} µs)"
              f"  loss {m['loss']:.2g}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--fifo", action="store_true", help="run all under SCHED_FIFO, on a busy machine")
    args = parser.parse_args()
    if args.fifo:
        PREFIX[:] = ["chrt", "-f", "10"]
    lab = lab_up()
    try:
        compare(args.rounds, args.seconds, lab)
    finally:
        subprocess.run([NETBENCH, "lab", "down", lab], check=True, stdout=subprocess.DEVNULL)
    rates(5)


PREFIX = []
try:
    main()
except KeyboardInterrupt:
    sys.exit(130)
