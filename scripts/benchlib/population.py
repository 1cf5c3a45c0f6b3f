# SPDX-License-Identifier: GPL-2.0
"""Memory of perf by the number of processes."""

import os
import re
import signal
import subprocess
import time

from . import bench, meter, peers

PROCESSES = (100, 2000, 10000)
# Each is its own process, which does a little now and then: a sample of some of them is likely.
SOURCE = """
#include <stdlib.h>
#include <unistd.h>
#include <sys/wait.h>

static volatile unsigned long work;

int main(int argc, char **argv)
{
	int nr = argc > 1 ? atoi(argv[1]) : 1;
	unsigned int i;

	setpgid(0, 0);
	while (nr-- > 0) {
		if (fork())
			continue;
		for (;;) {
			for (i = 0; i < 100000; i++)
				work += i;
			sleep(10);
		}
	}
	for (;;)
		pause();
}
"""


class Population:
    """So many processes, inside of the with block."""

    def __init__(self, b, number):
        program = b.program("bench-population")
        with open(f"{program}.c", "w", encoding="ascii") as file:
            file.write(SOURCE)
        meter.run(["gcc", "-O2", "-o", program, f"{program}.c"])
        os.remove(f"{program}.c")
        self.process = subprocess.Popen([program, str(number)], stdin=subprocess.DEVNULL)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def rings(pid):
    """MiB of the ring buffers that a process maps; they are not of its RSS."""
    size = 0
    with open(f"/proc/{pid}/maps", encoding="ascii") as file:
        for line in file:
            start, end = (int(word, 16) for word in line.split(None, 1)[0].split("-"))
            if "[perf_event]" in line:
                size += end - start
    return size / (1 << 20)


def maps(pid):
    """MiB of BPF's maps and programs, as the kernel counts them."""
    sizes = {}
    for name in os.listdir(f"/proc/{pid}/fdinfo"):
        try:
            with open(f"/proc/{pid}/fdinfo/{name}", encoding="ascii") as file:
                text = file.read()
        except FileNotFoundError:
            continue
        key = re.search(r"^(?:map|prog)_id:\s*(\d+)", text, re.M)
        size = re.search(r"^memlock:\s*(\d+)", text, re.M)
        if key and size:
            sizes[key.group(0)] = int(size.group(1))
    return sum(sizes.values()) / (1 << 20)


def held(perf_pid):
    """What a perf record holds, in MiB."""
    return {"rss": meter.memory(perf_pid, "VmRSS") / 1024, "rings": rings(perf_pid),
            "maps": maps(perf_pid)}


def population(b):
    """perf record -a, after 5 s, while so many processes are there. What else
    runs on the machine is recorded, too, and needs rules: medians of all runs."""
    names = ["fp", "dwarf 8 KiB", "hybrid"]
    grids = {
        "rss": peers.Grid("perf's resident memory, -a", "MiB", "processes", names),
        "rings": peers.Grid("its ring buffers", "MiB", "processes", names),
        "maps": peers.Grid("BPF's maps and programs", "MiB", "processes", names),
    }
    for number in PROCESSES:
        with Population(b, number):
            time.sleep(1 + number / 1000)
            for _, peer in peers.in_turn(b, names):
                path = b.file("population")
                recording = meter.Recording(peers.perf_of(b, peer),
                                            ["-a", "-F", "999", *peers.options(peer)], path)
                recording.start()
                time.sleep(5)
                for what, size in held(recording.process.pid).items():
                    grids[what].add(number, peer, size)
                recording.stop(check=False)
                bench.forget(path)
    yield from grids.values()
