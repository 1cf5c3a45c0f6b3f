# SPDX-License-Identifier: GPL-2.0
"""Threads that begin and end all the time, as a server has for its requests; named as in truth.py.

usage: threads-truth.py SECONDS

A new thread has the stack of one that has ended, and so its number. CPython has freed the state of
that one, and other things have a part of its memory.
"""

import ctypes
import sys
import threading
import time

LIBC = ctypes.CDLL(None)
LIBC.malloc.restype = ctypes.c_void_p
LIBC.malloc.argtypes = [ctypes.c_size_t]
LIBC.free.argtypes = [ctypes.c_void_p]
STATE = ctypes.pythonapi.PyThreadState_Get
STATE.restype = ctypes.c_void_p
# Bytes of a state, that have its frame and its thread's number.
SIZE = 256


def p_spin_of_work():
    total = 0
    for i in range(2000):
        total += i * i
    return total


def c_key_of_work(number):
    p_spin_of_key(number)
    return -number


def p_spin_of_key(number):
    return sum(range(number))


def p_work_of_thread():
    p_spin_of_work()
    return sorted(range(30), key=c_key_of_work)


def l_thread_of_root(states):
    states.append((STATE(), threading.get_ident()))
    for _ in range(20):
        p_work_of_thread()


def p_fill_of_root(state, number):
    """Has memory where the state was, with words that look like frames: addresses in the memory."""
    kept = []
    for _ in range(200):
        memory = LIBC.malloc(SIZE)
        if memory <= state < memory + SIZE:
            words = (ctypes.c_uint64 * (SIZE // 8)).from_address(memory)
            for i in range(SIZE // 8):
                if words[i] != number:
                    words[i] = memory + 64
            for other in kept:
                LIBC.free(other)
            return True
        kept.append(memory)
    for memory in kept:
        LIBC.free(memory)
    return False


def main():
    end = time.monotonic() + float(sys.argv[1])
    filled = 0
    while time.monotonic() < end:
        states = []
        threads = [threading.Thread(target=l_thread_of_root, args=(states,)) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for state, number in states:
            if filled < 100:
                filled += p_fill_of_root(state, number)
    print("filled", filled)


if __name__ == "__main__":
    main()
