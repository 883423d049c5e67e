"""A real master for every test: the app under uvicorn on a loopback port, on SQLite and on PostgreSQL.

`master` is one on the parametrised `db_url` with blank passwords; `admin` and `user` are logged-in clients of it.
`start_master(...)` starts others: with their own config, engines, clock, or a second time on the same data.
"""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest
import uvicorn
from argon2 import PasswordHasher
from litestar import Litestar
from sqlalchemy import Engine

from determined.master.app import EngineFactory, MasterServer, Plan, create_app
from determined.master.auth import password
from determined.master.clock import Clock, SystemClock
from determined.master.config import load_master_config
from determined.master.context import MasterContext
from determined.master.db import dialects, migrate

sys.path.insert(0, str(Path(__file__).parent))  # importlib mode adds no folder to the path

from http_client import Client
from on_both import ON_BOTH


class RunningMaster:
    """One master in a thread of its own."""

    def __init__(self, app: Litestar) -> None:
        self.app = app
        listener = socket.socket()
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        app.state.plan = replace(app.state.plan, config=app.state.plan.config.replace(port=port))
        # As long as in production: a connection is not hung up on between two calls of a slow test.
        config = uvicorn.Config(app, log_config=None, lifespan="on", timeout_graceful_shutdown=5, timeout_keep_alive=75)
        self._server = MasterServer(config)
        self._thread = threading.Thread(
            target=self._server.run, args=([listener],), name="master under test", daemon=True
        )
        self._thread.start()
        self._wait_until(lambda: self._server.started or not self._thread.is_alive())
        if not self._server.started:
            listener.close()
        assert self._server.started, "the master did not start; its log says why"
        self.url = f"http://127.0.0.1:{port}"
        self.anonymous = Client(self.url)

    @property
    def ctx(self) -> MasterContext:
        ctx: MasterContext = self.app.state.ctx
        return ctx

    def client(self, username: str, password: str = "") -> Client:
        return self.anonymous.login(username, password)

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join(60)
        assert not self._thread.is_alive(), "the master did not stop within a minute"

    def _wait_until(self, condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 60
        while not condition():
            assert time.monotonic() < deadline, "the master was not ready within a minute"
            time.sleep(0.005)


StartMaster = Callable[..., RunningMaster]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        on_postgres = isinstance(item, pytest.Function) and "postgres" in item.name.partition("[")[2]
        if on_postgres and item.path.stem.removeprefix("test_") not in ON_BOTH and _HERE in item.path.parents:
            item.add_marker(pytest.mark.second_database)


_HERE = Path(__file__).parent


@pytest.fixture(scope="module", autouse=True)
def quick_passwords() -> Iterator[None]:
    """Hashing is slow on purpose, and nearly every test logs in; a unit test holds the real cost."""
    quick = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(password, "_hasher", quick)
        patch.setattr(password, "_DECOY", quick.hash("nobody has this password"))
        yield


@pytest.fixture(scope="module", autouse=True)
def statements_compiled_once() -> Iterator[None]:
    """Compiling SQL takes longer than running it, and every master of every test would compile its own."""
    make = dialects._create_engine

    def make_sharing(*args: Any, **kwargs: Any) -> Engine:
        engine: Engine = make(*args, **{"query_cache_size": 5000, **kwargs})
        elder = _elder_engines.get(engine.dialect.name)
        if elder is None or getattr(elder.dialect, "server_version_info", None) is None:  # it has never been connected
            _elder_engines[engine.dialect.name] = engine
            return engine
        engine.dialect, engine._compiled_cache = elder.dialect, elder._compiled_cache
        return engine

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dialects, "_create_engine", make_sharing)
        yield


_elder_engines: dict[str, Engine] = {}  # by dialect: the one whose compiled statements later ones use


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


@pytest.fixture
def start_master(tmp_path: Path) -> Iterator[StartMaster]:
    """`start_master(db_url=None, *, data_dir=, engine_factory=, clock=, identity_secret=, **config)`."""
    started: list[RunningMaster] = []

    def start(
        db_url: str | None = None,
        *,
        data_dir: Path | None = None,
        engine_factory: EngineFactory | None = None,
        clock: Clock | None = None,
        identity_secret: bytes | None = None,
        **config: Any,
    ) -> RunningMaster:
        raw: dict[str, Any] = {
            "data_dir": str(data_dir or tmp_path / "data"),
            "security": {"initial_user_password": ""},
            "slots": 4,
            **({"db": {"url": db_url}} if db_url else {}),
            **config,
        }
        plan = Plan(
            load_master_config(raw, {}, {}),
            engine_factory or (lambda _ctx: []),
            clock or SystemClock(),
            identity_secret,
        )
        master = RunningMaster(_app_for(plan))
        started.append(master)
        return master

    yield start
    for master in started:
        master.stop()
        if master.app not in _idle_apps:
            _idle_apps.append(master.app)


@pytest.fixture
def master(start_master: StartMaster, db_url: str) -> RunningMaster:
    """A running master without engines, on each database in turn."""
    return start_master(db_url)


@pytest.fixture
def admin(master: RunningMaster) -> Client:
    return master.client("admin")


@pytest.fixture
def user(master: RunningMaster) -> Client:
    return master.client("determined")


# Building an app takes longer than a test; a stopped one starts again with a new plan.
_idle_apps: list[Litestar] = []


def _app_for(plan: Plan) -> Litestar:
    if not _idle_apps:
        return create_app(
            plan.config, engine_factory=plan.engine_factory, clock=plan.clock, identity_secret=plan.identity_secret
        )
    app = _idle_apps.pop()
    app.state.plan = plan
    return app


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
