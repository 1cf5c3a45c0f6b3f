# SPDX-License-Identifier: GPL-2.0
"""The whole machine, with many short processes and some that stay."""

import contextlib
import time

from . import bench, memory, meter, peers

RATE, SECONDS = 1000, 5
# Truth programs: their chains are judged, of all that was sampled.
STAY = ("threads.nofp", "libc.nofp", "calls.mixed")


def system(b):
    """-a at 1 kHz."""
    names = peers.SMALL
    case = f"-a, {RATE} Hz"
    units = {"cpu_percent": ("perf's own CPU while it records", "% of one CPU", 1),
             "cpu_us": ("the same", "us a sample", 1),
             "bytes": ("bytes a sample", "", 0),
             "lost_percent": ("samples lost", "%", 1),
             "memory_mib": ("perf's memory at most", "MiB", 1)}
    grids = {name: peers.Grid(what, unit, "many processes", names, digits)
             for name, (what, unit, digits) in units.items()}
    exact = peers.Grid("exact chains of the truth programs among them", "%", "many processes",
                       names)
    with contextlib.ExitStack() as stack:
        for command in (memory.CHURN, memory.CHURN,
                        *([b.program(name), "3600"] for name in STAY)):
            stack.enter_context(meter.Workload(command))
        time.sleep(0.2)
        for _, peer in peers.in_turn(b, names):
            path = b.file("system")
            bench.forget(path)
            got = peers.record(b, peer, path, RATE, SECONDS, ["-a"])
            for name, grid in grids.items():
                grid.add(case, peer, got[name])
            exact.add(case, peer, b.check(path)["exact_percent"])
    yield from (*grids.values(), exact)
