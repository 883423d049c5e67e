"""Answer of a master with the names that users of `requests` know."""

import json
from collections.abc import Iterator
from types import TracebackType
from typing import Any

import urllib3

_BLOCK = 64 * 1024


class Response:
    """Answer with a status below 300; errors are raised instead of returned."""

    def __init__(self, response: urllib3.BaseHTTPResponse, url: str) -> None:
        self._response = response
        self.url = url
        self.status_code = response.status
        self.reason = response.reason or ""
        self.headers = response.headers
        self.ok = response.status < 400

    @property
    def content(self) -> bytes:
        return self._response.data

    @property
    def text(self) -> str:
        return self.content.decode(errors="replace")

    def json(self, **options: Any) -> Any:
        """Decode the body. Raises ValueError where it is not JSON."""
        return json.loads(self.content, **options)

    def iter_content(self, chunk_size: int | None = 1, decode_unicode: bool = False) -> Iterator[Any]:
        """Yield the body in parts, as they come."""
        for block in self._response.stream(chunk_size or _BLOCK):
            yield block.decode(errors="replace") if decode_unicode else block

    def iter_lines(self, chunk_size: int = _BLOCK, decode_unicode: bool = False) -> Iterator[Any]:
        """Yield lines without their ends, as they come; blank ones are left out."""
        rest = b""
        for block in self._response.stream(max(chunk_size, _BLOCK)):
            *lines, rest = (rest + block).split(b"\n")
            yield from (_line(line, decode_unicode) for line in lines if line.strip())
        if rest.strip():
            yield _line(rest, decode_unicode)

    def raise_for_status(self) -> None:
        """Return: an answer with an error was raised before."""

    def close(self) -> None:
        self._response.close()

    def __enter__(self) -> "Response":
        return self

    def __exit__(self, kind: type[BaseException] | None, err: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Response [{self.status_code}]>"


def _line(line: bytes, decode: bool) -> str | bytes:
    whole = line.rstrip(b"\r")
    return whole.decode(errors="replace") if decode else whole
