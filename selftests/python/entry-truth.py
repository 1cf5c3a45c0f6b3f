# SPDX-License-Identifier: GPL-2.0
"""A program in which C code calls functions so often that many samples are in the first and last
instructions of CPython's evaluator; named as in truth.py.

usage: entry-truth.py SECONDS
"""

import functools
import sys
import time

NUMBERS = list(range(400))


def c_key_of_sort(number):
    return -number


def p_sort_of_round():
    return sorted(NUMBERS, key=c_key_of_sort)


def p_inner_of_step(a, b):
    return a + b


def c_step_of_reduce(a, b):
    return p_inner_of_step(a, b)


def p_reduce_of_round():
    return functools.reduce(c_step_of_reduce, NUMBERS)


# A generator has a frame of its own, not where functions before it had theirs.
def p_produce_of_sum():
    yield from NUMBERS


def p_sum_of_round():
    return sum(p_produce_of_sum())


def c_double_of_map(number):
    return number * 2


def p_produce_of_map():
    for number in NUMBERS:
        yield number


def p_map_of_round():
    return list(map(c_double_of_map, p_produce_of_map()))


def p_round_of_root():
    p_sort_of_round()
    p_reduce_of_round()
    p_sum_of_round()
    p_map_of_round()


def main():
    end = time.monotonic() + float(sys.argv[1])
    while time.monotonic() < end:
        p_round_of_root()


if __name__ == "__main__":
    main()
