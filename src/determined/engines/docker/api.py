"""The Docker Engine API over its Unix socket: the few calls that we need, without a client library.

Paths carry no version: a daemon then speaks the newest it knows, and what we use has been the same since 2017.
"""

import asyncio
import base64
import contextlib
import json
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

import httptools

from determined.errors import (
    AlreadyExists,
    DeterminedError,
    FailedPrecondition,
    InvalidArgument,
    NotFound,
    Unavailable,
)

_ANSWER_SECONDS = 120.0  # a daemon that starts many containers at once takes its time
_CHUNK = 65536
_UNCHANGED = 304  # a container that runs already
_KINDS: dict[int, type[DeterminedError]] = {400: InvalidArgument, 404: NotFound, 409: AlreadyExists}


@dataclass(frozen=True, slots=True)
class Status:
    """A container as the daemon knows it."""

    id: str
    state: str  # created, running, paused, exited, dead, ...
    labels: Mapping[str, str]

    @property
    def is_running(self) -> bool:
        return self.state in ("running", "paused", "restarting")


@dataclass(frozen=True, slots=True)
class Ended:
    """End of a container."""

    code: int
    out_of_memory: bool
    error: str


class Docker:
    """Client of one Docker daemon.

    A call raises Unavailable when the daemon does not answer, else the error that its answer means. An error that the
    daemon gives as its own fault (no such device, no driver of GPUs) is FailedPrecondition: it would give it again.
    """

    def __init__(self, socket: str) -> None:
        self.socket = socket

    async def has_image(self, image: str) -> str | None:
        """Return the id of the image; None where the daemon has none of that name."""
        try:
            answer = await self._call("GET", f"/images/{quote(image, safe='/:@')}/json")
        except NotFound:
            return None
        return str(json.loads(answer)["Id"])

    async def pull(
        self, image: str, auth: Mapping[str, Any] | None, on_message: Callable[[dict[str, Any]], None] = lambda _: None
    ) -> None:
        """Pull an image, without a time limit; `on_message` gets the daemon's messages meanwhile.

        Raises:
            FailedPrecondition: in the daemon's or the registry's words.
        """
        headers = (
            {"X-Registry-Auth": base64.urlsafe_b64encode(json.dumps(dict(auth)).encode()).decode()} if auth else {}
        )
        # Without a tag the daemon would fetch all of them.
        tagged = "@" in image or ":" in image.rpartition("/")[2]
        target = f"/images/create?{urlencode({'fromImage': image, 'tag': '' if tagged else 'latest'})}"
        said = _Lines(on_message)
        try:
            await self._call("POST", target, headers=headers, seconds=None, stream=said.take)
        except (NotFound, InvalidArgument, AlreadyExists) as e:
            raise FailedPrecondition(e.message) from e
        if said.error is not None:
            raise FailedPrecondition(said.error)

    async def create(self, name: str | None, body: Mapping[str, Any]) -> str:
        """Create a container and return its id. Raises AlreadyExists where there is one of that name."""
        query = f"?{urlencode({'name': name})}" if name else ""
        answer = await self._call("POST", f"/containers/create{query}", json.dumps(body).encode())
        return str(json.loads(answer)["Id"])

    async def start(self, container: str) -> None:
        """Start a container. One that runs already is left alone."""
        await self._call("POST", f"/containers/{quote(container)}/start")

    async def kill(self, container: str, signal: str) -> None:
        """Send a signal to a container. One that does not run, or is gone, is left alone."""
        with contextlib.suppress(NotFound, AlreadyExists):
            await self._call("POST", f"/containers/{quote(container)}/kill?signal={signal}")

    async def wait(self, container: str) -> int:
        """Wait until the container has ended and return its exit status."""
        answer = await self._call("POST", f"/containers/{quote(container)}/wait")
        return int(json.loads(answer)["StatusCode"])

    async def remove(self, container: str) -> None:
        """Remove a container in any state; one that is gone, or being removed, is ignored."""
        with contextlib.suppress(NotFound, AlreadyExists):
            await self._call("DELETE", f"/containers/{quote(container)}?force=true&v=true")

    async def containers(self, labels: Mapping[str, str]) -> list[Status]:
        """Return the containers that carry all of these labels, in any state."""
        answer = await self._call("GET", f"/containers/json?{urlencode({'all': 'true', 'filters': _filters(labels)})}")
        return [Status(one["Id"], one["State"], one["Labels"] or {}) for one in json.loads(answer)]

    async def find(self, name: str) -> str | None:
        """Return the id of the container of that name."""
        try:
            return str(json.loads(await self._call("GET", f"/containers/{quote(name)}/json"))["Id"])
        except NotFound:
            return None

    async def ended(self, container: str) -> Ended | None:
        """Return how the container ended; None when it is gone."""
        try:
            state = json.loads(await self._call("GET", f"/containers/{quote(container)}/json"))["State"]
        except NotFound:
            return None
        return Ended(int(state["ExitCode"]), bool(state["OOMKilled"]), str(state["Error"]))

    async def last_words(self, container: str, lines: int = 8) -> str:
        """Return the end of what its first process wrote."""
        try:
            raw = await self._call("GET", f"/containers/{quote(container)}/logs?stdout=true&stderr=true&tail={lines}")
        except DeterminedError:
            return ""
        return _without_frames(raw).decode(errors="replace").strip()

    async def changes(self, labels: Mapping[str, str]) -> AsyncIterator[None]:
        """Yield whenever something may have happened to these containers; end with the connection."""
        target = f"/events?{urlencode({'filters': _filters(labels, type='container')})}"
        async with self._connected("GET", target, b"", {}) as reader:
            while await reader.read(_CHUNK):
                yield

    async def _call(
        self,
        method: str,
        target: str,
        body: bytes = b"",
        *,
        headers: Mapping[str, str] | None = None,
        seconds: float | None = _ANSWER_SECONDS,
        stream: Callable[[bytes], None] | None = None,
    ) -> bytes:
        """Send a request and return the answer's content. `stream` takes that of a good answer as it comes instead."""
        answer = _Answer(stream)
        try:
            async with asyncio.timeout(seconds), self._connected(method, target, body, headers or {}) as reader:
                await self._read(reader, answer)
        except TimeoutError as e:
            raise Unavailable(f"Docker at {self.socket} has not answered in {seconds:g} s") from e
        if answer.is_good:
            return bytes(answer.body)
        # One elsewhere (3xx) is no answer either: the name in the path was none.
        kind = _KINDS.get(answer.status, FailedPrecondition)
        raise kind(_message(bytes(answer.body)) or f"Docker answers {answer.status}")

    async def _read(self, reader: asyncio.StreamReader, answer: "_Answer") -> None:
        try:
            while not answer.complete and (data := await reader.read(_CHUNK)):
                answer.parser.feed_data(data)
        except (OSError, httptools.HttpParserError) as e:
            raise Unavailable(f"Docker at {self.socket} broke off: {e}") from e
        if not answer.complete:
            how = "broke off in the middle of an answer" if answer.status else "hung up without an answer"
            raise Unavailable(f"Docker at {self.socket} {how}")

    @contextlib.asynccontextmanager
    async def _connected(
        self, method: str, target: str, body: bytes, headers: Mapping[str, str]
    ) -> AsyncIterator[asyncio.StreamReader]:
        try:
            reader, writer = await asyncio.open_unix_connection(self.socket)
        except OSError as e:
            raise Unavailable(
                f"Docker does not answer at {self.socket}: {e.strerror or e}; start it, give the master's user access"
                " (group docker), or correct resource_manager.socket"
            ) from e
        try:
            lines = {"Host": "docker", "Connection": "close", "Content-Length": str(len(body)), **headers}
            if body:
                lines["Content-Type"] = "application/json"
            head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
            writer.write(f"{method} {target} HTTP/1.1\r\n{head}\r\n".encode() + body)
            yield reader
        finally:
            writer.close()


