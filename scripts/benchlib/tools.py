# SPDX-License-Identifier: GPL-2.0
"""How true the chains of each tool are, and how large."""

from . import bench, meter, peers

PROGRAMS = ("calls.nofp", "libc.nofp", "demo.mixed", "threads.fp", "deep60.nofp",
            "deep100.nofp")
CONVERTED = "dwarf, inject"
TOOLS = (*list(peers.PEERS)[:2], CONVERTED, *list(peers.PEERS)[2:])


def converted(b, source):
    """What stock perf makes of a dwarf file."""
    path = b.file("tools-made")
    bench.forget(path)
    meter.run([b.stock, "inject", "--convert-callchain", "-i", source, "-o", path])
    return path


def tools(b):
    """Truth programs; deep100's stack is 256 KiB, the others' fit into 8 KiB."""
    exact = peers.Grid("exact chains", "%", "program", TOOLS)
    size = peers.Grid("bytes a sample", "", "program", TOOLS, 0)
    lost = peers.Grid("samples lost", "", "program", TOOLS, 0)

    def add(program, tool, path):
        found = b.check(path)
        exact.add(program, tool, found["exact_percent"])
        size.add(program, tool, found["bytes_per_sample"])
        lost.add(program, tool, found["lost_records"])

    for program in PROGRAMS:
        for _, peer in peers.in_turn(b, peers.PEERS):
            path = b.file("tools")
            b.record(peers.perf_of(b, peer), peers.options(peer), program, path, rate=1000)
            add(program, peer, path)
            if peer == "dwarf 8 KiB":
                add(program, CONVERTED, converted(b, path))
    yield from (exact, size, lost)
