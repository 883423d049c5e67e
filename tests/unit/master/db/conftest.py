"""A real SQLite database per test, and rows to hang metrics and logs on."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, insert

from determined.master.db import dialects, schema
from determined.master.db.queries.metric_trial import Reporter

NOW = datetime(2026, 11, 15, 4, 0, 0, tzinfo=UTC)


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    engine = dialects.create_engine(f"sqlite:///{tmp_path}/test.db")
    schema.metadata.create_all(engine)
    yield engine
    engine.dispose()


@pytest.fixture
def conn(engine: Engine) -> Iterator[Connection]:
    with engine.connect() as conn:
        dialects.begin_write(conn)
        yield conn
        conn.rollback()


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
