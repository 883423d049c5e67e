"""Fork servers of a local engine: which one forks a runner, when one is started, and what each experiment imports.

Blocking and thread-safe. Nothing here outlives the engine: the next one learns anew. Runners of other users than the
engine's are never forked: a user may take over a server of its own, and the engine, as root, would believe its answers.
"""

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import msgspec

from determined.engines.host import untrusted
from determined.engines.host.fork_server import ForkServer
from determined.engines.host.process import Identity
from determined.engines.host.runner_process import ForkedRunner
from determined.rundir.layout import RunDir
from determined.rundir.preload import MAX_BYTES, PreloadList, decode

logger = logging.getLogger(__name__)

# A single task would only wait for the imports of a server that nobody uses afterwards.
_ENOUGH_LAUNCHES = 2
_MOST_SERVERS = 4
_MOST_LISTS = 100
_MOST_ATTEMPTS = 4  # with one list: each costs all of its imports
_LOG = ".fork-server.log"

_Key = bytes  # its preload list


class ForkServers:
    """Fork servers of one machine."""

    def __init__(self, python: str, run_root: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self._python = python
        self._log = run_root / _LOG
        self._clock = clock
        self._servers: dict[_Key, ForkServer] = {}  # the one used last comes last
        self._not_before: dict[_Key, float] = {}
        self._launches = 0
        self._lists: dict[str, PreloadList | None] = {}  # by group; None: it cannot be shared
        self._left_out: set[str] = set()
        self._attempts: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._is_closed = False

    def fork(self, run_dir: RunDir, identity: Identity | None, group: str | None) -> ForkedRunner | None:
        """Fork a runner; None where it has to be started in the ordinary way. `group`: as in `Launch`."""
        if identity is not None:
            return None
        with self._lock:
            self._launches += 1
            server = self._choose(group)
        return server.fork(run_dir) if server is not None else None

    def learn(self, run_dir: RunDir, identity: Identity | None, group: str | None) -> None:
        """Read what a trial that has ended imported, and start a server that imports it for the next ones."""
        if identity is not None or group is None or group in self._lists:
            return
        preload = decode(untrusted.read_end(run_dir.preload_list, MAX_BYTES))
        if preload is None:
            return
        with self._lock:
            self._lists[group] = preload
            while len(self._lists) > _MOST_LISTS:
                del self._lists[next(iter(self._lists))]
            self._choose(group)

    def is_ready(self, group: str | None = None) -> bool:
        """Check whether `fork` would fork now, and with the packages of the group if it has any."""
        with self._lock:
            server = self._choose(group)
            return server is not None

    def close(self) -> None:
        """End all servers. Runners go on."""
        with self._lock:
            self._is_closed = True
            for server in self._servers.values():
                server.close()
            self._servers.clear()

    def _choose(self, group: str | None) -> ForkServer | None:
        """Return the server that has imported most of what this group needs, and start what is missing."""
        preload = self._lists.get(group) if group is not None else None
        if preload is not None:
            preload = preload.without(self._left_out)
            server = self._server(preload, group)
            if server is not None and server.is_ready():
                return server
        server = self._server(None, None)
        return server if server is not None and server.is_ready() else None

    def _server(self, preload: PreloadList | None, group: str | None) -> ForkServer | None:
        key = b"" if preload is None else msgspec.json.encode(preload)
        server = self._servers.pop(key, None)
        if server is not None and server.ended is None:
            self._servers[key] = server
            return server
        if server is not None:
            self._note_end(key, server, group)
            return None
        is_too_soon = self._clock() < self._not_before.get(key, 0.0) or self._launches < _ENOUGH_LAUNCHES
        if is_too_soon or self._is_closed or (preload is not None and not preload.modules):
            return None
        while len(self._servers) >= _MOST_SERVERS:
            self._servers.pop(next(iter(self._servers))).close()
        self._servers[key] = ForkServer(self._python, preload, self._log)
        return self._servers[key]

    def _note_end(self, key: _Key, server: ForkServer, group: str | None) -> None:
        self._not_before[key] = self._clock() + server.rest_seconds
        found = server.unsuitable
        if found is None:
            return
        if group is None:
            self._not_before[key] = float("inf")
            return
        self._attempts[group] += 1
        if found.module and self._attempts[group] < _MOST_ATTEMPTS:
            logger.info("trials import %s themselves: it %s", found.module, found.why)
            self._left_out.add(found.module)
        else:
            logger.info("packages of %s are not shared between its trials: %s", group, found.why)
            self._lists[group] = None
