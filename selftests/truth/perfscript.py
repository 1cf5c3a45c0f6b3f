# SPDX-License-Identifier: GPL-2.0
"""Reads what `perf script` prints, sample by sample."""

import re
import subprocess
import tempfile

from chains import Frame

FIELDS = "comm,pid,tid,time,event,ip,sym,dso"
# A thread may be called like what follows its name: the last place that looks so counts.
HEAD = re.compile(r"^\s*(\S.*|)\s+(-?\d+)/(-?\d+)\s+(\d+\.\d+):\s+(\S.*?):?\s*$")
# What a chain says of itself, as a frame: its callers are not known, or those outside
# of this one are only likely. An unpatched perf shows the mapping alone.
MARKS = ("[cut off]", "[guessed]")
# A path begins with the first slash after a bracket; other mappings have no brackets.
FILE = re.compile(r"^\s+([0-9a-f]+) (.*?) \((/.*)\)$")
FRAME = re.compile(r"^\s+([0-9a-f]+) (.*) \(([^()]*(?: \(deleted\))?)\)$")


class Sample:
    __slots__ = ("comm", "pid", "tid", "time", "event", "frames", "marks", "shown")

    def __init__(self, match):
        self.comm = match[1].strip()
        self.pid, self.tid = int(match[2]), int(match[3])
        self.time, self.event = match[4], match[5]
        # shown: the frames with the marks among them.
        self.frames, self.marks, self.shown = [], [], []


def parse(lines):
    """Yields each Sample. A line that is neither head nor frame is an error:
    silence would look like a short chain."""
    sample = None
    symbols = {}
    for line in lines:
        if not line.strip():
            if sample:
                yield sample
            sample = None
            continue
        match = (FILE.match(line) or FRAME.match(line)) if sample else None
        if match:
            key = (match[1], match[2], match[3])
            frame = symbols.get(key)
            if not frame:
                frame = symbols[key] = Frame(int(match[1], 16), match[2], match[3])
            sample.shown.append(frame)
            if frame.dso in MARKS:
                sample.marks.append(frame.dso)
            else:
                sample.frames.append(frame)
            continue
        match = HEAD.match(line)
        if not match:
            raise ValueError(f"perf script printed a line unknown here: {line.rstrip()}")
        if sample:
            yield sample
        sample = Sample(match)
    if sample:
        yield sample


def samples(perf, path, max_stack="1200"):
    """Yields each Sample of a perf.data file, as that perf shows it."""
    command = [perf, "script", "-i", path, "-F", FIELDS, "--ns", "--no-inline",
               "--max-stack", str(max_stack)]
    with tempfile.TemporaryFile("w+") as errors:
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors,
                              stdin=subprocess.DEVNULL, text=True,
                              errors="replace") as process:
            yield from parse(process.stdout)
        if process.returncode:
            errors.seek(0)
            why = errors.read().strip().splitlines() or ["no reason given"]
            raise ValueError(f"{perf} script of {path} failed: {why[-1]}")
