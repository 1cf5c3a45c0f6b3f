# SPDX-License-Identifier: GPL-2.0
"""Several interpreters, whose functions one thread runs: names as in truth.py.

usage: interpreters-truth.py SECONDS
"""

import sys
import time

try:
    import _xxsubinterpreters as interpreters
except ImportError:
    import _interpreters as interpreters

INNER = '''
import time


def p_spin_of_loop():
    total = 0
    for i in range(3000):
        total ^= i
    return total


def c_key_of_loop(x):
    return p_inner_of_key(x)


def p_inner_of_key(x):
    return x + len([0] * 200)


def l_loop_of_run(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        p_spin_of_loop()
        sorted(range(60), key=c_key_of_loop)
'''
LOAD = f"exec(compile({INNER!r}, 'inner-truth.py', 'exec'), globals())"


def make():
    """They import modules then, whose code is soon gone."""
    made = [interpreters.create() for _ in range(3)]
    for one in made:
        interpreters.run_string(one, LOAD)
    return made


def p_run_of_root(made, end):
    while time.monotonic() < end:
        for one in made:
            interpreters.run_string(one, "l_loop_of_run(0.2)")


def main():
    p_run_of_root(make(), time.monotonic() + float(sys.argv[1]))


if __name__ == "__main__":
    main()
