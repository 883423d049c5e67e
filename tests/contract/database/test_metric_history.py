"""Metrics of trials that restart, go back, report late and twice: always those of a model that keeps every report."""

import math
import random
from dataclasses import dataclass, field
from typing import Any

import pytest
from database_world import World
from msgspec.structs import replace
from sqlalchemy import Connection

from determined.errors import Conflict
from determined.master.db.queries import metric, metric_points, metric_position, metric_series, metric_trial, trial
from determined.master.db.queries import validation as validations
from determined.master.db.queries.metric_points import Window
from determined.master.db.queries.metric_trial import Reporter
from determined.wire.metric import SeriesAxis
from determined.wire.report import MetricReport

NAMES = ("loss", "acc")
GROUPS = ("training", "validation", "mine")
KEYS = {"training": "avg_metrics", "validation": "validation_metrics", "mine": "mine"}

Reports = dict[int, dict[str, Any]]  # by step


@dataclass
class Model:
    """Expected reports of a trial. A later run that begins at a step removes those of earlier runs from there on."""

    kept: dict[str, Reports] = field(default_factory=lambda: {group: {} for group in GROUPS})
    run: int = 1
    begun: int | None = None  # lowest step of the present run
    of_run: dict[str, set[int]] = field(default_factory=lambda: {group: set() for group in GROUPS})

    def restart(self) -> None:
        self.run, self.begun = self.run + 1, None
        self.of_run = {group: set() for group in GROUPS}

    def report(self, group: str, step: int, values: dict[str, Any]) -> None:
        self._take_back(group, step)
        self.of_run[group].add(step)
        self.kept[group].setdefault(step, {}).update(values)

    def _take_back(self, group: str, step: int) -> None:
        """Remove reports of the same group from the step on, of others after it; never those of this run."""
        for name, reports in self.kept.items():
            first = step if name == group else step + 1
            for gone in [s for s in reports if s >= first and s not in self.of_run[name]]:
                del reports[gone]

    def column(self, group: str, name: str) -> dict[int, Any]:
        return {step: self.kept[group][step].get(name) for step in sorted(self.kept[group])}


def play(conn: Connection, who: Reporter, model: Model, rng: random.Random) -> Reporter:
    """Store one batch of reports, of this run or of a new one."""
    if rng.random() < 0.2:
        model.restart()
        who = replace(who, run_id=model.run)
    group, batch = rng.choice(GROUPS), []
    for step in rng.sample(range(30), rng.randint(1, 6)):
        values = {name: _value(rng) for name in rng.sample(NAMES, rng.randint(1, 2))}
        known = model.kept[group].get(step, {}) if step in model.of_run[group] else {}
        values = {name: value for name, value in values.items() if name not in known}
        model.report(group, step, values)
        batch.append(MetricReport(group, step, values, 1000.0 + step))
    assert not metric.append_reports(conn, who, batch).rejected
    return who


def _value(rng: random.Random) -> Any:
    return rng.choice([math.nan, math.inf, rng.randrange(-5, 5), rng.uniform(-5, 5)])


def shown(values: Any) -> str:
    """NaN equals itself as text."""
    return repr(values)


def check_summaries(conn: Connection, who: Reporter, model: Model) -> None:
    found = metric.summary(conn, [who.trial_id])[who.trial_id]
    for group in GROUPS:
        for name in NAMES:
            values = [v for v in model.column(group, name).values() if v is not None]
            finite = [v for v in values if math.isfinite(v)]
            summary = found.get(KEYS[group], {}).get(name)
            if not values:
                assert summary is None, (group, name)
                continue
            assert summary is not None and summary["count"] == len(finite)
            if finite:
                assert (summary["min"], summary["max"]) == (min(finite), max(finite))
                assert summary["sum"] == pytest.approx(sum(finite), abs=1e-9)


def check_trial(conn: Connection, who: Reporter, model: Model) -> None:
    row = trial.get(conn, who.trial_id)
    losses = model.column("validation", "loss")
    assert row.latest_validation_step == (max(losses) if losses else None)
    numbers = [v for v in losses.values() if v is not None and not math.isnan(v)]
    assert row.best_validation_value == (min(numbers) if numbers else None)
    assert row.steps_completed == max((step for reports in model.kept.values() for step in reports), default=0)


@pytest.mark.parametrize("seed", range(3))
def test_whatever_runs_report_what_is_read_is_what_still_counts(conn: Connection, world: World, seed: int) -> None:
    rng = random.Random(seed)
    who = metric_trial.reporter(conn, world.trial(world.experiment({}), {}))
    model = Model()
    for _ in range(14):
        who = play(conn, who, model, rng)
        for group in GROUPS:
            series = metric_series.read(conn, who.trial_id, group, NAMES)
            assert series.steps == sorted(model.kept[group])
            for name in NAMES:
                expected = list(model.column(group, name).values())
                assert shown(series.columns[name]) == shown(expected), (group, name)
        check_summaries(conn, who, model)
        check_trial(conn, who, model)


