# SPDX-License-Identifier: GPL-2.0
"""Judges user chains by truth tables: what is wrong with a chain, if anything.

Frames that belong to no function of a table (libc, vdso, dynamic loader, PLT)
are called foreign here.
"""

import itertools
import re

import truthlib

KERNEL = 0xffff800000000000
# In these the process has no user stack yet, or has it no more, or its registers
# are half those of the handler and half those of what it interrupted. While
# do_wp_page() replaces the page of the stack, after fork, nobody can read it.
NO_USER_STACK = re.compile(r"execve|exec_binprm|do_exit|do_group_exit|exit_mm|ret_from_fork"
                           r"|sys(32)?_(rt_)?sigreturn|do_wp_page")
# The kernel's own chain may end in its first frame: its ORC knows no retpolines. Then what
# the program is in tells what the kernel does.
RETPOLINE = re.compile(r"__x86_(indirect|return)_thunk")
NO_RETURN = re.compile(r"(^|_)(execve|_exit)$")
THUNK = re.compile(r"__x86\.get_pc_thunk")
SIGRETURN = re.compile(r"__restore_rt|__kernel_(rt_)?sigreturn")
# Only a few may be so: an unwinder that loses all of the program's frames and
# still finds the root gives the same picture. See check-chains.
AROUND_MAIN = "before or after main"
CLONE = re.compile(r"clone")
# Where a function of that caller begins: the outermost frame's symbol.
ROOTS = {
    "@start": re.compile(r"^_start$"),
    "@thread": CLONE,
    "@context": re.compile(r"^__start_context$"),
    "@go": re.compile(r"^runtime\.(goexit|mstart|mcall|systemstack|rt0_go)"),
}


class Frame:
    __slots__ = ("ip", "sym", "dso")

    def __init__(self, ip, sym, dso):
        self.ip, self.sym, self.dso = ip, sym, dso

    def __str__(self):
        return f"{self.ip:x} {self.sym} ({self.dso})"


class Tables:
    """Truth tables by path of the object, read when first asked for.

    anywhere: the table of functions that may be in any object, or in none
    (made at run time). name: a pattern whose first group is a symbol's function.
    """

    def __init__(self, extra=(), anywhere=None, name=None):
        self.by_path = {}
        self.by_name = {}
        self.anywhere = anywhere or {}
        self.name = re.compile(name) if name else None
        for path in extra:
            self.by_name[path.rsplit("/", 1)[-1]] = truthlib.read(path)

    def add(self, path, text):
        self.by_path[path] = truthlib.parse(text)

    def table(self, path):
        if path not in self.by_path:
            name = path.removesuffix(" (deleted)").rsplit("/", 1)[-1]
            self.by_path[path] = self.by_name.get(name) or \
                (truthlib.read(path) if path.startswith("/") else None)
        return self.by_path[path]

    def function(self, frame):
        table = self.anywhere or self.table(frame.dso)
        if not table:
            return None
        match = self.name.search(frame.sym) if self.name else None
        return table.get(match[1] if match else frame.sym)

    def all(self):
        return [self.anywhere] + [table for table in self.by_path.values() if table]


class Processes:
    """What the processes of a file run, from all of its samples, in their order."""

    def __init__(self, tables, samples):
        self.loaders = set()
        self.first = {}
        self.comms = {}
        for number, sample in enumerate(samples):
            for frame in sample.frames:
                table = tables.table(frame.dso)
                if table or tables.function(frame):
                    self.first.setdefault(sample.pid, number)
                    self.comms.setdefault(sample.pid, set()).add(sample.comm)
                if table and any(f.loader for f in table.values()):
                    self.loaders.add(sample.pid)

    def is_other(self, sample, number):
        """Does it run nothing of the tables, or not yet: between fork() and execve() of
        a shell it has the shell's name?"""
        return sample.pid not in self.first or \
            (number < self.first[sample.pid] and sample.comm not in self.comms[sample.pid])


class Verdict:
    """exact: right up to main or the thread's function. root: beyond, too.

    kind is "judged" for chains that must be right; all others say why they
    are left out. reason: what is wrong, without anything that differs
    between samples of the same fault.
    """

    def __init__(self, kind="judged", exact=False, root=False, reason=""):
        self.kind, self.exact, self.root, self.reason = kind, exact, root, reason

    @property
    def cut(self):
        """Right as far as it goes, and known to end too early."""
        return not self.exact and self.reason.startswith("ends ")


def no_user_stack(kernel, user):
    """Is the program's memory gone, or going?"""
    if any(NO_USER_STACK.search(f.sym) for f in kernel):
        return True
    return len(kernel) == 1 and len(user) == 1 and \
        bool(RETPOLINE.match(kernel[0].sym) and NO_RETURN.search(user[0].sym))


class Wrong(Exception):
    pass


