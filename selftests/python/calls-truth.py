# SPDX-License-Identifier: GPL-2.0
"""Ways by which C code calls Python, and Python is left and entered: names as in truth.py.

usage: calls-truth.py SECONDS [KIND...]

Each KIND is a function p_KIND_of_round, here or in methods_truth.py; without any all of them run.
NAME_of_any may have any caller, and l_NAME_of_root is where a thread begins. These also are
functions that only some versions call through C: generators, coroutines, properties, and
__format__().
"""

import concurrent.futures
import contextlib
import contextvars
import functools
import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
import weakref
import xml.parsers.expat

try:
    import numpy
except ImportError:
    numpy = None

sys.dont_write_bytecode = True
import methods_truth  # noqa: E402
from methods_truth import work  # noqa: E402


def c_dead_of_weak(ref):
    work(100)


def p_weak_of_round():
    for _ in range(10):
        a = set()
        r = weakref.ref(a, c_dead_of_weak)
        a = None


def c_managed_of_manage():
    work(100)
    yield 1
    work(100)


def p_manage_of_round():
    with contextlib.contextmanager(c_managed_of_manage)():
        work(100)


def c_mapped_of_maps(x):
    return work(40)


def c_filtered_of_maps(x):
    return work(40) & 1


def p_maps_of_round():
    return list(filter(c_filtered_of_maps, map(c_mapped_of_maps, range(30))))


def c_summed_of_sums():
    for _ in range(40):
        yield work(30)


def p_sums_of_round():
    return sum(c_summed_of_sums())


def l_inmost_of_yields():
    for _ in range(20):
        yield work(40)


def l_yields_of_delegate(n):
    if n:
        yield from l_yields_of_delegate(n - 1)
    else:
        yield from l_inmost_of_yields()


def p_delegate_of_round():
    for _ in l_yields_of_delegate(12):
        pass


def p_raise_of_caught():
    work(20)
    raise ValueError


def r_caught_of_exceptions(n):
    if n:
        try:
            return r_caught_of_exceptions(n - 1)
        finally:
            work(20)
    return p_raise_of_caught()


def p_exceptions_of_round():
    for _ in range(5):
        try:
            r_caught_of_exceptions(10)
        except ValueError:
            pass


@functools.lru_cache(maxsize=1)
def c_cached_of_caches(n):
    return work(40)


def p_caches_of_round():
    for i in range(30):
        c_cached_of_caches(i)


def c_partial_of_partials(a, b):
    return work(40)


def p_partials_of_round():
    f = functools.partial(c_partial_of_partials, 1)
    for i in range(30):
        f(i)


def c_element_of_parse(name, attributes):
    work(60)


def p_parse_of_round():
    p = xml.parsers.expat.ParserCreate()
    p.StartElementHandler = c_element_of_parse
    p.Parse("<a>" + "<b x='1'/>" * 30 + "</a>")


def c_deep_of_nest(x):
    return p_nest_of_deep(x[0])


def p_nest_of_deep(n):
    if not n:
        return work(200)
    return max([[n - 1]], key=c_deep_of_nest)


def p_deep_of_round():
    p_nest_of_deep(20)


def r_deep_of_deeper(n):
    return r_deep_of_deeper(n - 1) if n else work(4000)


def p_deeper_of_round():
    r_deep_of_deeper(300)


def l_called_of_executed():
    return work(300)


CODE = compile("for _ in range(4): l_called_of_executed()", "executed.py", "exec")


def p_executed_of_round():
    exec(CODE, globals())


def c_profile_of_any(frame, event, arg):
    work(30)


def p_small_of_profiled():
    return work(20)


def p_profiled_of_round():
    sys.setprofile(c_profile_of_any)
    for _ in range(20):
        p_small_of_profiled()
    sys.setprofile(None)


def c_trace_of_any(frame, event, arg):
    work(30)
    return c_trace_of_any


def p_small_of_traced():
    return work(20)


def p_traced_of_round():
    sys.settrace(c_trace_of_any)
    for _ in range(4):
        p_small_of_traced()
    sys.settrace(None)


def c_signal_of_any(number, frame):
    work(100)


def p_signals_of_round():
    signal.signal(signal.SIGUSR1, c_signal_of_any)
    for _ in range(10):
        os.kill(os.getpid(), signal.SIGUSR1)
        work(100)


def c_context_of_contexts():
    work(300)


def p_contexts_of_round():
    contextvars.copy_context().run(c_context_of_contexts)


def c_vector_of_vectors(x):
    return work(40)


def p_vectors_of_round():
    if numpy:
        numpy.vectorize(c_vector_of_vectors)(numpy.arange(40))
        numpy.frompyfunc(c_vector_of_vectors, 1, 1)(numpy.arange(40))


def l_pooled_of_root(n):
    return work(2000)


POOL = concurrent.futures.ThreadPoolExecutor(2)


def p_pool_of_round():
    list(POOL.map(l_pooled_of_root, range(8)))


def l_thread_of_root():
    work(3000)


def p_threads_of_round():
    threads = [threading.Thread(target=l_thread_of_root) for _ in range(3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()


def l_child_of_processes(n):
    end = time.monotonic() + 0.1
    while time.monotonic() < end:
        work(2000)


def p_processes_of_round():
    p = multiprocessing.get_context("fork").Process(target=l_child_of_processes, args=(1,))
    p.start()
    p.join()


def p_run_of_children():
    subprocess.run(["true"], check=True)


def p_children_of_round():
    p_run_of_children()


async def l_awaited_of_stepped():
    return work(200)


async def l_stepped_of_steps():
    for _ in range(4):
        await l_awaited_of_stepped()


def p_steps_of_round():
    try:
        l_stepped_of_steps().send(None)
    except StopIteration:
        pass


async def l_each_of_stepping():
    for _ in range(5):
        yield work(100)


async def l_stepping_of_astep():
    async for _ in l_each_of_stepping():
        pass


def p_astep_of_round():
    try:
        l_stepping_of_astep().send(None)
    except StopIteration:
        pass


def l_thrown_of_throws():
    while True:
        try:
            yield work(30)
        except ValueError:
            work(30)


def p_throws_of_round():
    g = l_thrown_of_throws()
    next(g)
    for _ in range(10):
        g.throw(ValueError())
    g.close()


# Code that is made of text, with no name of a file, as the package attrs makes it.
NAMELESS = compile("l_called_of_nameless()", "", "exec")


def l_called_of_nameless():
    return work(60)


def p_nameless_of_round():
    exec(NAMELESS, globals())


def p_round_of_root(end, kinds):
    while time.monotonic() < end:
        for kind in kinds:
            for _ in range(1 if kind in (p_processes_of_round, p_children_of_round) else 10):
                kind()


def main():
    gc.disable()
    end = time.monotonic() + float(sys.argv[1])
    found = {**vars(methods_truth), **globals()}
    names = sys.argv[2:] or [n[2:-9] for n in found
                             if n.startswith("p_") and n.endswith("_of_round")]
    kinds = [found[f"p_{n}_of_round"] for n in names]
    p_round_of_root(end, kinds)


if __name__ == "__main__":
    main()
