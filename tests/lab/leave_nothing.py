#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kill runs at random instants and see what is left. leave_nothing_test.bats starts this as the
first process of namespaces of its own, so that orphans come here and nobody else makes a noise.

usage: leave_nothing.py random|signals|worker|count NETBENCH SUITE KILLS SEED
"""
import ctypes
import errno
import json
import os
import pathlib
import random
import select
import shutil
import signal
import subprocess
import sys
import time

LIMIT = 40  # of namespaces
LIMIT_S = 30  # for everything that ought to happen at once
CLONE_NEWNET = 0x40000000


class Late(Exception):
    pass


def on_alarm(_signal, _frame):
    raise Late


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def network_namespaces():
    """Every one that a process, a file descriptor or a mount refers to."""
    found = set()
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            links = list(process.glob("task/*/ns/net")) + list(process.glob("fd/*"))
            mounts = (process / "mountinfo").read_text(encoding="utf-8")
        except OSError:
            continue
        for link in links:
            try:
                target = os.readlink(link)
            except OSError:
                continue
            if target.startswith("net:["):
                found.add(target)
        found.update(word for word in mounts.split() if word.startswith("net:["))
    return sorted(found)


def files(*folders):
    return sorted(str(path) for folder in folders for path in pathlib.Path(folder).rglob("*"))


def bpf_programs():
    """Those that nobody else holds: programs are the whole machine's."""
    programs = json.loads("".join(output("bpftool", "--json", "prog", "show")))
    return sorted(program["id"] for program in programs
                  if all(holder["comm"] == "netbench" for holder in program.get("pids", [])))


def inventory():
    found = {
        "links": output("ip", "-o", "-br", "link"),
        "named namespaces": output("ip", "netns", "list"),
        "namespaces": network_namespaces(),
        "qdiscs": output("tc", "qdisc", "show"),
        "files": files("/tmp", "/run", "/dev/shm", os.environ["TMPDIR"]),
        "processes": sorted(path.name for path in pathlib.Path("/proc").glob("[0-9]*")),
        "System V": output("ipcs"),
    }
    if shutil.which("nft"):
        found["nft rules"] = output("nft", "list", "ruleset")
    if shutil.which("bpftool"):
        found["BPF programs"] = bpf_programs()
    return found


def difference(before, after):
    return [f"{what}: {before[what]} became {after[what]}"
            for what in before if before[what] != after[what]]


def settle(before):
    """The kernel frees namespaces in the background."""
    end = time.monotonic() + LIMIT_S
    while wrong := difference(before, inventory()):
        if time.monotonic() > end:
            sys.exit("left behind:\n" + "\n".join(wrong))
        time.sleep(0.02)


def reap_all(what):
    """All orphans are ours now: when there is no child, there is no process."""
    signal.setitimer(signal.ITIMER_REAL, LIMIT_S)
    try:
        while True:
            os.waitpid(-1, 0)
    except ChildProcessError:
        pass
    except Late:
        sys.exit(f"{what}: still running: " + " ".join(output("ps", "-e", "-o", "pid,args")))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


