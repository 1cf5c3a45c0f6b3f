# SPDX-License-Identifier: GPL-2.0
"""The call paths of one thread over time, from the log that callers.h describes."""

import bisect
import struct

ENTER, LEAVE, SIGNAL, SIGNAL_END, SWITCH, CODE, MADE = range(1, 8)
EVENT = struct.Struct("<QII")


class Call:
    """A function that runs, and what called it; name None: a signal came, and base
    is the number of that event. code: the number of the code that it runs, if the program has
    made that."""

    __slots__ = ("name", "caller", "base", "code")

    def __init__(self, name, caller, base=None, code=None):
        self.name, self.caller, self.base, self.code = name, caller, base, code

    def codes(self):
        """Of it and of what called it."""
        call, found = self, []
        while call:
            if call.code is not None:
                found.append(call.code)
            call = call.caller
        return found

    def functions(self):
        """Innermost first."""
        call, found = self, []
        while call:
            found.append(call.name or "<signal>")
            call = call.caller
        return found


class CallLog:
    """Raises ValueError where the log contradicts itself."""

    def __init__(self, data, names):
        """names: of section call_names."""
        events, made = [], None
        # {number of code: times at which it was written}
        self.written = {}
        for time, kind, what in EVENT.iter_unpack(data):
            if not kind:
                break
            if kind == CODE:
                self.written.setdefault(what, []).append(time)
            elif kind == MADE:
                made = what
            else:
                events.append((time, kind, what, made))
                made = None
        # A handler's events come before one that it interrupted.
        events.sort(key=lambda event: event[0])
        self.times = [event[0] for event in events]
        self.kinds = [event[1] for event in events]
        self.other_end = self.match_signals()
        self.paths = self.follow(events, names)

    def match_signals(self):
        """{number of a signal's event: of its end}, and the other way round."""
        found, begun = {}, []
        for number, kind in enumerate(self.kinds):
            if kind == SIGNAL:
                begun.append(number)
            elif kind == SIGNAL_END:
                if not begun:
                    raise ValueError("the log has a signal's end without its begin")
                found[number] = begun.pop()
                found[found[number]] = number
        return found

    def follow(self, events, names):
        """The call that runs from each event on, None for a stack's begin."""
        paths, stacks, stack, path = [], {}, 0, None
        called = {}
        for number, (_, kind, what, made) in enumerate(events):
            if kind == SWITCH:
                stacks[stack] = path
                stack, path = what, stacks.get(what)
                paths.append(path)
                continue
            name = called.get(what)
            if not name:
                name = called[what] = names[what:names.index(b"\0", what)].decode()
            if kind == ENTER:
                path = Call(name, path, code=made)
            elif kind == SIGNAL:
                path = Call(name, Call(None, path, number))
            elif not path or path.name != name:
                raise ValueError(f"{name}() is left, but {path and path.name}() runs")
            else:
                path = path.caller if kind == LEAVE else path.caller.caller
            paths.append(path)
        return paths

    def at(self, time):
        """The number of the event that holds at a time, None outside of the log."""
        number = bisect.bisect_right(self.times, time) - 1
        return number if 0 <= number < len(self.times) - 1 else None

    def near(self, number, time, guard):
        """Those whose times differ from this one by less than the clocks may."""
        found = [number]
        if number > 0 and time - self.times[number] < guard:
            found.append(number - 1)
        if number + 2 < len(self.times) and self.times[number + 1] - time < guard:
            found.append(number + 1)
        return found

    def candidates(self, number):
        """The paths that may be those of the stack, the logged one first."""
        return [self.paths[number]] + self.beside(number, number + 1)

    def interrupted(self, number):
        """What a signal may have come to."""
        end = self.other_end.get(number, len(self.kinds))
        before = [self.paths[number - 1]] if number else []
        return before + self.beside(number - 1, end + 1)

    def beside(self, before, after):
        """The paths of a function that has just logged its end and has still to
        return, or was called and has still to log it; and, where the stack is being
        switched, of the old one. Signals that came and went change nothing else."""
        found = []
        while before >= 0 and self.kinds[before] == SIGNAL_END:
            # Still the handler, or on the way back from it.
            found += [self.paths[before - 1], self.paths[before - 1].caller]
            before = self.other_end[before] - 1
        if before > 0 and self.kinds[before] in (LEAVE, SWITCH):
            found.append(self.paths[before - 1])
        while after < len(self.kinds) and self.kinds[after] == SIGNAL:
            found.append(self.paths[after])
            after = self.other_end.get(after, len(self.kinds)) + 1
        if after < len(self.kinds) and self.kinds[after] == ENTER:
            found.append(self.paths[after])
        return found
