#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Runs programs and measures their CPU time.

As a program, for scripts/demo: records a workload that it starts, and prints
the CPU milliseconds that perf itself used.

usage: meter.py PERF MODE HZ SECONDS FILE WORKLOAD...

What perf says goes to FILE.said.
"""

import os
import select
import signal
import subprocess
import sys
import tempfile
import time


class Failed(Exception):
    """A command failed; the text says which, and what it said first."""


def said(file):
    file.seek(0)
    lines = [line.strip() for line in file.read().decode(errors="replace").splitlines()]
    lines = [line for line in lines if line]
    return next((line for line in lines if line.startswith("Error")), None) or \
        (lines[0] if lines else "no reason given")


def memory(pid, what):
    """KiB of a process: VmRSS, now; VmHWM, the most that it has had."""
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        for line in file:
            if line.startswith(f"{what}:"):
                return int(line.split()[1])
    return 0


def run(command, env=None):
    """(user seconds, system seconds) of a command that must succeed."""
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=errors,
                                   stderr=errors, env=env)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise Failed(f"{' '.join(command[:2])} failed: {said(errors)}")
    return usage.ru_utime, usage.ru_stime


def cpu_now(pid):
    """CPU seconds that another process used so far, all its threads: the
    kernel's clock of a process, to the nanosecond."""
    return time.clock_gettime(~pid << 3 | 2)


class Workload:
    """A program in the background, gone at the end of the with block."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        self.pid = self.process.pid

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


class Recording:
    """perf record, driven through its control descriptors.

    Start and end of perf cost as much whatever the call graph is (it reads
    /proc/kallsyms); so the time is taken from the moment at which perf says
    that the events are on. A workload that is given here runs from then on.
    """

    def __init__(self, perf, options, path, workload=()):
        control, self.control = os.pipe()
        self.ack, ack = os.pipe()
        self.errors = tempfile.TemporaryFile()
        self.command = [perf, "record", "-e", "cpu-clock", "-D", "-1",
                        "--control", f"fd:{control},{ack}", *options, "-o", path,
                        *workload]
        self.process = subprocess.Popen(self.command, pass_fds=(control, ack),
                                        stdin=subprocess.DEVNULL,
                                        stdout=self.errors, stderr=self.errors)
        os.close(control)
        os.close(ack)
        self.total = None

    def tell(self, word):
        os.write(self.control, word.encode() + b"\n")
        ready, _, _ = select.select([self.ack], [], [], 60)
        if not ready or not os.read(self.ack, 64):
            self.stop(check=False)
            raise Failed(f"perf record did not {word}: {said(self.errors)}")

    def start(self):
        """Blocks until events are on."""
        self.tell("enable")

    def drain(self):
        """Events off, and what the rings still hold is read: perf reads them
        on its next turn, right after it answered."""
        self.tell("disable")
        time.sleep(0.2)

    def cpu(self):
        return cpu_now(self.process.pid)

    def stop(self, check=True):
        """Ends the recording; afterwards total is perf's CPU time in all."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            _, status, usage = os.wait4(self.process.pid, 0)
            self.process.returncode = os.waitstatus_to_exitcode(status)
            self.total = usage.ru_utime + usage.ru_stime
        os.close(self.control)
        os.close(self.ack)
        if check and self.process.returncode not in (0, -signal.SIGINT):
            raise Failed(f"perf record failed: {said(self.errors)}")


def record(perf, options, path, workload, seconds, log=None):
    """CPU seconds of perf while it records a running workload, and in all.
    What it says goes to log."""
    with Workload(workload) as target:
        time.sleep(0.1)
        recording = Recording(perf, [*options, "-p", str(target.pid)], path)
        recording.start()
        before = recording.cpu()
        time.sleep(seconds)
        recording.drain()
        used = recording.cpu() - before
        recording.stop()
        if log:
            recording.errors.seek(0)
            with open(log, "wb") as file:
                file.write(recording.errors.read())
    return used, recording.total


def main():
    if len(sys.argv) < 7:
        print(__doc__, file=sys.stderr)
        return 2
    perf, mode, rate, seconds, path, *workload = sys.argv[1:]
    try:
        used, _ = record(perf, ["-F", rate, "--call-graph", mode], path, workload,
                         float(seconds), f"{path}.said")
    except (Failed, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{used * 1000:.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
