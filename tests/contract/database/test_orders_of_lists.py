"""Orders of lists: every key both ways, equal and missing values, and pages that neither repeat nor lose a row."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from itertools import product
from typing import Any

import pytest
from database_world import AWKWARD, NOW, World, after
from msgspec.structs import asdict
from sqlalchemy import Connection

from determined.master.db.queries import checkpoint_list, experiment_list, trial, trial_list
from determined.master.db.queries.checkpoint_list import CheckpointScope
from determined.master.db.queries.experiment_list import ListedExperiment
from determined.master.db.rows.experiments import Trial
from determined.wire.base import OrderBy
from determined.wire.checkpoint import CheckpointState, ListCheckpoints
from determined.wire.checkpoint import SortBy as CheckpointSort
from determined.wire.experiment import ExperimentState, ListExperiments, ListTrials
from determined.wire.experiment import GetExperimentsRequestSortBy as ExperimentSort
from determined.wire.experiment import GetExperimentTrialsRequestSortBy as TrialSort
from determined.wire.trial import TrialState

WAYS = [OrderBy.ASC, OrderBy.DESC]
Find = Callable[[int | None, int], list[Any]]


def ordered(ids: list[Any], values: dict[Any, Any], way: OrderBy) -> list[Any]:
    """Ids by value and id, both in one direction; those without a value last."""
    descending = way is OrderBy.DESC
    known = sorted((i for i in ids if values[i] is not None), key=lambda i: (values[i], i), reverse=descending)
    return known + sorted((i for i in ids if values[i] is None), reverse=descending)


def check_pages(find: Find, whole: list[Any]) -> None:
    pages = [find(4, start) for start in range(0, len(whole), 4)]
    assert [one for page in pages for one in page] == whole
    assert find(5, len(whole)) == []


@pytest.fixture
def experiments(world: World) -> list[int]:
    """Twenty experiments with few different values in every column."""
    rng = random.Random(5)
    users = [world.owner, world.user({"username": "zoe"}), world.user({"username": "Åsa"})]
    projects = [world.home, world.project({})]
    ids: list[int] = []
    for _ in range(20):
        made = world.experiment(
            {
                "name": rng.choice(["a", "B", "b", AWKWARD]),
                "description": rng.choice([None, "", "x", "é"]),
                "state": rng.choice(["ACTIVE", "PAUSED", "COMPLETED"]),
                "progress": rng.choice([None, 0.0, 0.5, 1.0]),
                "start_time": after(rng.randrange(3)),
                "end_time": rng.choice([None, after(5), after(6)]),
                "owner_id": rng.choice(users),
                "project_id": rng.choice(projects),
                "parent_id": rng.choice([None, *ids[:3]]),
                "smaller_is_better": rng.random() < 0.5,
            },
            {"pool": rng.choice(["default", "big"])},
        )
        ids.append(made)
        for _ in range(rng.randrange(3)):
            best = rng.choice([None, -1.0, 0.5, float("inf")])
            size, count = rng.randrange(3), rng.randrange(2)
            world.trial(made, {"best_validation_value": best, "checkpoint_size": size, "checkpoint_count": count})
    return ids


@dataclass(frozen=True)
class Known:
    """An experiment as it is listed, and its trials."""

    row: ListedExperiment
    trials: list[Trial]

    @property
    def best(self) -> float | None:
        values = [t.best_validation_value for t in self.trials if t.best_validation_value is not None]
        return (min if self.row.smaller_is_better else max)(values, default=None)


EXPERIMENT_KEYS: dict[ExperimentSort, Callable[[Known], Any]] = {
    ExperimentSort.UNSPECIFIED: lambda one: one.row.id,
    ExperimentSort.ID: lambda one: one.row.id,
    ExperimentSort.DESCRIPTION: lambda one: one.row.description,
    ExperimentSort.START_TIME: lambda one: one.row.start_time,
    ExperimentSort.END_TIME: lambda one: one.row.end_time,
    ExperimentSort.STATE: lambda one: one.row.state,
    ExperimentSort.NUM_TRIALS: lambda one: len(one.trials),
    ExperimentSort.PROGRESS: lambda one: one.row.progress,
    ExperimentSort.USER: lambda one: one.row.username,
    ExperimentSort.NAME: lambda one: one.row.name,
    ExperimentSort.FORKED_FROM: lambda one: one.row.parent_id,
    ExperimentSort.RESOURCE_POOL: lambda one: one.row.pool,
    ExperimentSort.PROJECT_ID: lambda one: one.row.project_id,
    ExperimentSort.CHECKPOINT_SIZE: lambda one: sum(t.checkpoint_size for t in one.trials),
    ExperimentSort.CHECKPOINT_COUNT: lambda one: sum(t.checkpoint_count for t in one.trials),
    ExperimentSort.SEARCHER_METRIC_VAL: lambda one: one.best,
}


def _known(conn: Connection, ids: list[int]) -> dict[int, Known]:
    rows = {row.id: row for row in experiment_list.load(conn, ids)}
    trials = {i: [trial.get(conn, t) for t in experiment_list.trial_ids(conn, i)] for i in ids}
    return {i: Known(rows[i], trials[i]) for i in ids}


def test_experiments_are_ordered_by_every_key_and_cut_into_pages(conn: Connection, experiments: list[int]) -> None:
    known = _known(conn, experiments)
    for sort, way in product(ExperimentSort, WAYS):
        params = ListExperiments(sort_by=sort, order_by=way, ids=experiments)
        whole = ordered(experiments, {i: EXPERIMENT_KEYS[sort](known[i]) for i in experiments}, way)
        assert experiment_list.find(conn, params) == whole, (sort, way)
        check_pages(partial(_find_experiments, conn, params), whole)
        assert experiment_list.count(conn, params) == len(whole)


def _find_experiments(conn: Connection, params: ListExperiments, limit: int | None, offset: int) -> list[int]:
    return experiment_list.find(conn, params, limit=limit, offset=offset)


CONDITIONS: list[tuple[dict[str, Any], Callable[[Any], bool]]] = [
    ({"users": ["zoe", "nobody"]}, lambda e: e.username == "zoe"),
    ({"states": [ExperimentState.PAUSED, ExperimentState.COMPLETED]}, lambda e: e.state != "ACTIVE"),
    ({"states": [ExperimentState.QUEUED]}, lambda e: e.state == "ACTIVE"),
    ({"states": [ExperimentState.RUNNING]}, lambda e: False),
    ({"name": "B"}, lambda e: "b" in e.name.lower()),
    ({"name": "%"}, lambda e: "%" in e.name),
    ({"description": "é"}, lambda e: e.description == "é"),
    ({"description": "É"}, lambda e: e.description == "é"),
    ({"description": ""}, lambda e: True),
    ({"project_id": 0}, lambda e: True),
    ({"name": "b", "users": ["zoe"]}, lambda e: "b" in e.name.lower() and e.username == "zoe"),
]


def test_experiments_that_fit_every_condition_are_listed(conn: Connection, experiments: list[int]) -> None:
    rows = experiment_list.load(conn, experiments)
    for given, keep in CONDITIONS:
        found = experiment_list.find(conn, ListExperiments(ids=experiments, **given))
        assert found == [row.id for row in rows if keep(row)], given


def test_bounds_of_ids_are_open_or_closed_as_their_names_say(conn: Connection, experiments: list[int]) -> None:
    low, high = experiments[4], experiments[9]

    def find(**given: Any) -> list[int]:
        return experiment_list.find(conn, ListExperiments(ids=experiments, **given))

    assert find(id_gt=low, id_lt=high) == experiments[5:9]
    assert find(id_gte=low, id_lte=high) == experiments[4:10]
    assert find(not_ids=experiments[1:]) == experiments[:1]
    assert experiment_list.find(conn, ListExperiments(ids=[])) == [], "no ids are not all ids"


@pytest.fixture
def trials(world: World) -> list[int]:
    rng = random.Random(6)
    owner = world.experiment({})
    states = ["ACTIVE", "COMPLETED", "ERROR"]
    return [
        world.trial(
            owner,
            {
                "state": rng.choice(states),
                "start_time": after(rng.randrange(3)),
                "end_time": rng.choice([None, after(10), after(11)]),
                "best_validation_value": rng.choice([None, 0.5, -2.0]),
                "latest_validation_value": rng.choice([None, 0.5, 3.0]),
                "steps_completed": rng.randrange(3),
                "restarts": rng.randrange(3),
                "checkpoint_size": rng.choice([0, 2**40]),
                "log_retention_days": rng.choice([None, -1, 7]),
            },
        )
        for _ in range(18)
    ]


LATER = after(100)
TRIAL_KEYS: dict[TrialSort, Callable[[Any], Any]] = {
    TrialSort.UNSPECIFIED: lambda t: t.id,
    TrialSort.ID: lambda t: t.id,
    TrialSort.START_TIME: lambda t: t.start_time,
    TrialSort.END_TIME: lambda t: t.end_time,
    TrialSort.STATE: lambda t: t.state,
    TrialSort.BEST_VALIDATION_METRIC: lambda t: t.best_validation_value,
    TrialSort.LATEST_VALIDATION_METRIC: lambda t: t.latest_validation_value,
    TrialSort.BATCHES_PROCESSED: lambda t: t.steps_completed,
    TrialSort.DURATION: lambda t: (t.end_time or LATER) - t.start_time,
    TrialSort.RESTARTS: lambda t: t.restarts,
    TrialSort.CHECKPOINT_SIZE: lambda t: t.checkpoint_size,
    TrialSort.LOG_RETENTION_DAYS: lambda t: t.log_retention_days,
}


def test_trials_are_ordered_by_every_key_and_cut_into_pages(conn: Connection, trials: list[int]) -> None:
    rows = {i: trial.get(conn, i) for i in trials}
    owner = rows[trials[0]].experiment_id
    for sort, way in product(TrialSort, WAYS):
        params = ListTrials(sort_by=sort, order_by=way)
        whole = ordered(trials, {i: TRIAL_KEYS[sort](row) for i, row in rows.items()}, way)
        find = partial(_find_trials, conn, owner, params)
        assert find(None, 0) == whole, (sort, way)
        check_pages(find, whole)


def _find_trials(conn: Connection, owner: int, params: ListTrials, limit: int | None, offset: int) -> list[int]:
    return trial_list.find(conn, LATER, owner, params, limit=limit, offset=offset)


def test_trials_are_listed_by_the_state_that_people_see(conn: Connection, world: World) -> None:
    owner, unmanaged = world.experiment({}), world.experiment({"unmanaged": True})
    waiting, starting, gone = (world.trial(owner, {}) for _ in range(3))
    alone = world.trial(unmanaged, {})
    ended = world.trial(owner, {"state": "COMPLETED"})
    world.allocation(starting, {"state": "STARTING"})
    world.allocation(gone, {"state": "TERMINATED"})

    def shown(experiment_id: int, *states: TrialState) -> list[int]:
        return trial_list.find(conn, NOW, experiment_id, ListTrials(states=list(states)))

    assert shown(owner, TrialState.QUEUED) == [waiting, gone]
    assert shown(owner, TrialState.STARTING, TrialState.COMPLETED) == [starting, ended]
    assert shown(owner, TrialState.ACTIVE) == [waiting, starting, gone]
    assert shown(unmanaged, TrialState.RUNNING) == [alone], "nobody schedules it: while it is active, it runs"
    assert shown(unmanaged, TrialState.QUEUED) == []


def test_the_time_that_a_trial_ran_is_the_sum_of_its_runs(conn: Connection, world: World) -> None:
    trial_id, idle = (world.trial(world.experiment({}), {}) for _ in range(2))
    world.allocation(trial_id, {"state": "TERMINATED", "started_at": NOW, "ended_at": after(1.5)})
    world.allocation(trial_id, {"state": "RUNNING", "started_at": after(10)})
    world.allocation(trial_id, {"state": "PENDING"})
    world.allocation(idle, {"state": "TERMINATED", "ended_at": after(9)})
    assert trial_list.seconds_run(conn, after(12), [trial_id, idle]) == {trial_id: 3.5}


CHECKPOINT_KEYS: dict[CheckpointSort, str] = {
    CheckpointSort.UNSPECIFIED: "trial_id",
    CheckpointSort.UUID: "uuid",
    CheckpointSort.TRIAL_ID: "trial_id",
    CheckpointSort.BATCH_NUMBER: "steps_completed",
    CheckpointSort.END_TIME: "report_time",
    CheckpointSort.STATE: "state",
}


@pytest.fixture
def checkpoints(conn: Connection, world: World) -> tuple[CheckpointScope, list[dict[str, Any]]]:
    """Fifteen checkpoints of three trials of an experiment, with few different values."""
    rng = random.Random(7)
    owner = world.experiment({})
    trials = [world.trial(owner, {}) for _ in range(3)]
    for _ in range(15):
        steps, time = rng.randrange(3), NOW + timedelta(seconds=rng.randrange(2))
        state = rng.choice(["COMPLETED", "DELETED"])
        world.checkpoint(rng.choice(trials), {"steps_completed": steps, "report_time": time, "state": state})
    scope = CheckpointScope(experiment_id=owner)
    rows = checkpoint_list.load(conn, checkpoint_list.find(conn, scope, ListCheckpoints()))
    assert len(rows) == 15
    return scope, [asdict(row) for row in rows]


def test_checkpoints_are_ordered_by_every_key_and_cut_into_pages(
    conn: Connection, checkpoints: tuple[CheckpointScope, list[dict[str, Any]]]
) -> None:
    scope, rows = checkpoints
    for (sort, key), way in product(CHECKPOINT_KEYS.items(), WAYS):
        places = {row["uuid"]: (row[key], row["trial_id"], row["steps_completed"], row["uuid"]) for row in rows}
        whole = sorted(places, key=places.__getitem__, reverse=way is OrderBy.DESC)
        find = partial(_find_checkpoints, conn, scope, ListCheckpoints(sort_by_attr=sort, order_by=way))
        assert find(None, 0) == whole, (sort, way)
        check_pages(find, whole)


def _find_checkpoints(
    conn: Connection, scope: CheckpointScope, params: ListCheckpoints, limit: int | None, offset: int
) -> list[str]:
    return checkpoint_list.find(conn, scope, params, limit=limit, offset=offset)


def test_checkpoints_are_listed_by_state(
    conn: Connection, checkpoints: tuple[CheckpointScope, list[dict[str, Any]]]
) -> None:
    scope, rows = checkpoints
    kept = ListCheckpoints(states=[CheckpointState.COMPLETED])
    completed = {row["uuid"] for row in rows if row["state"] == "COMPLETED"}
    assert set(checkpoint_list.find(conn, scope, kept)) == completed
    assert {one.uuid for one in checkpoint_list.positions(conn, scope, kept)} == completed
    assert checkpoint_list.count(conn, scope, kept) == len(completed)
