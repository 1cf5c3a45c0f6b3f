# SPDX-License-Identifier: GPL-2.0
"""How much of the machine others used while a measurement ran."""

import os
import time

# Of all CPUs together; above it times say as much of the others as of perf.
TOO_MUCH = 0.05


def busy():
    """CPU seconds that the whole machine was not idle, since it started."""
    with open("/proc/stat", encoding="ascii") as file:
        user, nice, system, _, _, irq, softirq, steal = map(int, file.readline().split()[1:9])
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def own():
    """CPU seconds of this program and of all that it waited for."""
    return sum(os.times()[:4])


class Noise:
    """From its making on; others() at the end."""

    def __init__(self):
        self.start, self.busy, self.own = time.monotonic(), busy(), own()

    def others(self):
        """Their share of all CPUs, 0 to 1."""
        wall = time.monotonic() - self.start
        theirs = (busy() - self.busy) - (own() - self.own)
        return max(0.0, theirs / (wall * (os.cpu_count() or 1))) if wall else 0.0


def said(share):
    text = f"others used {share * 100:.0f} % of the machine"
    return f"NOISY: {text}, don't trust the times" if share > TOO_MUCH else text
