# SPDX-License-Identifier: GPL-2.0
"""The truth table of a program: its section .truth, as truth.h writes it."""

import struct


class Function:
    """One function, its only caller and what else truth.h says about it."""

    def __init__(self, line):
        self.name, self.caller, *words = line.split()
        self.libc = "libc" in words
        self.via = "via" in words
        self.tail = "tail" in words
        self.indirect = "indirect" in words
        self.loader = "loader" in words
        self.asm = "asm" in words
        self.depth = 0
        for word in words:
            if word.startswith("depth="):
                self.depth = int(word[6:])


def parse(text):
    """{name: Function} of the lines of a table; a name twice is an error."""
    table = {}
    for line in text.splitlines():
        if not line.strip():
            continue
        function = Function(line)
        if function.name in table:
            raise ValueError(f"{function.name} is in the truth table twice")
        table[function.name] = function
    return table


def section(path, wanted):
    """The bytes of an ELF file's section, or None. Raises OSError only."""
    with open(path, "rb") as file:
        data = file.read()
    if data[:4] != b"\x7fELF" or data[5:6] != b"\x01":
        return None
    wide = data[4] == 2
    try:
        if wide:
            start, = struct.unpack_from("<Q", data, 40)
            size, count, names = struct.unpack_from("<HHH", data, 58)
            form, pick = "<IIQQQQ", (4, 5)
        else:
            start, = struct.unpack_from("<I", data, 32)
            size, count, names = struct.unpack_from("<HHH", data, 46)
            form, pick = "<IIIIII", (4, 5)
        heads = [struct.unpack_from(form, data, start + i * size)
                 for i in range(count)]
        strings = heads[names][pick[0]]
        for head in heads:
            name = data[strings + head[0]:data.index(b"\0", strings + head[0])]
            if name == wanted:
                return data[head[pick[0]]:head[pick[0]] + head[pick[1]]]
    except (struct.error, IndexError, ValueError):
        return None
    return None


def read(path):
    """The table in a program or object, or None if it has none."""
    try:
        text = section(path, b".truth")
    except OSError:
        return None
    return parse(text.decode()) if text else None
