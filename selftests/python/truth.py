# SPDX-License-Identifier: GPL-2.0
"""A program whose functions have one caller each, which their names tell.

usage: truth.py SECONDS

p_NAME_of_CALLER is called by Python code, c_NAME_of_CALLER by C code that CALLER has called, and
l_NAME_of_CALLER by a library: each has CALLER as the next function of this file. r_NAME_of_CALLER
calls itself, too. selftests/python/judge compares chains with that.
"""

import asyncio
import ctypes
import functools
import json
import re
import sqlite3
import sys
import threading
import time


def p_spin_of_loop():
    total = 0
    for i in range(2000):
        total += i * i
    return total


def p_loop_of_round():
    return p_spin_of_loop()


def r_down_of_recursion(depth):
    if depth:
        return r_down_of_recursion(depth - 1)
    total = 0
    for i in range(3000):
        total ^= i
    return total


def p_recursion_of_round():
    return r_down_of_recursion(60)


def p_inner_of_key():
    return sum(i % 7 for i in (1, 2, 3)) + len([0] * 2000)


def c_key_of_sort(x):
    p_inner_of_key()
    return -x


def p_sort_of_round():
    return sorted(range(40), key=c_key_of_sort)


def c_step_of_reduce(a, b):
    for _ in range(20):
        a = (a * 31 + b) & 0xffff
    return a


def p_reduce_of_round():
    return functools.reduce(c_step_of_reduce, range(200))


def c_match_of_sub(match):
    return str(int(match.group()) * 3)


def p_sub_of_round():
    return re.sub(r"\d+", c_match_of_sub, "1 22 333 4444 " * 30)


def l_hook_of_json(pairs):
    return {k: v for k, v in pairs}


def p_json_of_round():
    text = json.dumps([{"a": i, "b": [i] * 4} for i in range(60)])
    return json.loads(text, object_pairs_hook=l_hook_of_json)


COMPARE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))
LIBC = ctypes.CDLL(None)


def c_compare_of_qsort(a, b):
    return a[0] - b[0]


def p_qsort_of_round():
    numbers = (ctypes.c_int * 60)(*[i * 7 % 61 for i in range(60)])
    LIBC.qsort(numbers, 60, ctypes.sizeof(ctypes.c_int), COMPARE(c_compare_of_qsort))


def p_work_of_produce():
    return sum(range(300))


def p_produce_of_consume():
    for _ in range(30):
        p_work_of_produce()
        yield 1


def p_consume_of_round():
    total = 0
    for i in p_produce_of_consume():
        total += i
    return total


class Thing:
    def __init__(self):
        self.p_fill_of_Thing()

    def p_fill_of_Thing(self):
        self.items = [i * i for i in range(400)]

    @property
    def p_size_of_object(self):
        return len(sorted(self.items, reverse=True))


def p_object_of_round():
    return Thing().p_size_of_object


def c_sql_of_query(x):
    return x * 2 + 1


def p_query_of_round():
    db = sqlite3.connect(":memory:")
    db.create_function("f", 1, c_sql_of_query)
    db.execute("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)"
               " SELECT sum(f(i)) FROM n").fetchall()
    db.close()


async def p_leaf_of_task():
    total = 0
    for i in range(1500):
        total += i
    await asyncio.sleep(0)
    return total


async def l_task_of_tasks():
    for _ in range(3):
        await p_leaf_of_task()


async def l_many_of_tasks():
    # A comprehension is a function of its own before 3.12.
    tasks = []
    for _ in range(4):
        tasks.append(l_task_of_tasks())
    await asyncio.gather(*tasks)


def p_tasks_of_round():
    asyncio.run(l_many_of_tasks())


def p_round_of_run():
    p_loop_of_round()
    p_recursion_of_round()
    p_sort_of_round()
    p_reduce_of_round()
    p_sub_of_round()
    p_json_of_round()
    p_qsort_of_round()
    p_consume_of_round()
    p_object_of_round()
    p_query_of_round()
    p_tasks_of_round()


def p_run_of_root(end):
    while time.monotonic() < end:
        p_round_of_run()


def p_busy_of_thread():
    total = 0
    for i in range(20000):
        total += i & 3
    return total


def l_thread_of_root(end):
    while time.monotonic() < end:
        p_busy_of_thread()


def main():
    end = time.monotonic() + float(sys.argv[1])
    other = threading.Thread(target=l_thread_of_root, args=(end,))
    other.start()
    p_run_of_root(end)
    other.join()


if __name__ == "__main__":
    main()
