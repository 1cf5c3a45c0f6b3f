# SPDX-License-Identifier: GPL-2.0
"""The checker's own test: chains on fixed text, right ones and wrong ones."""

import chains
import compare
import perfscript
import truthlib

TABLE = """
main @start
sort main
do_sort sort libc
order do_sort via
order_leaf order
copy main
do_copy copy libc
again main depth=3
visit do_sort via tail
again_leaf again
worker @thread
handler @signal
handler_leaf handler
"""

LIBC = {"memcpy", "qsort", "msort", "__libc_start_call_main", "__libc_start_main",
        "start_thread", "clone3", "__restore_rt", "unnamed1", "exit", "__GI___execve"}
START = "__libc_start_call_main __libc_start_main _start"

# What it is; innermost first; exact, to the root; a part of the reason.
CASES = [
    ("a right chain", f"copy main {START}", True, True, ""),
    ("libc above a caller of libc", f"memcpy do_copy copy main {START}", True, True, ""),
    ("a callback", f"order_leaf order msort qsort do_sort sort main {START}",
     True, True, ""),
    ("a callback called last", f"visit do_sort sort main {START}", True, True, ""),
    ("kernel frames", f"k:read k:entry memcpy do_copy copy main {START}", True, True, ""),
    ("recursion", f"again_leaf again again again main {START}", True, True, ""),
    ("recursion, half way", f"again again main {START}", True, True, ""),
    ("a thread", "worker start_thread clone3", True, True, ""),
    ("a thread, libc stripped", "worker u:1 u:2", True, True, ""),
    ("a handler", f"handler_leaf handler __restore_rt copy main {START}", True, True, ""),
    ("a handler over libc",
     f"handler __restore_rt memcpy do_copy copy main {START}", True, True, ""),
    ("an object's own PLT", f"do_copy@plt copy main {START}", True, True, ""),
    ("on the way back from a signal", f"k:sigreturn __restore_rt copy main {START}",
     True, True, ""),
    ("the wrong PLT entry", f"do_copy@plt main {START}",
     False, False, "above main()"),
    ("a thunk alone", "__x86.get_pc_thunk.bx", False, False, "no function of"),
    ("a wild address", "copy w:1", False, False, "a wild address"),
    ("a lost frame", f"order_leaf msort qsort do_sort sort main {START}",
     False, False, "between order_leaf() and its caller"),
    ("a lost caller of libc", f"memcpy copy main {START}",
     False, False, "above copy()"),
    ("a lost caller below a handler",
     f"handler __restore_rt memcpy copy main {START}", False, False, "above copy()"),
    ("a lost frame, no libc", f"do_copy main {START}",
     False, False, "followed by main(), not copy()"),
    ("an invented frame", f"do_copy sort copy main {START}",
     False, False, "followed by sort(), not copy()"),
    ("an invented frame outside", f"do_copy u:1 copy main {START}",
     False, False, "[unknown] between"),
    ("a frame twice", f"do_copy copy copy main {START}",
     False, False, "stands 2 times"),
    ("recursion, one lost", f"again_leaf again again main {START}",
     False, False, "stands 2 times, not 3"),
    ("recursion, one too many", f"again again again again main {START}",
     False, False, "stands 4 times, not 3"),
    ("cut off", "order_leaf order msort qsort do_sort",
     False, False, "ends at do_sort()"),
    ("the middle lost", f"order_leaf order msort qsort {START}",
     False, False, "frames missing between order() and _start"),
    ("cut off in libc", "order_leaf order msort qsort",
     False, False, "ends in qsort after order()"),
    ("libc only", "memcpy", False, False, "no function of the program"),
    ("no user chain", "k:read k:entry", False, False, "no user chain"),
    ("no libc below a callback", f"order do_sort sort main {START}",
     False, False, "no libc frame between"),
    ("no signal frame", f"handler copy main {START}",
     False, False, "no signal frame below"),
    ("nothing below the handler", "handler_leaf handler",
     False, False, "ends at the handler"),
    ("nothing below the signal frame", "handler __restore_rt",
     False, False, "ends below the signal frame"),
    ("cut off at main", "copy main", True, False, "nothing below main()"),
    ("cut off before _start", "copy main __libc_start_call_main",
     True, False, "ends in __libc_start_call_main"),
    ("a frame beyond the root", f"copy main {START} copy",
     True, False, "copy() below main()"),
    ("main without libc", "copy main _start", True, False, "ends in _start"),
    ("a thread cut off", "worker start_thread", True, False, "ends in start_thread"),
]

# What it is; the process; innermost first; why it is left out.
# Functions that are in no ELF file, and symbols that are more than a name.
ANYWHERE = """
jsMain @start libc
jsWork jsMain
jsLeaf jsWork
routine @go
context @context
"""
ANYWHERE_NAME = r"^(?:JS:[*~])?(\w+)"

ANYWHERE_CASES = [
    ("made at run time", f"JS:*jsLeaf JS:~jsWork jsMain invoke {START}", True, True, ""),
    ("made at run time, one lost", f"JS:*jsLeaf jsMain invoke {START}",
     False, False, "followed by jsMain(), not jsWork()"),
    ("a goroutine", "routine runtime.goexit.abi0", True, True, ""),
    ("a goroutine cut off", "routine runtime.main", True, False, "ends in runtime.main"),
    ("a context", "context __start_context", True, True, ""),
    ("a context that goes on", f"context {START}", True, False, "ends in _start"),
]