@pytest.mark.parametrize("seed", range(2))
def test_points_places_and_histories_tell_the_same_reports(conn: Connection, world: World, seed: int) -> None:
    rng = random.Random(100 + seed)
    who = metric_trial.reporter(conn, world.trial(world.experiment({}), {}))
    model = Model()
    for _ in range(25):
        who = play(conn, who, model, rng)
    losses = {step: v for step, v in model.column("validation", "loss").items() if v is not None}
    parts = metric_points.parts(conn, who.trial_id, "validation", ["loss"], SeriesAxis.BATCH, Window())
    points = sorted((x, float(y)) for part in parts for x, y in zip(part.x, part.y, strict=True))
    assert shown(points) == shown([(step, float(v)) for step, v in losses.items()])
    found = validations.of_trial(conn, who.trial_id)
    assert [one.steps for one in found] == sorted(model.kept["validation"])
    at_steps = validations.at_places(conn, [(who.trial_id, step) for step in range(30)])
    assert {step for _, step in at_steps} == set(model.kept["validation"])
    history = validations.history(conn, [who.trial_id], "loss")
    numbers = {step: float(v) for step, v in losses.items() if not math.isnan(v)}
    assert {time - 1000.0: value for time, _, value in history} == numbers
    places = metric_series.report_places(conn, who.trial_id, None)
    stored = [one for place in places for one in metric_series.reports(conn, place)]
    counts = {group: sum(one.group == group for one in stored) for group in GROUPS}
    assert counts == {group: len(reports) for group, reports in model.kept.items()}
    assert len({one.id for one in stored}) == len(stored)


@pytest.mark.parametrize("seed", range(2))
def test_a_reader_who_comes_back_misses_nothing(conn: Connection, world: World, seed: int) -> None:
    rng = random.Random(200 + seed)
    who = metric_trial.reporter(conn, world.trial(world.experiment({}), {}))
    model = Model()
    held: set[int] = set()
    known = metric_position.current(conn, who.trial_id, "training")
    for _ in range(20):
        who = play(conn, who, model, rng)
        now = metric_position.current(conn, who.trial_id, "training")
        goes_on = metric_position.goes_on(conn, who.trial_id, "training", known, now)
        series = metric_series.read(conn, who.trial_id, "training", [], first=known.step if goes_on else None)
        held = held | set(series.steps) if goes_on else set(series.steps)
        assert held == set(model.kept["training"])
        known = now


@pytest.mark.parametrize("token", ["", "x", "1", "a.2.x", "1.b.x", "--1.2.x", "1.-2.x", "1.2." + "y" * 100])
def test_a_token_that_no_position_printed_is_none(token: str) -> None:
    assert metric_position.parse(token) is None


def test_a_step_is_reported_once_and_a_contradiction_is_refused_and_named(conn: Connection, world: World) -> None:
    who = metric_trial.reporter(conn, world.trial(world.experiment({}), {}))
    first = MetricReport("training", 5, {"loss": 1.0, "nan": math.nan, "t": "x"}, 1.0)
    assert not metric.append_reports(conn, who, [first, first]).rejected, "the same once more is no contradiction"
    contradiction = MetricReport("training", 5, {"loss": 2.0, "new": 1.0}, 1.0)
    [rejected] = metric.append_reports(conn, who, [contradiction]).rejected
    assert isinstance(rejected.error, Conflict)
    assert rejected.error.message == (
        "metric 'loss' of group 'training' at step 5 is already 1.0; it cannot become 2.0"
    )
    series = metric_series.read(conn, who.trial_id, "training", ["loss", "new"])
    assert (series.columns["loss"], series.columns["new"]) == ([1.0], [None]), "nothing of it is stored"


@pytest.mark.parametrize("count", [511, 512, 513, 1024, 1025])
def test_reports_at_the_border_of_a_chunk_are_merged_and_counted_once(
    conn: Connection, world: World, count: int
) -> None:
    who = metric_trial.reporter(conn, world.trial(world.experiment({}), {}))
    metric.append_reports(conn, who, [MetricReport("training", n, {"loss": float(n)}, 1.0) for n in range(count)])
    places = sorted({0, 511, count - 1} & set(range(count)))
    late = [MetricReport("training", n, {"acc": 1}, 1.0) for n in places]
    assert not metric.append_reports(conn, who, late).rejected
    series = metric_series.read(conn, who.trial_id, "training", ["loss", "acc"])
    assert series.columns["loss"] == [float(n) for n in range(count)]
    with_acc = [step for step, value in zip(series.steps, series.columns["acc"], strict=True) if value is not None]
    assert with_acc == places
    summary = metric.summary(conn, [who.trial_id])[who.trial_id]["avg_metrics"]
    assert (summary["loss"]["count"], summary["acc"]["count"]) == (count, len(with_acc))
    assert metric_position.current(conn, who.trial_id, "training").reports == count


def test_reports_wider_than_a_chunk_may_grow_are_each_stored_once(conn: Connection, world: World) -> None:
    who = metric_trial.reporter(conn, world.trial(world.experiment({}), {}))
    for step in range(6):
        wide = {f"m{n}": f"{step}" * 200 for n in range(200)}
        assert not metric.append_reports(conn, who, [MetricReport("training", step, wide, 1.0)]).rejected
    series = metric_series.read(conn, who.trial_id, "training", ["m0", "m199"])
    assert series.steps == list(range(6)) and series.columns["m199"][-1] == "5" * 200
    assert len(metric_series.report_places(conn, who.trial_id, "training")) > 1
