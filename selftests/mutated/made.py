# SPDX-License-Identifier: GPL-2.0
"""perf.data files that know their format, and lie: records of every type, features, pipes.

A file is made of a recording: its attrs, some of its records, and made ones of random types.
Sizes and counts are right, or a little wrong, or far too large. All depends on the seed alone.
"""

import struct

FILE_HEADER = 104
SECTION = struct.Struct("<QQ")
HEAD = struct.Struct("<IHH")
FEATURES = 32

# Bodies of records behind their header: w, d, q are words of 2, 4 and 8 bytes; W, D, Q counts of
# what follows; s is a string, b bytes; * repeats what follows it.
KERNEL = {
    1: "ddqqqs", 2: "qq", 3: "dds", 4: "ddddq", 5: "qqq", 6: "qqq", 7: "ddddq", 8: "ddqqqq",
    9: "*q", 10: "ddqqqddqqdds", 11: "qqq", 12: "dd", 13: "q", 14: "", 15: "dd", 16: "ddQ*qq",
    17: "qdwws", 18: "wwdq", 19: "qs", 20: "qWWb", 21: "q", 22: "qQ*q", 23: "*q",
}
USER = {
    64: "ddqqqqqddqqqqdddd*q", 65: "qs", 66: "dd", 67: "dbs", 68: "", 69: "Q*qqqq", 70: "ddQ*q",
    71: "qqqdddd", 72: "ddddddqqs", 73: "Q*qs", 74: "wWW*d", 75: "Q*qq", 76: "qddqqq", 77: "qq",
    78: "qqs", 79: "qqqqqq", 80: "qb", 81: "b", 82: "", 83: "Qb", 84: "sQ*qq", 85: "qdw*q",
    86: "qdw*q", 87: "*q", 255: "*q", 0x7fffffff: "*q",
}
LAYOUTS = {**KERNEL, **USER}
WIDTHS = {"w": 2, "d": 4, "q": 8}
LIES = (0, 1, 2, 7, 8, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x10000, 0x7fffffff, 0x80000000,
        0xffffffff, 1 << 32, 1 << 47, (1 << 48) - 1, (1 << 63) - 1, 1 << 63, (1 << 64) - 8,
        (1 << 64) - 1)
STRINGS = (b"", b"/bin/sh", b"[kernel.kallsyms]", b"[vdso]", b"//anon", b"\x9b2J\n\xff",
           b"a" * 4090, b"[guest.kernel.kallsyms.", b"/proc/self/exe", b"/tmp/perf-1.map")


def number(rng, width, known=()):
    kind = rng.randrange(4)
    value = rng.choice(LIES) if kind == 0 else rng.randrange(1 << 10) if kind == 1 else \
        rng.choice(known) if kind == 2 and known else rng.randrange(6)
    return (value & ((1 << 8 * width) - 1)).to_bytes(width, "little")


def body(rng, layout, known):
    """As the layout says; a count is right in one of two."""
    out, at = b"", 0
    while at < len(layout):
        kind = layout[at]
        at += 1
        if kind == "s":
            text = rng.choice(STRINGS)
            out += text + bytes(rng.choice((0, 1, 8 - len(text) % 8, 64)))
        elif kind == "b":
            out += rng.randbytes(rng.choice((0, 1, 8, 20, 64, 1000)))
        elif kind == "*":
            unit, at = layout[at:], len(layout)
            tail = b""
            for _ in range(rng.choice((0, 1, 2, 3, 20))):
                tail += body(rng, unit, known)
            out += tail
        elif kind.islower():
            out += number(rng, WIDTHS[kind], known)
        else:
            width = WIDTHS[kind.lower()]
            out += rng.choice((number(rng, width), rng.randrange(4).to_bytes(width, "little")))
    return out


def record(rng, kind, known, misc=None):
    data = body(rng, LAYOUTS[kind], known)
    if rng.randrange(3):
        data += bytes(-len(data) % 8)
    if rng.randrange(4) == 0:
        data = data[:rng.randrange(len(data) + 1) & -8]
    size = HEAD.size + len(data)
    if rng.randrange(8) == 0:
        size = rng.choice((0, 1, 7, 8, 12, 16, size - 8, size + 8, size + 64, 0xfff8, 0xffff))
    if misc is None:
        misc = rng.choice((0, 1, 2, 3, 4, 5, 0x2000, 0x4000, 0x6000, 0x8002,
                           rng.randrange(1 << 16)))
    made = HEAD.pack(kind, misc, size & 0xffff) + data
    if kind == 71 and rng.randrange(2):
        made += rng.randbytes(64)
    return made


def lie(rng, data, known):
    """Some words of a record that was true."""
    data = bytearray(data)
    for _ in range(rng.choice((1, 2, 8))):
        width = rng.choice((2, 4, 8))
        if len(data) < HEAD.size + width:
            break
        at = rng.randrange(HEAD.size, len(data) - width + 1) & -width
        data[at:at + width] = number(rng, width, known)
    return bytes(data)


