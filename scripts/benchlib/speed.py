# SPDX-License-Identifier: GPL-2.0
"""Converting a dwarf file: time, frames a second and memory of each tool."""

import os
import shutil
import subprocess

from . import bench, cost, meter, peers

SAMPLES = 20000


def spent(command, env=None):
    """(user CPU seconds, MiB at most) of a command that must succeed."""
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, env=env) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise meter.Failed(f"{' '.join(command[:2])} failed, status {process.returncode}")
    return usage.ru_utime, usage.ru_maxrss / 1024


def commands(b, source, made):
    """Of each tool that is installed: its command and environment."""
    yield "stock inject", ([b.stock, "inject", "--convert-callchain", "-i", source, "-o",
                            made], None)
    yield "hybrid inject", cost.inject_command(b, source, made)
    if shutil.which("samply"):
        yield "samply import", (["samply", "import", "--save-only", "-o", f"{made}.json.gz",
                                 source], None)


def speed(b):
    """One file of 60 frames a sample, all tools in turn."""
    source, made = b.file("speed"), b.file("speed-made")
    samples = cost.dwarf_file(b, source, SAMPLES)
    tools = dict(commands(b, source, made))
    case = f"{samples:,} samples"
    seconds = peers.Grid("converting a dwarf file", "s of user CPU", "file", tools, 3)
    frames = peers.Grid("frames", "millions a second", "file", tools, 2)
    memory = peers.Grid("memory at most", "MiB", "file", tools, 0)
    bench.forget(made)
    spent(*tools["hybrid inject"])
    each = b.check(made)["mean_frames"]
    for _, tool in peers.in_turn(b, tools):
        bench.forget(made)
        used, most = spent(*tools[tool])
        seconds.add(case, tool, used)
        frames.add(case, tool, each * samples / used / 1e6)
        memory.add(case, tool, most)
    yield from (seconds, frames, memory)
