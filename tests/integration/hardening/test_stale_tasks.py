"""A task that the master has replaced still holds a token; what it says no longer counts."""

import asyncio
from typing import Any

import pytest
from sqlalchemy import Connection, text

METRICS = {"group": "training", "metrics": {"stepsCompleted": 9, "metrics": {"avgMetrics": {"loss": 1.0}}}}


@pytest.fixture
def replaced(sqlite_world: Any) -> Any:
    """The trial is at its next run."""

    def run(conn: Connection) -> None:
        conn.execute(text("UPDATE trials SET run_id = run_id + 1 WHERE id = :id"), {"id": sqlite_world.trial.trial_id})

    asyncio.run(sqlite_world.master.ctx.db.write(run))
    return sqlite_world


def test_a_task_of_an_earlier_run_writes_nothing_more(replaced: Any) -> None:
    post, headers, trial = replaced.master.anonymous.post, replaced.task_headers, replaced.trial
    checkpoint = {
        "uuid": "3f1d2a8e-0000-4000-8000-00000000000c",
        "taskId": trial.task_id,
        "resources": {},
        "metadata": {"steps_completed": 1},
    }
    answers = [
        post(f"/api/v1/trials/{trial.trial_id}/metrics", METRICS, headers=headers),
        post(f"/api/v1/trials/{trial.trial_id}/progress", 0.5, headers=headers),
        post("/api/v1/checkpoints", checkpoint, headers=headers),
        post("/api/v1/task/logs", {"logs": [{"taskId": trial.task_id, "log": "x"}]}, headers=headers),
        post(f"/api/v1/runs/{trial.trial_id}/metadata", {"metadata": {}}, headers=headers),
    ]
    assert [answer.status for answer in answers] == [410] * 5, [answer.raw for answer in answers]
