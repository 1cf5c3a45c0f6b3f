# SPDX-License-Identifier: GPL-2.0
"""Memory of perf during a long recording of the whole machine."""

import time

from . import bench, meter

# Short processes of several kinds; `wait` keeps the shell from being one of many.
CHURN = ["sh", "-c", "while :; do ls / > /dev/null; sed p /dev/null; sh -c 'true; true';"
         " awk 'BEGIN { for (i = 0; i < 20000; i++) s += i }'; done"]


def slope(points):
    """Least squares: KiB a minute."""
    n = len(points)
    mean_t = sum(t for t, _ in points) / n
    mean_v = sum(v for _, v in points) / n
    spread = sum((t - mean_t) ** 2 for t, _ in points)
    return 60 * sum((t - mean_t) * (v - mean_v) for t, v in points) / spread if spread else 0


def recordings(b):
    """Ours and, beside it, stock perf with frame pointers: it keeps each
    process that it has seen, too."""
    return {"ours": meter.Recording(b.perf, ["-a", "-F", "1000", "--call-graph", "hybrid"],
                                    b.file("memory-ours")),
            "stock": meter.Recording(b.stock, ["-a", "-F", "1000", "--call-graph", "fp"],
                                     b.file("memory-stock"))}


def memory(b):
    """RSS sampled once a second; the first third is for warming up."""
    points = {"ours": [], "stock": []}
    running = recordings(b)
    try:
        with meter.Workload(CHURN):
            for one in running.values():
                one.start()
            start = time.monotonic()
            while time.monotonic() - start < b.duration:
                time.sleep(1)
                for name, one in running.items():
                    points[name].append((time.monotonic() - start,
                                         meter.memory(one.process.pid, "VmRSS")))
    finally:
        for one in running.values():
            one.stop(check=False)
    warm = {name: all_[len(all_) // 3:] for name, all_ in points.items()}
    ours, stock = slope(warm["ours"]), slope(warm["stock"])
    note = (f"{points['ours'][0][1]:,} KiB at first, {points['ours'][-1][1]:,} after"
            f" {b.duration:.0f} s; stock perf with fp beside it {stock:,.0f} KiB a minute")
    row = bench.Row("growth of perf's memory, -a at 1 kHz, short processes", "<= 256", [ours],
                    lambda growth: growth <= 256, " KiB/min", note)
    row.series = {name: [kib for _, kib in all_] for name, all_ in points.items()}
    yield row
