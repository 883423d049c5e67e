"""Command line and environment of a forked process as others see them in /proc, written over those of its server.

A fork shows what its server was started with. Whoever ends a task looks in /proc for its run directory, and people look
for its command line. The server is therefore started with an argument and a variable of no meaning, whose memory is
written over here. Nobody else reads that memory: Python has copied its arguments, and the variable is unset.
"""

import ctypes
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from determined.rundir.fork_protocol import ROOM, ROOM_VARIABLE

_STAT = Path("/proc/self/stat")
_FIRST_ADDRESS = 45  # arg_start among the fields after the command's name; arg_end, env_start and env_end follow
_PR_SET_NAME = 15
_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True, slots=True)
class _Memory:
    start: int
    size: int


@dataclass(frozen=True, slots=True)
class ShownProcess:
    """Memory of this process that /proc shows; its forks have it at the same place."""

    _command: _Memory
    _variable: _Memory

    def show_command(self, words: Sequence[str]) -> None:
        """Show this command line, as much of it as there is room for."""
        _write(self._command, b"\0".join(map(os.fsencode, words)))
        if sys.platform == "linux" and words:
            _libc.prctl(_PR_SET_NAME, os.fsencode(Path(words[0]).name)[:15], 0, 0, 0)

    def show_variable(self, name: str, value: str) -> None:
        """Show one variable in /proc/PID/environ, beside those of the server."""
        _write(self._variable, os.fsencode(f"{name}={value}"))


def find() -> ShownProcess | None:
    """Find the memory. None where the system does not tell, or this process was started without room."""
    try:
        fields = _STAT.read_text().rpartition(")")[2].split()
        arg_start, arg_end, env_start, env_end = map(int, fields[_FIRST_ADDRESS : _FIRST_ADDRESS + 4])
    except (OSError, ValueError):
        return None
    if not 0 < arg_start < arg_end <= env_start < env_end:
        return None
    variables = ctypes.string_at(env_start, env_end - env_start)
    begin = variables.find(f"{ROOM_VARIABLE}={ROOM}\0".encode())
    if begin == -1 or arg_end - arg_start < len(ROOM):
        return None
    size = len(ROOM_VARIABLE) + 1 + len(ROOM)
    return ShownProcess(_Memory(arg_start, arg_end - arg_start), _Memory(env_start + begin, size))


def _write(memory: _Memory, text: bytes) -> None:
    # The last byte stays 0: without it the kernel takes what follows for a part of the command line.
    ctypes.memmove(memory.start, text[: memory.size - 1].ljust(memory.size, b"\0"), memory.size)
