"""Origins of apps: a host name per service, or a second port, apart from the master's own. Pure.

An app runs somebody's code. On the origin of the web page it could call the API with the visitor's session, so it has
an origin of its own: `<service>.<domain>` where the config names a domain, `<service>.localhost` where browsers reach
the master on the loopback, else the port `proxy.listen`.
"""

from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_LOCAL = ".localhost"


@dataclass(frozen=True, slots=True)
class Origins:
    """`domain`, `listen`: as `proxy.domain` and `proxy.listen` of the config."""

    domain: str | None = None
    listen: int | None = None

    def is_of_app(self, host: str, local_port: int | None) -> bool:
        """Check whether a request came to the origin of an app."""
        name = _name(host)
        if self.listen is not None and local_port == self.listen:
            return True
        return name.endswith(_LOCAL) or (self.domain is not None and name.endswith("." + _name(self.domain)))

    def is_shared(self, host: str) -> bool:
        """Check whether this origin of apps serves several of them."""
        name = _name(host)
        return not (name.endswith(_LOCAL) or (self.domain is not None and name.endswith("." + _name(self.domain))))

    def belongs(self, host: str, service: str) -> bool:
        """Check whether the origin that was asked is the one of this service."""
        return self.is_shared(host) or _name(host).partition(".")[0] == label(service)

    def of_service(self, service: str, scheme: str, host: str, *, behind_proxy: bool) -> str | None:
        """Return the origin of a service, as a browser that sees the master at `host` reaches it; None without any.

        `behind_proxy`: a reverse proxy named itself, so that a loopback `host` may be its own and not the browser's.
        """
        name, port = _name(host), _port(host)
        if self.domain is not None:
            own_port = _port(self.domain) or port
            return f"{scheme}://{label(service)}.{_name(self.domain)}{_colon(own_port)}"
        if name in _LOOPBACK and not behind_proxy:
            return f"{scheme}://{label(service)}{_LOCAL}{_colon(port)}"
        if self.listen is not None:
            return f"{scheme}://{_bracketed(name)}:{self.listen}"
        return None


def label(service: str) -> str:
    """Return the name of a service's own host: one label, because certificates for wildcards cover one."""
    return service.replace(".", "-").replace(":", "-").replace("_", "-").lower()


def _name(host: str) -> str:
    return (_split(host).hostname or "").lower()


def _port(host: str) -> int | None:
    try:
        return _split(host).port
    except ValueError:
        return None


def _split(host: str) -> SplitResult:
    try:
        return urlsplit(f"//{host}")
    except ValueError:
        return urlsplit("//")


def _colon(port: int | None) -> str:
    return f":{port}" if port is not None else ""


def _bracketed(name: str) -> str:
    return f"[{name}]" if ":" in name else name
