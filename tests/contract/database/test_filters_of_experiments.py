"""Columns by which experiments are searched and sorted: their own, sums over trials, and those of the best one."""

import json
import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import pytest
from database_world import World, after
from sqlalchemy import Connection

from determined.errors import InvalidArgument
from determined.master.db.queries import experiment_list, metric, metric_trial, query_filter, run
from determined.wire.report import MetricReport


@dataclass(frozen=True)
class Known:
    """An experiment and its trials, as they were made."""

    id: int
    name: str
    smaller: bool
    parent: int | None
    progress: float | None
    seconds: float | None
    trials: list[dict[str, Any]]

    @property
    def best(self) -> dict[str, Any] | None:
        """The trial with the best value; the oldest among equals, and where none has one."""
        if not self.trials:
            return None
        sign = 1 if self.smaller else -1
        return min(self.trials, key=lambda t: (t["value"] is None, sign * (t["value"] or 0.0), t["id"]))


@pytest.fixture
def known(conn: Connection, world: World) -> list[Known]:
    rng = random.Random(31)
    made: list[Known] = []
    for n in range(16):
        smaller, parent = rng.random() < 0.5, rng.choice([None, *(one.id for one in made[:2])])
        progress, seconds = rng.choice([None, 0.0, 0.5]), rng.choice([None, 1.5, 3600.0])
        experiment_id = world.experiment(
            {
                "name": f"e{n % 5}",
                "smaller_is_better": smaller,
                "parent_id": parent,
                "progress": progress,
                "end_time": None if seconds is None else after(seconds),
            }
        )
        trials = [_insert_trial(conn, world, experiment_id, f"x{i}", rng) for i in range(rng.randrange(4))]
        made.append(Known(experiment_id, f"e{n % 5}", smaller, parent, progress, seconds, trials))
    return made


def _insert_trial(
    conn: Connection, world: World, experiment_id: int, external: str, rng: random.Random
) -> dict[str, Any]:
    value, lr, count = rng.choice([None, 0.5, 0.5, -1.0]), rng.choice([0.1, "auto", None]), rng.randrange(3)
    values: Any = {"hparams": {} if lr is None else {"net": {"lr": lr}}, "checkpoint_count": count}
    trial_id = world.trial(experiment_id, {**values, "checkpoint_size": count * 2**40, "external_id": external})
    accuracies = [rng.choice([0.25, 0.5, 1]) for _ in range(rng.randrange(3))]
    who = metric_trial.reporter(conn, trial_id)
    reports = [MetricReport("mine", step, {"acc.top": acc}, 1.0) for step, acc in enumerate(accuracies)]
    if value is not None:
        reports.append(MetricReport("validation", 9, {"loss": value}, 1.0))
    metric.append_reports(conn, who, reports)
    return {"id": trial_id, "value": value, "lr": lr, "count": count, "acc": accuracies, "external": external}


def _of_best(read: Callable[[dict[str, Any]], Any]) -> Callable[[Known], Any]:
    return lambda one: None if one.best is None else read(one.best)


def _searcher_value(one: Known) -> float | None:
    values = [t["value"] for t in one.trials if t["value"] is not None]
    return (min if one.smaller else max)(values, default=None)


NUMBERS: dict[str, Callable[[Known], float | None]] = {
    "id": lambda one: one.id,
    "forkedFrom": lambda one: one.parent,
    "progress": lambda one: one.progress,
    "duration": lambda one: one.seconds,
    "numTrials": lambda one: len(one.trials),
    "checkpointCount": lambda one: sum(t["count"] for t in one.trials) if one.trials else None,
    "checkpointSize": lambda one: sum(t["count"] * 2**40 for t in one.trials) if one.trials else None,
    "searcherMetricsVal": _searcher_value,
    "mine.acc.top.min": _of_best(lambda t: min(t["acc"], default=None)),
    "mine.acc.top.max": _of_best(lambda t: max(t["acc"], default=None)),
    "mine.acc.top.sum": _of_best(lambda t: sum(t["acc"]) if t["acc"] else None),
    "mine.acc.top.mean": _of_best(lambda t: sum(t["acc"]) / len(t["acc"]) if t["acc"] else None),
    "mine.acc.top.last": _of_best(lambda t: t["acc"][-1] if t["acc"] else None),
    "mine.acc.top.count": _of_best(lambda t: len(t["acc"]) or None),
    "mine.acc.top": _of_best(lambda t: t["acc"][-1] if t["acc"] else None),
    "validation.loss.last": _of_best(lambda t: t["value"]),
}


