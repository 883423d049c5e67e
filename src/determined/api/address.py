"""Address of a master: the one canonical form that token stores and sessions use as a key."""

import ipaddress
from urllib.parse import SplitResult, urlsplit

_DEFAULT_PORTS = {"http": 80, "https": 443}
_BARE_PORT = 8080


def canonical(address: str) -> str:
    """`host` -> `http://host:8080`; `https://host/` -> `https://host:443`; a path is kept without its last `/`.

    Raises:
        ValueError: no host, an unknown scheme, or a user, query or fragment in it.
    """
    given = address.strip()
    has_scheme = "://" in given
    parts = urlsplit(given if has_scheme else f"http://{given}")
    if parts.scheme not in _DEFAULT_PORTS:
        raise ValueError(f"master address {address!r}: scheme {parts.scheme!r} is not http or https")
    if parts.username is not None or parts.query or parts.fragment:
        raise ValueError(f"master address {address!r} has a user, query or fragment; give scheme://host:port only")
    if not parts.hostname:
        raise ValueError(f"master address {address!r} has no host; give host:port or https://host")
    port = _port(address, parts) or (_DEFAULT_PORTS[parts.scheme] if has_scheme else _BARE_PORT)
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}:{port}{parts.path.rstrip('/')}"


def is_same_place(one: str, other: str) -> bool:
    """Return whether two addresses lead to one port; all names of the loopback count as one."""
    first, second = urlsplit(canonical(one)), urlsplit(canonical(other))
    if (first.scheme, first.port, first.path) != (second.scheme, second.port, second.path):
        return False
    return first.hostname == second.hostname or all(is_loopback(place.hostname or "") for place in (first, second))


def is_loopback(host: str) -> bool:
    """Return whether `host` is this machine by name or number; no proxy is ever asked for it."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _port(address: str, parts: SplitResult) -> int | None:
    try:
        return parts.port
    except ValueError as err:
        raise ValueError(f"master address {address!r}: {err}; a port is a number from 0 to 65535") from err
