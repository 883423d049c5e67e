"""A real master for every test: the app under uvicorn on a loopback port, on SQLite and on PostgreSQL.

`master` is one on the parametrised `db_url` with blank passwords; `admin` and `user` are logged-in clients of it.
`start_master(...)` starts others: with their own config, engines, clock, or a second time on the same data.
"""

import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

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
from determined.master.db import dialects
from determined.sdk.determined import Determined

sys.path.insert(0, str(Path(__file__).parent))  # importlib mode adds no folder to the path

from http_client import Client
from on_both import ON_BOTH

from databases import (  # noqa: F401  fixtures
    db_url,
    empty_db_url,
    empty_postgres_url,
    empty_sqlite_url,
    idle_postgres_databases,
    postgres_server,
    postgres_template,
    postgres_url,
    sqlite_template,
    sqlite_url,
)


class RunningMaster:
    """One master in a thread of its own."""

    def __init__(self, app: Litestar) -> None:
        self.app = app
        listener = socket.socket()
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        app.state.plan = replace(app.state.plan, config=app.state.plan.config.replace(port=port))
        listeners = [listener]
        if app.state.plan.config.proxy.listen is not None:
            listeners.append(socket.create_server(("127.0.0.1", app.state.plan.config.proxy.listen)))
        # As long as in production: a connection is not hung up on between two calls of a slow test.
        config = uvicorn.Config(app, log_config=None, lifespan="on", timeout_graceful_shutdown=5, timeout_keep_alive=75)
        self._server = MasterServer(config)
        self._thread = threading.Thread(
            target=self._server.run, args=(listeners,), name="master under test", daemon=True
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
def start_master(tmp_path: Path) -> Iterator[StartMaster]:
    """`start_master(db_url=None, *, data_dir=, engine_factory=, clock=, identity_secret=, **config)`."""
    started: list[RunningMaster] = []

    def start(
        db_url: str | None = None,  # noqa: F811
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
def master(start_master: StartMaster, db_url: str) -> RunningMaster:  # noqa: F811
    """A running master without engines, on each database in turn."""
    return start_master(db_url)


@pytest.fixture
def admin(master: RunningMaster) -> Client:
    return master.client("admin")


@pytest.fixture
def user(master: RunningMaster) -> Client:
    return master.client("determined")


@pytest.fixture
def client_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory of tokens of a client that no task surrounds and that runs no master of its own."""
    for name in ("DET_MASTER", "DET_USER", "DET_PASS", "DET_USER_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DET_STATE_DIR", str(tmp_path / "no-masters"))
    monkeypatch.setenv("DET_DEBUG_CONFIG_PATH", str(tmp_path / "client"))
    return tmp_path / "client"


@pytest.fixture
def sdk(master: RunningMaster, client_files: Path) -> Callable[..., Determined]:
    """`sdk(username="determined", password="")`: the Python SDK, logged in at `master`."""

    def log_in(username: str = "determined", password: str = "") -> Determined:
        return Determined(master.url, username, password)

    return log_in


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
