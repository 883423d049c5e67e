"""The address that a master's proof is bound to (wire/master_proof.py).

A proof over a nonce alone could be relayed: whoever took the port of a dead master would pass the question on to the
port that the master has now. So the client puts in the address it dialled, and the master only addresses of its own.
"""

import functools
import socket
from pathlib import Path
from urllib.parse import urlsplit

_DEFAULT_PORTS = {"http": 80, "https": 443}


def of_url(url: str) -> str:
    """Return the address that `url` names; `localhost` stands for 127.0.0.1."""
    parts = urlsplit(url)
    host = (parts.hostname or "").lower()
    return _named("127.0.0.1" if _is_localhost(host) else host, parts.port or _DEFAULT_PORTS.get(parts.scheme, 80))


def of_peer(url: str, sock: socket.socket) -> str:
    """Return the address that was dialled for `url`.

    A name of the loopback may lead to two addresses, and the second may be somebody else's: the socket says which.
    """
    if _is_loopback(urlsplit(url).hostname or ""):
        host, port = sock.getpeername()[:2]
        return _named(host, port)
    return of_url(url)


def _is_loopback(host: str) -> bool:
    # not by `ipaddress`: every runner imports this, and would wait for that
    return _is_localhost(host) or host == "::1" or host.startswith("127.")


def _is_localhost(host: str) -> bool:
    return host == "localhost" or host.endswith(".localhost")


def _named(host: str, port: int) -> str:
    """Return the address, on the loopback with the name of the machine: every machine has a loopback of its own."""
    return f"{_this_loopback()} {host}:{port}" if _is_loopback(host) else f"{host}:{port}"


@functools.cache
def _this_loopback() -> str:
    """Return the name of a boot of a machine and a network namespace; the host name where the system has neither."""
    try:
        return f"{Path('/proc/sys/kernel/random/boot_id').read_text().strip()} {Path('/proc/self/ns/net').readlink()}"
    except OSError:
        return socket.gethostname()
