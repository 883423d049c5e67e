"""Receiver of webhooks.py, a process of its own: answers 200 and counts what comes, by event; or 503 while away.

It keeps connections open, as receivers on the Internet do.
"""

import asyncio
import json
import multiprocessing
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Receiver:
    url: str

    def counts(self) -> tuple[int, int]:
        """Return how many requests were answered with 200, and of how many events."""
        counts = self._ask("counts")
        return counts["requests"], counts["events"]

    def be(self, there: bool) -> None:
        """Answer 200 from now on, or 503."""
        self._ask("back" if there else "away")

    def _ask(self, what: str) -> dict[str, int]:
        with urllib.request.urlopen(f"{self.url}/{what}", timeout=60) as answer:
            counts: dict[str, int] = json.load(answer)
        return counts


@contextmanager
def running_receiver() -> Iterator[Receiver]:
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_serve, args=(there,), daemon=True)
    process.start()
    try:
        yield Receiver(f"http://127.0.0.1:{here.recv()}")
    finally:
        process.terminate()
        process.join(30)


def _serve(pipe: Any) -> None:
    asyncio.run(_accept(pipe))


async def _accept(pipe: Any) -> None:
    requests, there = 0, True
    events: set[str] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                await answer(await reader.readuntil(b"\r\n\r\n"), reader, writer)
        writer.close()

    async def answer(head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal requests, there
        status, body = b"200 OK", b"ok"
        if head.startswith(b"GET"):
            there = head.startswith(b"GET /back") or (there and not head.startswith(b"GET /away"))
            body = json.dumps({"requests": requests, "events": len(events)}).encode()
        else:
            length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
            event = json.loads(await reader.readexactly(length))["event_id"]
            if there:
                events.add(event)
                requests += 1
            else:
                status = b"503 Service Unavailable"
        writer.write(b"HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n%s" % (status, len(body), body))
        await writer.drain()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    pipe.send(server.sockets[0].getsockname()[1])
    await server.serve_forever()
