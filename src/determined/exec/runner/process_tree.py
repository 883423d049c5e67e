"""System calls of the runner: adopt orphans, find and end the processes of a task."""

import contextlib
import ctypes
import os
import signal
import sys
from pathlib import Path

from determined.rundir.process_identity import stat_fields

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_PROC = Path("/proc")
_CHILDREN = "/proc/{pid}/task/{thread}/children"
# Loaded before any fork: a child between fork and exec must not import or open libraries.
_libc = ctypes.CDLL(None, use_errno=True)


def adopt_orphans() -> None:
    """Make descendants whose parents die our children, so that none escapes the final kill."""
    if sys.platform == "linux":
        _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def die_with_parent() -> None:
    """Have the kernel kill this child with its parent; called before exec.

    The signal comes when the *thread* that forked ends: fork in the main thread.
    """
    if sys.platform == "linux":
        _libc.prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)


def signal_group(group: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def descendants(root: int) -> set[int]:
    """Return every live process below `root`."""
    if not os.path.exists(_CHILDREN.format(pid=os.getpid(), thread=os.getpid())):  # noqa: PTH110
        return _by_parents(root)  # a kernel without these lists
    pids: set[int] = set()
    pending = [root]
    while pending:
        # Twice: the kernel may skip a child while another one exits.
        parent = pending.pop()
        fresh = (_children(parent) | _children(parent)) - pids
        pids |= fresh
        pending.extend(fresh)
    return {pid for pid in pids if (fields := stat_fields(pid)) is not None and fields[0] != "Z"}


def _children(pid: int) -> set[int]:
    """Return the children of all threads of a process."""
    children: set[int] = set()
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208
            with open(_CHILDREN.format(pid=pid, thread=thread)) as file:  # noqa: PTH123
                children.update(map(int, file.read().split()))
    return children


def _by_parents(root: int) -> set[int]:
    children: dict[int, list[int]] = {}
    for pid in _pids():
        fields = stat_fields(pid)
        if fields is not None and fields[0] != "Z":
            children.setdefault(int(fields[1]), []).append(pid)
    pids: set[int] = set()
    pending = [root]
    while pending:
        fresh = [pid for pid in children.get(pending.pop(), ()) if pid not in pids]
        pids.update(fresh)
        pending.extend(fresh)
    return pids


def marked(variable: str, value: str) -> set[int]:
    """Return our processes that were started with `variable=value`, whatever session or parent they have now."""
    wanted = f"{variable}={value}".encode()
    pids = set()
    for pid in _pids():
        with contextlib.suppress(OSError):
            if wanted in (_PROC / str(pid) / "environ").read_bytes().split(b"\0"):
                pids.add(pid)
    return pids - {os.getpid()}


def kill_all(pids: set[int]) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)


def _pids() -> list[int]:
    if not _PROC.is_dir():
        return []
    return [int(entry.name) for entry in _PROC.iterdir() if entry.name.isdigit()]
