# SPDX-License-Identifier: GPL-2.0
"""The suites that can see a change: how they are built, what their programs are, what each runs.

All is taken from the suites' own Makefiles: make says by which commands an object and a program
are made, and gcov which files an object was compiled from, and which lines of them a program runs.
"""

import concurrent.futures
import hashlib
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import threading

HERE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
OUT = f"{HERE}/out/mutate"
SAN = "-fsanitize=address,undefined -fno-sanitize-recover=all"
# As in the kernel of this architecture.
UNALIGNED = "-fno-sanitize=alignment"
# Lines are as they were written; tests that take single steps end.
COVERAGE = "-O1 -fno-inline --coverage"
# Children that end by _exit() write down their lines, too.
CHILDREN = f"-include {HERE}/scripts/mutatelib/children.h"
LIBC = "/lib/x86_64-linux-gnu/libc.so.6"


def unit_tests():
    """All but the one of files that are not of the core, which needs libbpf."""
    names = [name[:-2] for name in sorted(os.listdir(f"{HERE}/tools-perf/test"))
             if re.fullmatch(r"test-.*\.c", name)]
    return {name: [] for name in names if name != "test-type-copy"}


# Each has a Makefile in "dir", and programs that are compiled from "sources". The "programs" are
# tests, with their arguments; "targets" is what make must have made for them, too. "variants" are:
# where objects are, what $(OUT) is, and what else make is told. "plain" and "coverage" must be
# there, "asan" may be.
SUITES = {
    "unit": {
        "dir": "tools-perf/test",
        "sources": ("tools-perf/hybrid/", "kmod/frame/"),
        "programs": unit_tests(),
        "targets": ["objects"],
        "variants": {
            "plain": (f"{HERE}/out/test/plain", f"{HERE}/out/test", []),
            "asan": (f"{HERE}/out/test/asan", f"{HERE}/out/test", []),
            "coverage": (f"{OUT}/unit/plain", f"{OUT}/unit",
                         [f"FLAGS_plain=gcc {COVERAGE} {CHILDREN}"]),
        },
    },
    "frame": {
        "dir": "selftests/frame",
        "sources": ("kmod/frame/", "kmod/walk/"),
        "programs": {
            "test-frame": [], "test-decode": [], "test-steps": [], "test-throttle": [],
            "test-walk": ["300"], "test-cache": [LIBC, "/bin/bash"],
            "test-look": [], "test-returns": [], "test-step": [], "test-claims": ["50000"],
            "test-paths": [], "test-scan": [],
            **{f"test-code{part}{form}": [] for part in ("", "-rule", "-next", "-signal")
               for form in ("", "-module")},
            "oracle-cfi": ["-n", "libc", "-W", "0.02", "-L", "100", "-U", "15", LIBC],
        },
        "targets": [],
        "variants": {
            name: (f"{OUT}/frame-{name}/selftests/frame", f"{OUT}/frame-{name}", flags)
            for name, flags in {"plain": ["TEST_CFLAGS=-O1 -g"],
                                "asan": [f"CFLAGS=-O1 -g {SAN} {UNALIGNED}"],
                                "coverage": [f"CFLAGS=-g {COVERAGE}",
                                             f"TEST_CFLAGS=-g {COVERAGE}"]}.items()
        },
    },
    "table": {
        "dir": "selftests/table",
        "sources": ("kmod/table/", "kmod/walk/"),
        "programs": {
            "test-table": [], "test-limits": [], "test-device": [], "test-load": [],
            "test-rules": ["20000"], "test-guards": [], "test-lookup": [], "test-events": [],
        },
        "targets": [],
        "variants": {
            name: (f"{OUT}/table-{name}/selftests/table", f"{OUT}/table-{name}", flags)
            for name, flags in {"plain": [], "coverage": [f"CFLAGS=-g {COVERAGE}"]}.items()
        },
    },
}


def keep(names):
    """Leaves programs of these names in the table alone."""
    for suite in SUITES.values():
        suite["programs"] = {name: said for name, said in suite["programs"].items()
                             if name in names}


class Failed(Exception):
    """Said in one line."""


