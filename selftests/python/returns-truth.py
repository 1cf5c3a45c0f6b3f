# SPDX-License-Identifier: GPL-2.0
"""Functions that do nothing but return: names as in truth.py.

usage: returns-truth.py SECONDS
"""

import sys
import time


def p_nothing_of_mapped():
    pass


def c_mapped_of_round(x):
    p_nothing_of_mapped()
    p_nothing_of_mapped()
    p_nothing_of_mapped()


def p_round_of_run():
    for _ in map(c_mapped_of_round, range(2000)):
        pass


def p_run_of_root(end):
    while time.monotonic() < end:
        p_round_of_run()


def main():
    p_run_of_root(time.monotonic() + float(sys.argv[1]))


if __name__ == "__main__":
    main()
