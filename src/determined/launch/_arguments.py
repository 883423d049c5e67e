"""The command line that launchers share: `[[OVERRIDES...] --] (--trial MODULE:CLASS | SCRIPT...)`."""

from collections.abc import Sequence
from dataclasses import dataclass

from determined.launch import environment

EMPTY = "empty script is not allowed"
_TRIAL = "--trial"
_HELP = ("-h", "--help")


class UsageError(Exception):
    """A command line nobody can run; the text says what is wrong with it. Empty: only the usage was asked for."""


@dataclass(frozen=True, slots=True)
class Arguments:
    overrides: list[str]
    script: list[str]


def parse(words: Sequence[str], *, overridable: bool) -> Arguments:
    """Parse a launcher's arguments. Raises UsageError. `overridable`: options of the program below may stand before
    `--`."""
    if words[:1] and words[0] in _HELP:
        raise UsageError("")
    overrides, rest = _split(list(words), overridable)
    if not rest:
        raise UsageError(EMPTY)
    if rest[0] == _TRIAL or rest[0].startswith(_TRIAL + "="):
        return Arguments(overrides, _trial_script(rest))
    return Arguments(overrides, rest)


def usage(name: str, *, overrides: str = "") -> str:
    options = f"[[{overrides}...] --] " if overrides else ""
    return f"usage: python3 -m determined.launch.{name} {options}(--trial MODULE:CLASS | SCRIPT...)\n"


def _split(words: list[str], overridable: bool) -> tuple[list[str], list[str]]:
    """`--` ends the overrides only where there are some: a later one belongs to the script."""
    first = words[0] if words else ""
    if not first.startswith("-") or first.split("=")[0] == _TRIAL:
        return [], words
    if first == "--":
        return [], words[1:]
    if not overridable:
        raise UsageError(f"{first} is no option of this launcher; its options end where the script begins")
    if "--" not in words:
        raise UsageError(f"put -- between the overrides ({first} ...) and the script")
    end = words.index("--")
    return words[:end], words[end + 1 :]


def _trial_script(words: list[str]) -> list[str]:
    given = [word for part in words[:1] for word in part.split("=", 1)] + words[1:]
    if len(given) < 2:
        raise UsageError(f"{_TRIAL} needs the trial's MODULE:CLASS")
    if len(given) > 2:
        raise UsageError(f"{_TRIAL} {given[1]} takes no script beside it: {' '.join(given[2:])}")
    return [environment.python(), "-m", "determined.exec.harness", given[1]]
