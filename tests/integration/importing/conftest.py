"""Sources with upstream's schema in the session's PostgreSQL, and imports from them as a process of their own."""

import shutil
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

sys.path.insert(0, str(Path(__file__).parent))  # importlib mode adds no folder to the path

import upstream_filler
from importer import Importer
from upstream_filler import Filled


class Source:
    """A filled source; `copy` makes one that a test may change."""

    def __init__(self, server: str, name: str, filled: Filled) -> None:
        self._server, self._name, self.filled = server, name, filled

    @property
    def url(self) -> str:
        return f"{self._server}/{self._name}"

    def copy(self) -> "Source":
        name = f"upstream_{uuid.uuid4().hex[:12]}"
        with psycopg.connect(f"{self._server}/postgres", autocommit=True) as admin:
            admin.execute(f"CREATE DATABASE {name} TEMPLATE {self._name}")
        return Source(self._server, name, self.filled)

    def execute(self, statement: str) -> None:
        with psycopg.connect(self.url, autocommit=True) as conn:
            conn.execute(statement)

    def count(self, table: str) -> int:
        with psycopg.connect(self.url) as conn:
            (count,) = conn.execute(f"SELECT count(*) FROM {table}").fetchone() or (0,)
        return int(count)


def make_source(server: str, rows: int) -> Source:
    name = f"upstream_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(f"{server}/postgres", autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE {name}")
    upstream_filler.create(f"{server}/{name}")
    return Source(server, name, upstream_filler.fill(f"{server}/{name}", rows))


@pytest.fixture(scope="session")
def source(postgres_server: str) -> Source:
    """A small source that no test changes."""
    return make_source(postgres_server, 200)


@pytest.fixture(params=["sqlite", "postgres"])
def importer(request: pytest.FixtureRequest, tmp_path: Path) -> Importer:
    """An importer into an empty cluster."""
    url = None if request.param == "sqlite" else request.getfixturevalue("empty_postgres_url")
    return Importer(tmp_path / "data", url)


@pytest.fixture
def sqlite_importer(tmp_path: Path) -> Iterator[Importer]:
    yield Importer(tmp_path / "data", None)
    shutil.rmtree(tmp_path / "data", ignore_errors=True)
