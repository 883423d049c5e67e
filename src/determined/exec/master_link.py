"""What a runner asks its master: the allocation token, our error classes. Proxies are never used.

`Unavailable` means try again later (nobody answers, 5xx, or somebody who does not prove to be our master, and then gets
no token); every other error is the master's own word. A master that came back elsewhere has its engine rewrite
launch.json, which is read again then.
"""

import json
import uuid
from pathlib import Path
from typing import Any
from urllib.parse import quote

from determined.constants import ALLOCATION_TOKEN_HEADER
from determined.errors import (
    BY_CODE,
    DeterminedError,
    Forbidden,
    Gone,
    InvalidArgument,
    NotFound,
    Unauthenticated,
    Unavailable,
)
from determined.exec.connections import Connections
from determined.wire.codec import from_json
from determined.wire.report import LaunchFile

# Answers that say: this runner's allocation is over or was never there. It has nobody to work for.
STALE = (Gone, Unauthenticated, Forbidden, NotFound)


class MasterLink:
    """Thread-safe."""

    def __init__(self, launch_file: Path) -> None:
        self._launch_file = launch_file
        self.launch = from_json(launch_file.read_bytes(), LaunchFile)
        self._connections = Connections(self.launch)
        self._allocation = f"/api/v1/allocations/{quote(self.launch.allocation_id, safe='')}"
        self._resource = f"{self._allocation}/resources/{quote(self.launch.resource_id, safe='')}"

    def spec(self) -> bytes:
        return self._call("GET", f"{self._resource}/spec", 30)

    def context(self, task_id: str) -> bytes:
        return self._call("GET", f"/api/v1/tasks/{quote(task_id, safe='')}/context_directory", 300)

    def rendezvous(self) -> bytes:
        """Blocks until every runner of the allocation has asked."""
        return self._call("GET", f"{self._resource}/rendezvous", 630)

    def store_lock(self, platform: str, content: str) -> bytes:
        """What requirements were resolved to here; the answer has the lock that counts."""
        body = json.dumps({"platform": platform, "content": content}).encode()
        return self._call("POST", f"{self._resource}/environment_lock", 60, body, "application/json")

    def signals(self, *, preempt: bool, kill: bool, timeout: int) -> bytes:
        known = f"preempt={str(preempt).lower()}&kill={str(kill).lower()}"
        return self._call("GET", f"{self._resource}/signals?{known}&timeout_seconds={timeout}", timeout + 15)

    def report(self, batch: bytes) -> bytes:
        return self._call("POST", f"{self._resource}/reports", 60, batch)

    def all_gather(self, topic: str, data: dict[str, Any], *, peers: int, timeout: float) -> list[dict[str, Any]]:
        """Everyone's data, unordered; blocks until all peers of the allocation have come with theirs.

        A call is a peer of its own: asked again after a lost answer, it is somebody new, for whom nobody waits.
        """
        asked = {"allocationId": self.launch.allocation_id, "topic": topic, "data": data}
        body = json.dumps({**asked, "numPeers": peers, "requestUuid": str(uuid.uuid4())}).encode()
        answer = json.loads(self._call("POST", f"{self._allocation}/all_gather", timeout, body, "application/json"))
        return list(answer["data"])

    def _call(
        self, method: str, path: str, timeout: float, body: bytes | None = None, kind: str = "application/msgpack"
    ) -> bytes:
        url = self.launch.master_url.rstrip("/")
        headers = {ALLOCATION_TOKEN_HEADER: f"Bearer {self.launch.token}"}
        if body is not None:
            headers["Content-Type"] = kind
        try:
            status, answer = self._connections.request(method, path, headers=headers, body=body, seconds=timeout)
        except OSError as e:
            self._look_for_news()
            raise Unavailable(f"no answer from the master at {url}: {e or type(e).__name__}") from e
        if status < 300:
            return answer
        raise _error(url, status, answer)

    def _look_for_news(self) -> None:
        try:
            launch = from_json(self._launch_file.read_bytes(), LaunchFile)
        except (OSError, ValueError):
            return  # just being replaced, or damaged: what we know stays good
        if launch != self.launch:
            before, self._connections, self.launch = self._connections, Connections(launch), launch
            before.close()


def _error(url: str, status: int, body: bytes) -> DeterminedError:
    inner = _our_error(body)
    if status >= 500 or inner is None:
        defect = status == 500 and inner is not None and inner.get("reason") == "internal"
        return Unavailable(f"the master at {url} answers {status}: {body[:200]!r}", defect=defect)
    kind = BY_CODE.get(str(inner.get("reason")), InvalidArgument)
    details = inner.get("details")
    return kind(str(inner.get("error", f"status {status}")), **(details if isinstance(details, dict) else {}))


def _our_error(body: bytes) -> dict[str, Any] | None:
    """The master's error object; None when the body is not of our making (a proxy, another program on the port)."""
    try:
        answer = json.loads(body)
    except ValueError:
        return None
    inner = answer.get("error") if isinstance(answer, dict) else None
    return inner if isinstance(inner, dict) else None
