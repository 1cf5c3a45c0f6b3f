# SPDX-License-Identifier: GPL-2.0
"""What a walked sample takes: perf's instructions, and BPF's time."""

import os
import re
import shutil
import signal
import statistics
import subprocess
import time

from . import bench, meter, stacks

DEPTHS = (10, 20, 60, 500)
# Samples that are written before instructions are counted, and while they are.
WARM, COUNTED = 2000, 1000
# The same of commit 475dd9e, and what is asked of it.
BEFORE = {10: 5200, 20: 6400, 60: 11150, 500: 53500}
ASKED = 0.7


class Counts:
    """Of a file that callgrind wrote: instructions with all that is called,
    and calls, by function."""

    def __init__(self, path):
        self.calls, self.inclusive, self.names = {}, {}, {}
        caller = callee = None
        with open(path, encoding="ascii", errors="replace") as file:
            for line in file:
                if line.startswith("fn="):
                    caller = self.name(line[3:])
                elif line.startswith("cfn="):
                    callee = self.name(line[4:])
                elif line.startswith("calls="):
                    # The next line has what these calls took.
                    took = int(next(file).split()[1])
                    self.add(caller, callee, int(line[6:].split()[0]), took)

    def name(self, text):
        number, name = re.match(r"(\(\d+\)) ?(.*)", text.strip()).groups()
        if name:
            self.names[number] = name
        return self.names[number]

    def add(self, caller, callee, calls, took):
        self.calls[callee] = self.calls.get(callee, 0) + calls
        if caller != callee:
            self.inclusive[callee] = self.inclusive.get(callee, 0) + took


def size(path):
    return os.path.getsize(path) if os.path.exists(path) else 0


def control(option, pid):
    meter.run(["callgrind_control", option, str(pid)])


def wait_for(process, path, bytes_):
    """Until the recording has so many bytes."""
    while size(path) < bytes_:
        if process.poll() is not None:
            raise meter.Failed("perf record under valgrind ended early")
        time.sleep(0.2)


def counted(b, depth):
    """callgrind's counts of perf after the first samples: by then it knows all
    of the program. Until then valgrind counts nothing, which is faster."""
    program = stacks.build(b, depth)
    bytes_ = 8 * (depth + 10)
    path, counts = b.file("instructions"), b.file("callgrind")
    bench.forget(path)
    with meter.Workload([program, "3600"]) as target, open(os.devnull, "wb") as null:
        perf = subprocess.Popen(
            ["valgrind", "--tool=callgrind", "--instr-atstart=no",
             f"--callgrind-out-file={counts}", b.perf, "record", "-B", "-N",
             "--proc-map-timeout", "60000", "-e", "cpu-clock", "-F", "1000",
             "--call-graph", "hybrid", "--max-stack", "600", "-o", path,
             "-p", str(target.pid)], stdin=subprocess.DEVNULL, stdout=null, stderr=null)
        try:
            wait_for(perf, path, WARM * bytes_)
            control("--instr=on", perf.pid)
            wait_for(perf, path, size(path) + COUNTED * bytes_)
            control("--dump", perf.pid)
        finally:
            perf.send_signal(signal.SIGINT)
            perf.wait()
    return Counts(f"{counts}.1")


def instructions(b):
    """Instructions of all that perf does while it records, by walked sample."""
    if not shutil.which("valgrind"):
        raise meter.Failed("it takes valgrind: apt-get install valgrind")
    for depth in DEPTHS:
        counts = counted(b, depth)
        samples = counts.calls.get("hybrid_deliver_bpf", 0)
        if samples < 100:
            raise meter.Failed(f"BPF walked {samples} samples")
        each = counts.inclusive["hybrid_record__read"] / samples
        others = counts.calls.get("hybrid_unwind", 0)
        must = ASKED * BEFORE[depth]
        yield bench.Row(f"instructions a walked sample, {depth} frames", f"<= {must:,.0f}",
                        [each], lambda value, must=must: value <= must, "",
                        f"{samples} samples, {others} of them with a dump")


STATS = "/proc/sys/kernel/bpf_stats_enabled"
# BPF_PROG_TYPE_PERF_EVENT: perf record has loaded such programs, of which one walks.
PERF_EVENT = 7


class Stats:
    """The kernel measures programs of BPF inside of the with block."""

    def __enter__(self):
        # Each write has to begin the file: sysctl_writes_strict.
        with open(STATS, encoding="ascii") as file:
            self.before = file.read()
        with open(STATS, "w", encoding="ascii") as file:
            file.write("1")

    def __exit__(self, *_):
        with open(STATS, "w", encoding="ascii") as file:
            file.write(self.before)


def program_stats(pid):
    """(ns, runs) so far of the program that walks for a perf record: the one that runs."""
    found = []
    for name in os.listdir(f"/proc/{pid}/fdinfo"):
        try:
            with open(f"/proc/{pid}/fdinfo/{name}", encoding="ascii") as file:
                fields = dict(line.split(None, 1) for line in file if len(line.split()) > 1)
        except FileNotFoundError:
            continue
        if fields.get("prog_type:", "").strip() == str(PERF_EVENT):
            found.append((int(fields["run_cnt:"]), int(fields["run_time_ns:"])))
    if not found:
        raise meter.Failed("BPF does not walk for perf record: who may do that is in README.md")
    runs, ns = max(found)
    return ns, runs


def walk_times(b, program, perfs):
    """ns a walk by the program of each perf, in each of several spans. All
    are attached to one process at once: what else runs slows all of them."""
    recordings = []
    times = [[] for _ in perfs]
    with meter.Workload([program, "3600"]) as target:
        try:
            for number, perf in enumerate(perfs):
                recordings.append(meter.Recording(
                    perf, ["-F", "9973", "-B", "-N", "--call-graph", "hybrid", "--max-stack",
                           "600", "-p", str(target.pid)], b.file(f"walk-{number}")))
                recordings[-1].start()
            time.sleep(3)
            last = [program_stats(one.process.pid) for one in recordings]
            for _ in range(4 * b.runs):
                time.sleep(0.5)
                now = [program_stats(one.process.pid) for one in recordings]
                for number, (before, after) in enumerate(zip(last, now)):
                    times[number].append((after[0] - before[0]) / max(after[1] - before[1], 1))
                last = now
        finally:
            for one in recordings:
                one.stop(check=False)
    return times


def walk(b):
    """The time of a walk by BPF; against another perf, if PERF_BEFORE= names one."""
    before = os.environ.get("PERF_BEFORE")
    for depth in DEPTHS:
        with Stats():
            times = walk_times(b, stacks.build(b, depth), [b.perf] + ([before] if before else []))
        yield bench.Row(f"BPF's time a walk, {depth} frames", "", times[0], lambda ns: True, " ns")
        if before:
            ratios = [now / then for now, then in zip(*times)]
            yield bench.Row(f"the same, against {before}", "<= 0.75", ratios,
                            lambda ratio: ratio <= 0.75, "",
                            f"{statistics.median(times[1]):,.0f} ns there")
