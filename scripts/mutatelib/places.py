# SPDX-License-Identifier: GPL-2.0
"""The places of a C file where one thing can be changed, by kind of change."""

import dataclasses
import random
import re

KINDS = {
    "equal": "== for !=, and the other way round",
    "order": "< for <=, and so on",
    "and-or": "&& for ||",
    "negated": "a condition negated",
    "removed": "a statement removed",
    "check": "a check dropped: what it leads to never happens",
    "bound": "a number or a bound off by one",
    "returned": "another value returned",
    "assigned": "a flag or a number set otherwise",
}

JUMP = re.compile(r"(return|goto|break|continue)\b")
CONTROL = re.compile(r"(if|while|for|switch|else|do|case|default|return|goto|break|continue)\b")
TYPES = r"(?:(?:const|static|unsigned|signed|struct|enum|union|volatile|register|__\w+)\s+)+\w+"
BASE = r"(?:void|bool|char|short|int|long|[us](?:8|16|32|64)|__[us]\d+|\w+_t)"
DECLARATION = re.compile(rf"(?:{TYPES}|{BASE}|DEFINE_\w+|DECLARE_\w+|[A-Z]\w+\s+\*?\w+\s*[=;])"
                         r"(?:\s|\*|\b)")
NUMBER = re.compile(r"(?<![\w.])(0x[0-9a-fA-F]+|\d+)([uUlL]*)(?![\w.])")
# A bound by its name, beside a comparison.
NAMED = re.compile(r"(?:(?<=< )|(?<=> )|(?<=<= )|(?<=>= ))([A-Z][A-Z0-9_]{3,})\b(?!\s*\()")
RELATION = re.compile(r"(?<![-<>])(<=|>=|<|>)(?![<>=])")


@dataclasses.dataclass(frozen=True)
class Place:
    """text[start:end] of the file becomes new."""
    file: str
    start: int
    end: int
    new: str
    kind: str
    line: int


def blanked(text):
    """The text with comments, strings and preprocessor lines as spaces, at their offsets."""
    pattern = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
                         r"|^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", re.S | re.M)
    return pattern.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)


def bodies(code):
    """Where the bodies of functions are: from a brace in the first column to the next."""
    for found in re.finditer(r"^\{\n(.*?)^\}", code, re.S | re.M):
        yield found.start(1), found.end(1)


def closing(code, at):
    """The offset behind the parenthesis or the brace that closes the one at an offset."""
    depth = 0
    for i in range(at, len(code)):
        if code[i] in "({[":
            depth += 1
        elif code[i] in ")}]":
            depth -= 1
            if not depth:
                return i + 1
    return len(code)


def statement_end(code, at):
    """The offset behind the statement that begins at an offset."""
    while at < len(code):
        if code[at] == ";":
            return at + 1
        if code[at] in "({[":
            brace = code[at] == "{"
            at = closing(code, at)
            if brace and not re.match(r"\s*[;,)\]]", code[at:]):
                return at
            continue
        at += 1
    return len(code)


def skip(code, at):
    return at + len(code[at:]) - len(code[at:].lstrip())


def statements(code, at, end):
    """Each simple statement between two offsets: its start and its end."""
    while True:
        at = skip(code, at)
        if at >= end:
            return
        word = re.match(r"(if|while|for|switch)\b\s*\(", code[at:end])
        label = re.match(r"(?:case\b[^:?]*|default\s*|\w+\s*):(?!:)", code[at:end])
        macro = re.match(r"\w*for_each\w*\s*\(", code[at:end])
        if word or macro:
            at = closing(code, at + (word or macro).end() - 1)
        elif label:
            at += label.end()
        elif re.match(r"(?:else|do)\b", code[at:end]):
            at += 4 if code[at] == "e" else 2
        elif code[at] in "{};":
            at += 1
        else:
            stop = statement_end(code, at)
            yield at, stop
            at = stop


def off_by_one(number, dice):
    base = 16 if number.lower().startswith("0x") else 10
    value = int(number, base) if base == 16 or not number.startswith("0") else int(number, 8)
    value += 1 if not value or dice.random() < 0.5 else -1
    return hex(value) if base == 16 else str(value)


def other_value(text):
    """What a function returns instead, and a flag is set to."""
    swaps = {"true": "false", "false": "true", "0": "1", "NULL": None, "1": "0"}
    if text in swaps:
        return swaps[text]
    return "0" if text and not text.startswith("{") else None


