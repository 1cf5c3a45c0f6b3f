# SPDX-License-Identifier: GPL-2.0
"""Counts what a perf.data file holds, from its records alone."""

import struct

LOST, SAMPLE, LOST_SAMPLES, COMPRESSED, COMPRESSED2 = 2, 9, 13, 81, 83
HEADER = struct.Struct("<IHH")


class Counts:
    """samples, their bytes, lost records; None of it if compressed."""

    def __init__(self):
        self.samples = 0
        self.sample_bytes = 0
        self.lost = 0
        self.data_bytes = 0
        self.compressed = False

    def bytes_per_sample(self, samples):
        """The size of a sample's record; of a compressed file, its share."""
        if self.compressed:
            return self.data_bytes / samples if samples else 0
        return self.sample_bytes / self.samples if self.samples else 0


def data_section(file):
    """(offset, size) of the records; size 0 if the recording was cut off."""
    head = file.read(104)
    if head[:8] != b"PERFILE2" or len(head) < 104:
        raise ValueError("no perf.data file")
    return struct.unpack_from("<QQ", head, 40)


def count(path):
    """Counts of one file. Raises OSError or ValueError."""
    counts = Counts()
    with open(path, "rb") as file:
        offset, size = data_section(file)
        counts.data_bytes = size
        file.seek(offset)
        end = offset + size
        while offset + HEADER.size <= end:
            kind, _, length = HEADER.unpack(file.read(HEADER.size))
            if length < HEADER.size:
                raise ValueError(f"record of {length} bytes at {offset:#x}")
            if kind == SAMPLE:
                counts.samples += 1
                counts.sample_bytes += length
            elif kind == LOST:
                counts.lost += struct.unpack("<QQ", file.read(16))[1]
            elif kind == LOST_SAMPLES:
                counts.lost += struct.unpack("<Q", file.read(8))[0]
            elif kind in (COMPRESSED, COMPRESSED2):
                counts.compressed = True
            offset += length
            file.seek(offset)
    return counts
