"""A mount namespace for one process and its children, made between fork and exec.

Root needs nothing else. Another user makes a user namespace first, in which only its own ids are mapped: who it is does
not change, files of others show as `nobody`, and programs that become root (sudo) do not work.
"""

import ctypes
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass

_CLONE_NEWNS, _CLONE_NEWUSER = 0x00020000, 0x10000000
_MS_BIND, _MS_REC, _MS_SLAVE, _MS_REMOUNT, _MS_RDONLY = 4096, 16384, 1 << 19, 32, 1
_MS_KEPT = {os.ST_NOSUID: 2, os.ST_NODEV: 4, os.ST_NOEXEC: 8} if sys.platform == "linux" else {}
# Loaded before any fork: a child between fork and exec must not import or open libraries.
_libc = ctypes.CDLL(None, use_errno=True)


class NamespaceRefused(Exception):
    """The system does not let this process have mounts of its own. Nothing was started."""


@dataclass(frozen=True, slots=True)
class Mount:
    """Mount: `source` is seen at `target`, both of which exist."""

    source: str
    target: str
    read_only: bool = False


def enter(mounts: Sequence[Mount], workdir: str) -> None:
    """Make the namespace and its mounts, in the given order. Raises OSError; then this process must not go on."""
    uid, gid = os.geteuid(), os.getegid()
    if uid == 0:
        _unshare(_CLONE_NEWNS)
    else:
        _unshare(_CLONE_NEWUSER | _CLONE_NEWNS)
        _write("/proc/self/setgroups", "deny")
        _write("/proc/self/uid_map", f"{uid} {uid} 1")
        _write("/proc/self/gid_map", f"{gid} {gid} 1")
    # Later mounts of the node appear here too; mounts made here appear nowhere else.
    _mount("none", "/", _MS_REC | _MS_SLAVE)
    for one in mounts:
        _mount(one.source, one.target, _MS_BIND | _MS_REC)
        if one.read_only:
            _mount("none", one.target, _MS_BIND | _MS_REMOUNT | _MS_RDONLY | _kept_flags(one.target))
    os.chdir(workdir)  # by its name: the directory that we are in may be covered now


def _unshare(flags: int) -> None:
    if _libc.unshare(flags) != 0:
        raise OSError(ctypes.get_errno(), "unshare")


def _mount(source: str, target: str, flags: int) -> None:
    if _libc.mount(os.fsencode(source), os.fsencode(target), None, ctypes.c_ulong(flags), None) != 0:
        raise OSError(ctypes.get_errno(), f"mount on {target}")


def _kept_flags(path: str) -> int:
    """Return the flags that a user namespace may not take away from a mount."""
    flags = os.statvfs(path).f_flag
    return sum(flag for shown, flag in _MS_KEPT.items() if flags & shown)


def _write(path: str, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)
