# SPDX-License-Identifier: GPL-2.0
"""perf.data files that end the unpatched perf, one or more for each patch that mends it.

Each is made of a recording's attrs and of a few records. files() has a name, the file and the
commands that read it.
"""

import struct

import made

HEAD, SECTION = made.HEAD, made.SECTION
# Behind records of the kernel's: no event, no time, no CPU.
NO_ID = bytes(48)
INTEL_PT, CS_ETM, ARM_SPE, VPA_DTL = 1, 3, 4, 7
AUXTRACE_FEATURE, BRANCH_STACK_FEATURE = 18, 15
IDENTIFIER = 1 << 16
STAT = ("stat report", "script")
DECODERS = ("report", "script --itrace", "script -D")
ETMV4 = 0x4040404040404040
GLOBAL, THREAD, NO_MODE = 1, 7, 99
KERNEL = 0xffffffff80000000


def words(*values):
    return struct.pack(f"<{len(values)}Q", *values)


def record(kind, body, misc=0):
    return HEAD.pack(kind, misc, HEAD.size + len(body)) + body


# A list with CPU 0.
ONE_CPU = struct.pack("<HHHH", 0, 1, 0, 0)
THREADS = record(73, words(1, 1) + b"one".ljust(16, b"\0"))
CPUS = record(74, ONE_CPU)
ROUND = record(77, words(1, 1000))


def config(mode):
    return record(75, words(1, 0, mode))


def count(number):
    return record(76, struct.pack("<QIIQQQ", number, 0, 0, 1, 1, 1))


def info(kind, *values):
    return record(70, struct.pack("<II", kind, 0) + words(*values))


def aux(data, size=None, queue=0):
    size = len(data) if size is None else size
    return record(71, struct.pack("<QQQIIII", size, 0, 0, queue, 1, 0, 0)) + data


def mmap_of_kernel(start, size):
    name = b"[kernel.kallsyms]_text\0\0"
    return record(1, struct.pack("<IIQQQ", 0xffffffff, 0, start, size, start) + name + NO_ID, 1)


def ksymbol(start, size):
    return record(17, struct.pack("<QIHH", start, size, 1, 0) + b"symbol\0\0" + NO_ID)


def as_file(recording, records, attrs=None, features=None):
    """Without features but those that are given; each is a function of where the records are."""
    attrs = recording.attrs if attrs is None else attrs
    ids, table = b"", b""
    for attr, own in zip(attrs, recording.ids):
        table += attr[:-SECTION.size] + SECTION.pack(made.FILE_HEADER + len(ids), len(own))
        ids += own
    start = made.FILE_HEADER + len(ids) + len(table)
    data = b"".join(records)
    texts = {bit: text(start) for bit, text in (features or {}).items()}
    sections, at = b"", start + len(data) + SECTION.size * len(texts)
    for bit in sorted(texts):
        sections += SECTION.pack(at, len(texts[bit]))
        at += len(texts[bit])
    header = bytearray(recording.header)
    SECTION.pack_into(header, 24, made.FILE_HEADER + len(ids), len(table))
    SECTION.pack_into(header, 40, start, len(data))
    header[72:104] = sum(1 << bit for bit in texts).to_bytes(32, "little")
    return bytes(header) + ids + table + data + sections + b"".join(
        texts[bit] for bit in sorted(texts))


def attr_record(attr, own):
    return record(64, attr[:-SECTION.size] + own)


def as_pipe(records):
    return b"PERFILE2" + words(16) + b"".join(records)


def changed(attr, event=None, sample_type=0, sample_id_all=True):
    """Another config; bits of sample_type more; without sample_id_all."""
    attr = bytearray(attr)
    if event is not None:
        attr[8:16] = words(event)
    attr[24:32] = words(int.from_bytes(attr[24:32], "little") | sample_type)
    if not sample_id_all:
        attr[42] &= ~4
    return bytes(attr)


def of_stat(recording):
    """Counts and rounds without what makes room for them."""
    number = int.from_bytes(recording.ids[0][:8], "little")
    late = attr_record(recording.attrs[0], words(1 << 40))
    cpus = record(78, words(3, number) + ONE_CPU)
    for name, records in (
            ("count before the maps", [cpus, count(number)]),
            ("count before the map of threads", [cpus, CPUS, count(number)]),
            ("round alone", [ROUND]),
            ("round without maps", [config(GLOBAL), ROUND]),
            ("round without configuration", [THREADS, CPUS, count(number), ROUND]),
            ("round of an unknown mode", [THREADS, CPUS, config(NO_MODE), ROUND]),
            ("round of threads, then unknown",
             [THREADS, CPUS, config(THREAD), config(NO_MODE), ROUND]),
            ("round with a late event", [THREADS, CPUS, config(GLOBAL), late, ROUND])):
        yield name, as_file(recording, records), STAT


