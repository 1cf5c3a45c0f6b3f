# SPDX-License-Identifier: GPL-2.0
"""perf's CPU while it names the functions of a runtime, against a C program of as many frames."""

import shutil
import statistics
import subprocess
import time

from . import bench, meter

# Each recurses, and works in the innermost frame. The JVM compiles it within a second.
DEPTH = 25
FROM, UNTIL = 5, 11
C = """
volatile long sum;
static long __attribute__((noipa)) leaf(long n)
{ for (long i = 0; i < 1000; i++) n = n * 13 + i; return n; }
static long __attribute__((noipa)) deep(int more, long n)
{ return more > 1 ? deep(more - 1, n) + 1 : leaf(n) + 1; }
int main(void) { for (;;) sum += deep(%d, sum); }
"""
JAVA = """
public class Deep {
static volatile long sum;
static long leaf(long n) { for (int i = 0; i < 1000; i++) n = n * 13 + i; return n; }
static long deep(int more, long n) { return more > 1 ? deep(more - 1, n) + 1 : leaf(n) + 1; }
public static void main(String[] args)
{ for (;;) for (int i = 0; i < 100; i++) sum += deep(%d, i); }
}
"""
PYTHON = """
def leaf(n):
    for i in range(1000):
        n = n * 13 + i & 0xffff
    return n
def deep(more, n):
    return deep(more - 1, n) + 1 if more > 1 else leaf(n) + 1
while True:
    deep(%d, 1)
"""
NODE = """
'use strict';
let sum = 0;
function leaf(n) { for (let i = 0; i < 1000; i++) n = (n * 13 + i) | 0; return n; }
function deep(more, n) { return more > 1 ? deep(more - 1, n) + 1 : leaf(n) + 1; }
for (;;) for (let i = 0; i < 100; i++) sum = (sum + deep(%d, i)) | 0;
"""


def write(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def make_c(b, depth):
    """A C program of that depth: its command."""
    path = f"{b.data}/deep{depth}"
    write(f"{path}.c", C % depth)
    meter.run(["gcc", "-O2", "-fno-optimize-sibling-calls", "-o", path, f"{path}.c"])
    return [path]


def make_java(b):
    write(f"{b.data}/Deep.java", JAVA % DEPTH)
    meter.run(["javac", "-d", b.data, f"{b.data}/Deep.java"])
    return ["java", "-cp", b.data, "Deep"]


def make_python(b):
    write(f"{b.data}/deep.py", PYTHON % DEPTH)
    return ["python3", f"{b.data}/deep.py"]


def make_node(b):
    write(f"{b.data}/deep.js", NODE % DEPTH)
    return ["node", f"{b.data}/deep.js"]


def read(b, path):
    """(times of the samples, frames a sample), as perf script shows them."""
    said = subprocess.run([b.perf, "script", "-i", path, "--no-inline", "-F", "time,ip"],
                          capture_output=True, text=True, check=False)
    lines = [line.strip() for line in said.stdout.splitlines() if line.strip()]
    times = [float(line[:-1]) for line in lines if line.endswith(":")]
    if not times:
        raise meter.Failed(f"no samples in {path}: {said.stderr.strip()[:200]}")
    return times, (len(lines) - len(times)) / len(times)


def measured(b, command):
    """(microseconds of perf's CPU a sample in the steady state, frames a sample)."""
    path = b.file("runtime")
    bench.forget(path)
    recording = meter.Recording(b.perf, ["-F", "1000", "--call-graph", "hybrid"], path, command)
    recording.start()
    time.sleep(FROM)
    before = recording.cpu()
    time.sleep(UNTIL - FROM)
    used = recording.cpu() - before
    # It ends as the workload does, which a signal ends.
    recording.stop(check=False)
    times, frames = read(b, path)
    steady = [at for at in times if FROM <= at - times[0] < UNTIL]
    return used / max(len(steady), 1) * 1e6, frames


def runtimes(b):
    for name, make, needs in (("Java", make_java, "javac"), ("Python", make_python, "python3"),
                              ("Node.js", make_node, "node")):
        if not shutil.which(needs):
            raise meter.Failed(f"{needs} is not installed")
        command = make(b)
        _, frames = measured(b, command)
        # main(), and what is outside of it.
        native = make_c(b, round(frames) - 5)
        used = {name: [], "C": []}
        for run in range(b.runs):
            for who in (name, "C") if run % 2 else ("C", name):
                each, depth = measured(b, command if who == name else native)
                used[who].append((each, depth))
        ratios = [ours[0] / theirs[0] for ours, theirs in zip(used[name], used["C"])]
        note = ", ".join(f"{who} {statistics.median(each for each, _ in runs):.2f} us a sample of"
                         f" {statistics.median(depth for _, depth in runs):.0f} frames"
                         for who, runs in used.items())
        yield bench.Row(f"own CPU from the 5th second on, 1 kHz, {name}/C", "<= 1.5", ratios,
                        lambda ratio: ratio <= 1.5, "", note)
