"""Requests of a runner to its master. They carry the allocation token, raise our error classes and use no proxy.

`Unavailable` means try again later: nobody answers, the answer is a 5xx, or the other side cannot prove that it is our
master (it then gets no token). Every other error is the master's own answer. When a master comes back at another
address, its engine rewrites launch.json, which is then read again.
"""

import json
import socket
import uuid
from pathlib import Path
from typing import Any

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
from determined.wire.allocation import ALL_GATHER, GET_RENDEZVOUS
from determined.wire.codec import from_json
from determined.wire.context import GET_CONTEXT_DIRECTORY
from determined.wire.environment_lock import STORE_ENVIRONMENT_LOCK
from determined.wire.operation import Operation
from determined.wire.report import GET_RUNNER_SIGNALS, GET_TASK_SPEC, POST_REPORTS, LaunchFile, RunnerSignals
from determined.wire.trial_shell import GET_TRIAL_SHELL_SETTINGS

# Errors that mean: this runner's allocation is over or never existed.
STALE = (Gone, Unauthenticated, Forbidden, NotFound)


class MasterLink:
    """Link of a runner to its master, thread-safe."""

    def __init__(self, launch_file: Path) -> None:
        self._launch_file = launch_file
        self.launch = from_json(launch_file.read_bytes(), LaunchFile)
        self._connections = Connections(self.launch)

    def spec(self) -> bytes:
        return self._call(GET_TASK_SPEC, 30)

    def context(self, task_id: str) -> bytes:
        return self._call(GET_CONTEXT_DIRECTORY, 300, task_id=task_id)

    def rendezvous(self) -> bytes:
        """Block until every runner of the allocation has asked, and return the answer."""
        return self._call(GET_RENDEZVOUS, 630)

    def store_lock(self, platform: str, content: str) -> bytes:
        """Store the lock that requirements were resolved to here; the answer has the lock that counts."""
        body = json.dumps({"platform": platform, "content": content}).encode()
        return self._call(STORE_ENVIRONMENT_LOCK, 60, body, "application/json")

    def trial_shell_settings(self) -> bytes:
        return self._call(GET_TRIAL_SHELL_SETTINGS, 60)

    def signals(self, known: RunnerSignals, timeout: int) -> bytes:
        """Wait for signals other than the known ones."""
        flags = (f"{name}={str(getattr(known, name)).lower()}" for name in ("preempt", "kill", "stacks", "shell"))
        return self._call(GET_RUNNER_SIGNALS, timeout + 15, query=f"?{'&'.join(flags)}&timeoutSeconds={timeout}")

    def report(self, batch: bytes) -> bytes:
        return self._call(POST_REPORTS, 60, batch)

    def all_gather(self, topic: str, data: dict[str, Any], *, peers: int, timeout: float) -> list[dict[str, Any]]:
        """Return everyone's data, unordered; block until all peers of the allocation have sent theirs.

        A call is a peer of its own: asked again after a lost answer, it is somebody new, for whom nobody waits.
        """
        request = {"allocationId": self.launch.allocation_id, "topic": topic, "data": data}
        body = json.dumps({**request, "numPeers": peers, "requestUuid": str(uuid.uuid4())}).encode()
        answer = json.loads(self._call(ALL_GATHER, timeout, body, "application/json"))
        return list(answer["data"])

    def tunnel(self) -> socket.socket:
        """Open a connection of the tunnel: from here on it carries frames (wire/tunnel.py)."""
        from determined.wire.tunnel import OPEN_TUNNEL, PROTOCOL  # most tasks have no services

        path = OPEN_TUNNEL.at(allocation_id=self.launch.allocation_id)
        url = self.launch.master_url.rstrip("/")
        headers = {ALLOCATION_TOKEN_HEADER: f"Bearer {self.launch.token}"}
        try:
            answer = self._connections.switch(path, headers | {"Connection": "Upgrade", "Upgrade": PROTOCOL})
        except OSError as e:
            self._look_for_news()
            raise Unavailable(f"no answer from the master at {url}: {str(e) or type(e).__name__}") from e
        if isinstance(answer, socket.socket):
            return answer
        raise _error(url, answer.status, answer.body)

    def _call(
        self,
        operation: Operation[Any, Any],
        timeout: float,
        body: bytes | None = None,
        kind: str = "application/msgpack",
        *,
        query: str = "",
        **ids: str,
    ) -> bytes:
        """Call an operation of this runner's own allocation and resource, where `ids` names nothing else."""
        own = {"allocation_id": self.launch.allocation_id, "resource_id": self.launch.resource_id}
        path, url = operation.at(**own, **ids) + query, self.launch.master_url.rstrip("/")
        headers = {ALLOCATION_TOKEN_HEADER: f"Bearer {self.launch.token}"}
        if body is not None:
            headers["Content-Type"] = kind
        try:
            status, answer = self._connections.request(
                operation.method, path, headers=headers, body=body, seconds=timeout
            )
        except OSError as e:
            self._look_for_news()
            raise Unavailable(f"no answer from the master at {url}: {str(e) or type(e).__name__}") from e
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
    """Return the master's error object; None when the body is not ours (a proxy, another program on the port)."""
    try:
        answer = json.loads(body)
    except ValueError:
        return None
    inner = answer.get("error") if isinstance(answer, dict) else None
    return inner if isinstance(inner, dict) else None