class Judge:
    def __init__(self, tables):
        self.tables = tables

    def roots(self, caller):
        """Has the program a function whose caller is @thread or @signal?"""
        return any(f.caller == caller for table in self.tables.all()
                   for f in table.values())

    def verdict(self, comm, frames, loader=False, in_execve=False):
        """loader: the process calls the dynamic loader in its later life. in_execve: nothing
        of the program has run, and the chain says that it is cut off."""
        if comm in ("perf", "perf-exec"):
            return Verdict("before exec")
        kernel = list(itertools.takewhile(lambda f: f.ip >= KERNEL, frames))
        user = frames[len(kernel):]
        if no_user_stack(kernel, user):
            return Verdict("no stack to read")
        if not user:
            return Verdict(reason="no user chain")
        functions = [self.tables.function(f) for f in user]
        if in_execve and len(user) == 1 and user[0].dso == "[unknown]":
            return Verdict("the registers of the program before execve()")
        if not any(functions):
            return self.outside(user, loader)
        try:
            after = self.walk(user, functions)
        except Wrong as wrong:
            return Verdict(reason=str(wrong))
        fault = self.root_fault(user[after:], functions[after - 1])
        return Verdict(exact=True, root=not fault, reason=fault)

    def outside(self, user, loader):
        """A chain without any function of a table: before or after main()?"""
        first, last = user[0], user[-1]
        if self.is_loader(last) or any(root.search(last.sym) for root in ROOTS.values()):
            if any(self.is_loader(f) for f in user):
                return Verdict("dynamic loader")
            return Verdict(self.around_main(user))
        if last.sym == "[unknown]" and len(user) > 1 and self.roots("@thread") and \
                not any(f.dso == "[unknown]" for f in user):
            return Verdict(AROUND_MAIN)
        if self.is_loader(first) and not loader:
            return Verdict("dynamic loader, cut off")
        if self.tables.table(first.dso) and not THUNK.match(first.sym) and \
                not first.sym.endswith("@plt") and first.sym != "[unknown]":
            return Verdict("before or after main")
        return Verdict(reason="no function of the program in the chain")

    @staticmethod
    def around_main(user):
        """Where nothing can be lost: in _start itself, and in exit(main())."""
        syms = [f.sym for f in user]
        if syms == ["_start"]:
            return "the first instructions"
        if ("exit", "__libc_start_call_main") in zip(syms, syms[1:]):
            return "libc's exit"
        return AROUND_MAIN

    @staticmethod
    def is_loader(frame):
        return frame.dso.rsplit("/", 1)[-1].startswith("ld-")

    def walk(self, user, functions):
        """Index of the first frame beyond main or the thread's function."""
        at = 0
        while True:
            at = self.skip_foreign(functions, at)
            if at == len(functions):
                raise Wrong("ends below the signal frame")
            self.prefix_fault(user, functions, at)
            at = self.climb(user, functions, at)
            root = functions[at - 1].caller
            if root != "@signal":
                return at
            at = self.signal_frame(user, functions, at)

    @staticmethod
    def skip_foreign(functions, at):
        while at < len(functions) and not functions[at]:
            at += 1
        return at

    def harmless(self, frame, function):
        """A foreign frame that may stand above any function that it belongs to."""
        if THUNK.match(frame.sym) or SIGRETURN.match(frame.sym):
            return True
        # The way back from a signal on i386; perf has no names in its vdso.
        if frame.dso.startswith("[vdso") and frame.sym == "[unknown]" and \
                self.roots("@signal"):
            return True
        called = (self.tables.table(frame.dso) or {}).get(frame.sym.removesuffix("@plt"))
        return bool(called) and called.caller == function.name

    def prefix_fault(self, user, functions, at):
        """Foreign frames above a function that calls libc, and only there."""
        above = []
        for i in range(at - 1, -1, -1):
            if functions[i]:
                # The frame that follows the handler is the signal frame.
                above = above[:-1]
                break
            above.append(user[i])
        if above and not functions[at].libc and \
                not (len(above) == 1 and self.harmless(above[0], functions[at])):
            raise Wrong(f"foreign frames above {functions[at].name}(),"
                        " which calls nothing foreign")

    def climb(self, user, functions, at):
        """From the innermost function to the one that has no caller."""
        innermost = at
        while True:
            function = functions[at]
            count = 1
            while at + count < len(functions) and functions[at + count] is function:
                count += 1
            self.depth_fault(function, count, at == innermost)
            at += count
            if function.caller[0] == "@":
                return at
            below = self.skip_foreign(functions, at)
            if below == len(functions):
                raise Wrong(self.cut(user, function, at))
            self.between_fault(user, function, at, below)
            if functions[below].name != function.caller:
                raise Wrong(f"{function.name}() is followed by "
                            f"{functions[below].name}(), not {function.caller}()")
            at = below

    @staticmethod
    def depth_fault(function, count, innermost):
        want = function.depth or 1
        if count > want or (count < want and not innermost):
            raise Wrong(f"{function.name}() stands {count} times, not {want}")

    @staticmethod
    def cut(user, function, at):
        last = user[-1]
        if at == len(user):
            return f"ends at {function.name}()"
        if last.sym == "_start" or CLONE.search(last.sym):
            return f"frames missing between {function.name}() and {last.sym}"
        if last.dso == "[unknown]":
            return f"a wild address after {function.name}()"
        return f"ends in {last.sym} after {function.name}()"

    @staticmethod
    def between_fault(user, function, at, below):
        if function.via and not function.tail and at == below:
            raise Wrong(f"no libc frame between {function.name}() and its caller")
        if not function.via and at != below:
            raise Wrong(f"{user[at].sym} between {function.name}() and its caller")

    @staticmethod
    def signal_frame(user, functions, at):
        if at == len(user):
            raise Wrong(f"ends at the handler {functions[at - 1].name}()")
        if functions[at]:
            raise Wrong(f"no signal frame below {functions[at - 1].name}()")
        return at

    def root_fault(self, rest, outermost):
        """What stands below main must be libc's start, and end in a root."""
        if not rest:
            return f"nothing below {outermost.name}()"
        if any(self.tables.function(f) for f in rest):
            raise_name = next(f.sym for f in rest if self.tables.function(f))
            return f"{raise_name}() below {outermost.name}()"
        if outermost.caller == "@start":
            if rest[-1].sym == "_start" and len(rest) > 1:
                return ""
        elif ROOTS[outermost.caller].search(rest[-1].sym) or \
                (rest[-1].sym == "[unknown]" and len(rest) == 2):
            return ""
        return f"ends in {rest[-1].sym} below {outermost.name}()"
