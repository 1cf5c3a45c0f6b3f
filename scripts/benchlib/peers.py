# SPDX-License-Identifier: GPL-2.0
"""The tools that are measured beside each other, and their tables."""

import os
import statistics
import sys
import time

from . import meter

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)) + "/../../selftests/truth")
import perfdata  # noqa: E402

# All samples of hybrid with their dump, as where BPF may not be used.
DUMPS = "--no-kernel-walk"
# Name: whose perf, --call-graph, and what else it takes. 65,528 is the largest dump there
# is. "hybrid" is what a user has who asks for nothing else: by BPF, where that may be.
PEERS = {
    "fp": ("stock", "fp"),
    "dwarf 8 KiB": ("stock", "dwarf"),
    "dwarf 64 KiB": ("stock", "dwarf,65528"),
    "hybrid": ("perf", "hybrid"),
    "hybrid, 8 KiB dumps": ("perf", "hybrid,8192", DUMPS),
    "hybrid, 64 KiB dumps": ("perf", "hybrid,65528", DUMPS),
}
# Those whose stacks are large are left out where that tells nothing.
SMALL = [name for name in PEERS if name != "hybrid, 64 KiB dumps"]
# The runs of one value differ by more than this share of their median.
WIDE = 0.5


def perf_of(b, peer):
    return getattr(b, PEERS[peer][0])


def options(peer):
    """What perf record takes to be that tool."""
    return ["--call-graph", *PEERS[peer][1:]]


def in_turn(b, peers):
    """(run, peer), each going first in some of the runs: what the machine
    does meanwhile hits all alike."""
    peers = list(peers)
    for run in range(b.runs):
        first = run % len(peers)
        for peer in peers[first:] + peers[:first]:
            yield run, peer


def record(b, peer, path, rate, seconds, target):
    """perf attached to a running program, or ["-a"] beside one: a dict."""
    recording = meter.Recording(perf_of(b, peer), ["-F", str(rate), *options(peer), *target],
                                path)
    recording.start()
    before = recording.cpu()
    time.sleep(seconds)
    recording.drain()
    used = recording.cpu() - before
    memory = meter.memory(recording.process.pid, "VmHWM")
    recording.stop()
    counts = perfdata.count(path)
    return {"cpu": used, "cpu_percent": 100 * used / seconds, "memory_mib": memory / 1024,
            "cpu_us": used / max(counts.samples, 1) * 1e6, "samples": counts.samples,
            "lost_percent": 100 * counts.lost / max(counts.samples + counts.lost, 1),
            "bytes": counts.bytes_per_sample(counts.samples)}


class Grid:
    """A table: what was measured, a line for each x, a column for each peer."""

    def __init__(self, what, unit, x_name, peers, digits=1):
        self.what, self.unit, self.x_name = what, unit, x_name
        self.peers, self.digits = list(peers), digits
        self.cells = {}

    def add(self, x, peer, value):
        self.cells.setdefault(x, {}).setdefault(peer, []).append(value)

    def shown(self, x, peer):
        values = self.cells[x].get(peer)
        if not values:
            return "-"
        middle = statistics.median(values)
        wide = max(values) - min(values) > WIDE * abs(middle) and len(values) > 1
        return f"{'~' if wide else ''}{middle:,.{self.digits}f}"

    def text(self):
        lines = [f"{self.what}{', ' + self.unit if self.unit else ''}",
                 f"  {self.x_name:<18}" + "".join(f"{peer:>21}" for peer in self.peers)]
        for x in self.cells:
            shown = f"{x:,}" if isinstance(x, int) else x
            lines.append(f"  {shown:<18}" +
                         "".join(f"{self.shown(x, peer):>21}" for peer in self.peers))
        if any("~" in line for line in lines):
            lines.append("  ~ its runs differ by more than half of their median")
        return "\n".join(lines) + "\n"

    def json(self):
        return {"what": self.what, "unit": self.unit, "x": self.x_name, "peers": self.peers,
                "values": [{"x": x, **{peer: [round(v, 4) for v in values]
                                       for peer, values in by_peer.items()}}
                           for x, by_peer in self.cells.items()]}
