# SPDX-License-Identifier: GPL-2.0
"""What all measurements share: where things are, rows, results."""

import json
import os
import platform
import statistics
import subprocess

from . import meter, noise


class Bench:
    """Paths and settings of one run."""

    def __init__(self, here):
        self.here = here
        self.perf = os.environ.get("PERF") or f"{here}/out/bin/perf"
        self.stock = os.environ.get("PERF_STOCK") or f"{here}/out/perf-stock/perf"
        self.truth = f"{here}/selftests/truth"
        self.programs = f"{here}/out/selftests/truth"
        self.results = os.environ.get("RESULTS") or f"{here}/out/bench"
        self.data = f"{self.results}/data"
        self.runs = int(os.environ.get("RUNS") or 5)
        self.seconds = float(os.environ.get("SECONDS_EACH") or 2)
        self.duration = float(os.environ.get("DURATION") or 120)
        os.makedirs(self.data, exist_ok=True)
        os.environ["PYTHONDONTWRITEBYTECODE"] = "1"

    def prepare(self):
        for perf in (self.perf, self.stock):
            if not os.access(perf, os.X_OK):
                raise meter.Failed(f"no perf at {perf}: make perf perf-stock, or name them"
                                   " with PERF= and PERF_STOCK=")
        meter.run(["make", "-s", "-C", self.truth, f"OUT={self.programs}", "all"])

    def clean(self):
        """A dwarf file takes half a gigabyte: none stays."""
        for name in os.listdir(self.data):
            os.remove(f"{self.data}/{name}")

    def program(self, name):
        return f"{self.programs}/{name}"

    def file(self, name):
        return f"{self.data}/{name}.data"

    def record(self, perf, options, program, path, rate=2000):
        """Records a truth program from its start to its end."""
        forget(path)
        meter.run([perf, "record", "-q", "-e", "cpu-clock", "-F", str(rate), *options,
                   "-o", path, self.program(program), str(self.seconds)])

    def check(self, path):
        """check-chains' figures of a file, as our perf reads it."""
        done = subprocess.run([f"{self.truth}/check-chains", "--perf", self.perf, "--json",
                               path], capture_output=True, text=True, check=False)
        if done.returncode > 1 or not done.stdout:
            raise meter.Failed(done.stderr.strip() or f"can't check {path}")
        return json.loads(done.stdout)


class Row:
    """One line of the table: what, must be, measured, and its single values."""

    def __init__(self, what, must, values, good, unit="", note="", measured=None):
        self.what, self.must, self.unit, self.note = what, must, unit, note
        self.values = [round(v, 4) for v in values]
        self.measured = statistics.median(values) if measured is None else measured
        self.good = bool(good(self.measured))
        self.series = None

    def text(self):
        spread = ""
        if len(self.values) > 1:
            spread = f" ({shown(min(self.values))} to {shown(max(self.values))})"
        return (f"{self.what:<58} {self.must:<12} {shown(self.measured)}{self.unit}{spread}"
                f"  {'ok' if self.good else 'MISSED'}"
                + (f"\n{'':4}{self.note}" if self.note else ""))

    def json(self):
        fields = {"what": self.what, "must_be": self.must, "measured": self.measured,
                  "unit": self.unit.strip(), "values": self.values, "ok": self.good,
                  "note": self.note}
        if self.series:
            fields["series"] = self.series
        return fields


def forget(path):
    """Before perf would keep a file of the same name as PATH.old."""
    if os.path.exists(path):
        os.remove(path)


def shown(value):
    if value == int(value):
        return f"{int(value):,}"
    return f"{value:,.2f}" if abs(value) >= 0.1 else f"{value:.4f}"


def first_line(*command):
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return (done.stdout or done.stderr).splitlines()[0]
    except (OSError, IndexError):
        return ""


def cpu_model():
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
        for line in file:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.machine()


def machine(bench):
    """What a reader needs to judge the figures; no name of the machine."""
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return {
        "cpu": cpu_model(), "cpus": os.cpu_count(), "memory_mib": pages >> 20,
        "kernel": platform.release(), "libc": " ".join(platform.libc_ver()),
        "gcc": first_line("gcc", "--version"),
        "perf": first_line(bench.perf, "version"),
        "perf_stock": first_line(bench.stock, "version"),
    }


def save(bench, name, rows, others):
    with open(f"{bench.results}/{name}.json", "w", encoding="utf-8") as file:
        json.dump({"name": name, "machine": machine(bench), "runs": bench.runs,
                   "others_percent": round(others * 100, 1), "noisy": others > noise.TOO_MUCH,
                   "rows": [row.json() for row in rows]}, file, indent=1)
        file.write("\n")
