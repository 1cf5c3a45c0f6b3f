# SPDX-License-Identifier: GPL-2.0
"""Ways by which C code calls Python, and Python is left and entered: names as in truth.py.

usage: calls-truth.py SECONDS [KIND...]

Each KIND is a function p_KIND_of_round; without any all of them run. NAME_of_any may have any
caller, and l_NAME_of_root is where a thread begins. These also are functions that only some
versions call through C: generators, coroutines, properties, and __format__().
"""

import collections
import concurrent.futures
import contextlib
import contextvars
import functools
import gc
import multiprocessing
import os
import pickle
import signal
import sqlite3
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


def work(n=300):
    total = 0
    for i in range(n):
        total += i ^ 5
    return total


# C code calls methods of these.
class Less:
    def __init__(self, n):
        self.n = n

    def c_less_of_order(self, other):
        work(10)
        return self.n < other.n

    __lt__ = c_less_of_order


def p_order_of_round():
    sorted([Less(i * 7 % 31) for i in range(31)])


class Attribute:
    def c_attribute_of_attributes(self, name):
        work(40)
        return name

    __getattr__ = c_attribute_of_attributes


def p_attributes_of_round():
    a = Attribute()
    for _ in range(30):
        a.x


class Next:
    def __init__(self):
        self.n = 0

    def __iter__(self):
        return self

    def c_next_of_iterate(self):
        work(20)
        self.n += 1
        if self.n > 30:
            raise StopIteration
        return self.n

    __next__ = c_next_of_iterate


def p_iterate_of_round():
    return list(Next())


class Key:
    def c_hash_of_keys(self):
        work(20)
        return 1

    def c_equal_of_keys(self, other):
        work(20)
        return self is other

    __hash__ = c_hash_of_keys
    __eq__ = c_equal_of_keys


def p_keys_of_round():
    return dict.fromkeys([Key() for _ in range(8)])


class Missing(dict):
    def c_missing_of_misses(self, key):
        return work(40)

    __missing__ = c_missing_of_misses


def p_misses_of_round():
    m = Missing()
    for i in range(30):
        m[i]


class Finalised:
    def c_del_of_finalise(self):
        work(60)

    __del__ = c_del_of_finalise


def p_finalise_of_round():
    for _ in range(20):
        Finalised()


class Ring:
    def c_collected_of_collect(self):
        work(60)

    __del__ = c_collected_of_collect


def p_collect_of_round():
    for _ in range(10):
        a = Ring()
        a.a = a
    del a
    gc.collect(0)


def c_dead_of_weak(ref):
    work(100)


def p_weak_of_round():
    for _ in range(10):
        a = set()
        r = weakref.ref(a, c_dead_of_weak)
        a = None


class Context:
    def c_enter_of_context(self):
        return work(100)

    def c_exit_of_context(self, *a):
        return work(100)

    __enter__ = c_enter_of_context
    __exit__ = c_exit_of_context


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


class Pickled:
    def c_reduce_of_pickles(self):
        work(60)
        return (int, (1,))

    __reduce__ = c_reduce_of_pickles


def p_pickles_of_round():
    return pickle.dumps([Pickled() for _ in range(20)])


def c_element_of_parse(name, attributes):
    work(60)


def p_parse_of_round():
    p = xml.parsers.expat.ParserCreate()
    p.StartElementHandler = c_element_of_parse
    p.Parse("<a>" + "<b x='1'/>" * 30 + "</a>")


class Aggregate:
    def c_step_of_aggregate(self, x):
        work(30)

    def c_final_of_aggregate(self):
        return work(60)

    step = c_step_of_aggregate
    finalize = c_final_of_aggregate


def c_collate_of_aggregate(a, b):
    work(20)
    return (a > b) - (a < b)


def p_aggregate_of_round():
    db = sqlite3.connect(":memory:")
    db.create_aggregate("g", 1, Aggregate)
    db.create_collation("c", c_collate_of_aggregate)
    db.execute("CREATE TABLE t (x TEXT)")
    db.executemany("INSERT INTO t VALUES (?)", [(str(i * 7 % 41),) for i in range(41)])
    db.execute("SELECT g(x) FROM t").fetchall()
    db.execute("SELECT x FROM t ORDER BY x COLLATE c").fetchall()
    db.close()


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


class Meta(type):
    def c_made_of_classes(cls, name, bases, namespace):
        work(100)

    __init__ = c_made_of_classes


def p_classes_of_round():
    Meta("A", (), {})


def p_slots_of_round():
    class Body:
        total = work(200)
    return Body


class Property:
    @property
    def l_property_of_properties(self):
        return work(60)

    @staticmethod
    def p_static_of_properties():
        return work(60)

    @classmethod
    def p_class_of_properties(cls):
        return work(60)


def p_properties_of_round():
    p = Property()
    for _ in range(20):
        p.l_property_of_properties
        p.p_static_of_properties()
        p.p_class_of_properties()


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


class Tree:
    def l_text_of_format(self, spec=""):
        return str(work(60))

    __format__ = l_text_of_format
    __str__ = l_text_of_format


def p_format_of_round():
    t = Tree()
    return f"{t} {t!s} %s" % t + "%s{}".format(t)


def p_round_of_root(end, kinds):
    while time.monotonic() < end:
        for kind in kinds:
            for _ in range(1 if kind in (p_processes_of_round, p_children_of_round) else 10):
                kind()


def main():
    gc.disable()
    end = time.monotonic() + float(sys.argv[1])
    names = sys.argv[2:] or [n[2:-9] for n in globals()
                             if n.startswith("p_") and n.endswith("_of_round")]
    kinds = [globals()[f"p_{n}_of_round"] for n in names]
    p_round_of_root(end, kinds)


if __name__ == "__main__":
    main()
