"""A request to the proxy, as the server hands it over, and what it asks for."""

import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from litestar.types import Receive, Send

from determined.errors import InvalidArgument, NotFound
from determined.master.connections import BoundedProtocol, connection_of
from determined.master.proxy.http_headers import Header

PREFIX = b"/proxy/"

_SERVICE = re.compile(r"(?P<task>[A-Za-z0-9][A-Za-z0-9._-]{0,127})(:(?P<service>[0-9]{1,5}|shell))?")


@dataclass(frozen=True, slots=True)
class ServiceAddress:
    """A service of a task: `<task id>` is its default service, `<task id>:<port>` a port that it has declared."""

    task_id: str
    service_id: str = ""

    @property
    def text(self) -> str:
        return f"{self.task_id}:{self.service_id}" if self.service_id else self.task_id

    @property
    def prefix(self) -> bytes:
        """Path below which the service is reached."""
        return PREFIX + self.text.encode() + b"/"


@dataclass(frozen=True, slots=True)
class VisitRequest:
    scope: Any
    receive: Receive
    send: Send

    @property
    def headers(self) -> list[Header]:
        headers: list[Header] = self.scope["headers"]
        return headers

    @property
    def method(self) -> str:
        return str(self.scope.get("method", "GET"))

    @property
    def path(self) -> bytes:
        """Path as it was sent: encoded slashes and dots are the app's to resolve."""
        path: bytes = self.scope.get("raw_path") or self.scope["path"].encode()
        return path

    @property
    def query(self) -> bytes:
        query: bytes = self.scope["query_string"]
        return query

    @property
    def host(self) -> str:
        return self.header("host").lower()

    @property
    def scheme(self) -> str:
        return "https" if self.scope["scheme"] in ("https", "wss") else "http"

    @property
    def peer(self) -> str:
        client = self.scope.get("client")
        return str(client[0]) if client else ""

    @property
    def connection(self) -> BoundedProtocol | None:
        return connection_of(self.scope)

    @property
    def wants_websocket(self) -> bool:
        return self.header("upgrade").lower() == "websocket"

    @property
    def is_navigation(self) -> bool:
        """Check whether a browser asks for a page to show, not for a part of one."""
        if self.method not in ("GET", "HEAD") or self.wants_websocket:
            return False
        mode = self.header("sec-fetch-mode")
        return mode == "navigate" if mode else "text/html" in self.header("accept")

    def check(self) -> None:
        """Refuse what the app could read in another way than we do. Raises InvalidArgument."""
        if sum(name == b"host" for name, _ in self.headers) != 1:
            raise InvalidArgument("a request must have exactly one header `Host`")
        coding = self.header("transfer-encoding").lower()
        if coding not in ("", "chunked"):
            raise InvalidArgument(f"the transfer coding {coding!r} is not supported; use chunked")

    def header(self, wanted: str) -> str:
        name = wanted.encode()
        return next((value.decode("latin-1") for key, value in self.headers if key == name), "")

    def address(self) -> ServiceAddress:
        """Return the service that the path names. Raises NotFound."""
        name = unquote(self.path.removeprefix(PREFIX).partition(b"/")[0].decode("latin-1"))
        match = _SERVICE.fullmatch(name) if self.path.startswith(PREFIX) else None
        if match is None:
            raise NotFound(f"service not found: {name[:200]!r}")
        return ServiceAddress(match["task"], match["service"] or "")
