"""The lowest and the highest of each metric of an experiment: always what the summaries of its trials say."""

import math
import random
from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace
from sqlalchemy import Connection, func, insert, select

from determined.master.db import schema
from determined.master.db.queries import experiment, metric_range
from determined.master.db.queries.metric import append_reports
from determined.master.db.queries.metric_trial import Reporter
from determined.wire.report import MetricReport

MakeTrial = Callable[..., Reporter]


def report(step: int | None, group: str = "training", **metrics: Any) -> MetricReport:
    return MetricReport(group, step, metrics, 1000.0)


def sibling(conn: Connection, who: Reporter) -> Reporter:
    """Another trial of the same experiment."""
    found = conn.execute(select(schema.trials).where(schema.trials.c.id == who.trial_id)).mappings().one()
    number = 1000 + conn.execute(select(func.count()).select_from(schema.trials)).scalar_one()
    values = {**found, "id": number, "request_id": f"r{number}", "task_id": f"t{number}"}
    conn.execute(insert(schema.trials).values(values))
    return replace(who, trial_id=number)


def ranges(conn: Connection) -> dict[str, tuple[float, float]]:
    return {f"{group}.{name}": (low, high) for group, name, low, high in metric_range.of_project(conn, 1)}


def from_summaries(conn: Connection) -> dict[str, tuple[float, float]]:
    m = schema.metric_summaries.c
    query = select(m.group, m.name, func.min(m.min), func.max(m.max)).where(m.min.is_not(None))
    rows = conn.execute(query.group_by(m.group, m.name))
    return {f"{group}.{name}": (low, high) for group, name, low, high in rows}


def test_a_range_spans_all_trials_of_all_experiments_of_the_project(conn: Connection, make_trial: MakeTrial) -> None:
    first, other = make_trial(), make_trial()
    second = sibling(conn, first)
    append_reports(conn, first, [report(1, loss=2.0), report(2, loss=1.0)])
    append_reports(conn, second, [report(1, loss=5.0)])
    append_reports(conn, other, [report(1, loss=0.5, acc=3), report(1, "validation", loss=-1.0)])
    assert ranges(conn) == {"training.acc": (3.0, 3.0), "training.loss": (0.5, 5.0), "validation.loss": (-1.0, -1.0)}
    assert metric_range.names_of_project(conn, 1) == [
        ("training", "acc"), ("training", "loss"), ("validation", "loss"),
    ]  # fmt: skip
    assert metric_range.of_project(conn, 2) == []


def test_only_numbers_have_a_range(conn: Connection, make_trial: MakeTrial) -> None:
    append_reports(conn, make_trial(), [report(1, word="x", flag=True, hole=math.nan, top=math.inf)])
    assert ranges(conn) == {}
    append_reports(conn, make_trial(), [report(1, word="x", hole=1.0)])
    assert ranges(conn) == {"training.hole": (1.0, 1.0)}


def test_a_report_inside_of_the_range_writes_nothing(
    conn: Connection, make_trial: MakeTrial, monkeypatch: pytest.MonkeyPatch
) -> None:
    who = make_trial()
    append_reports(conn, who, [report(1, loss=1.0), report(2, loss=9.0)])
    written: list[Any] = []
    monkeypatch.setattr(metric_range, "upsert", lambda _conn, _table, rows, _keys: written.extend(rows))
    append_reports(conn, who, [report(3, loss=5.0)])
    append_reports(conn, sibling(conn, who), [report(1, loss=5.0), report(2, loss=6.0)])
    assert written == []
    append_reports(conn, who, [report(4, loss=10.0)])
    assert [(row["min"], row["max"]) for row in written] == [(1.0, 10.0)]


def test_extremes_that_a_run_goes_back_behind_are_given_up(conn: Connection, make_trial: MakeTrial) -> None:
    who = make_trial()
    steady = sibling(conn, who)
    append_reports(conn, steady, [report(1, loss=2.0)])
    append_reports(conn, who, [report(1, loss=3.0, seen=1.0), report(2, loss=-7.0, late=1.0), report(3, loss=8.0)])
    assert ranges(conn)["training.loss"] == (-7.0, 8.0)
    append_reports(conn, replace(who, run_id=2), [report(2, loss=4.0)])
    assert ranges(conn) == {"training.loss": (2.0, 4.0), "training.seen": (1.0, 1.0)}


def test_extremes_of_others_outlive_a_run_that_goes_back(conn: Connection, make_trial: MakeTrial) -> None:
    who = make_trial()
    append_reports(conn, sibling(conn, who), [report(1, loss=-9.0), report(2, loss=9.0)])
    append_reports(conn, who, [report(1, loss=0.0), report(2, loss=5.0)])
    append_reports(conn, replace(who, run_id=2), [report(2, loss=1.0)])
    assert ranges(conn) == {"training.loss": (-9.0, 9.0)}


def test_whatever_is_reported_ranges_are_those_of_the_summaries(conn: Connection, make_trial: MakeTrial) -> None:
    rng = random.Random(7)
    first = make_trial()
    people = [first, sibling(conn, first), sibling(conn, first), make_trial()]
    for _ in range(60):
        n = rng.randrange(len(people))
        if rng.random() < 0.2:
            people[n] = replace(people[n], run_id=people[n].run_id + 1)
        start, group = rng.randrange(12), rng.choice(["training", "validation"])
        names = rng.sample("abc", rng.randint(1, 3))
        batch = [report(start + i, group, **{name: rng.uniform(-9, 9) for name in names}) for i in range(3)]
        append_reports(conn, people[n], batch)
        assert ranges(conn) == from_summaries(conn)


def test_ranges_go_with_their_experiment(conn: Connection, make_trial: MakeTrial) -> None:
    who, other = make_trial(), make_trial()
    append_reports(conn, who, [report(1, **{f"m{i}": 1.0 for i in range(7)})])
    while experiment.delete_some(conn, who.experiment_id, 3):
        pass
    assert conn.execute(select(func.count()).select_from(schema.metric_ranges)).scalar_one() == 0
    append_reports(conn, other, [report(1, loss=1.0)])
    conn.execute(schema.experiments.delete())
    assert ranges(conn) == {}
