"""Deletion of checkpoints by keep policy, and of what killed uploads left."""

import asyncio
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from stored_checkpoints import directory, states

from determined.master.background.checkpoint_gc import GarbageCollector


def test_the_keep_policy_is_applied_when_the_experiment_ends(
    user: Any, trial: dict[str, Any], checkpoint: Any, validate: Any, collect_until: Any
) -> None:
    for step, loss in ((1, 3.0), (2, 1.0), (3, 2.0)):
        validate(trial["id"], step, loss=loss)
        checkpoint(user, trial, step)
    checkpoint(user, trial, 4)
    collect_until(lambda: True)
    assert set(states(user, trial).values()) == {"COMPLETED"}
    user.post(f"/api/v1/experiments/{trial['experimentId']}/kill")
    kept = {1: "DELETED", 2: "COMPLETED", 3: "DELETED", 4: "COMPLETED"}
    collect_until(lambda: states(user, trial) == kept)


def test_a_new_policy_takes_effect_at_once_but_spares_what_a_live_trial_needs(
    user: Any, trial: dict[str, Any], checkpoint: Any, collect_until: Any
) -> None:
    for step in (1, 2, 3):
        checkpoint(user, trial, step)
    path = f"/experiments/{trial['experimentId']}"
    policy = {"save_experiment_best": 0, "save_trial_best": 0, "save_trial_latest": 0}
    preview = user.get(f"{path}/preview_gc", fields=policy).json
    assert preview["metric_name"] == "loss"
    assert sorted(c["StepsCompleted"] for c in preview["checkpoints"]) == [1, 2]
    body = {"checkpointStorage": {"saveExperimentBest": 0, "saveTrialBest": 0, "saveTrialLatest": 0}}
    changed = user.patch(f"/api/v1{path}", body)
    assert changed.json["experiment"]["config"]["checkpoint_storage"]["save_trial_latest"] == 0
    collect_until(lambda: states(user, trial) == {1: "DELETED", 2: "DELETED", 3: "COMPLETED"})
    assert user.patch(f"/api/v1{path}", {"checkpointStorage": {"saveTrialBest": -1}}).status == 400
    user.post(f"/api/v1{path}/kill")
    collect_until(lambda: set(states(user, trial).values()) == {"DELETED"})


def test_a_warm_start_checkpoint_outlives_its_experiment(
    user: Any, trial: dict[str, Any], checkpoint: Any, submit: Any, collect_until: Any
) -> None:
    used = checkpoint(user, trial, 1)
    searcher = {"name": "single", "metric": "loss", "source_checkpoint_uuid": used}
    submit(user, searcher=searcher)
    checkpoint(user, trial, 2)
    checkpoint(user, trial, 3)
    user.post(f"/api/v1/experiments/{trial['experimentId']}/kill")
    collect_until(lambda: states(user, trial) == {1: "COMPLETED", 2: "DELETED", 3: "COMPLETED"})


def test_what_killed_uploads_left_is_swept_once_a_day(user: Any, master: Any, trial: dict[str, Any]) -> None:
    base = directory(user, trial)
    left = base / ".staging-3f1d2a8e-0000-4000-8000-000000000009"

    def look(collector: GarbageCollector, days: float) -> bool:
        ctx = collector.ctx
        now = datetime.now(tz=ctx.clock.now().tzinfo) + timedelta(days=days)
        collector.ctx = replace(ctx, clock=type("Later", (), {"now": staticmethod(lambda: now)})())
        asyncio.run(collector.step())
        collector.ctx = ctx
        return left.exists()

    left.mkdir(parents=True)
    collector = GarbageCollector(master.ctx)
    assert look(collector, 6.9), "somebody may still write there"
    assert look(collector, 7.5), "it was looked at less than a day before"
    assert not look(collector, 8)


@pytest.mark.parametrize(("rising", "kept"), [(False, {8, 9, 10}), (True, {1, 2, 3, 9, 10})])
def test_policies_keep_the_best_of_the_experiment_and_the_latest_of_the_trial(
    user: Any, submit: Any, first_trial: Any, checkpoint: Any, validate: Any, collect_until: Any, tmp_path: Path,
    rising: bool, kept: set[int],
) -> None:  # fmt: skip
    storage = {
        "type": "shared_fs", "host_path": str(tmp_path / "c"),
        "save_experiment_best": 3, "save_trial_best": 0, "save_trial_latest": 2,
    }  # fmt: skip
    trial = first_trial(user, submit(user, checkpoint_storage=storage)["experiment"]["id"])
    for step in range(1, 11):
        validate(trial["id"], step, loss=float(step if rising else 100 - step))
        checkpoint(user, trial, step, files={"w": b"1"})
    user.post(f"/api/v1/experiments/{trial['experimentId']}/kill")
    name = f"Checkpoint GC (Experiment {trial['experimentId']})"
    seen: list[bool] = []

    def is_done() -> bool:
        seen.append(any(task["name"] == name for task in user.get("/tasks").json.values()))
        found = states(user, trial)
        return {step for step, state in found.items() if state == "COMPLETED"} == kept

    collect_until(is_done)
    assert any(seen), "the deletion is shown as a task"
    gone = set(range(1, 11)) - kept
    assert {step for step, state in states(user, trial).items() if state == "DELETED"} == gone
    assert len([path for path in (tmp_path / "c").iterdir() if len(path.name) == 36 and path.is_dir()]) >= len(kept)
    assert all(c["storageId"] is not None for c in _listed(user, trial))


def test_an_experiment_that_lets_nothing_go_is_not_shown_as_a_deletion(
    user: Any, trial: dict[str, Any], checkpoint: Any, collect_until: Any
) -> None:
    checkpoint(user, trial, 1)
    user.post(f"/api/v1/experiments/{trial['experimentId']}/kill")
    collect_until(lambda: user.get(f"/api/v1/experiments/{trial['experimentId']}").json["experiment"]["endTime"])
    assert not any("Checkpoint GC" in task["name"] for task in user.get("/tasks").json.values())


def _listed(client: Any, trial: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.get(f"/api/v1/trials/{trial['id']}/checkpoints").json["checkpoints"]
    return found
