#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""A program that ends after 30 ms of CPU time. Its functions are named as those of truth.py."""

import time


def p_spin_of_loop():
    total = 0
    for i in range(200):
        total += i * i
    return total


def p_loop_of_round():
    return p_spin_of_loop()


def p_round_of_root():
    p_loop_of_round()


def root():
    end = time.process_time() + 0.03
    while time.process_time() < end:
        p_round_of_root()


root()
