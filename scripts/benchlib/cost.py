# SPDX-License-Identifier: GPL-2.0
"""CPU time: of recording and of converting."""

import json
import os
import shutil
import statistics
import subprocess
import sys

from . import bench, meter, peers

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)) + "/../../selftests/truth")
import perfdata  # noqa: E402


def recorded(b, perf, options, program, rate):
    """(perf's CPU while it recorded, and in all; samples; lost). 5 s, so that the
    rings have come round many times."""
    path = b.file("cost")
    used, total = meter.record(perf, ["-F", rate, *options], path, [b.program(program), "600"], 5)
    counts = perfdata.count(path)
    os.remove(path)
    return used, total, counts.samples, counts.lost


def recording(b, size, must, rate):
    """perf's own CPU, hybrid by BPF and hybrid with dumps against dwarf, turn by turn.

    By sample: at 64 KiB dwarf may lose some, which costs it nothing.
    """
    tools = {"dwarf": (b.stock, ["--call-graph", f"dwarf,{size}"]),
             "hybrid": (b.perf, ["--call-graph", "hybrid"]),
             "hybrid with dumps": (b.perf, ["--call-graph", f"hybrid,{size}", peers.DUMPS])}
    for program in ("demo.mixed", "deep60.nofp"):
        per, whole, lost = ({name: [] for name in tools} for _ in range(3))
        for _, name in peers.in_turn(b, tools):
            used, total, samples, gone = recorded(b, *tools[name], program, rate)
            per[name].append(used / max(samples, 1) * 1e6)
            whole[name].append(total / max(samples, 1) * 1e6)
            lost[name].append(gone)
        for name in list(tools)[1:]:
            ratios = [ours / theirs for ours, theirs in zip(per[name], per["dwarf"])]
            in_all = [ours / theirs for ours, theirs in zip(whole[name], whole["dwarf"])]
            note = ", ".join(f"{which} {statistics.median(per[which]):.1f} us a sample,"
                             f" {sum(lost[which])} lost" for which in (name, "dwarf"))
            note += f"; from start to end of perf {statistics.median(in_all):.2f}"
            yield bench.Row(f"own CPU, {size} bytes, {program}, {name}/dwarf", f"<= {must}",
                            ratios, lambda ratio: ratio <= must, "", note)


def record8k(b):
    yield from recording(b, 8192, 0.35, "2000")


def record64k(b):
    yield from recording(b, 65528, 0.5, "1000")


def ends(b):
    """perf's CPU from its start to its end: build-ids against none, and frame pointers."""
    modes = {"hybrid": (b.perf, ["--call-graph", "hybrid"]),
             "hybrid -B": (b.perf, ["-B", "--call-graph", "hybrid"])}
    frames = {"hybrid": modes["hybrid"], "fp": (b.stock, ["--call-graph", "fp"])}
    for tools, program, other, must in ((modes, "deep60.nofp", "hybrid -B", 1.05),
                                        (frames, "deep60.fp", "fp", 2.0)):
        totals = {name: [] for name in tools}
        for _, name in peers.in_turn(b, tools):
            perf, options = tools[name]
            path = b.file("ends")
            _, total = meter.record(perf, ["-F", "10000", *options], path,
                                    [b.program(program), "600"], 10)
            totals[name].append(total)
            os.remove(path)
        ratios = [ours / theirs for ours, theirs in zip(totals["hybrid"], totals[other])]
        note = ", ".join(f"{name} {statistics.median(used):.2f} s"
                         for name, used in totals.items())
        yield bench.Row(f"CPU in all, 10 s at 10 kHz, {program}, hybrid/{other}",
                        f"<= {must}", ratios, lambda ratio, must=must: ratio <= must, "", note)


def start(b):
    """The CPU of ten recordings of a program that ends at once: against the dwarf of stock
    perf, and of the same perf."""
    tools = {"hybrid": (b.perf, "hybrid"), "dwarf": (b.stock, "dwarf"),
             "dwarf of the same perf": (b.perf, "dwarf")}
    totals = {name: [] for name in tools}
    for _, name in peers.in_turn(b, tools):
        perf, mode = tools[name]
        path = b.file("start")
        totals[name].append(sum(sum(meter.run([perf, "record", "-q", "-e", "cpu-clock",
                                               "--call-graph", mode, "-o", path, "true"]))
                                for _ in range(10)) / 10)
        bench.forget(path)
    for other in list(tools)[1:]:
        ratios = [ours / theirs for ours, theirs in zip(totals["hybrid"], totals[other])]
        note = ", ".join(f"{name} {statistics.median(totals[name]):.3f} s"
                         for name in ("hybrid", other))
        yield bench.Row(f"CPU of recording true, hybrid/{other}", "<= 1.05", ratios,
                        lambda ratio: ratio <= 1.05, "", note)


