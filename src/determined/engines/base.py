"""The interface every engine implements. Its contract suite is tests/contract/engine_contract.py, run for real."""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Sequence

from determined.engines.model import EngineEvent, Launch, Node


class Engine(ABC):
    """A resource manager. All methods are called from one event loop; none blocks it.

    Contract:
    - `start` is idempotent: the same `resource_id` again is harmless, also after a restart of the master, and re-adopts
      a runner that is still alive. It raises `determined.errors.Unavailable` when the runner cannot be started now, or
      has begun (`launch.begun`) and nothing is left of it; `FailedPrecondition` when trying again would change nothing.
    - A runner that `start` accepted ends with exactly one `RunnerGone` event per master life; a runner found already
      gone by `start` yields that event too.
    - What a runner left behind goes only with `forget`, which says that its `RunnerGone` is written down.
    - `kill` of an unknown or gone runner does nothing. `force=False` asks the runner to end its task (TERM, then KILL
      after a grace period); `force=True` kills runner and task at once, but not a runner that only reports
      what a dead one left.
    - A runner outlives the master; `close` leaves runners alone.
    """

    name: str

    @abstractmethod
    async def open(self) -> None:
        """Find nodes, re-adopt what still runs."""

    @abstractmethod
    async def close(self) -> None:
        """Stop watching. Runners go on."""

    @abstractmethod
    def nodes(self) -> Sequence[Node]:
        """Return the nodes known now."""

    @abstractmethod
    async def start(self, launch: Launch) -> None:
        """Start (or re-adopt) one runner."""

    @abstractmethod
    async def kill(self, resource_id: str, *, force: bool) -> None:
        """End one runner and its task."""

    @abstractmethod
    async def forget(self, resource_id: str) -> None:
        """Remove what a runner left: its end is on record. Unknown ones are ignored."""

    @abstractmethod
    async def running(self) -> Sequence[str]:
        """Return the resource ids of the runners alive now."""

    @abstractmethod
    def events(self) -> AsyncIterator[EngineEvent]:
        """Yield events in order, endless until `close`. One consumer."""
