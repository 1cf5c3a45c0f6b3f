#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""usage: chains.py json|hotspot FILE FUNCTION...

What another program made of a perf.data: fails unless nearly every sample in the
first function has the others as its callers, in turn.

json: what perf data convert --to-json writes. hotspot: what its parser hands to
hotspot, a magic, then messages, each a length and a QDataStream, whose first byte
is its kind.
"""
import json
import struct
import sys

HEAD = b"QPERFSTREAM\0"
LOCATION, SYMBOL, STRING, SAMPLE = 3, 4, 5, 13


def messages(data):
    if not data.startswith(HEAD):
        sys.exit("not what hotspot's parser writes")
    at = len(HEAD) + 4
    while at < len(data):
        size, = struct.unpack_from("<I", data, at)
        yield data[at + 4], data[at + 5:at + 4 + size]
        at += 4 + size


class Hotspot:
    def __init__(self, file):
        data = file.read()
        # What a location was inlined into, or the one that has its symbol; -1: none.
        self.parent, self.symbol, self.string = {}, {}, {}
        self.samples = []
        for kind, body in messages(data):
            if kind == LOCATION:
                number, = struct.unpack_from(">i", body)
                self.parent[number], = struct.unpack_from(">i", body, len(body) - 4)
            elif kind == SYMBOL:
                number, name = struct.unpack_from(">ii", body)
                self.symbol[number] = name
            elif kind == STRING:
                number, size = struct.unpack_from(">iI", body)
                self.string[number] = body[8:8 + size].decode()
            elif kind == SAMPLE:
                count, = struct.unpack_from(">I", body, 20)
                self.samples.append(struct.unpack_from(f">{count}i", body, 24))

    def chains(self):
        return [list(self.names(sample)) for sample in self.samples]

    def names(self, sample):
        for location in sample:
            while location >= 0:
                if location in self.symbol:
                    yield self.string.get(self.symbol[location], "")
                location = self.parent.get(location, -1)


class Json:
    def __init__(self, file):
        self.samples = json.load(file)["samples"]

    def chains(self):
        return [[frame.get("symbol", "") for frame in sample["callchain"]]
                for sample in self.samples]


def main():
    form, path, *want = sys.argv[1:]
    with open(path, "rb") as file:
        chains = {"json": Json, "hotspot": Hotspot}[form](file).chains()
    under = whole = 0
    for names in chains:
        if want[0] not in names:
            continue
        under += 1
        # Each function in turn, with whatever libc has in between.
        rest = iter(names)
        whole += all(any(name in found for found in rest) for name in want)
    print(f"{len(chains)} samples, {under} with {want[0]}, {whole} of them whole")
    sys.exit(not under or whole < under * 0.99)


main()
