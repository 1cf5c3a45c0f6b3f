# SPDX-License-Identifier: GPL-2.0
"""Changes one place at a time, in a copy of the sources, and runs the tests that can see it."""

import collections
import concurrent.futures
import os
import shutil
import sys
import threading

from . import places, suites

HERE = suites.HERE


def say(text):
    print(f"# {text}", file=sys.stderr, flush=True)


class Worker:
    """A copy of the sources in which one place at a time is changed."""

    def __init__(self, run, number):
        self.run = run
        self.dir = f"{suites.OUT}/worker{number}.{os.getpid()}"
        shutil.rmtree(self.dir, ignore_errors=True)
        os.makedirs(f"{self.dir}/plain")
        os.symlink(f"{HERE}/out/test/objects", f"{self.dir}/objects")
        for top in {"tools-perf/hybrid", "kmod", *(one["dir"] for one in suites.SUITES.values())}:
            shutil.copytree(f"{HERE}/{top}", f"{self.dir}/tree/{top}", symlinks=True)
        self.original = {}

    def set(self, place, text):
        path = f"{self.dir}/tree/{place.file}"
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def compile(self, suite, variant, obj, output, extra=()):
        made = self.run.variants[suite, variant]
        words = [*made.command(obj, output), "-w", *extra]
        if "-O2" in extra:
            words = [word for word in words if not word.startswith(("-fsanitize", "-fno-sanit"))]
        return not suites.run_quietly(words, f"{self.dir}/tree/{suites.SUITES[suite]['dir']}")[0]

    def code_of(self, suite, obj):
        """The object's bytes at -O2, without lines: None if it does not compile."""
        path = f"{self.dir}/code.o"
        if not self.compile(suite, "plain", obj, path, ["-O2", "-g0"]):
            return None
        with open(path, "rb") as file:
            return file.read()

    def is_other(self, place, text):
        """Does a changed place compile, to other code?"""
        objects = self.run.objects_of(place.file)
        if not objects:
            return True
        # An object of a header's is as good as another, but not each has all of its functions.
        for suite, obj in objects:
            if (suite, obj) not in self.original:
                self.original[suite, obj] = self.code_of(suite, obj)
        self.set(place, places.changed(text, place))
        try:
            for suite, obj in objects[:8]:
                code = self.code_of(suite, obj)
                if code is None:
                    return False
                if code != self.original[suite, obj]:
                    return True
            return False
        finally:
            self.set(place, text)

    def notices(self, place, text):
        """The test that notices a changed place, "" if none does, None if none runs it."""
        tests = self.run.tests_of(place, text)
        if not tests:
            return None
        self.set(place, places.changed(text, place))
        try:
            for variant in self.run.order:
                built = {}
                for suite, program in tests:
                    if (suite, variant) in self.run.variants and \
                       not self.passes(place.file, suite, variant, program, built):
                        return f"{program} ({variant})" if variant != "plain" else program
            return ""
        finally:
            self.set(place, text)

    def passes(self, file, suite, variant, program, built):
        made = self.run.variants[suite, variant]
        replaced = {}
        for obj in self.run.coverage[suite].objects_in(program, file):
            path = f"{self.dir}/{suite}.{variant}.{obj}"
            if path not in built:
                built[path] = self.compile(suite, variant, obj, path)
            if not built[path]:
                return False
            replaced[obj] = path
        where = f"{self.dir}/tree/{suites.SUITES[suite]['dir']}"
        output = f"{self.dir}/plain/{program}"
        status, said = suites.run_quietly([*made.link(program, output, replaced),
                                           "-Wl,--strip-debug"], where)
        if status:
            print(f"# {file}: {program} does not link: {said[-300:]}", file=sys.stderr)
            return False
        # Sanitizers slow down some tests by hundreds of times: those that map much memory.
        least, times = (5, 10) if variant == "plain" else (30, 30)
        seconds = int(least + self.run.coverage[suite].seconds[program] * times)

        def passes(path):
            return suites.run_test([path, *suites.SUITES[suite]["programs"][program]], where,
                                   f"{self.dir}/tmp", seconds, made.sanitized)[0]

        if passes(output):
            return True
        # A test that fails whatever is changed notices nothing.
        if (suite, variant, program) not in self.run.sound:
            if not passes(f"{made.objects}/{program}"):
                raise suites.Failed(f"{program} ({variant}) fails without any change")
            self.run.sound.add((suite, variant, program))
        return False

    def close(self):
        shutil.rmtree(self.dir, ignore_errors=True)


class Run:
    """What all workers share."""

    def __init__(self, names, asan, jobs):
        self.order = ["plain", "asan"] if asan else ["plain"]
        self.coverage, self.variants = {}, {}
        self.noticed_by = collections.Counter()
        self.sound = set()      # (suite, variant, program) that pass without a change
        for name in names:
            say(f"what the suite {name} runs")
            self.coverage[name] = suites.Coverage(name, jobs)

    def build(self, files, jobs):
        for name, coverage in self.coverage.items():
            if not any(file in coverage.known for file in files):
                continue
            for variant in self.order:
                if variant in suites.SUITES[name]["variants"]:
                    say(f"building the suite {name}, {variant}")
                    self.variants[name, variant] = suites.Variant(suites.SUITES[name], variant,
                                                                  jobs)

    def objects_of(self, file):
        """(suite, object) of all that are compiled from a file, those named like it first."""
        stem = os.path.basename(file).rpartition(".")[0] + ".o"
        found = [(name, obj) for name, coverage in self.coverage.items()
                 for obj in coverage.objects.get(file, ())]
        return sorted(found, key=lambda one: (one[1] != stem, one))

    def known(self, file):
        """Lines of a file that have code, and those that a test runs."""
        known, ran = set(), set()
        for coverage in self.coverage.values():
            known |= coverage.known.get(file, set())
            for lines in coverage.tests.values():
                ran |= lines.get(file, set())
        return known, ran

    def tests_of(self, place, text):
        """(suite, program) of those that run a place: which likely notices it comes first."""
        known = {line for coverage in self.coverage.values()
                 for line in coverage.known.get(place.file, ())}
        line = place.line
        lines = text.splitlines()
        while line > 1 and line not in known and lines[line - 1] != "{":
            line -= 1
        stem = os.path.basename(place.file).rpartition(".")[0]
        tests = [(name, program) for name, coverage in self.coverage.items()
                 for program, ran in coverage.tests.items() if line in ran.get(place.file, ())]
        return sorted(tests, key=lambda one: (
            stem not in one[1], -self.noticed_by[place.file, one[1]],
            self.coverage[one[0]].seconds[one[1]]))


class Pool:
    """Workers, each of which does one thing at a time."""

    def __init__(self, run, jobs):
        self.workers = [Worker(run, number) for number in range(jobs)]
        self.free = list(self.workers)
        self.lock = threading.Lock()
        self.pool = concurrent.futures.ThreadPoolExecutor(jobs)

    def map(self, function, items):
        def do(item):
            with self.lock:
                worker = self.free.pop()
            try:
                return function(worker, item)
            finally:
                with self.lock:
                    self.free.append(worker)
        return self.pool.map(do, items)

    def close(self):
        self.pool.shutdown(cancel_futures=True)
        for worker in self.workers:
            worker.close()
