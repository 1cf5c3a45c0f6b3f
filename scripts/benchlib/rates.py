# SPDX-License-Identifier: GPL-2.0
"""What recording costs by its rate: perf, and the program that is recorded."""

import subprocess
import time

from . import bench, meter, peers

RATES = (100, 1000, 4000, 10000, 20000)
PROGRAM = "demo.mixed"
# A fixed amount of work, that tells what CPU time it took: user and system, so
# what the kernel does for a sample counts, and who else runs does not.
WORK = ("import time\n"
        "def leaf(n):\n return sum(i * i for i in range(n))\n"
        "def down(d, n):\n return down(d - 1, n) if d else leaf(n)\n"
        "start = time.process_time()\n"
        "for _ in range(300):\n down(20, 20000)\n"
        "print(time.process_time() - start)\n")
PYTHON = ["/usr/bin/python3", "-c", WORK]


def worked(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL)
    try:
        return float(done.stdout.split()[0])
    except (IndexError, ValueError):
        raise meter.Failed(f"{' '.join(command[:2])} failed:"
                           f" {done.stderr.strip().splitlines()[-1:]}") from None


def slowdown(b, peer, rate):
    """Per cent more CPU time with perf than right before without."""
    path = b.file("slowdown")
    alone = worked(PYTHON)
    bench.forget(path)
    beside = worked([peers.perf_of(b, peer), "record", "-q", "-e", "cpu-clock", "-F", str(rate),
                     *peers.options(peer), "-o", path, *PYTHON])
    return 100 * (beside / alone - 1)


def rates(b):
    """100 Hz to 20 kHz; a truth program for perf's own CPU, Python for the
    slowdown. What is lost costs nothing: read both together."""
    names = peers.SMALL
    grids = {
        "cpu_percent": peers.Grid("perf's own CPU while it records", "% of one CPU",
                                  "samples a second", names, 2),
        "lost_percent": peers.Grid("samples lost", "%", "samples a second", names),
    }
    slower = peers.Grid("slowdown of the program that is recorded", "%", "samples a second",
                        names)
    for rate in RATES:
        with meter.Workload([b.program(PROGRAM), "3600"]) as target:
            time.sleep(0.1)
            for _, peer in peers.in_turn(b, names):
                path = b.file("rates")
                bench.forget(path)
                got = peers.record(b, peer, path, rate, 2, ["-p", str(target.pid)])
                for name, grid in grids.items():
                    grid.add(rate, peer, got[name])
        for _, peer in peers.in_turn(b, names):
            slower.add(rate, peer, slowdown(b, peer, rate))
    yield from (*grids.values(), slower)
