"""Safe extraction of archives: no member leaves the destination, none becomes setuid, none is a device.

Python's own `data` filter does it; there is one since 3.11.4 only, and Debian 12 brings 3.11.2.
"""

import os
import tarfile
from pathlib import Path, PurePosixPath

Refused: type[tarfile.TarError] = getattr(tarfile, "FilterError", tarfile.ExtractError)


def extract_all(archive: tarfile.TarFile, destination: Path) -> None:
    """Extract all members into `destination`. Raises Refused for a member that would do harm."""
    if hasattr(tarfile, "data_filter"):
        archive.extractall(destination, filter="data")
    else:
        archive.extractall(destination, [_harmless(member) for member in archive])


def extract_member(archive: tarfile.TarFile, member: tarfile.TarInfo, destination: Path) -> None:
    """Extract one member, of an archive that is read as a stream. Raises Refused."""
    if hasattr(tarfile, "data_filter"):
        archive.extract(member, destination, filter="data")
    else:
        archive.extract(_harmless(member), destination)


def _harmless(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """Do what the `data` filter does, and refuse links, which none of our archives has."""
    parts = PurePosixPath(member.name).parts
    if member.name.startswith("/") or ".." in parts:
        raise Refused(f"{member.name!r} would be outside the destination")
    if not (member.isfile() or member.isdir()):
        raise Refused(f"{member.name!r} is neither a file nor a directory")
    member.mode = (member.mode & 0o755) | (0o700 if member.isdir() else 0o600)
    member.uid, member.gid = os.getuid(), os.getgid()
    member.uname = member.gname = ""
    return member
