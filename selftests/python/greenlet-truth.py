# SPDX-License-Identifier: GPL-2.0
"""Greenlets: each has a chain of its own, and the thread runs one of them at a time.

usage: greenlet-truth.py SECONDS; names as in truth.py.
"""

import sys
import time
import greenlet


def work():
    total = 0
    for i in range(300):
        total ^= i
    return total


def p_deep_of_green():
    for _ in range(3):
        work()
        p_switch_of_deep()


def p_switch_of_deep():
    greenlet.getcurrent().parent.switch()
    work()


def l_green_of_root():
    while True:
        p_deep_of_green()


def p_resume_of_run(g):
    g.switch()
    work()


def p_run_of_root(end):
    greens = [greenlet.greenlet(l_green_of_root) for _ in range(5)]
    while time.monotonic() < end:
        for g in greens:
            p_resume_of_run(g)


def main():
    p_run_of_root(time.monotonic() + float(sys.argv[1]))


main()