def inject_command(b, source, made):
    """Our converter and its environment: by option, else by configuration."""
    command = [b.perf, "inject", "--convert-callchain", "-i", source, "-o", made]
    probe = subprocess.run([b.perf, "inject", "--unwind-style=hybrid", "--convert-callchain",
                            "-i", os.devnull, "-o", os.devnull],
                           capture_output=True, text=True, check=False)
    if "unwind-style" not in probe.stderr:
        return [*command[:2], "--unwind-style=hybrid", *command[2:]], None
    config = f"{b.data}/config"
    with open(config, "w", encoding="ascii") as file:
        file.write("[unwind]\n\tstyle = hybrid\n")
    return command, dict(os.environ, PERF_CONFIG=config)


def dwarf_file(b, path, wanted=60000):
    """A dwarf file of that many samples of 60 frames each, at 5 kHz of CPU
    time; how long that takes in wall time depends on who else runs."""
    seconds = wanted / 5000 * 1.05
    for _ in range(4):
        bench.forget(path)
        meter.run([b.stock, "record", "-q", "-e", "cpu-clock", "-F", "5000", "-m", "4096",
                   "--call-graph", "dwarf", "-o", path, b.program("deep60.nofp"),
                   str(round(seconds, 1))])
        samples = perfdata.count(path).samples
        if samples >= wanted:
            return samples
        seconds *= min(wanted / max(samples, 1) * 1.1, 5)
    return samples


def compared(b, left, right):
    done = subprocess.run([f"{b.truth}/check-chains", "--perf", b.stock, "--json",
                           "--compare", left, right],
                          capture_output=True, text=True, check=False)
    if done.returncode > 1 or not done.stdout:
        raise meter.Failed(done.stderr.strip() or "the comparison failed")
    return json.loads(done.stdout)


def convert(b):
    """User CPU of converting the same dwarf file, stock perf against ours."""
    source, stock, ours = b.file("convert"), b.file("convert-stock"), b.file("convert-ours")
    samples = dwarf_file(b, source)
    command, env = inject_command(b, source, ours)
    theirs = [b.stock, "inject", "--convert-callchain", "-i", source, "-o", stock]
    times = {"stock": [], "ours": []}
    for _ in range(b.runs):
        bench.forget(stock)
        bench.forget(ours)
        times["stock"].append(meter.run(theirs)[0])
        times["ours"].append(meter.run(command, env)[0])
    ratios = [a / max(b_, 0.0001) for a, b_ in zip(times["stock"], times["ours"])]
    note = (f"{samples:,} samples; stock {statistics.median(times['stock']):.2f} s,"
            f" ours {statistics.median(times['ours']):.2f} s of user CPU")
    yield bench.Row("converting 60,000 samples of 60 frames, stock/ours", ">= 10", ratios,
                    lambda ratio: ratio >= 10, " times", note)
    result = compared(b, stock, ours)
    differ = result["differ"] + result["only_A"] + result["only_B"]
    reasons = sorted(result["reasons"].items(), key=lambda item: -item[1])[:4]
    note = f"{result['same']:,} the same; " + "; ".join(f"{n} {why}" for why, n in reasons)
    yield bench.Row("chains that differ after it, to be explained", "0", [differ],
                    lambda count: count == 0, "", note.rstrip("; "))


def million(b):
    """The first samples in an object with a very large .eh_frame: while perf
    reads it, the rings must not overflow."""
    if shutil.which("opt"):
        name = "libLLVM"
        work = ["sh", "-c", "seq 6000 | sed 's/.*/define i32 @f&(i32 %x) {"
                " %a = mul i32 %x, & %b = add i32 %a, 7 ret i32 %b }/' |"
                " opt -O2 -o /dev/null"]
    elif shutil.which("node"):
        name = "node"
        work = ["node", "-e", "for (let e = Date.now() + 3000; Date.now() < e;)"
                " JSON.parse(JSON.stringify({a: [1, 2, {b: 'c'}]}))"]
    else:
        raise meter.Failed("neither LLVM's opt nor node is installed")
    lost, samples = [], []
    for _ in range(b.runs):
        path = b.file("million")
        meter.run([b.perf, "record", "-q", "-e", "cpu-clock", "-F", "2000", "--call-graph",
                   "hybrid", "-o", path, *work])
        counts = perfdata.count(path)
        lost.append(counts.lost)
        samples.append(counts.samples)
        os.remove(path)
    yield bench.Row(f"lost while the first samples in {name} are unwound", "0", lost,
                    lambda count: count == 0, "",
                    f"{int(statistics.median(samples)):,} samples at 2 kHz", max(lost))
