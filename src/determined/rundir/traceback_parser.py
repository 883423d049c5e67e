"""Parser of Python's tracebacks, also chained ones and groups: the error, its frames, and the error it came from."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

_BEGIN = "Traceback (most recent call last):"
_GROUP_BEGIN = f"Exception Group {_BEGIN}"
# The second is of an exception in a worker of a DataLoader, which torch raises again with all of its text.
_BEGINS = frozenset([_BEGIN, f"Original {_BEGIN}", _GROUP_BEGIN])
_FRAME = re.compile(r'^\s+File "(?P<file>.+?)", line (?P<line>\d+)(?:, in (?P<function>.+))?$')
_ERROR = re.compile(r"^(?P<type>[A-Za-z_](?:[\w.]|<locals>)*)(?:: (?P<text>.*))?$")
_SYNTAX_ERROR = re.compile(r"^(?:SyntaxError|IndentationError|TabError)(?:: |$)")
_LINKS = {
    "The above exception was the direct cause of the following exception:": "raised from",
    "During handling of the above exception, another exception occurred:": "raised while handling",
}
# The frame that Python draws around the members of a group: `  | text`, `  + Exception Group Traceback`, and
# `  +-+---------------- 1 ----------------` before each member.
_MARGIN = re.compile(r"^ +(?:\| ?|\+ (?=Exception Group))")
_MEMBER = re.compile(r"^ +\+-(?:\+-)?-{8,}(?: (?P<number>\d+) -+)?")
_SYNTAX_LINES = 6  # between the place of a syntax error and its name
_DUMP_BEGIN = re.compile(r"^(?:Current thread|Thread) 0x\w+ .*\(most recent call first\):$")
_DUMP_FRAME = re.compile(r'^  File "(?P<file>.+?)", line (?P<line>\d+) in (?P<function>.+)$')


@dataclass(frozen=True, slots=True)
class Frame:
    file: str
    line: int
    function: str | None = None
    code: str | None = None


@dataclass(frozen=True, slots=True)
class Raised:
    """Exception that ended a process: the number of its line, its text, and its frames, outermost first.

    `origin`: the exception it came from; `link` says how.
    """

    number: int
    error: str
    frames: Sequence[Frame]
    link: str = ""
    origin: "Raised | None" = None


def last_raised(lines: Sequence[str]) -> Raised | None:
    """Return the last exception of a process's output."""
    starts = [i for i, text in enumerate(lines) if text.strip().removeprefix("+ ") in _BEGINS]
    if not starts:
        return _bare_syntax_error(lines)
    group = next((i for i in starts if _is_group(lines[i]) and not _ends_before(lines, i, starts)), None)
    if group is not None:
        return _group_raised(lines, group)
    raised = _at(lines, starts[-1])
    return raised and _with_origin(raised, lines, starts)


def last_dump(lines: Sequence[str]) -> list[Frame]:
    """Return the frames of the last stack that `faulthandler` printed, outermost first as in a traceback."""
    begin = next((i for i in range(len(lines) - 1, -1, -1) if _DUMP_BEGIN.match(lines[i])), None)
    frames: list[Frame] = []
    for text in lines[begin + 1 :] if begin is not None else ():
        if not (match := _DUMP_FRAME.match(text)):
            break
        frames.insert(0, Frame(match["file"], int(match["line"]), match["function"]))
    return frames


def _at(lines: Sequence[str], begin: int) -> Raised | None:
    """Parse one traceback."""
    frames: list[Frame] = []
    for i in range(begin + 1, len(lines)):
        match = _FRAME.match(lines[i])
        if match:
            frames.append(Frame(match["file"], int(match["line"]), match["function"], _code(lines[i + 1 : i + 2])))
        elif lines[i][:1].strip() and _ERROR.match(lines[i]):
            return Raised(i, lines[i], frames)
    return None


def _code(below: Sequence[str]) -> str | None:
    """Return the source of a frame, which stands below it, indented; of `python -c` and the like there is none."""
    return next((text.strip() for text in below if text.startswith("    ") and not _FRAME.match(text)), None)


def _with_origin(raised: Raised, lines: Sequence[str], starts: Sequence[int]) -> Raised:
    """Add the first exception of the chain, if Python says that there is one; it precedes the others."""
    current, link, origin = len(starts) - 1, "", None
    while current > 0 and (found := _link_before(lines, starts[current])):
        earlier = _at(lines, starts[current - 1])
        if earlier is None:
            break
        link, origin, current = link or found, earlier, current - 1
    return replace(raised, link=link, origin=origin)


def _link_before(lines: Sequence[str], begin: int) -> str:
    between = (text.strip() for text in lines[max(0, begin - 2) : begin])
    return next((_LINKS[text] for text in between if text in _LINKS), "")


def _bare_syntax_error(lines: Sequence[str]) -> Raised | None:
    """Find a syntax error of the script itself, which Python prints without a traceback."""
    for i in range(len(lines) - 1, -1, -1):
        if not _SYNTAX_ERROR.match(lines[i]):
            continue
        for place in range(i - 1, max(-1, i - _SYNTAX_LINES), -1):
            if _FRAME.match(lines[place]):
                found = _at(lines, place - 1)
                return found if found is not None and found.number == i else None
    return None


def _is_group(line: str) -> bool:
    return line.strip().removeprefix("+ ") == _GROUP_BEGIN


def _ends_before(lines: Sequence[str], group: int, starts: Sequence[int]) -> bool:
    """Check whether another exception was raised after a group: its members stand within the margin, that one not."""
    return any(i > group and not _MARGIN.match(lines[i]) for i in starts)


def _group_raised(lines: Sequence[str], begin: int) -> Raised | None:
    raised = _at([_MARGIN.sub("", text) for text in lines], begin)
    if raised is None:
        return None
    member = _first_member(lines, raised.number)
    return replace(raised, link="its first exception:", origin=member) if member is not None else raised


def _first_member(lines: Sequence[str], begin: int) -> Raised | None:
    """Return the first exception in a group that is no group itself."""
    marks = [(i, m["number"]) for i in range(begin, len(lines)) if (m := _MEMBER.match(lines[i]))]
    for (start, _), (end, number) in pairwise(marks):
        if number == "1":  # a group within
            continue
        inner = [_MARGIN.sub("", text) for text in lines[start + 1 : end]]
        return last_raised(inner) or (Raised(start + 1, inner[0], ()) if inner and _ERROR.match(inner[0]) else None)
    return None
