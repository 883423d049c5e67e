"""Both databases for every case: one migrated database of each for the session, a transaction of its own per case."""

import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import Connection, Engine, insert

from databases import (  # noqa: F401  fixtures
    db_url,
    idle_postgres_databases,
    postgres_server,
    postgres_template,
    postgres_url,
    sqlite_template,
    sqlite_url,
)
from determined.master.db import dialects, schema
from determined.master.db.queries.metric_trial import Reporter

sys.path.insert(0, str(Path(__file__).parent))  # importlib mode adds no folder to the path

from database_world import NOW, World


@pytest.fixture(scope="session")
def sqlite_engine(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:  # noqa: F811
    path = tmp_path_factory.mktemp("contract") / "contract.db"
    path.write_bytes(sqlite_template.read_bytes())
    engine = dialects.create_engine(f"sqlite:///{path}")
    yield engine
    engine.dispose()


@pytest.fixture(scope="session")
def postgres_engine(postgres_server: str, postgres_template: str) -> Iterator[Engine]:  # noqa: F811
    name = f"contract_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(f"{postgres_server}/postgres", autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE {name} TEMPLATE {postgres_template}")
    engine = dialects.create_engine(f"{postgres_server}/{name}")
    yield engine
    engine.dispose()


@pytest.fixture(params=["sqlite", "postgres"])
def engine(request: pytest.FixtureRequest) -> Engine:
    made: Engine = request.getfixturevalue(f"{request.param}_engine")
    return made


@pytest.fixture
def conn(engine: Engine) -> Iterator[Connection]:
    """A write transaction that is rolled back when the case is over."""
    with engine.connect() as conn:
        dialects.begin_write(conn)
        yield conn
        conn.rollback()


@pytest.fixture
def world(conn: Connection) -> World:
    return World(conn)


@pytest.fixture
def make_trial(conn: Connection) -> Callable[..., Reporter]:
    """Make a trial of its own experiment, with task `1.<n>`; answers who reports for its current run."""

    def make(
        *, run_id: int = 1, metric: str = "loss", smaller: bool = True, policies: list[dict[str, Any]] | None = None
    ) -> Reporter:
        return _insert_trial(conn, run_id, metric, smaller, policies or [])

    _insert_people(conn)
    return make


def _insert_people(conn: Connection) -> None:
    conn.execute(insert(schema.users).values(id=1, username="u", created_at=NOW, modified_at=NOW))
    conn.execute(insert(schema.workspaces).values(id=1, name="w", user_id=1, created_at=NOW))
    conn.execute(insert(schema.projects).values(id=1, workspace_id=1, user_id=1, name="p", notes=[], created_at=NOW))


def _insert_trial(
    conn: Connection, run_id: int, metric: str, smaller: bool, policies: list[dict[str, Any]]
) -> Reporter:
    n = conn.exec_driver_sql("SELECT count(*) FROM trials").scalar_one() + 1
    conn.execute(
        insert(schema.jobs).values(
            id=f"job-{n}",
            type="EXPERIMENT",
            owner_id=1,
            workspace_id=1,
            pool="default",
            priority=42,
            weight=1,
            submitted_at=NOW,
            position=1.0,
        )
    )
    conn.execute(
        insert(schema.experiments).values(
            id=n,
            job_id=f"job-{n}",
            project_id=1,
            owner_id=1,
            state="ACTIVE",
            name="e",
            labels=[],
            config={"log_policies": policies, "searcher": {"name": "single", "metric": metric}},
            original_config="",
            generation="late",
            searcher_metric=metric,
            smaller_is_better=smaller,
            start_time=NOW,
        )
    )
    conn.execute(
        insert(schema.trials).values(
            id=n,
            experiment_id=n,
            request_id="r",
            task_id=f"{n}.r",
            state="ACTIVE",
            hparams={},
            seed=0,
            run_id=run_id,
            start_time=NOW,
        )
    )
    conn.execute(insert(schema.tasks).values(id=f"{n}.r", type="TRIAL", trial_id=n, experiment_id=n, start_time=NOW))
    return Reporter(n, run_id, n, metric, smaller)
