"""Globs over the paths of a checkpoint: `*` and `?` within a name, `**` across directories, sets such as `[a-c]`."""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple


class _Step(NamedTuple):
    """Step of a glob: which characters it stays at, which lead to the next step, and steps reached without one."""

    stays: Callable[[str], bool]
    goes: Callable[[str], bool]
    skips: tuple[int, ...] = ()


class Glob:
    """Glob as steps. All ways through them are followed at once.

    A regular expression would try one after another, and through some stars there are more than anybody waits for.
    """

    def __init__(self, glob: str) -> None:
        if not glob or ".." in glob.split("/"):
            raise ValueError(f"glob {glob!r} is refused; it must name files inside the checkpoint, e.g. '**/*.pt'")
        self._matches_all = glob in ("**", "**/*")
        try:
            self._steps = [*_steps(glob.rstrip("/")), _Step(_never, _never)]
        except re.error as err:
            raise ValueError(f"glob {glob!r} is refused ({err}); write a range as [a-z]") from err

    def matches(self, name: str) -> bool:
        if self._matches_all:
            return True
        ways = self._reached({0})
        for character in name:
            ways = self._reached({after for way in ways for after in self._after(way, character)})
        return len(self._steps) - 1 in ways

    def _after(self, way: int, character: str) -> Iterator[int]:
        step = self._steps[way]
        if step.stays(character):
            yield way
        if step.goes(character):
            yield way + 1

    def _reached(self, ways: set[int]) -> set[int]:
        pending = list(ways)
        while pending:
            way = pending.pop()
            fresh = {way + skip for skip in self._steps[way].skips} - ways
            ways |= fresh
            pending += fresh
        return ways


def _never(_character: str) -> bool:
    return False


def _always(_character: str) -> bool:
    return True


def _in_a_name(character: str) -> bool:
    return character != "/"


_SPECIAL_IN_SETS = re.compile(r"[\\\[&~|]")  # to `re`, and nothing but characters in a glob
_TOKEN = re.compile(r"\*\*/|\*\*|\*|\?|\[!?\]?[^\]]*\]|.", re.DOTALL)


def _steps(glob: str) -> Iterator[_Step]:
    for token in _TOKEN.findall(glob):
        if token == "**/":
            yield _Step(_never, _never, (1, 2))
            yield _Step(_always, "/".__eq__)
        elif token == "**":
            yield _Step(_always, _never, (1,))
        elif token == "*":
            yield _Step(_in_a_name, _never, (1,))
        elif token == "?":
            yield _Step(_never, _in_a_name)
        elif len(token) > 1:
            yield _Step(_never, _in_set(token[1:-1]))
        else:
            yield _Step(_never, token.__eq__)


def _in_set(body: str) -> Callable[[str], bool]:
    escaped = _SPECIAL_IN_SETS.sub(r"\\\g<0>", body)
    pattern = re.compile(f"[^{escaped[1:]}]" if body.startswith("!") else f"[{escaped}]")
    return lambda character: character != "/" and pattern.match(character) is not None