def run_quietly(command, cwd):
    done = subprocess.run(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", check=False)
    return done.returncode, done.stdout


class Variant:
    """One build of a suite: the commands that make its objects and programs."""

    def __init__(self, suite, name, jobs):
        self.objects, out, flags = suite["variants"][name]
        self.cwd = f"{HERE}/{suite['dir']}"
        self.made = {}
        self.sanitized = False
        linux = subprocess.check_output([f"{HERE}/scripts/kernel-source"], text=True).strip()
        make = ["make", "-s", f"LINUX={linux}", f"OUT={out}", *flags]
        programs = [f"{self.objects}/{name}" for name in suite["programs"]]
        status, said = run_quietly([*make, "-k", f"-j{jobs}", *programs, *suite["targets"]],
                                   self.cwd)
        if status:
            raise Failed(f"{suite['dir']}: make failed: {said[-2000:]}")
        said = subprocess.check_output([*make, "-n", "-B", *programs], cwd=self.cwd, text=True,
                                       stderr=subprocess.DEVNULL)
        for line in said.replace("\\\n", " ").splitlines():
            found = re.search(r"(?:^|\s)-o (\S+)", line)
            if found and found.group(1).startswith(self.objects):
                self.made[os.path.basename(found.group(1))] = shlex.split(line)
                self.sanitized |= "-fsanitize" in line

    def command(self, name, output):
        """The command that makes an object or a program, to another place."""
        words = list(self.made[name])
        words[words.index("-o") + 1] = output
        return words

    def link(self, name, output, replaced):
        """A program whose objects of these names are others: they come before an archive."""
        words = self.command(name, output)
        for base, path in replaced.items():
            whole = f"{self.objects}/{base}"
            if whole in words:
                words[words.index(whole)] = path
            else:
                first = next(i for i, word in enumerate(words) if word.endswith(".a"))
                words.insert(first, path)
        return words


def run_test(command, cwd, tmp, seconds, sanitized=False, env=None):
    """Does a test pass, and what CPU time did it take? A change may have made it endless, greedy
    or talkative. It runs in a process group of its own, which ends with it."""
    os.makedirs(tmp, exist_ok=True)
    # An oracle ends without giving back what libdw has read. Files with holes are large.
    leaks = int("oracle" not in command[0])
    env = {**os.environ, "TMPDIR": tmp,
           "ASAN_OPTIONS": f"hard_rss_limit_mb=3000:detect_leaks={leaks}", **(env or {})}
    limits = [f"--cpu={seconds}:{seconds + 1}", "--core=0", f"--fsize={1 << 44}"]
    if not sanitized:
        limits.append(f"--as={1 << 33}")
    # pylint: disable-next=consider-using-with
    child = subprocess.Popen(["prlimit", *limits, *command], cwd=cwd, env=env,
                             stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL, start_new_session=True)
    # A test that waits for ever uses no CPU.
    timer = threading.Timer(60 + 20 * seconds, os.killpg, (child.pid, signal.SIGKILL))
    timer.start()
    _, status, used = os.wait4(child.pid, 0)
    timer.cancel()
    child.returncode = status
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    shutil.rmtree(tmp, ignore_errors=True)
    return status == 0, used.ru_utime + used.ru_stime


class Coverage:
    """Of one suite: which objects have a file, and which programs run a line."""

    def __init__(self, name, jobs):
        self.suite = SUITES[name]
        self.name = name
        self.variant = Variant(self.suite, "coverage", jobs)
        self.store = f"{OUT}/coverage-{name}"
        self.objects = {}       # file: names of objects
        self.known = {}         # file: lines that have code
        self.tests = {}         # program: {file: lines that it runs}
        self.linked = {}        # program: {file: names of its objects}
        self.seconds = {}       # program: its CPU time, with coverage
        os.makedirs(self.store, exist_ok=True)
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            got = list(pool.map(self.of_program, self.suite["programs"]))
        for program, (used, lines) in zip(self.suite["programs"], got):
            self.seconds[program] = used
            ran = self.tests[program] = {}
            linked = self.linked[program] = {}
            for obj, files in lines.items():
                for file, (run, not_run) in files.items():
                    self.objects.setdefault(file, set()).add(obj)
                    linked.setdefault(file, []).append(obj)
                    self.known.setdefault(file, set()).update(run, not_run)
                    ran.setdefault(file, set()).update(run)

    def objects_in(self, program, file):
        """The objects of a program that are compiled from a file."""
        return self.linked[program].get(file, [])

    def of_program(self, program):
        """CPU time and {object: {file: (lines that were run, those that were not)}}. It is kept
        until the program is another one."""
        path = f"{self.variant.objects}/{program}"
        with open(path, "rb") as file:
            key = hashlib.sha1(file.read()).hexdigest()
        kept = f"{self.store}/{program}.{key}.json"
        if os.path.exists(kept):
            with open(kept, encoding="utf-8") as file:
                return json.load(file)
        for old in os.listdir(self.store):
            if old.startswith(program + ".") and old.endswith(".json"):
                os.remove(f"{self.store}/{old}")
        data = f"{self.store}/{program}.data"
        shutil.rmtree(data, ignore_errors=True)
        passed, used = run_test([path, *self.suite["programs"][program]], self.variant.cwd,
                             f"{data}.tmp", 300, env={"GCOV_PREFIX": data})
        if not passed:
            raise Failed(f"{program} fails without any change: run it by itself")
        result = used, self.read(data)
        shutil.rmtree(data, ignore_errors=True)
        with open(kept, "w", encoding="utf-8") as file:
            json.dump(result, file)
        return result

    def read(self, data):
        counts = data + self.variant.objects
        names = [name for name in os.listdir(counts) if name.endswith(".gcda")]
        for name in names:
            note = name[:-2] + "no"
            os.symlink(f"{self.variant.objects}/{note}", f"{counts}/{note}")
        said = subprocess.check_output(["gcov", "--json-format", "--stdout", *names], cwd=counts,
                                       text=True, stderr=subprocess.DEVNULL)
        result = {}
        for line in said.splitlines():
            told = json.loads(line)
            obj = os.path.basename(told["data_file"]).rpartition(".")[0] + ".o"
            files = result.setdefault(obj, {})
            for file in told["files"]:
                path = os.path.normpath(os.path.join(self.variant.cwd, file["file"]))
                if not path.startswith(HERE + "/") or path.startswith(HERE + "/out/"):
                    continue
                run, not_run = set(), set()
                for at in file["lines"]:
                    (run if at["count"] else not_run).add(at["line_number"])
                files[path[len(HERE) + 1:]] = (sorted(run), sorted(not_run - run))
        return result
