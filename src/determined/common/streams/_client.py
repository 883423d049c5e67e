"""Client of `/stream`: subscriptions in, rows and deletions out, across lost connections."""

import json
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from determined.common.streams._keys import KeyCache
from determined.common.streams._socket import LomondStreamWebSocket, StreamWebSocket
from determined.common.streams.wire import (
    DeleteMsg,
    ModelMsg,
    ModelsDeleted,
    ModelVersionMsg,
    ModelVersionsDeleted,
    ProjectMsg,
    ProjectsDeleted,
    ServerMsg,
)
from determined.errors import MasterNotFound

__all__ = [
    "LomondStreamWebSocket",  # scripts of upstream's releases take all of these from here
    "ModelSpec",
    "ModelVersionSpec",
    "ProjectSpec",
    "Stream",
    "StreamWebSocket",
    "Sync",
]

Ids = int | Sequence[int] | None


class _Noun(NamedTuple):
    """Name of a noun in subscriptions, and the messages that tell of it."""

    plural: str
    row: type[ServerMsg]
    deleted: type[DeleteMsg]


_NOUNS = {
    "project": _Noun("projects", ProjectMsg, ProjectsDeleted),
    "model": _Noun("models", ModelMsg, ModelsDeleted),
    "modelversion": _Noun("modelversions", ModelVersionMsg, ModelVersionsDeleted),
}
_DELETED = {f"{noun.plural}_deleted": name for name, noun in _NOUNS.items()}


@dataclass
class ProjectSpec:
    """Projects to hear of: those with these ids or of these workspaces; all when none is named."""

    workspace_id: Ids = None
    project_id: Ids = None


@dataclass
class ModelSpec:
    """Models to hear of."""

    workspace_id: Ids = None
    model_id: Ids = None
    user_id: Ids = None


@dataclass
class ModelVersionSpec:
    """Versions of models to hear of."""

    model_id: Ids = None
    model_version_id: Ids = None
    user_id: Ids = None


@dataclass
class Sync:
    """Begin (`complete` False) or end (True) of what a subscription says of the time before it."""

    sync_id: Any
    complete: bool

    def to_json(self) -> dict[str, Any]:
        return {"sync_id": self.sync_id, "complete": self.complete}


@dataclass
class _Subscription:
    """A subscription of the user; `told` are the `Sync` messages that were passed on, once per subscription."""

    sync_id: Any
    specs: dict[str, dict[str, Any]]
    told: set[bool] = field(default_factory=set)


class Stream:
    """Iterator over changes: `for event in Stream(LomondStreamWebSocket(session)).subscribe(projects=ProjectSpec())`.

    A lost connection is opened again; what changed meanwhile follows. Raises ConnectionError when that fails for long.
    """

    def __init__(self, ws: StreamWebSocket) -> None:
        self._ws = ws
        self._messages: Iterator[str] | None = None
        self._waiting: deque[_Subscription] = deque()
        self._current: _Subscription | None = None
        self._keys = {name: KeyCache() for name in _NOUNS}
        self._pending: deque[ServerMsg | DeleteMsg | Sync] = deque()
        self._number = 0  # of the subscription that was sent last
        self._started = self._completed = 0  # numbers that the master has answered
        self._retries = 0
        self._closed = False

    def subscribe(
        self,
        sync_id: Any = None,
        *,
        projects: ProjectSpec | None = None,
        models: ModelSpec | None = None,
        model_versions: ModelVersionSpec | None = None,
    ) -> "Stream":
        """Replace the subscription as soon as the one before it is answered; `sync_id` comes back in `Sync`."""
        specs = {"projects": projects, "models": models, "modelversions": model_versions}
        wanted = {noun: _ids(spec) for noun, spec in specs.items() if spec is not None}
        self._waiting.append(_Subscription(sync_id, wanted))
        if self._messages is not None and self._completed == self._number:
            self._send_next()
        return self

    def close(self) -> None:
        self._closed = True
        self._ws.close()
        self._messages = None

    def __iter__(self) -> "Stream":
        return self

    def __next__(self) -> ServerMsg | DeleteMsg | Sync:
        if self._current is None and not self._waiting:
            raise RuntimeError("call subscribe() before reading a stream")
        while not self._pending:
            if self._closed:
                raise StopIteration
            self._advance()
        return self._pending.popleft()

    def __enter__(self) -> "Stream":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _advance(self) -> None:
        """Read one message; connect first where there is no connection."""
        try:
            if self._messages is None:
                self._messages = self._ws.connect()
                self._resend()
            message = next(self._messages, None)
        except (ConnectionError, MasterNotFound) as err:
            self._wait(err)
            return
        if message is None:
            self._wait(ConnectionError("the master ended the stream"))
            return
        self._retries = 0
        self._take(json.loads(message))

    def _wait(self, err: Exception) -> None:
        self._messages = None
        seconds = self._ws.get_backoff(self._retries)
        if seconds is None:
            raise ConnectionError(str(err)) from err
        self._retries += 1
        time.sleep(seconds)

    def _resend(self) -> None:
        if self._current is None:
            self._current = self._waiting.popleft()
        self._send(self._current)

    def _send_next(self) -> None:
        if self._waiting:
            self._current = self._waiting.popleft()
            self._send(self._current)

    def _send(self, subscription: _Subscription) -> None:
        self._number += 1
        caches = {noun.plural: self._keys[name] for name, noun in _NOUNS.items()}
        subscribe = {
            plural: ids | ({"since": caches[plural].maxseq} if caches[plural].maxseq else {})
            for plural, ids in subscription.specs.items()
        }
        known = {plural: cache.known() for plural, cache in caches.items() if cache.known()}
        self._ws.send_text(json.dumps({"sync_id": str(self._number), "known": known, "subscribe": subscribe}))

    def _take(self, message: dict[str, Any]) -> None:
        if "sync_id" in message:
            self._take_sync(int(message["sync_id"]), message["complete"])
        elif self._started == self._number:  # others belong to a subscription that was replaced
            self._pending.extend(self._read(key, value) for key, value in message.items() if value != "")

    def _take_sync(self, number: int, complete: bool) -> None:
        subscription = self._current
        if not complete:
            self._started = number
        else:
            self._completed = number
        if subscription is not None and number == self._number and complete not in subscription.told:
            subscription.told.add(complete)
            self._pending.append(Sync(subscription.sync_id, complete))
        if complete:
            self._send_next()

    def _read(self, key: str, value: Any) -> ServerMsg | DeleteMsg:
        if key in _DELETED:
            self._keys[_DELETED[key]].discard(value)
            return _NOUNS[_DELETED[key]].deleted.from_json(value)
        if key not in _NOUNS:
            raise ValueError(f"the stream sent a message {key!r}, which this client does not know")
        self._keys[key].add(value["id"], value["seq"])
        return _NOUNS[key].row.from_json(value)


def _ids(spec: ProjectSpec | ModelSpec | ModelVersionSpec) -> dict[str, Any]:
    given = {name: value for name, value in vars(spec).items() if value is not None}
    return {f"{name}s": [value] if isinstance(value, int) else list(value) for name, value in given.items()}
