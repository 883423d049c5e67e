"""Fixtures of databases: SQLite files, and a PostgreSQL server of the session (skipped where none is installed)."""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from determined.master.db import dialects, migrate


@pytest.fixture
def empty_sqlite_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'empty.db'}"


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated database without rows: copying it is much quicker than migrating again."""
    path = tmp_path_factory.mktemp("template") / "template.db"
    _migrate(f"sqlite:///{path}")
    return path


@pytest.fixture
def sqlite_url(tmp_path: Path, sqlite_template: Path) -> str:
    """A migrated database of its own."""
    shutil.copy(sqlite_template, tmp_path / "master.db")
    return f"sqlite:///{tmp_path / 'master.db'}"


@pytest.fixture(scope="session")
def postgres_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """URL of a PostgreSQL cluster of this test session, without a database name."""
    binaries = _postgres_binaries()
    root = Path(f"/tmp/det-pg-{uuid.uuid4().hex[:12]}")
    root.mkdir(mode=0o755)
    identity = _unprivileged(root)
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.STDOUT, **identity}
    data = root / "data"
    text = ["--encoding", "UTF8", "--locale", "C.UTF-8"]  # whatever the locale of whoever runs the tests
    made = [binaries / "initdb", "-A", "trust", "-U", "postgres", "--no-sync", *text, "-D", data]
    subprocess.run(made, check=True, **quiet)
    claim, port = _claim_port()
    settings = ["listen_addresses=127.0.0.1", "max_connections=200", "shared_buffers=32MB", "autovacuum=off", "jit=off"]
    options = [*f"-F -p {port} -k {root}".split(), *(part for one in settings for part in ("-c", one))]
    server = subprocess.Popen([binaries / "postgres", "-D", data, *options], **quiet)
    try:
        url = f"postgresql://postgres@127.0.0.1:{port}"
        _wait_for_postgres(url, server)
        yield url
    finally:
        server.send_signal(signal.SIGINT)  # "fast": it waits for no client that is still connected
        server.wait(60)
        claim.close()
        shutil.rmtree(root, ignore_errors=True)


@pytest.fixture
def empty_postgres_url(postgres_server: str) -> Iterator[str]:
    with _postgres_database(postgres_server, "template1") as url:
        yield url


@pytest.fixture(scope="session")
def postgres_template(postgres_server: str) -> str:
    """Name of a migrated database without rows."""
    name = "det_template"
    with psycopg.connect(f"{postgres_server}/postgres", autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE {name}")
    _migrate(f"{postgres_server}/{name}")
    return name


@pytest.fixture(scope="session")
def idle_postgres_databases(postgres_server: str) -> list[str]:
    """Names of migrated databases that a test has left: emptying one is quicker than making one."""
    return []


@pytest.fixture
def postgres_url(postgres_server: str, postgres_template: str, idle_postgres_databases: list[str]) -> Iterator[str]:
    """A migrated database of its own."""
    if idle_postgres_databases:
        name = idle_postgres_databases.pop()
        _empty(f"{postgres_server}/{name}")  # only now: masters of the test before wrote into it until they stopped
    else:
        name = f"t{uuid.uuid4().hex[:16]}"
        with psycopg.connect(f"{postgres_server}/postgres", autocommit=True) as admin:
            admin.execute(f"CREATE DATABASE {name} TEMPLATE {postgres_template}")
    yield f"{postgres_server}/{name}"
    idle_postgres_databases.append(name)


@pytest.fixture(params=["sqlite", "postgres"])
def empty_db_url(request: pytest.FixtureRequest) -> str:
    url: str = request.getfixturevalue(f"empty_{request.param}_url")
    return url


@pytest.fixture(params=["sqlite", "postgres"])
def db_url(request: pytest.FixtureRequest) -> str:
    url: str = request.getfixturevalue(f"{request.param}_url")
    return url


def _migrate(url: str) -> None:
    engine = dialects.create_engine(url)
    migrate.upgrade(engine)
    engine.dispose()


@contextmanager
def _postgres_database(server: str, template: str) -> Iterator[str]:
    name = f"t{uuid.uuid4().hex[:16]}"
    with psycopg.connect(f"{server}/postgres", autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
        yield f"{server}/{name}"
        admin.execute(f"DROP DATABASE {name} WITH (FORCE)")


def _empty(url: str) -> None:
    """Remove every row, and hang up on whoever still talks to the database."""
    with psycopg.connect(url, autocommit=True) as conn:
        conn.execute(
            "SELECT pg_terminate_backend(pid, 20000) FROM pg_stat_activity"  # and wait until it is gone
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        conn.execute("SET session_replication_role = replica")  # order of foreign keys does not matter
        conn.execute(_EMPTY)


_EMPTY = """
DO $$ DECLARE one record; BEGIN
  FOR one IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'alembic_version' LOOP
    EXECUTE format('DELETE FROM %I', one.tablename);
  END LOOP;
  FOR one IN SELECT sequencename FROM pg_sequences WHERE schemaname = 'public' LOOP
    EXECUTE format('ALTER SEQUENCE %I RESTART', one.sequencename);
  END LOOP;
END $$
"""


def _postgres_binaries() -> Path:
    for found in (shutil.which("initdb"), *sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))):
        if found and (Path(found).resolve().parent / "postgres").exists():
            return Path(found).resolve().parent
    pytest.skip("PostgreSQL is not installed; as root: sh scripts/install_postgres.sh")


def _unprivileged(root: Path) -> dict[str, Any]:
    """PostgreSQL refuses to run as root: hand the directory to nobody and run as it."""
    if os.geteuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    os.chown(root, nobody.pw_uid, nobody.pw_gid)
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": [], "cwd": root}


def _claim_port() -> tuple[socket.socket, int]:
    """A port that nobody else is given while the socket is open; a server that reuses addresses may listen there."""
    claim = socket.socket()
    claim.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    claim.bind(("127.0.0.1", 0))
    return claim, claim.getsockname()[1]


def _wait_for_postgres(url: str, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 60
    while True:
        try:
            psycopg.connect(f"{url}/postgres", connect_timeout=2).close()
            return
        except psycopg.OperationalError:
            assert server.poll() is None, "PostgreSQL ended while it was starting"
            assert time.monotonic() < deadline, "PostgreSQL was not ready within a minute"
            time.sleep(0.05)
