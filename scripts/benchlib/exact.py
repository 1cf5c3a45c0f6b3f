# SPDX-License-Identifier: GPL-2.0
"""How true the chains are, and how large."""

import statistics

from . import bench, meter, peers

# The dump of 8 KiB holds the whole stack of each of these.
FITTING = ("calls", "libc", "frames", "threads", "signals", "dlopen", "forks", "demo",
           "deep60")
SIZED = ("demo.mixed", "libc.nofp", "deep60.nofp")


def percent(part, whole):
    return 100.0 * part / whole if whole else 0.0


def exact(b):
    """Truth programs with the default dump. Each program's runs are pooled:
    a single run of 4,000 samples can't tell 99.9 from 99.95 %."""
    for build in ("fp", "nofp", "mixed"):
        shares, notes, lost = [], [], 0
        for name in FITTING:
            good = judged = 0
            for _ in range(b.runs):
                path = b.file("exact")
                b.record(b.perf, peers.options("hybrid"), f"{name}.{build}", path)
                figures = b.check(path)
                judged += figures["samples"]
                good += figures["exact"]
                lost += figures["lost_records"]
            shares.append(percent(good, judged))
            notes.append(f"{name} {shares[-1]:.2f}")
        yield bench.Row(f"exact chains, built {build}, worst program", ">= 99.9 %", shares,
                        lambda share: share >= 99.9, " %", ", ".join(notes), min(shares))
        yield bench.Row(f"samples lost, built {build}, all programs", "0", [lost],
                        lambda count: count == 0)


def deep(b):
    """256 KiB of stack in 100 frames, of which the dump holds 8 KiB."""
    shares = []
    for _ in range(b.runs):
        b.record(b.perf, peers.options("hybrid, 8 KiB dumps"), "deep100.fp", b.file("deep"))
        shares.append(b.check(b.file("deep"))["exact_percent"])
    yield bench.Row("100 frames of 2.6 KiB, 8 KiB dump, frame pointers", ">= 99.9 %", shares,
                    lambda share: share >= 99.9, " %")
    yield from deep_nofp(b)


def deep_nofp(b):
    """Without frame pointers: what the dump holds is what dwarf shows; more
    is the tails that the thread has shown before."""
    ours, dwarf, wrong, frames = [], [], [], []
    for _ in range(b.runs):
        b.record(b.perf, peers.options("hybrid, 8 KiB dumps"), "deep100.nofp", b.file("deep"))
        figures = b.check(b.file("deep"))
        ours.append(figures["exact_percent"])
        wrong.append(percent(figures["wrong"], figures["samples"]))
        b.record(b.stock, peers.options("dwarf 8 KiB"), "deep100.nofp", b.file("deep"))
        theirs = b.check(b.file("deep"))
        dwarf.append(theirs["exact_percent"])
        frames.append(figures["mean_frames"] / theirs["mean_frames"])
    least = statistics.median(dwarf)
    yield bench.Row("the same without frame pointers, exact to main",
                    f">= {least:.1f} %", ours, lambda share: share >= least, " %",
                    "must be: what stock dwarf shows with the same dump")
    yield bench.Row("the same, frames a sample to those of stock dwarf", ">= 1", frames,
                    lambda ratio: ratio >= 1)
    yield bench.Row("the same, wrong joins", "<= 0.1 %", wrong, lambda share: share <= 0.1, " %")


def depth(b):
    """500 frames in a dump that holds them."""
    shares, deepest = [], []
    for _ in range(b.runs):
        b.record(b.perf, ["--call-graph", "hybrid,32768", peers.DUMPS], "deep500.nofp",
                 b.file("depth"))
        figures = b.check(b.file("depth"))
        shares.append(figures["exact_percent"])
        deepest.append(figures["deepest"])
    with open("/proc/sys/kernel/perf_event_max_stack", encoding="ascii") as file:
        limit = file.read().strip()
    note = f"deepest chain {max(deepest)} frames; kernel.perf_event_max_stack is {limit}"
    yield bench.Row("500 frames, 32 KiB dump, exact", ">= 99.9 %", shares,
                    lambda share: share >= 99.9, " %", note)
    yield bench.Row("frames kept of a stack of 504", "> 127", deepest,
                    lambda frames: frames > 127)


def size(b):
    """Bytes of a sample against what stock perf makes of a dwarf file."""
    for program in SIZED:
        ratios = []
        for _ in range(b.runs):
            ours, dwarf, made = b.file("size"), b.file("size-dwarf"), b.file("size-made")
            b.record(b.perf, peers.options("hybrid"), program, ours)
            b.record(b.stock, peers.options("dwarf 8 KiB"), program, dwarf)
            bench.forget(made)
            meter.run([b.stock, "inject", "--convert-callchain", "-i", dwarf, "-o", made])
            ratios.append(b.check(ours)["bytes_per_sample"] /
                          b.check(made)["bytes_per_sample"])
        yield bench.Row(f"bytes a sample, {program}, to converted dwarf", "<= 1.1", ratios,
                        lambda ratio: ratio <= 1.1)