LEFT_OUT = [
    ("perf's own child", "perf-exec", "copy main", "before exec"),
    ("startup", "prog", "l:relocate l:_start", "dynamic loader"),
    ("libc's constructors", "prog", "memcpy l:call_init l:_dl_start_user", "dynamic loader"),
    ("what main() returned to", "prog", f"memcpy exit {START}", "libc's exit"),
    ("the entry", "prog", "_start", "the first instructions"),
    ("no main()", "prog", f"memcpy {START}", chains.AROUND_MAIN),
    ("the end of a thread", "prog", "unnamed1 start_thread clone3", chains.AROUND_MAIN),
    ("exec", "prog", "k:begin_new_exec k:__x64_sys_execve u:1", "no stack to read"),
    ("exec, and the kernel's chain ends at once", "prog", "k:__x86_indirect_thunk_r14 __GI___execve",
     "no stack to read"),
]

# Where nothing of the program has run, and the chain is cut off: innermost first; left out?
IN_EXECVE = [
    ("w:1", True),
    ("w:1 copy", False),
    ("memcpy", False),
    ("copy", False),
]


def line(word, ip):
    if word.startswith("k:"):
        return f"\tffffffff81{ip:06x} {word[2:]} ([kernel.kallsyms])\n"
    if word.startswith("w:"):
        return "\t8000000000000005 [unknown] ([unknown])\n"
    if word.startswith("u:"):
        return f"\t    7f00{ip:08x} [unknown] (/usr/lib/libc.so.6)\n"
    if word.startswith("l:"):
        return f"\t    7f10{ip:08x} {word[2:]} (/usr/lib/ld-linux-x86-64.so.2)\n"
    dso = "/usr/lib/libc.so.6" if word in LIBC else "/tmp/a prog"
    return f"\t    5555{ip:08x} {word} ({dso})\n"


def text(comm, words):
    """One sample as perf script prints it."""
    lines = [f"{comm}    12/13     1.000000001: cpu-clock: \n"]
    lines += [line(word, i * 16 + 256) for i, word in enumerate(words.split())]
    return lines + ["\n"]


def read_one(lines):
    found = list(perfscript.parse(lines))
    if len(found) != 1:
        raise ValueError(f"{len(found)} samples read from one")
    return found[0]


def verdict_faults(judge, cases):
    for what, words, exact, root, reason in cases:
        sample = read_one(text("prog", words))
        got = judge.verdict(sample.comm, sample.frames)
        if got.cut != (reason.startswith("ends ") and not exact):
            yield f"{what}: cut={got.cut}"
        if (got.kind, got.exact, got.root) != ("judged", exact, root) or \
                reason not in got.reason or (not reason and got.reason):
            yield (f"{what}: {got.kind} exact={got.exact} root={got.root}"
                   f" '{got.reason}', not exact={exact} root={root} '{reason}'")


def left_out_faults(judge):
    for what, comm, words, kind in LEFT_OUT:
        sample = read_one(text(comm, words))
        got = judge.verdict(sample.comm, sample.frames)
        if got.kind != kind:
            yield f"{what} is {got.kind}: '{got.reason}', not {kind}"


def execve_faults(judge):
    for words, want in IN_EXECVE:
        sample = read_one(text("prog", words))
        got = judge.verdict(sample.comm, sample.frames, in_execve=True)
        if (got.kind != "judged") != want:
            yield f"in execve(), {words} is {got.kind}"


def process_faults(tables):
    """Samples of one process in their order, and which are of another program."""
    cases = [("sh", "u:1", True), ("sh", "k:execve u:1", True), ("prog", "l:relocate", False),
             ("prog", "copy main", False), ("prog", "memcpy", False), ("sh", "memcpy", False)]
    samples = [read_one(text(comm, words)) for comm, words, _ in cases]
    processes = chains.Processes(tables, samples)
    for number, (comm, words, want) in enumerate(cases):
        if processes.is_other(samples[number], number) != want:
            yield f"{words} of {comm} is taken for {'the' if want else 'another'} program's"
    if not chains.Processes(tables, samples[:2]).is_other(samples[0], 0):
        yield "a process that runs nothing else is taken for the program's"


def compare_faults():
    whole = read_one(text("prog", "memcpy do_copy copy main")).frames
    lost = [whole[0]] + whole[2:]
    for what, other, want in (
            ("the same", list(whole), None),
            ("a lost frame", lost, "after memcpy: A has do_copy, B has copy"),
            ("cut off", whole[:2], "B ends after do_copy, the other goes on to copy")):
        got = compare.difference(whole, other)
        if got != want:
            yield f"compare, {what}: '{got}', not '{want}'"


def parser_faults():
    try:
        list(perfscript.parse(["what is this\n"]))
    except ValueError:
        return
    yield "a line that perf script never prints is taken for one"


def run():
    tables = chains.Tables()
    tables.add("/tmp/a prog", TABLE)
    faults = list(verdict_faults(chains.Judge(tables), CASES))
    faults += left_out_faults(chains.Judge(tables))
    faults += execve_faults(chains.Judge(tables))
    anywhere = chains.Tables(anywhere=truthlib.parse(ANYWHERE), name=ANYWHERE_NAME)
    faults += verdict_faults(chains.Judge(anywhere), ANYWHERE_CASES)
    faults += list(process_faults(tables))
    faults += list(compare_faults()) + list(parser_faults())
    for fault in faults:
        print(f"check-chains self-test: {fault}")
    total = len(CASES) + len(LEFT_OUT) + len(ANYWHERE_CASES) + 5
    print(f"check-chains self-test: {total - len(faults)} passed, {len(faults)} failed")
    return 1 if faults else 0
