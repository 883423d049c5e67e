"""Context that all services of one master share. Built once in app.py and passed down; holds no state of its own."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from determined.master.activity import Activity
from determined.master.bus import Bus
from determined.master.clock import Clock
from determined.master.config import MasterConfig
from determined.master.db.database import Database
from determined.master.turn_queue import TurnQueue

_CONFIGS_WAITING = 32


@dataclass(frozen=True, slots=True)
class ClusterIdentity:
    """Identity of this master. `secret` signs allocation tokens and never leaves the master."""

    cluster_id: str
    master_id: str
    secret: bytes = field(repr=False)


class ConfigTurns:
    """Turns at parsing a config: one of each user waits, and one is at work. Parsing holds Python's lock, so that
    several at once would slow down every other request.
    """

    def __init__(self) -> None:
        self._by_user = TurnQueue(1, _CONFIGS_WAITING, "configs of yours are being read")
        self._any = asyncio.Semaphore(1)

    @asynccontextmanager
    async def take(self, user_id: int) -> AsyncIterator[None]:
        """Hold the turn of this user. Raises TooManyRequests when too many of this user wait."""
        async with self._by_user.take(user_id), self._any:
            yield


@dataclass(frozen=True, slots=True)
class MasterContext:
    db: Database
    bus: Bus
    clock: Clock
    config: MasterConfig
    cluster: ClusterIdentity
    config_turns: ConfigTurns = field(default_factory=ConfigTurns)
    # By user: each holds a connection and a request for as long as the receiver likes, up to its time limit.
    webhook_tests: TurnQueue = field(default_factory=lambda: TurnQueue(1, 4, "tests of webhooks"))
    activity: Activity = field(default_factory=Activity)