def of_metadata(recording):
    """AUXTRACE_INFO records with sizes beyond their end."""
    cpu = (0, 0, 4, 1, 2, 3, 4)
    for name, values in (
            ("three words", (2, 4, 0)),
            ("CPUs without parameters", (2, 4, 0, 8, 1)),
            ("a header of 1,000 words", (2, 1000, 0, 3, *cpu)),
            ("a header of 2^63 words", (2, 1 << 63, 0, 1, *cpu)),
            ("2^20 parameters", (2, 4, 0, 1, 0, 0, 1 << 20, 1, 2, 3, 4))):
        yield f"arm-spe: {name}", as_file(recording, [info(ARM_SPE, *values)]), DECODERS
    for name, values in (
            ("2^20 parameters", (1, 1, 0, ETMV4, 0, 1 << 20)),
            ("CPUs that are missing", (1, 1 << 20, 0, ETMV4, 0, 1 << 16)),
            ("parameters that are missing", (0, 64, 0, ETMV4, 0, 1))):
        yield f"cs-etm: {name}", as_file(recording, [info(CS_ETM, *values)]), DECODERS
    # 1 s is no tick at all; there are timestamps, and no multiplier.
    yield "intel-pt: a TSC of 0 Hz", as_file(
        recording, [info(INTEL_PT, 8, 0, 0xffffffff, *(0,) * 7)]), DECODERS
    yield "intel-pt: no multiplier", as_file(
        recording, [info(INTEL_PT, 1, 0, 0, 0, 1, 1, *(0,) * 4)],
        [changed(recording.attrs[0], event=1)]), ("script --itrace=i1us",)


def of_aux_data(recording):
    """AUX data that are not in the file, and entries of a dispatch trace log."""
    pt = info(INTEL_PT, 8, 0, 1, *(0,) * 7)
    for size in (1 << 20, 1 << 32, 1 << 47):
        yield f"AUX data of {size:#x} bytes", as_file(recording, [pt, aux(bytes(64), size)]), \
            DECODERS

    yield "AUX data of buffer 2^25", as_file(recording, [pt, aux(bytes(64), queue=1 << 25)]), \
        DECODERS

    def index(first):
        return lambda start: words(1, start + len(first), 48)

    # An entry: reasons, times, timebase and addresses.
    boot = words(100, 1 << 30, 0, 0, 0, 0)
    entries = [bytes((reason, reason)) + bytes(14) + (1 << 40).to_bytes(8, "big") + bytes(24)
               for reason in range(10, 256)]
    entry = entries[-1]
    vpa = info(VPA_DTL, 8)
    samples = [one for one in recording.records if one[0] == 9][:20]
    for name, data in (("reasons without a name", boot + b"".join(entries)),
                       ("half an entry", entry[:24]), ("the boot time alone", boot),
                       ("half a second entry", boot + entry[:24]),
                       ("an entry without a time", boot + bytes(48) + entry)):
        yield f"vpadtl: {name}", as_file(recording, [vpa, aux(data), *samples],
                                         features={AUXTRACE_FEATURE: index(vpa)}), DECODERS


def of_callchains(recording):
    """Deferred callchains that are too long, or of no event."""
    for number in (1 << 20, (1 << 61) - 1):
        yield f"a deferred callchain of {number:#x} entries", as_file(
            recording, [record(22, words(1, number) + NO_ID)]), ("script -D",)
    yield "a deferred callchain without a number", as_file(
        recording, [record(22, words(1))]), ("script -D",)
    # The second event's records have no id at their end, although the first one's have.
    attrs = [attr_record(changed(recording.attrs[0], None, IDENTIFIER), words(1)),
             attr_record(changed(recording.attrs[0], None, IDENTIFIER, False), words(2))]
    yield "a deferred callchain of an unknown event", as_pipe(
        [*attrs, record(22, words(1, 1, 1, *(0,) * 6, 2))]), ("script --no-merge-callchains",)


def of_events(recording):
    """Files without events, and pipes with records before them."""
    for name, one, commands in (
            ("a sample", record(9, words(0)), ("report", "script", "script -D", "diff")),
            ("a deferred callchain", record(22, words(1, 1, 1) + NO_ID),
             ("script --no-merge-callchains",))):
        yield f"{name} without attributes", as_file(recording, [one], attrs=[]), commands
        yield f"{name} before the attributes of a pipe", as_pipe([one]), commands


def of_kernel_maps(recording):
    """Symbols that take the place of the kernel's map, or split it, and another such map."""
    size = 0x1000000
    first, again = mmap_of_kernel(KERNEL, size), mmap_of_kernel(KERNEL, size)
    for name, symbol in (("replaced", ksymbol(KERNEL - 0x1000, 2 * size)),
                         ("cut", ksymbol(KERNEL - 0x1000, 0x2000))):
        for what, records in (("at the end", [first, symbol]),
                              ("before another", [first, symbol, again])):
            yield f"the kernel's map {name}, {what}", as_file(
                recording, records), ("report", "script")


def of_build_ids(recording):
    """Two records of one file, which say that they have a build-id and have none."""
    body = struct.pack("<IIQQQ", 1, 1, 0x1000, 0x1000, 0) + b"/bin/x\0\0" + NO_ID
    yield "mappings without a build-id", as_file(
        recording, [record(1, body, 1 << 14 | 2)] * 2), ("inject -b",)


def files(recording):
    for part in (of_stat, of_metadata, of_aux_data, of_callchains, of_events, of_kernel_maps,
                 of_build_ids):
        yield from part(recording)
    # The other file, which diff reads next, is a good one.
    broken = [*recording.records[:20], HEAD.pack(9, 0, 4)]
    yield "the first file of diff", as_file(
        recording, broken, features={BRANCH_STACK_FEATURE: lambda start: b""}), ("diff",)
