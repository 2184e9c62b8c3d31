#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""netbench against iperf3: the same work in the same kind of lab, alternating, pinned alike.

For every case the two run in turn, and the ratio of each pair is taken; printed are the medians,
the median ratio and its range. Whole-machine CPU time comes from /proc/stat for both.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import threading
import time

NETBENCH = os.environ.get("NETBENCH", "build/netbench/netbench")
PORT = 5301
TO = "198.18.0.2"
# A large socket buffer for iperf3 too: its default would lose packets that its loop could have read.
UDP = ["-u", "-b", "0", "-w", "4M"]

# name, offloads, netbench load and settings, iperf3 options, figure, wanted ratio
CASES = [
    ("tcp 1 stream, offloads off", "off", ["tcp"], [], "goodput", 1.0),
    ("tcp 1 stream, offloads on", "on", ["tcp"], [], "goodput", 1.0),
    ("tcp 8 streams, offloads off", "off", ["tcp", "streams=8"], ["-P", "8"], "goodput", 1.0),
    ("tcp 8 streams, offloads on", "on", ["tcp", "streams=8"], ["-P", "8"], "goodput", 1.0),
    ("udp 18 B, sendmmsg", "off", ["udp", "size=18"], [*UDP, "-l", "18"], "delivered", 1.05),
    ("udp 18 B, UDP_SEGMENT+GRO", "off", ["udp", "size=18", "segment=64", "batch=4", "gro=on"],
     [*UDP, "-l", "18"], "delivered", 3.0),
    ("udp 1400 B, sendmmsg", "off", ["udp", "size=1400"], [*UDP, "-l", "1400"],
     "delivered", 1.1),
    ("udp 1400 B, UDP_SEGMENT+GRO", "off", ["udp", "size=1400", "segment=46", "batch=4", "gro=on"],
     [*UDP, "-l", "1400"], "delivered", 2.5),
]


def idle_ticks():
    with open("/proc/stat", encoding="ascii") as stat:
        fields = stat.readline().split()
    return int(fields[4]) + int(fields[5])


def run_netbench(case, seconds):
    _, offloads, load, _, figure, _ = case
    command = PREFIX + [NETBENCH, "bench", "--json", "--repeat", "1", "--warmup", "500ms", "--duration",
                        f"{seconds}s", *load, f"link.offloads={offloads}", "cpus_from=0", "cpus_to=1"]
    document = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    metrics = {m["name"]: m["median"] for m in document["cases"][0]["metrics"]}
    return metrics[figure], metrics["cpu_per_gb"]


def run_iperf3(case, lab, seconds):
    _, _, _, options, figure, _ = case
    server = subprocess.Popen(PREFIX + [NETBENCH, "lab", "exec", lab, "b", "iperf3", "-s", "-1", "--forceflush", "-A", "1",
                                        "-p", str(PORT)], stdout=subprocess.PIPE)
    server.stdout.readline()
    server.stdout.readline()  # "Server listening on …"
    threading.Thread(target=server.stdout.read, daemon=True).start()
    total = seconds + 1
    client = subprocess.Popen(PREFIX + [NETBENCH, "lab", "exec", lab, "a", "iperf3", "-c", TO, "-p", str(PORT),
                                        "-A", "0", "-t", str(total), "-J", *options], stdout=subprocess.PIPE)
    time.sleep(0.7)
    idle, start = idle_ticks(), time.monotonic()
    time.sleep(seconds - 0.4)
    idle, span = idle_ticks() - idle, time.monotonic() - start
    end = json.loads(client.communicate(timeout=total + 20)[0])["end"]
    server.wait(timeout=10)
    busy = os.cpu_count() - idle / os.sysconf("SC_CLK_TCK") / span
    if figure == "goodput":
        rate = end["sum_received"]["bits_per_second"]
        return rate, busy * 8e9 / rate
    total = end["sum"]
    packets = (total["packets"] - total["lost_packets"]) / total["seconds"]
    payload = int(options[options.index("-l") + 1])
    return packets, busy * 1e9 / (packets * payload)


def lab_of(offloads):
    """A pinned lab of the same kind as the one that bench builds."""
    name = f"bench-{os.getpid()}-{offloads}"
    path = f"/tmp/{name}.yaml"
    with open(path, "w", encoding="ascii") as out:
        out.write(f"nodes: [a, b]\nlinks: [{{ends: [a, b], offloads: {offloads}}}]\n")
    try:
        subprocess.run([NETBENCH, "lab", "up", path, "--name", name], check=True, stdout=subprocess.DEVNULL)
    finally:
        os.unlink(path)
    return name


def compare(case, lab, rounds, seconds):
    ours, theirs, ratios, cpu_ratios = [], [], [], []
    for _ in range(rounds):
        mine, my_cpu = run_netbench(case, seconds)
        other, other_cpu = run_iperf3(case, lab, seconds)
        ours.append(mine)
        theirs.append(other)
        ratios.append(mine / other)
        cpu_ratios.append(my_cpu / other_cpu)
    name, _, _, _, figure, wanted = case
    scale, unit = (1e9, "Gbit/s") if figure == "goodput" else (1e3, "kpps")
    ratio = statistics.median(ratios)
    print(f"{name:30} {statistics.median(ours) / scale:8.2f} {statistics.median(theirs) / scale:8.2f} {unit:7}"
          f" {ratio:6.2f} [{min(ratios):.2f}–{max(ratios):.2f}]  wanted {wanted:4.2f} "
          f"{'met   ' if ratio >= wanted else 'MISSED'}  CPU/GB {statistics.median(cpu_ratios):5.2f}"
          f" [{min(cpu_ratios):.2f}–{max(cpu_ratios):.2f}]", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--fifo", action="store_true", help="run both under SCHED_FIFO, on a busy machine")
    parser.add_argument("only", nargs="?", default="", help="cases whose name contains this")
    args = parser.parse_args()
    if args.fifo:
        PREFIX[:] = ["chrt", "-f", "10"]
    print(f"{'medians of ' + str(args.rounds) + ' rounds':30} {'netbench':>8} {'iperf3':>8} {'':7} ratios of the rounds: median [range]")
    for offloads in ("off", "on"):
        cases = [c for c in CASES if c[1] == offloads and args.only in c[0]]
        if not cases:
            continue
        lab = lab_of(offloads)
        try:
            for case in cases:
                compare(case, lab, args.rounds, args.seconds)
        finally:
            subprocess.run([NETBENCH, "lab", "down", lab], check=True)


PREFIX = []
try:
    main()
except KeyboardInterrupt:
    sys.exit(130)
