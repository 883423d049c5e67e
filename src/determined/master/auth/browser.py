"""Protection of a logged-in browser from other sites: the Host we answer to, and where a change came from."""

from collections.abc import Mapping
from urllib.parse import urlsplit

from determined.errors import Forbidden

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


def check_host(headers: Mapping[str, str], bound_to: str) -> None:
    """Check the Host: on a loopback address only loopback names, else any site could reach it by DNS rebinding."""
    if bound_to not in LOOPBACK:
        return
    name = _host_name(headers.get("host", ""))
    if name not in LOOPBACK:
        raise Forbidden(f"this master listens on {bound_to} and does not answer to Host {name!r}; use localhost")


def check_origin(headers: Mapping[str, str]) -> None:
    """Refuse a change that a browser authorises by itself (cookie, or no credentials) unless our own pages sent it."""
    site = headers.get("sec-fetch-site")
    if site is not None:
        if site not in ("same-origin", "none"):
            raise Forbidden(f"a {site} request may not change anything; use the page of this master")
        return
    origin = headers.get("origin")
    if origin is not None and authority(origin) != headers.get("host", "").lower():
        raise Forbidden(f"requests from {origin!r} may not change anything; use the page of this master")


def authority(origin: str) -> str:
    """Return the host and port of an Origin header; "" for one that cannot be read."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""  # no host of ours is called that


def _host_name(host: str) -> str:
    try:
        return (urlsplit(f"//{host}").hostname or "").lower()
    except ValueError:
        return ""