def conditions(code, at, end):
    """The conditions of if, while and for: start and end."""
    for found in re.finditer(r"\b(if|while|for)\s*\(", code[at:end]):
        start = at + found.end()
        stop = closing(code, start - 1) - 1
        if found.group(1) == "for":
            parts = code[start:stop].split(";")
            if len(parts) != 3 or not parts[1].strip():
                continue
            start += len(parts[0]) + 1
            stop = start + len(parts[1])
            start = skip(code, start)
        yield found.group(1), start, stop


def checks(code, at, end):
    """Conditions of an if without else that only leads away."""
    for word, start, stop in conditions(code, at, end):
        if word != "if":
            continue
        then = skip(code, stop + 1)
        leaves = JUMP.match(code, then)
        behind = statement_end(code, then)
        if code[then] == "{":
            last = [s for s in statements(code, then + 1, behind - 1)]
            leaves = last and JUMP.match(code, last[-1][0]) and last[-1][1] == len(
                code[:behind - 1].rstrip())
        if leaves and not re.match(r"\s*else\b", code[behind:]):
            yield start, stop


def changes(text, code, at, end, dice):
    """All changes of one body: start, end, what stands there then, and the kind."""
    for found in re.finditer(r"[=!]=", code[at:end]):
        other = "!=" if found.group() == "==" else "=="
        yield at + found.start(), at + found.end(), other, "equal"
    for found in RELATION.finditer(code[at:end]):
        sign = found.group()
        other = sign[0] if len(sign) == 2 else sign + "="
        yield at + found.start(), at + found.end(), other, "order"
    for found in re.finditer(r"&&|\|\|", code[at:end]):
        other = "||" if found.group() == "&&" else "&&"
        yield at + found.start(), at + found.end(), other, "and-or"
    for _, start, stop in conditions(code, at, end):
        yield start, stop, f"!({text[start:stop]})", "negated"
    for start, stop in checks(code, at, end):
        yield start, stop, f"({text[start:stop]}) && 0", "check"
    for found in list(NUMBER.finditer(code, at, end)):
        if code[found.start() - 1] == "[" and re.match(r"\][^;]*;", code[found.end():]) and \
           DECLARATION.match(code[:found.start()].rpartition("\n")[2].strip()):
            continue
        yield found.start(1), found.end(1), off_by_one(found.group(1), dice), "bound"
    for found in NAMED.finditer(code, at, end):
        yield found.start(1), found.end(1), f"({found.group(1)} {dice.choice('+-')} 1)", "bound"
    for start, stop in statements(code, at, end):
        yield from of_statement(text, code, start, stop)


def of_statement(text, code, start, stop):
    said = code[start:stop]
    returned = re.match(r"return\b\s*(.+);$", said, re.S)
    if returned:
        value = text[start + returned.start(1):start + returned.end(1)]
        other = other_value(value)
        if other is not None and other != value:
            yield start + returned.start(1), start + returned.end(1), other, "returned"
        return
    if DECLARATION.match(said):
        return
    if not JUMP.match(said) or re.match("continue|break", said):
        lines = "\n" * said.count("\n")
        yield start, stop, ";" + lines, "removed"
    if re.search(r"\|=\s", said):
        sign = start + said.index("|=")
        yield sign, stop, f"&= ~({text[sign + 2:stop - 1].strip()});", "assigned"
    assigned = re.search(r"[^=!<>|&+*/-]=\s*(\w+);$", said)
    if assigned and assigned.group(1) in ("true", "false", "0", "1"):
        yield (start + assigned.start(1), start + assigned.end(1),
               other_value(assigned.group(1)), "assigned")


def places(file, text, seed=0):
    """All places of a file."""
    dice = random.Random(f"{seed} {file}")
    code = blanked(text)
    result = []
    for at, end in bodies(code):
        for start, stop, new, kind in changes(text, code, at, end, dice):
            line = code.count("\n", 0, start) + 1
            result.append(Place(file, start, stop, new, kind, line))
    return result


def changed(text, place):
    return text[:place.start] + place.new + text[place.end:]


def code_lines(text):
    """About the lines that a compiler makes code of, for files that no test compiles."""
    code = blanked(text)
    lines = set()
    for at, end in bodies(code):
        for start, _ in statements(code, at, end):
            said = code[start:end].split(";")[0]
            if not DECLARATION.match(said + ";") or "=" in said:
                lines.add(code.count("\n", 0, start) + 1)
        for _, start, _ in conditions(code, at, end):
            lines.add(code.count("\n", 0, start) + 1)
    return lines
