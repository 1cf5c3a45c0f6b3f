# SPDX-License-Identifier: GPL-2.0
"""Compares two perf.data files of the same samples, frame by frame."""

import collections
import json

import perfscript
from chains import KERNEL


def key(sample):
    return (sample.tid, sample.time, sample.event)


def same(a, b):
    """One unwinder stores a return address, another the call before it."""
    return a.dso == b.dso and abs(a.ip - b.ip) <= 1


def difference(a, b):
    """The first frame at which two chains part, in words; None if none."""
    for i, (x, y) in enumerate(zip(a, b)):
        if same(x, y):
            continue
        after = a[i - 1].sym if i else "the event"
        if KERNEL <= x.ip or KERNEL <= y.ip:
            return f"kernel frames differ after {after}"
        return f"after {after}: A has {x.sym}, B has {y.sym}"
    if len(a) == len(b):
        return None
    short, longer = ("A", b) if len(a) < len(b) else ("B", a)
    at = min(len(a), len(b))
    last = longer[at - 1].sym if at else "the event"
    return f"{short} ends after {last}, the other goes on to {longer[at].sym}"


class Result:
    def __init__(self):
        self.same = self.adjusted = self.differ = 0
        self.reasons = {}

    def add(self, a, b):
        reason = difference(a.frames, b.frames)
        if reason:
            self.differ += 1
            count, example = self.reasons.get(reason, (0, (a, b)))
            self.reasons[reason] = (count + 1, example)
            return
        self.same += 1
        self.adjusted += any(x.ip != y.ip for x, y in zip(a.frames, b.frames))


def pairs(left, right):
    """Yields (A, B) of each sample that both have, then how many only one had.

    Both files come in time order, so the samples that wait for their partner
    are few.
    """
    waiting = ({}, {})
    sources = (iter(left), iter(right))
    open_ends = [True, True]
    while any(open_ends):
        for side in (0, 1):
            sample = next(sources[side], None)
            if sample is None:
                open_ends[side] = False
                continue
            queue = waiting[1 - side].get(key(sample))
            if queue:
                other = queue.popleft()
                if not queue:
                    del waiting[1 - side][key(sample)]
                yield (sample, other) if side == 0 else (other, sample)
            else:
                waiting[side].setdefault(key(sample), collections.deque()).append(sample)
    yield tuple(sum(map(len, queues.values())) for queues in waiting)


def show(result, verbose):
    for reason, (count, (a, b)) in \
            sorted(result.reasons.items(), key=lambda item: -item[1][0]):
        print(f"  {count} {reason}")
        if not verbose:
            continue
        print(f"    {a.comm} {a.pid}/{a.tid} at {a.time}:")
        for name, sample in (("A", a), ("B", b)):
            for frame in sample.frames[:40]:
                print(f"    {name}   {frame}")


def run(perf, left, right, max_stack, verbose, as_json):
    """Exit status: 0 if all chains are the same."""
    result, only = Result(), (0, 0)
    for a, b in pairs(perfscript.samples(perf, left, max_stack),
                      perfscript.samples(perf, right, max_stack)):
        if isinstance(a, int):
            only = (a, b)
        else:
            result.add(a, b)
    if as_json:
        print(json.dumps({
            "same": result.same, "adjusted": result.adjusted, "differ": result.differ,
            "only_A": only[0], "only_B": only[1],
            "reasons": {why: n for why, (n, _) in result.reasons.items()}}))
    else:
        print(f"same={result.same} (of these {result.adjusted} with addresses one apart)"
              f" differ={result.differ} only_A={only[0]} only_B={only[1]}")
        show(result, verbose)
    return 1 if result.differ or only != (0, 0) else 0
