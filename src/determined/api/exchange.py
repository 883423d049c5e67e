"""HTTP/1.1 request and its answer, over a socket that somebody else connected.

For a runner, which starts with every trial and asks a dozen questions: http.client would do the same, but the e-mail
and TLS packages it imports are a quarter of what a runner costs.
"""

import io
import socket
from dataclasses import dataclass
from typing import BinaryIO, cast

_LONGEST_LINE = 64 * 1024
_MOST_HEADERS = 200
_BODILESS = (204, 304)


class BadAnswer(OSError):
    """Answer that is not HTTP, or broke off. The connection is of no use any more."""


@dataclass(frozen=True, slots=True)
class Answer:
    """`kept`: the connection may be used again."""

    status: int
    body: bytes
    kept: bool


def exchange(sock: socket.socket, method: str, path: str, headers: dict[str, str], body: bytes | None = None) -> Answer:
    """Ask and wait for the whole answer. Redirections are answers like any other.

    Args:
        sock: connected; its timeout bounds each wait for a part of the answer.
        method: GET or POST.
        path: quoted already.
        headers: `Host` among them.
        body: None sends none.

    Raises:
        OSError: the connection failed, or the time is up, or what came back makes no sense (`BadAnswer`).
    """
    length = {} if body is None else {"Content-Length": str(len(body))}
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in (headers | length).items()), "", ""]
    sock.sendall("\r\n".join(lines).encode("latin-1") + (body or b""))
    with sock.makefile("rb") as stream:
        try:
            return _answer(stream)
        except ValueError as e:
            raise BadAnswer(f"the answer is not HTTP ({e})") from e


def switch(sock: socket.socket, path: str, headers: dict[str, str]) -> Answer | None:
    """Ask for another protocol (`Upgrade` is among the headers); None when the peer has switched to it.

    Nothing beyond the head of the answer is read then. Otherwise the answer says why not. Raises OSError as `exchange`.
    """
    lines = [f"GET {path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items()), "", ""]
    sock.sendall("\r\n".join(lines).encode("latin-1"))
    with sock.makefile("rb", buffering=0) as stream:
        try:
            version, status, answered = _head(cast(BinaryIO, stream))
            if status == 101:
                return None
            return _rest(cast(BinaryIO, io.BufferedReader(stream)), version, status, answered)
        except ValueError as e:
            raise BadAnswer(f"the answer is not HTTP ({e})") from e


def _answer(stream: BinaryIO) -> Answer:
    version, status, headers = _head(stream)
    while 100 <= status < 200:  # "I am still here": the answer follows
        version, status, headers = _head(stream)
    return _rest(stream, version, status, headers)


def _rest(stream: BinaryIO, version: str, status: int, headers: dict[str, str]) -> Answer:
    kept = version == "HTTP/1.1" and "close" not in headers.get("connection", "")
    if status in _BODILESS:
        return Answer(status, b"", kept)
    if "chunked" in headers.get("transfer-encoding", ""):
        return Answer(status, _chunks(stream), kept)
    if "content-length" in headers:
        return Answer(status, _exactly(stream, int(headers["content-length"])), kept)
    return Answer(status, stream.read(), kept=False)


def _head(stream: BinaryIO) -> tuple[str, int, dict[str, str]]:
    version, _, rest = _line(stream).partition(" ")
    if not version.startswith("HTTP/1."):
        raise ValueError(f"it begins with {version[:20]!r}")
    status = int(rest[:3])
    headers: dict[str, str] = {}
    for _ in range(_MOST_HEADERS):
        line = _line(stream)
        if not line:
            return version, status, headers
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip().lower()
    raise ValueError("it has too many headers")


def _chunks(stream: BinaryIO) -> bytes:
    parts: list[bytes] = []
    while size := int(_line(stream).partition(";")[0], 16):
        parts.append(_exactly(stream, size))
        _line(stream)
    while _line(stream):  # trailers
        pass
    return b"".join(parts)


def _line(stream: BinaryIO) -> str:
    line = stream.readline(_LONGEST_LINE)
    if not line.endswith(b"\n"):
        raise BadAnswer("the connection was closed in the middle of an answer" if line else "the connection was closed")
    return line.rstrip(b"\r\n").decode("latin-1")


def _exactly(stream: BinaryIO, size: int) -> bytes:
    if size < 0:
        raise ValueError("it has a negative length")
    content = stream.read(size)
    if len(content) < size:
        raise BadAnswer(f"the connection was closed after {len(content)} of {size} bytes")
    return content