def find(conn: Connection, world: World, *children: Any, sort: str | None = None) -> list[int]:
    parsed = query_filter.parse(json.dumps({"filterGroup": {"children": list(children)}}))
    conditions = run.experiment_conditions(parsed, world.home)
    ids = run.find_experiments(conn, conditions, sort, None, 0)
    assert run.count_experiments(conn, conditions) == len(ids)
    return ids


def of(column: str, operator: str, value: Any = None) -> dict[str, Any]:
    return {"kind": "field", "columnName": column, "operator": operator, "value": value}


def newest(known: Iterable[Known]) -> list[int]:
    return sorted((one.id for one in known), reverse=True)


def test_numbers_of_experiments_are_compared_and_sorted(conn: Connection, world: World, known: list[Known]) -> None:
    for column, read in NUMBERS.items():
        values = {one.id: read(one) for one in known}
        for bound in sorted({v for v in values.values() if v is not None})[:2]:
            above = newest(one for one in known if (value := values[one.id]) is not None and value > bound)
            assert find(conn, world, of(column, ">", bound)) == above, (column, bound)
            same = newest(one for one in known if values[one.id] == bound)
            assert find(conn, world, of(column, "=", bound)) == same, (column, bound)
        assert find(conn, world, of(column, "isEmpty")) == newest(one for one in known if values[one.id] is None)
        for direction, sign in (("asc", 1), ("desc", -1)):
            ranks = {i: (value is None, sign * (value or 0), -i) for i, value in values.items()}
            assert find(conn, world, sort=f"{column}={direction}") == sorted(values, key=ranks.__getitem__), column


def test_hyperparameters_and_external_ids_are_those_of_the_best_trial(
    conn: Connection, world: World, known: list[Known]
) -> None:
    lr, external = _of_best(lambda t: t["lr"]), _of_best(lambda t: t["external"])
    assert find(conn, world, of("hp.net.lr", "=", 0.1)) == newest(one for one in known if lr(one) == 0.1)
    assert find(conn, world, of("hp.net.lr", "=", "auto")) == newest(one for one in known if lr(one) == "auto")
    assert find(conn, world, of("hp.net.lr", "isEmpty")) == newest(one for one in known if lr(one) is None)
    for name in ("x0", "x1", "x2"):
        named = newest(one for one in known if external(one) == name)
        assert find(conn, world, of("externalTrialId", "=", name)) == named


def test_the_list_names_the_same_best_trial_as_the_search(conn: Connection, world: World, known: list[Known]) -> None:
    best = experiment_list.best_trials(conn, [one.id for one in known])
    for one in known:
        if one.best is None or one.best["value"] is None:
            assert one.id not in best
        else:
            assert best[one.id] == (one.best["id"], one.best["value"])


def test_several_keys_are_applied_in_their_order(conn: Connection, world: World, known: list[Known]) -> None:
    expected = sorted(known, key=lambda one: (one.name, -len(one.trials), -one.id))
    assert find(conn, world, sort="name=asc,numTrials=desc") == [one.id for one in expected]


def test_an_order_that_cannot_be_read_is_refused(conn: Connection, world: World) -> None:
    for sort in ("name", "name=up", "=asc", "name=asc,=desc", "name asc"):
        with pytest.raises(InvalidArgument, match="is not `column=asc` or `column=desc`"):
            find(conn, world, sort=sort)


def test_blanks_and_empty_parts_of_an_order_are_skipped(conn: Connection, world: World, known: list[Known]) -> None:
    assert find(conn, world, sort=" name=asc , ,id=asc,") == find(conn, world, sort="name=asc,id=asc")


def test_a_column_of_runs_alone_is_told_with_the_columns_of_experiments(conn: Connection, world: World) -> None:
    with pytest.raises(InvalidArgument, match=r"column 'experimentName' cannot be searched; use one of .*numTrials"):
        find(conn, world, of("experimentName", "=", "x"))
