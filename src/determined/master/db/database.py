"""The way to the database: one writer with group commit, a pool of readers; queries are functions of a Connection.

Why threads and not an async driver: a transaction here is one synchronous function, so nothing can await a network or
an engine inside it, and a transaction costs one thread hop instead of one per statement.
What is acknowledged survives the death of the master. A power failure costs at most the last second on SQLite (its log
is forced to the disk that often, not at every commit) and nothing on PostgreSQL, which syncs every commit.
"""

import asyncio
import logging
import queue
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError, PendingRollbackError

from determined.errors import Unavailable
from determined.master.db import dialects
from determined.master.db.prepared import Savepoint
from determined.master.db.write_queue import WriteQueue, write_lane

T = TypeVar("T")

logger = logging.getLogger(__name__)

_SYNC_SECONDS = 1.0  # what a power failure may cost
_MAX_GROUP = 64  # requests in one commit
_GROUP_SECONDS = 0.03  # after this no other joins the commit: bounds how long the first of a group waits for the last


@dataclass(slots=True)
class _Write:
    run: Callable[[Connection], Any]
    done: Future[Any]


class Database:
    """`write` runs a function in the single writer and answers after its commit; `read` runs one in a reader thread.

    Writes that arrive together share one commit; each runs in its own savepoint, so one that raises rolls back alone.
    """

    def __init__(self, url: str, *, readers: int = 4) -> None:
        self.url = url
        self.engine: Engine = dialects.create_engine(url)
        self._readers = ThreadPoolExecutor(readers, thread_name_prefix="db-read")
        self._queue: WriteQueue[_Write] = WriteQueue()
        self._unsynced_since: float | None = None
        self._committed: Callable[[], None] | None = None
        self.commits = 0  # transactions of the writer so far; a reader compares it to know that no row has changed
        self._writer = threading.Thread(target=self._write_loop, name="db-write", daemon=True)
        self._writer.start()
        self._refusal: str | None = None

    def on_commit(self, tell: Callable[[], None] | None) -> None:
        """`tell` is called after every commit, in the writer's thread; it must be quick and raise nothing."""
        self._committed = tell

    def refuse(self, why: str) -> None:
        """Refuse every read and write from now on: every call is answered with `why`."""
        self._refusal = why

    async def write(self, run: Callable[[Connection], T]) -> T:
        """Run in a transaction of the writer; returns once it is committed."""
        if self._refusal:
            raise Unavailable(self._refusal)
        done: Future[T] = Future()
        self._queue.put(_Write(run, done), write_lane.get())
        return await asyncio.shield(asyncio.wrap_future(done))

    async def read(self, run: Callable[[Connection], T]) -> T:
        """Run on a reader connection; the transaction ends when `run` returns."""
        if self._refusal:
            raise Unavailable(self._refusal)
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._readers, self._read, run)

    async def close(self) -> None:
        self.refuse("the master is stopping")
        self._queue.close()
        await asyncio.to_thread(self._writer.join)
        await asyncio.to_thread(self._readers.shutdown)
        self.engine.dispose()

    def _read(self, run: Callable[[Connection], T]) -> T:
        return dialects.run_read(self.engine, run)

    def _write_loop(self) -> None:
        while True:
            first = self._next()
            if first is None:
                self._sync()
                return
            self._commit(first)
            if self._unsynced_since is None:
                self._unsynced_since = time.monotonic()

    def _next(self) -> _Write | None:
        """Return the next thing to do; while waiting for it (or late), commits get to the disk within a second."""
        while self._unsynced_since is not None:
            left = self._unsynced_since + _SYNC_SECONDS - time.monotonic()
            if left <= 0:
                self._sync()
                break
            try:
                return self._queue.get(timeout=left)
            except queue.Empty:
                continue
        return self._queue.get()

    def _sync(self) -> None:
        if self._unsynced_since is None:
            return
        self._unsynced_since = None
        try:
            dialects.sync(self.engine)
        except OSError as e:
            # The commits stay valid and the next sync covers them too; only a power failure now would cost more.
            logger.warning("the database could not be forced to the disk: %s", e)

    def _commit(self, first: _Write) -> None:
        """Run a write, and those that wait for as long as the group may take, in one transaction."""
        results: list[tuple[_Write, Any, BaseException | None]] = []
        group = [first]  # from the start: the transaction itself may fail to begin
        try:
            with self.engine.connect() as conn:
                dialects.begin_write(conn)
                for write in self._joining(group):
                    results.append(_run_one(conn, write))
                _commit_all(conn)
        except Exception as e:  # noqa: BLE001 - the commit failed: every waiter of the group hears of it, the writer lives on
            error = _explain(e)
            for write in group:
                write.done.set_exception(error)
            return
        self.commits += 1
        for write, value, failure in results:
            if failure is not None:
                write.done.set_exception(failure)
            else:
                write.done.set_result(value)
        tell = self._committed
        if tell is not None:
            tell()

    def _joining(self, group: list[_Write]) -> Iterator[_Write]:
        """Yield the first of `group` and those that wait, while the group may take more; each joins before it runs."""
        deadline = time.monotonic() + _GROUP_SECONDS
        yield group[0]
        while len(group) < _MAX_GROUP and time.monotonic() < deadline:
            write = self._queue.get_nowait()
            if write is None:
                return
            group.append(write)
            yield write


def _commit_all(conn: Connection) -> None:
    """Commit, or close the connection: SQLite keeps a transaction whose commit failed, and locks all others out."""
    try:
        conn.commit()
    except DBAPIError:
        conn.invalidate()
        raise


def _explain(error: Exception) -> Exception:
    if isinstance(error, PendingRollbackError):  # a write went on although the connection was lost under it
        return Unavailable("the connection to the database was lost, so this was not stored; try again")
    return dialects.explain(error) if isinstance(error, DBAPIError) else error


def _run_one(conn: Connection, write: _Write) -> tuple[_Write, Any, BaseException | None]:
    savepoint = Savepoint(conn)
    try:
        with savepoint:
            value = write.run(conn)
    except DBAPIError as e:
        if savepoint.is_lost:
            raise
        return write, None, dialects.explain(e)
    except Exception as e:
        if savepoint.is_lost:
            raise
        return write, None, e  # the caller gets the error; the rest of the group goes on
    return write, value, None