class _Answer:
    """Response of the daemon, filled by httptools while it parses."""

    def __init__(self, stream: Callable[[bytes], None] | None = None) -> None:
        self.body = bytearray()
        self.complete = False
        self.parser = httptools.HttpResponseParser(self)
        self._stream = stream

    @property
    def status(self) -> int:
        return int(self.parser.get_status_code())

    @property
    def is_good(self) -> bool:
        return self.status < 300 or self.status == _UNCHANGED

    def on_body(self, data: bytes) -> None:
        if self._stream is not None and self.is_good:
            self._stream(data)
        else:
            self.body += data

    def on_message_complete(self) -> None:
        self.complete = True


class _Lines:
    """Messages of the daemon about a fetch, an object a line. `error`: the reason of a failure."""

    def __init__(self, on_message: Callable[[dict[str, Any]], None]) -> None:
        self.error: str | None = None
        self._on_message = on_message
        self._begun = b""

    def take(self, data: bytes) -> None:
        *lines, self._begun = (self._begun + data).split(b"\n")
        for line in filter(bytes.strip, lines):
            said = json.loads(line)
            if "error" in said:
                self.error = str(said["error"])
            self._on_message(said)


def _filters(labels: Mapping[str, str], **more: str) -> str:
    wanted = {key: [value] for key, value in more.items()}
    return json.dumps({**wanted, "label": [f"{name}={value}" for name, value in labels.items()]})


def _message(content: bytes) -> str:
    try:
        return str(json.loads(content)["message"]).strip()
    except (ValueError, LookupError, TypeError):
        return content[:200].decode(errors="replace").strip()


def _without_frames(raw: bytes) -> bytes:
    """Remove the frames around a container's output without a terminal: stream, three zeros, length, text."""
    text = b""
    while len(raw) >= 8:
        end = 8 + int.from_bytes(raw[4:8], "big")
        text, raw = text + raw[8:end], raw[end:]
    return text