class Recording:
    """What a file of perf's consists of."""

    def __init__(self, data):
        self.header = data[:FILE_HEADER]
        self.attr_size = int.from_bytes(data[16:24], "little")
        attrs, size = SECTION.unpack_from(data, 24)
        self.attrs = [data[at:at + self.attr_size]
                      for at in range(attrs, attrs + size, self.attr_size)]
        self.ids = []
        for attr in self.attrs:
            at, size = SECTION.unpack_from(attr, self.attr_size - SECTION.size)
            self.ids.append(data[at:at + size])
        self.start, size = SECTION.unpack_from(data, 40)
        self.records = list(self.split(data[self.start:self.start + size]))
        self.features = self.read_features(data, self.start + size)
        samples = [record for record in self.records if record[0] == 9]
        self.known = [word for sample in samples[:200]
                      for word, in struct.iter_unpack("<Q", sample[8:len(sample) & -8])]
        self.known += [word for ids in self.ids for word, in struct.iter_unpack("<Q", ids)]

    @staticmethod
    def split(data):
        at = 0
        while at + HEAD.size <= len(data):
            size = HEAD.unpack_from(data, at)[2]
            if size < HEAD.size:
                return
            yield data[at:at + size]
            at += size

    def read_features(self, data, at):
        bits = int.from_bytes(data[72:72 + FEATURES], "little")
        found = {}
        for bit in range(8 * FEATURES):
            if bits >> bit & 1:
                start, size = SECTION.unpack_from(data, at)
                found[bit] = data[start:start + size]
                at += SECTION.size
        return found


def make_records(rng, recording):
    first = rng.randrange(max(1, len(recording.records) - 40))
    records = recording.records[:20] + recording.records[first:first + rng.choice((5, 40))]
    for _ in range(rng.choice((1, 2, 5, 20))):
        at = rng.randrange(len(records) + 1)
        if rng.randrange(3):
            kind = rng.choice(list(LAYOUTS))
            records[at:at] = [record(rng, kind, recording.known)]
        elif at < len(records):
            records[at] = lie(rng, records[at], recording.known)
    # What belongs together: AUX data are decoded if their kind is known.
    if rng.randrange(4) == 0:
        info = HEAD.pack(70, 0, 16 + 8 * 24) + struct.pack("<II", rng.randrange(1, 9), 0)
        info += b"".join(number(rng, 8, recording.known) for _ in range(24))
        size = rng.choice((0, 64, 4096, 1 << 20, 1 << 47, (1 << 63) - 64))
        aux = HEAD.pack(71, 0, 48) + struct.pack("<QQQIIII", size, 0, 0, 0, 1, 0, 0)
        records[0:0] = [info]
        records.append(aux + rng.randbytes(rng.choice((0, 64, 4096))))
    return records


def make_features(rng, recording):
    features = dict(recording.features)
    for _ in range(rng.choice((0, 1, 3))):
        bit = rng.randrange(2, 34)
        text = bytearray(features.get(bit, b"")) or bytearray(rng.randbytes(64))
        for _ in range(rng.choice((1, 3))):
            width = rng.choice((4, 8))
            at = rng.randrange(max(1, len(text) - width)) & -4
            text[at:at + width] = number(rng, width)
        features[bit] = bytes(text[:rng.choice((len(text), rng.randrange(len(text) + 1)))])
    return features


def make_attrs(rng, recording):
    attrs = [bytearray(attr[:-SECTION.size]) for attr in recording.attrs]
    if rng.randrange(4) == 0:
        attr = rng.choice(attrs)
        at = rng.randrange(len(attr) - 8) & -4
        attr[at:at + 8] = number(rng, 8)
    return [bytes(attr) for attr in attrs]


def as_pipe(rng, recording):
    out = b"PERFILE2" + struct.pack("<Q", 16)
    for attr, ids in zip(make_attrs(rng, recording), recording.ids):
        out += HEAD.pack(64, 0, HEAD.size + len(attr) + len(ids)) + attr + ids
    for bit, data in make_features(rng, recording).items():
        data = data[:60000] + bytes(-len(data[:60000]) % 8)
        out += HEAD.pack(80, 0, 16 + len(data)) + struct.pack("<Q", bit) + data
    return out + b"".join(make_records(rng, recording))


def as_file(rng, recording):
    attrs, features = make_attrs(rng, recording), make_features(rng, recording)
    ids, table, at = b"", b"", FILE_HEADER
    for attr, own in zip(attrs, recording.ids):
        table += attr + SECTION.pack(at + len(ids), len(own))
        ids += own
    at += len(ids)
    start = at + len(table)
    data = b"".join(make_records(rng, recording))
    sections, texts, after = b"", b"", start + len(data) + SECTION.size * len(features)
    for text in (features[bit] for bit in sorted(features)):
        place = [after + len(texts), len(text)]
        if rng.randrange(20) == 0:
            place[rng.randrange(2)] = rng.choice(LIES)
        sections += SECTION.pack(*place)
        texts += text
    bits = sum(1 << bit for bit in features)
    header = bytearray(recording.header)
    SECTION.pack_into(header, 24, at, len(table))
    SECTION.pack_into(header, 40, start, len(data))
    header[72:72 + FEATURES] = bits.to_bytes(FEATURES, "little")
    if rng.randrange(16) == 0:
        place = rng.randrange(8, 72) & -8
        header[place:place + 8] = number(rng, 8)
    return bytes(header) + ids + table + data + sections + texts


def make(rng, recording):
    return (as_pipe if rng.randrange(3) == 0 else as_file)(rng, recording)
