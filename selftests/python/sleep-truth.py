# SPDX-License-Identifier: GPL-2.0
"""A program that sleeps, waits and reads: names as in truth.py.

usage: sleep-truth.py SECONDS
"""

import os
import sys
import threading
import time


def p_nap_of_round():
    time.sleep(0.002)


def c_key_of_sort(x):
    time.sleep(0.001)
    return -x


def p_sort_of_round():
    sorted((1, 2, 3), key=c_key_of_sort)


def r_down_of_recursion(depth):
    if depth:
        return r_down_of_recursion(depth - 1)
    return time.sleep(0.002)


def p_recursion_of_round():
    r_down_of_recursion(20)


def l_answer_of_root(given, wanted):
    while os.read(given, 1) == b"x":
        time.sleep(0.001)
        os.write(wanted, b"y")


def p_read_of_pipe(fd):
    os.read(fd, 1)


def p_pipe_of_round(to, back):
    os.write(to, b"x")
    p_read_of_pipe(back)


def p_round_of_root(to, back):
    p_nap_of_round()
    p_sort_of_round()
    p_recursion_of_round()
    p_pipe_of_round(to, back)


def main():
    given, to = os.pipe()
    back, wanted = os.pipe()
    thread = threading.Thread(target=l_answer_of_root, args=(given, wanted))
    thread.start()
    end = time.monotonic() + float(sys.argv[1])
    while time.monotonic() < end:
        p_round_of_root(to, back)
    os.write(to, b"z")
    thread.join()


if __name__ == "__main__":
    main()
