# SPDX-License-Identifier: GPL-2.0
"""Is a chain the path of calls that the program logged?"""

import itertools
import re

import chains

ROOT = re.compile(r"^_start$|clone|^__start_context$")
CLOCK = re.compile(r"clock_gettime|getrusage|plt$|^_dl_vdso|^\[vdso")

# What a program calls the code that it has made, in its log.
MADE = "made"

EXACT, CUT, WRONG = "exact", "cut off", "wrong"


class Verdict:
    """kind: one of the above, or None with the reason why it is left out.
    root: exact, and on to where the process or thread begins. complete: it looks
    so, whether or not it is right. changing: by a path beside the logged one."""

    def __init__(self, kind, reason="", root=False, complete=False, marked=False,
                 changing=False):
        self.kind, self.reason, self.root = kind, reason, root
        self.complete, self.marked, self.changing = complete, marked, changing


class Wrong(Exception):
    pass


class Cut(Exception):
    pass


class Judge:
    """Of one program. table: of truthlib; program: the path of its file."""

    def __init__(self, table, program, guard=1000):
        self.table, self.program, self.guard = table, program, guard
        self.logged = {name for name, function in table.items()
                       if function.caller in ("@logged", "@start")}

    def verdict(self, log, time, frames, marked):
        """time: ns; marked: the chain says that it is not whole, or not certain."""
        kernel = list(itertools.takewhile(lambda f: f.ip >= chains.KERNEL, frames))
        user = frames[len(kernel):]
        if chains.no_user_stack(kernel, user):
            return Verdict(None, "no stack to read")
        number = log.at(time)
        if number is None:
            return Verdict(None, "before or after the log")
        best = self.best(log, number, time, user)
        best.marked = marked
        best.complete = not marked and bool(user) and bool(ROOT.search(user[-1].sym))
        best.root = best.kind == EXACT and best.complete
        return best

    def best(self, log, number, time, user):
        """By the path that fits best; what is wrong, by the logged one."""
        found = None
        for window in log.near(number, time, self.guard):
            for path in self.begun(log.candidates(window)):
                verdict = self.by_path(log, user, path)
                verdict.changing = found is not None
                if verdict.kind == EXACT:
                    return verdict
                if not found or (verdict.kind == CUT and found.kind == WRONG):
                    found = verdict
        return found

    @staticmethod
    def begun(paths):
        """Its caller logs made code, so that the call may not have been made yet."""
        for path in paths:
            yield path
            if path and path.name == MADE:
                yield path.caller

    def by_path(self, log, user, path):
        try:
            self.match(log, user, 0, path)
            return Verdict(EXACT)
        except Cut as cut:
            return Verdict(CUT, str(cut))
        except Wrong as wrong:
            return Verdict(WRONG, str(wrong))

    def match(self, log, user, at, path):
        """Raises Wrong or Cut."""
        if path and path.name:
            at = self.above(user, at, path.name)
        while path and path.name:
            self.expect(user, at, path.name)
            at += 1
            path = path.caller
        if not path:
            self.outside(user, at)
            return
        if at == len(user):
            raise Cut("ends at a handler")
        if not chains.SIGRETURN.search(user[at].sym):
            raise Wrong(f"no signal frame, but {user[at].sym}")
        self.any_of(log, user, at + 1, log.interrupted(path.base))

    def any_of(self, log, user, at, paths):
        """The first that fits; else what the first one said."""
        said = None
        for path in paths:
            try:
                self.match(log, user, at, path)
                return
            except (Cut, Wrong) as error:
                if not said or (isinstance(error, Cut) and isinstance(said, Wrong)):
                    said = error
        if said:
            raise said

    def above(self, user, at, name):
        """What stands above the innermost function that is logged."""
        begin = at
        while at < len(user) and user[at].sym not in self.logged:
            self.may_stand_above(user[at], name)
            at += 1
        if at == len(user):
            raise Cut("ends above " + name if at > begin else "has no frame")
        return at

    def may_stand_above(self, frame, name):
        own = frame.dso == self.program
        if own and (frame.sym in self.table or frame.sym.endswith("@plt")):
            return
        foreign = frame.dso.startswith(("/", "[vdso"))
        if foreign and not own and (self.table[name].libc or CLOCK.search(frame.sym) or
                                    frame.dso.startswith("[vdso")):
            return
        raise Wrong(f"{frame.sym} above {name}()")

    @staticmethod
    def expect(user, at, name):
        if at == len(user):
            raise Cut(f"ends below {name}()")
        if user[at].sym != name:
            raise Wrong(f"{user[at].sym}, not {name}()")

    def outside(self, user, at):
        """What stands below the outermost function."""
        for frame in user[at:]:
            if frame.sym in self.logged:
                raise Wrong(f"{frame.sym}() below the outermost function")
