# SPDX-License-Identifier: GPL-2.0
"""A program that imports modules all the time: names as in truth.py.

usage: imports-truth.py SECONDS

The code of a module is freed when the module has been imported, and its functions when the module
is forgotten. All modules have the same size, so that the next one is at the same addresses. "e" and
"o" are imported in turn, each by a function of its own. A frame that has the name of the module
before it has a wrong caller. The thread is moved from processor to processor: each has met modules
that others have replaced since.
"""

import importlib
import os
import sys
import tempfile
import threading
import time

NR = 40

TEXT = '''
def p_spin_of_{name}(count):
    total = 0
    for i in range(count):
        total += i * i
    return total


for n in range(6000):
    n * n
p_spin_of_{name}(8000)


class c_class_{name}_of_{name}:
    for n in range(3000):
        n * n

    def p_method_of_{name}(self):
        for n in range(6000):
            n * n


c_class_{name}_of_{name}().p_method_of_{name}()
exec("for n in range(3000): n * n")
'''


def l_forget(name):
    vars(sys.modules.pop(name)).clear()


def p_even_of_loop(i):
    importlib.import_module(f"e{i:04}truth")
    l_forget(f"e{i:04}truth")


def p_odd_of_loop(i):
    importlib.import_module(f"o{i:04}truth")
    l_forget(f"o{i:04}truth")


def l_move_of_root(thread, end):
    processors = sorted(os.sched_getaffinity(0))
    while time.monotonic() < end:
        for processor in processors:
            os.sched_setaffinity(thread, {processor})
            time.sleep(0.01)


def p_loop_of_root(end):
    i = 0
    while time.monotonic() < end:
        i = (i + 1) % NR
        p_even_of_loop(i)
        p_odd_of_loop(i)


def main():
    with tempfile.TemporaryDirectory() as folder:
        for i in range(NR):
            for name in (f"e{i:04}", f"o{i:04}"):
                with open(os.path.join(folder, f"{name}truth.py"), "w", encoding="ascii") as out:
                    out.write(TEXT.format(name=name))
        sys.path.insert(0, folder)
        end = time.monotonic() + float(sys.argv[1])
        threading.Thread(target=l_move_of_root, args=(threading.get_native_id(), end)).start()
        p_loop_of_root(end)


if __name__ == "__main__":
    main()
