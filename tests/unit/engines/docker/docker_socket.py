"""A Docker daemon on a socket that says what a test wants."""

import asyncio
from dataclasses import dataclass, field


@dataclass
class Daemon:
    """Answers each call with the next of `answers` (status, body), the last one again and again."""

    socket: str
    answers: list[tuple[int, bytes]] = field(default_factory=list)
    breaks_off: bool = False  # before an answer has ended
    heard: list[str] = field(default_factory=list)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.heard.append((await reader.readuntil(b"\r\n\r\n")).decode())
        status, body = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if status and not body:
            writer.write(f"HTTP/1.1 {status} x\r\nContent-Length: 0\r\n\r\n".encode())
        elif status:
            head = f"HTTP/1.1 {status} x\r\nTransfer-Encoding: chunked\r\n\r\n{len(body):x}\r\n".encode()
            writer.write(head + body + (b"" if self.breaks_off else b"\r\n0\r\n\r\n"))
            await writer.drain()
        writer.close()


def ignore(text: str) -> None:
    """Whoever waits without a log."""