class Run:
    def __init__(self, netbench, suite, *options):
        self.begin = time.monotonic()
        self.process = subprocess.Popen([netbench, "run", "--json", *options, suite],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)
        self.pidfd = os.pidfd_open(self.process.pid)

    def ended_within(self, seconds):
        return bool(select.select([self.pidfd], [], [], seconds)[0])

    def kill(self, number):
        signal.pidfd_send_signal(self.pidfd, number)

    def children(self):
        pid = self.process.pid
        return [int(word) for word in
                pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8").split()]

    def finish(self):
        """What it wrote, and its exit code."""
        try:
            out, err = self.process.communicate(timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            sys.exit("it or a process of it does not end: " +
                     " ".join(output("ps", "-e", "-o", "pid,args")))
        os.close(self.pidfd)
        return out.decode(), err.decode(), self.process.returncode


def duration(netbench, suite):
    run = Run(netbench, suite)
    _, err, code = run.finish()
    if code:
        sys.exit(f"exit {code} of an undisturbed run: {err}")
    reap_all("an undisturbed run")
    return time.monotonic() - run.begin


def kill_at_random(netbench, suite, kills, rng):
    whole = duration(netbench, suite)
    before = inventory()
    killed = spared = 0
    while killed < kills:
        run = Run(netbench, suite)
        instant = rng.uniform(0, whole)
        if run.ended_within(instant):
            # On a busy machine runs differ in length: follow.
            whole = (whole + time.monotonic() - run.begin) / 2
            spared += 1
        else:
            run.kill(signal.SIGKILL)
        *_, code = run.finish()
        killed += code == -signal.SIGKILL
        reap_all(f"kill {killed} at {instant:.4f} s")
        if spared > 2 * kills + 10:
            sys.exit(f"{spared} runs ended before they were killed")
    settle(before)


def interrupt_at_random(netbench, suite, kills, rng):
    """Before it catches signals it dies of them; after its last trial it is complete."""
    whole = duration(netbench, suite)
    before = inventory()
    seen = set()
    for i in range(kills):
        number = signal.SIGINT if i % 2 else signal.SIGTERM
        run = Run(netbench, suite)
        if not run.ended_within(rng.uniform(0, whole)):
            run.kill(number)
        out, err, code = run.finish()
        reap_all(f"{number.name} {i}")
        if code not in (0, 130, -number):
            sys.exit(f"exit {code} after {number.name}: {err}")
        if code == 130:
            document = json.loads(out)
            if document["complete"] or document["error"] != "interrupted":
                sys.exit(f"not marked as interrupted: {out}")
        seen.add(code)
    settle(before)
    if 130 not in seen:
        sys.exit(f"never interrupted: exit codes {seen}")


def first_worker(run):
    """When its workers run: as many as the case has lanes."""
    end = time.monotonic() + LIMIT_S
    while time.monotonic() < end:
        workers = run.children()
        if len(workers) >= 2:
            return workers[-1]
        if run.ended_within(0.005):
            break
    sys.exit("no workers were seen")


def kill_a_worker(netbench, suite, kills, rng):
    before = inventory()
    for _ in range(kills):
        run = Run(netbench, suite, "--set", "duration=500ms")
        worker = first_worker(run)
        time.sleep(rng.uniform(0, 0.5))
        try:
            os.kill(worker, signal.SIGKILL)
        except ProcessLookupError:
            sys.exit("the worker had ended")
        out, err, code = run.finish()
        reap_all("a killed worker")
        statuses = [case["status"] for case in json.loads(out)["cases"]]
        if code != 1 or statuses.count("failed") < 1 or "killed by signal 9" not in err:
            sys.exit(f"exit {code}, {statuses}: {err}")
        if not set(statuses) & {"ok", "suspect"}:
            sys.exit(f"it did not go on: {statuses}: {err}")
    settle(before)


def room_for_namespaces():
    """How many more the limit of this user namespace allows: exact, also for those being freed."""
    libc = ctypes.CDLL(None, use_errno=True)
    reader, writer = os.pipe()
    if not os.fork():
        held = []
        while not libc.unshare(CLONE_NEWNET):
            held.append(os.open("/proc/self/ns/net", os.O_RDONLY))
        code = ctypes.get_errno()
        os.write(writer, bytes([len(held) if code == errno.ENOSPC else 255]))
        os._exit(0)
    os.close(writer)
    count = os.read(reader, 1)
    os.close(reader)
    os.wait()
    return count[0]


def await_room(what):
    """All but our own are gone. Each look makes namespaces itself, which take their time to go, too."""
    limit = pathlib.Path("/proc/sys/user/max_net_namespaces")
    limit.write_text(str(LIMIT), encoding="utf-8")
    pause = 0.05
    while (now := room_for_namespaces()) != LIMIT - 1:
        if pause > LIMIT_S / 2:
            sys.exit(f"{what}: room for {now} namespaces, not {LIMIT - 1}")
        time.sleep(pause)
        pause *= 2
    limit.write_text("10000", encoding="utf-8")


def count_namespaces(netbench, suite, kills, rng):
    await_room("at first")
    whole = duration(netbench, suite)
    for i in range(kills):
        run = Run(netbench, suite)
        if not run.ended_within(rng.uniform(0, whole)):
            run.kill(signal.SIGKILL)
        run.finish()
        reap_all(f"kill {i}")
    await_room("in the end")


def main():
    what, netbench, suite, kills, seed = sys.argv[1:]
    parts = {"random": kill_at_random, "signals": interrupt_at_random, "worker": kill_a_worker,
             "count": count_namespaces}
    signal.signal(signal.SIGALRM, on_alarm)
    # To the test, failures are only reproducible with what they were made of.
    print(f"{kills} kills, seed {seed}")
    parts[what](netbench, suite, int(kills), random.Random(int(seed)))


if __name__ == "__main__":
    main()
