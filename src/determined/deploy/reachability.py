"""Reachability of a master that was started here, and what is missing for others."""

import socket
from urllib.parse import urlsplit

from determined.api.address import is_loopback

_EVERY_ADDRESS = {"0.0.0.0", "::"}
_ELSEWHERE = "192.0.2.1"  # reserved for documentation: the way there is looked up, nothing is sent


def describe(url: str, host: str) -> list[str]:
    """Return sentences for the user who starts a master that listens on `host` and is found here at `url`."""
    if host not in _EVERY_ADDRESS and is_loopback(host):
        return [
            "Only this machine reaches it. For others, start it with --host 0.0.0.0"
            " (and security.tls in a --master-config-path: docs/operating.md#security)"
        ]
    parts = urlsplit(url)
    outside = f"{parts.scheme}://{_outside(host)}:{parts.port}"
    sentences = [f"Others reach it at {outside}: det -m {outside} user login NAME"]
    if parts.scheme == "http":
        sentences.append(
            "WARNING: it serves plain HTTP, so passwords and tokens can be read on the way;"
            " set security.tls in a --master-config-path (docs/operating.md#security)"
        )
    return sentences


def _outside(host: str) -> str:
    """Return this machine's address for others: the one it listens on, else the one it uses to reach other networks."""
    if host not in _EVERY_ADDRESS:
        return f"[{host}]" if ":" in host else host
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.connect((_ELSEWHERE, 9))
            return str(probe.getsockname()[0])
    except OSError:
        return socket.gethostname()
