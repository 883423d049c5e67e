"""Packages that the trials of an experiment import: noted by a trial, imported by a fork server.

The note lies in a directory of the task's user, so that its reader trusts nothing of it. It does no harm: a fork server
runs as the same user, and imports only packages of the interpreter.
"""

import re

import msgspec

MAX_MODULES = 5000
MAX_BYTES = 1 << 20
_NAME = re.compile(r"[A-Za-z_]\w{0,99}(\.[A-Za-z_]\w{0,99}){0,15}", re.ASCII)


class PreloadList(msgspec.Struct, frozen=True):
    """Modules in the order of their import, the variables they were imported with, and those the program changed."""

    modules: list[str]
    variables: dict[str, str]
    changed: list[str]

    def without(self, left_out: set[str]) -> "PreloadList":
        """Return the list without some modules, which cannot be shared, and without what lies in them."""
        kept = [name for name in self.modules if not any(f"{name}.".startswith(f"{one}.") for one in left_out)]
        return msgspec.structs.replace(self, modules=kept)


def decode(note: bytes) -> PreloadList | None:
    """Return the list of a note; None for anything else."""
    try:
        preload = msgspec.json.decode(note, type=PreloadList)
    except (ValueError, RecursionError):  # msgspec's own errors and those of texts are ValueErrors
        return None
    return preload if 0 < len(preload.modules) <= MAX_MODULES and all(map(is_name, preload.modules)) else None


def is_name(text: str) -> bool:
    """Check whether a text can be the name of a module."""
    return _NAME.fullmatch(text) is not None
