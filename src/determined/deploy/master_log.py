"""The log file of a master this user started: private, kept from growing for ever, and read for why it ended."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import msgspec

_LARGE = 20 * 1024 * 1024
_TAIL = 64 * 1024
_BAD = {"ERROR", "CRITICAL"}
_WORTH_SAYING = {"WARNING", *_BAD}


@contextlib.contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """Open the log for appending; readable by this user alone. A large one is put aside first."""
    if path.exists() and path.stat().st_size > _LARGE:
        path.replace(path.with_name(f"{path.name}.1"))
    fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.fchmod(fd, 0o600)
    with os.fdopen(fd, "ab") as file:
        yield file


def last_error(path: Path) -> str:
    """Return the last error that stopped the master, and the path of the log."""
    lines = _tail(path)
    for number in reversed(range(len(lines))):
        message = _message(lines[number:])
        if message:
            return f"{message} (log: {path})"
    shown = "\n".join(lines[-15:])
    return f"see {path}" + (f":\n{shown}" if shown else "")


def last_warning(path: Path, logger: str, begin: int) -> str | None:
    """Return the last warning of the loggers under `logger`, behind byte `begin` of the log."""
    try:
        with path.open("rb") as file:
            file.seek(begin)
            lines = file.read().splitlines()
    except FileNotFoundError:
        return None
    for line in reversed(lines):
        with contextlib.suppress(msgspec.DecodeError):
            entry = msgspec.json.decode(line)
            if not isinstance(entry, dict):  # a number that some library printed
                continue
            if str(entry.get("logger")).startswith(logger) and entry.get("level") in _WORTH_SAYING:
                return str(entry.get("message"))
    return None


def _tail(path: Path) -> list[str]:
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - _TAIL))
            return file.read().decode(errors="replace").splitlines()
    except FileNotFoundError:
        return []


def _message(lines: list[str]) -> str | None:
    """Return the text of the error that the first line begins, without what only a machine reads."""
    if lines[0].startswith("determined-master: "):  # a refused config: one violation a line
        return "\n".join(lines).removeprefix("determined-master: ")
    try:
        entry = msgspec.json.decode(lines[0])
    except msgspec.DecodeError:
        return None
    if not isinstance(entry, dict) or entry.get("level") not in _BAD:
        return None
    return str(entry.get("message")).removeprefix("cannot start: ")
