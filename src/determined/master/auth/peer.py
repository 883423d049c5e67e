"""Peer of a connection: its address, and on this very machine also the user whose process holds it.

All users of a machine share the loopback address. Told apart, one who guesses another's password from there holds up
nobody but themselves.
"""

import ipaddress
import socket
import struct
from pathlib import Path

_TABLES = ((Path("/proc/net/tcp"), socket.AF_INET), (Path("/proc/net/tcp6"), socket.AF_INET6))


def name_of(host: str, port: int) -> str:
    """Name a peer: `127.0.0.1 uid 1000`, or the address alone where the user is not known. Blocking: reads a table."""
    if not _is_loopback(host):
        return host
    for table, family in _TABLES:
        uid = _owner(table, _endpoint(host, port, family))
        if uid is not None:
            return f"{host} uid {uid}"
    return host


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _endpoint(host: str, port: int, family: socket.AddressFamily) -> str:
    """Return the address as the kernel's table writes it: words in the order of this machine, in hexadecimal."""
    given = ipaddress.ip_address(host)
    if family == socket.AF_INET6 and isinstance(given, ipaddress.IPv4Address):
        given = ipaddress.IPv6Address(b"\0" * 10 + b"\xff\xff" + given.packed)
    words = struct.unpack(f"={len(given.packed) // 4}I", given.packed)
    return "".join(f"{word:08X}" for word in words) + f":{port:04X}"


def _owner(table: Path, endpoint: str) -> int | None:
    """Return the user of the socket whose own end this is; None where the table has none, or cannot be read."""
    try:
        lines = table.read_text().splitlines()[1:]
    except OSError:
        return None
    for line in lines:
        if endpoint in line and (fields := line.split())[1] == endpoint:
            return int(fields[7])
    return None
