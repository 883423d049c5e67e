"""Ownership of a database by one master: the right to write, held while it lives and lost with its connection."""

import contextlib
import time

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from determined.errors import FailedPrecondition, Unavailable
from determined.master.db import dialects

WAIT_SECONDS = 5.0  # a killed master's connection takes the server a moment to notice
_POLL_SECONDS = 0.2


class Ownership:
    """Blocking throughout: call it in a thread."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._connection: Connection | None = None

    def take(self, wait: float = WAIT_SECONDS) -> None:
        """Take the right to write.

        Raises:
            FailedPrecondition: another master holds it, also after `wait` seconds.
            Unavailable: the database cannot be reached.
        """
        deadline = time.monotonic() + wait
        while not self._try():
            if time.monotonic() >= deadline:
                raise FailedPrecondition(
                    f"another master already uses the database {self._engine.url!r}; stop it or name another --db-url"
                )
            time.sleep(_POLL_SECONDS)

    def keep(self) -> None:
        """Make sure that it is still ours; take it again where only the connection was lost. Raises as `take`."""
        if self._connection is not None:
            try:
                self._connection.exec_driver_sql("SELECT 1")
                self._connection.rollback()
                return
            except DBAPIError:
                self.release()
        self.take()

    def release(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            if not connection.invalidated:  # a lost one holds nothing
                with contextlib.suppress(DBAPIError):
                    dialects.unclaim(connection)
            # closed for real: given back to a pool, the connection would keep what it holds
            connection.invalidate()
            connection.close()

    def _try(self) -> bool:
        if not dialects.has_server(self._engine):
            return True
        try:
            connection = self._engine.connect()
        except DBAPIError as e:
            raise Unavailable(f"cannot reach the database {self._engine.url!r}: {e.orig}") from e
        if dialects.claim(connection):
            self._connection = connection
            return True
        connection.close()
        return False
