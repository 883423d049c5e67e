"""A client of `/stream` for tests: subscribes, collects messages, remembers how far it has heard."""

import json
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from websockets.sync.client import ClientConnection, connect

HANG_SECONDS = 60.0  # only ends a hang


class Listener:
    """One connection. `heard` has every message in order, frames taken apart."""

    def __init__(self, url: str, headers: dict[str, str], **options: Any) -> None:
        address = url.replace("http", "ws", 1) + "/stream"
        self._open = ExitStack()
        self.socket: ClientConnection = self._open.enter_context(
            connect(address, additional_headers=headers, open_timeout=HANG_SECONDS, **options)
        )
        self.heard: list[dict[str, Any]] = []
        self._syncs = 0

    def subscribe(self, known: dict[str, str] | None = None, epoch: str = "", **nouns: Any) -> list[dict[str, Any]]:
        """Answers what came between the start and the end of the synchronisation, and the end itself."""
        self.ask(known, epoch, **nouns)
        sync = str(self._syncs)
        while not any(m.get("sync_id") == sync and m["complete"] for m in self.heard):
            self._read(HANG_SECONDS)
        start = next(i for i, m in enumerate(self.heard) if m.get("sync_id") == sync)
        return self.heard[start + 1 :]

    def ask(self, known: dict[str, str] | None = None, epoch: str = "", **nouns: Any) -> None:
        self._syncs += 1
        message = {"sync_id": str(self._syncs), "known": known or {}, "subscribe": nouns, "extended": True}
        self.socket.send(json.dumps(message | {"epoch": epoch}))

    def until(self, condition: Callable[[dict[str, Any]], bool], seconds: float = HANG_SECONDS) -> dict[str, Any]:
        """The first message, heard already or to come, that fulfils the condition."""
        deadline, looked = time.monotonic() + seconds, 0
        while True:
            for message in self.heard[looked:]:
                if condition(message):
                    return message
            looked = len(self.heard)
            self._read(max(0.01, deadline - time.monotonic()))

    def rows(self, key: str) -> list[dict[str, Any]]:
        return [m[key] for m in self.heard if key in m]

    def close(self) -> None:
        self._open.close()

    def _read(self, seconds: float) -> None:
        frame = json.loads(self.socket.recv(timeout=seconds))
        self.heard += frame if isinstance(frame, list) else [frame]
