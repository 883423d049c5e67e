"""Database of this cluster, held as a master holds it: no master runs on it while an import writes."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from determined.master.config import MasterConfig
from determined.master.db import dialects, migrate
from determined.master.db.data_directory import DataDirectory
from determined.master.db.ownership import Ownership
from determined.master.services import bootstrap

T = TypeVar("T")


class Target:
    """Database of an import: one connection for all reads and writes. `close` gives the database back.

    Raises:
        FailedPrecondition: a master runs, or the database is damaged or of a newer version.
    """

    def __init__(self, config: MasterConfig) -> None:
        self._directory = DataDirectory(Path(config.data_dir))
        self._engine = dialects.create_engine(config.db.address or self._directory.database_url)
        self._ownership = Ownership(self._engine)
        try:
            self._ownership.take()
            migrate.upgrade(self._engine)
            self._populate(config)
        except BaseException:
            self.close()
            raise

    @property
    def report_directory(self) -> Path:
        return self._directory.path / "imports"

    def read(self, run: Callable[[Connection], T]) -> T:
        return dialects.run_read(self._engine, run)

    def write(self, run: Callable[[Connection], T]) -> T:
        """Run in one transaction; it is committed when this returns."""
        try:
            with self._engine.connect() as conn:
                dialects.begin_write(conn)
                value = run(conn)
                conn.commit()
        except DBAPIError as e:
            raise dialects.explain(e) from e
        return value

    def close(self) -> None:
        dialects.sync(self._engine)
        self._ownership.release()
        self._engine.dispose()
        self._directory.close()

    def _populate(self, config: MasterConfig) -> None:
        """Fill a database that no master has started on yet, as the master would."""
        if not self.read(bootstrap.is_empty):
            return
        password = bootstrap.first_password(config.security.initial_user_password)
        if password.generated is not None:
            self._directory.write_secret("initial-password", password.generated + "\n")
        self.write(lambda conn: bootstrap.populate(conn, datetime.now(UTC), password))
