"""Parser of an app's answer, fed with bytes as they come (httptools)."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import httptools

from determined.errors import BadGateway
from determined.master.proxy.http_headers import Header
from determined.wire.tunnel import Buffer

MAX_HEAD = 256 * 1024


@dataclass(slots=True)
class AnswerHead:
    status: int
    headers: list[Header] = field(default_factory=list)

    def has(self, wanted: bytes) -> bool:
        return any(name == wanted for name, _ in self.headers)

    @property
    def length(self) -> int | None:
        """Length of the body, where it is told. The parser has checked that it is told once and is a number."""
        found = next((value for name, value in self.headers if name == b"content-length"), None)
        return int(found) if found is not None and not self.has(b"transfer-encoding") else None


class AnswerParser:
    """Parser of one answer. `head` is there once it is complete; `feed` returns pieces of the body."""

    def __init__(self, method: str) -> None:
        self._has_no_body = method == "HEAD"
        self._parser = httptools.HttpResponseParser(self)
        self._headers: list[Header] = []
        self._head_bytes = 0
        self._pieces: list[bytes] = []
        self._missing: int | None = None  # bytes of a body whose length is known
        self.head: AnswerHead | None = None
        self.is_complete = False
        self.after_upgrade: bytes | None = None  # what follows a 101

    def feed(self, data: Buffer) -> Sequence[Buffer]:
        """Return the pieces of the body in these bytes. Raises BadGateway for what is no answer in HTTP."""
        if self.is_complete:
            return ()
        if self._missing is not None:
            return self._count(self._missing, data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade as e:
            self.after_upgrade = bytes(memoryview(data)[e.args[0] :])
            self.is_complete = True
        except httptools.HttpParserError as e:
            if not self.is_complete:
                raise BadGateway(f"the app's answer is not HTTP: {e}") from e
        if self.head is None:
            self._head_bytes += len(data)
            if self._head_bytes > MAX_HEAD:
                raise BadGateway(f"the head of the app's answer is longer than {MAX_HEAD // 1024} KiB")
        pieces, self._pieces = self._pieces, []
        if self.head is not None and not self.is_complete:
            self._missing = self.head.length
            if self._missing is not None:
                self._missing -= sum(len(piece) for piece in pieces)
        return pieces

    def _count(self, missing: int, data: Buffer) -> Sequence[Buffer]:
        """Take the next bytes of a body whose length is known as they are; a parser would copy them."""
        piece = data[:missing] if len(data) > missing else data
        self._missing = missing - len(piece)
        self.is_complete = self._missing == 0
        return (piece,)

    def end(self) -> None:
        """Note that the app has closed the connection. Raises BadGateway when its answer is not complete."""
        if self.is_complete:
            return
        if self.head is None:
            raise BadGateway("the app closed the connection without an answer")
        if self.head.has(b"content-length") or self.head.has(b"transfer-encoding"):
            raise BadGateway("the app closed the connection in the middle of its answer")
        self.is_complete = True

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        status = self._parser.get_status_code()
        if 100 <= status < 200 and status != 101:
            self._headers = []  # "I am still here": the answer follows
            return
        if self.head is None:
            self.head = AnswerHead(status, self._headers)
            self.is_complete = self._has_no_body

    def on_body(self, body: bytes) -> None:
        if self.head is not None and not self.is_complete:
            self._pieces.append(body)

    def on_message_complete(self) -> None:
        if self.head is not None:
            self.is_complete = True
