# SPDX-License-Identifier: GPL-2.0
"""What a sample costs by the depth of its stack."""

import os
import subprocess
import time

from . import bench, meter, peers

DEPTHS = (10, 30, 100, 300, 1000)
# As selftests/truth has it: no frame pointer, one caller for each function.
FLAGS = ("-O2", "-std=gnu11", "-w", "-fomit-frame-pointer", "-fno-inline", "-fno-ipa-cp",
         "-fno-ipa-sra", "-fno-ipa-icf", "-fno-optimize-sibling-calls")


def build(b, depth):
    """gen-deep's program of that depth, whose time all goes into the
    innermost function: that one's spin() is the first of the file."""
    program = b.program(f"bench-depth{depth}")
    source = subprocess.run([f"{b.truth}/gen-deep", str(depth), "16", "1"],
                            capture_output=True, text=True, check=True).stdout
    with open(f"{program}.c", "w", encoding="ascii") as file:
        file.write(source.replace("spin(1);", "spin(20000);", 1))
    parts = []
    for half in "AB":
        parts.append(f"{program}.{half}.o")
        meter.run(["gcc", *FLAGS, f"-I{b.truth}", f"-DHALF_{half}", "-c", f"{program}.c",
                   "-o", parts[-1]])
    meter.run(["gcc", *parts, "-o", program])
    for path in (*parts, f"{program}.c"):
        os.remove(path)
    return program


def stacks(b):
    """10 to 1,000 frames of 40 bytes and more: 300 and more don't fit into
    8 KiB. At 500 Hz, so that nothing is lost that would have cost."""
    names = list(peers.PEERS)
    grids = {
        "bytes": peers.Grid("bytes a sample", "", "frames", names, 0),
        "cpu_us": peers.Grid("perf's own CPU while it records", "us a sample", "frames", names),
        "memory_mib": peers.Grid("perf's memory at most", "MiB", "frames", names),
        "lost_percent": peers.Grid("samples lost", "%", "frames", names),
    }
    exact = peers.Grid("exact chains", "%", "frames", names)
    for depth in DEPTHS:
        with meter.Workload([build(b, depth), "3600"]) as target:
            time.sleep(0.1)
            for _, peer in peers.in_turn(b, names):
                path = b.file(f"stacks-{peer}")
                bench.forget(path)
                got = peers.record(b, peer, path, 500, 2, ["-p", str(target.pid)])
                for name, grid in grids.items():
                    grid.add(depth, peer, got[name])
        # Of the last run alone: it takes a while, and needs both CPUs.
        for peer in names:
            exact.add(depth, peer, b.check(b.file(f"stacks-{peer}"))["exact_percent"])
    yield from (*grids.values(), exact)
