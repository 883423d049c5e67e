"""Metric reports into chunks, summaries and trial columns."""

import math
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace
from sqlalchemy import Connection, func, select

from determined.errors import Conflict, InvalidArgument
from determined.master.db.queries import metric, metric_series
from determined.master.db.queries.metric import append_reports
from determined.master.db.queries.metric_trial import Reporter
from determined.master.db.schema import metric_chunks, trials
from determined.wire.report import MetricReport

MakeTrial = Callable[..., Reporter]


def training(step: int | None, group: str = "training", **metrics: Any) -> MetricReport:
    return MetricReport(group, step, metrics, 1000.0 + (step or 0))


def validation(step: int, **metrics: Any) -> MetricReport:
    return training(step, "validation", **metrics)


def trial_row(conn: Connection, trial_id: int) -> Any:
    return conn.execute(select(trials).where(trials.c.id == trial_id)).mappings().one()


def loss(conn: Connection, who: Reporter, group: str = "training") -> dict[int, Any]:
    series = metric_series.read(conn, who.trial_id, group, ["loss"])
    return dict(zip(series.steps, series.columns["loss"], strict=True))


def test_reports_one_by_one_and_in_one_batch_leave_the_same(conn: Connection, make_trial: MakeTrial) -> None:
    slow, fast = make_trial(), make_trial()
    reports = [training(i, loss=1 / (i + 1), n=i) for i in range(1200)]
    for report in reports:
        append_reports(conn, slow, [report])
    append_reports(conn, fast, reports)
    for who in (slow, fast):
        assert loss(conn, who) == {i: 1 / (i + 1) for i in range(1200)}
    a, b = (metric.summary(conn, [w.trial_id])[w.trial_id]["avg_metrics"] for w in (slow, fast))
    assert a["loss"].pop("sum") == pytest.approx(b["loss"].pop("sum"))
    assert a["loss"].pop("mean") == pytest.approx(b["loss"].pop("mean"))
    assert a == b


def test_a_long_series_takes_few_rows(conn: Connection, make_trial: MakeTrial) -> None:
    who = make_trial()
    for start in range(0, 5000, 50):
        append_reports(conn, who, [training(start + i, loss=0.5) for i in range(50)])
    assert conn.execute(select(func.count()).select_from(metric_chunks)).scalar_one() == 10


def test_a_large_batch_becomes_one_row_and_leaves_a_small_tail_alone(conn: Connection, make_trial: MakeTrial) -> None:
    who = make_trial()
    sizes = [30, 1000, 1000, 24, 24, 1000, 3000]
    step = 0
    for size in sizes:
        append_reports(conn, who, [training(step + i, loss=(step + i) / 7) for i in range(size)])
        step += size
    stored = conn.execute(select(metric_chunks.c.n).order_by(metric_chunks.c.first_step)).scalars().all()
    assert stored == [30, 1000, 1000, 48, 1000, *[512] * 5, 440]
    assert loss(conn, who) == {i: i / 7 for i in range(step)}


def test_a_late_report_merges_into_a_tail_that_was_left(conn: Connection, make_trial: MakeTrial) -> None:
    who = make_trial()
    append_reports(conn, who, [training(i, loss=1.0) for i in range(30)])
    append_reports(conn, who, [training(30 + i, loss=1.0) for i in range(1000)])
    append_reports(conn, who, [training(7, acc=0.5)])
    series = metric_series.read(conn, who.trial_id, "training", ["acc"], first=6, last=8)
    assert series.columns["acc"] == [None, 0.5, None]


@pytest.mark.parametrize("at_once", [1, 3, 50])
def test_reports_of_changing_names_and_types_come_back_as_they_were(
    conn: Connection, make_trial: MakeTrial, at_once: int
) -> None:
    who = make_trial()
    values: list[Any] = [0.5, 3, "text", None, True, [1, 2], math.inf]
    reports = [training(i, always=i / 2, **{f"m{i % 3}": values[i % len(values)]}) for i in range(50)]
    for start in range(0, 50, at_once):
        append_reports(conn, who, reports[start : start + at_once])
    stored = [
        r.row for p in metric_series.report_places(conn, who.trial_id, None) for r in metric_series.reports(conn, p)
    ]
    assert [row.metrics for row in stored] == [report.metrics for report in reports]


def test_wide_reports_are_not_rewritten_for_ever(conn: Connection, make_trial: MakeTrial) -> None:
    who = make_trial()
    wide = {f"m{i}": float(i) for i in range(300)}
    for step in range(100):
        append_reports(conn, who, [training(step, **wide)])
    sizes = [len(d) for d in conn.execute(select(metric_chunks.c.data)).scalars()]
    assert max(sizes) < 100_000
    assert len(metric_series.read(conn, who.trial_id, "training", ["m7"]).steps) == 100


def test_same_step_merges_by_key(conn: Connection, make_trial: MakeTrial) -> None:
    who = make_trial()
    append_reports(conn, who, [training(1, loss=0.5), training(2, loss=0.25)])
    result = append_reports(conn, who, [training(1, acc=0.9), training(2, acc=0.95, loss=0.25)])
    assert result.rejected == []
    series = metric_series.read(conn, who.trial_id, "training", ["loss", "acc"])
    assert (series.steps, series.columns) == ([1, 2], {"loss": [0.5, 0.25], "acc": [0.9, 0.95]})
    assert metric.summary(conn, [who.trial_id])[who.trial_id]["avg_metrics"]["loss"]["count"] == 2


def test_same_step_merges_into_a_sealed_chunk(conn: Connection, make_trial: MakeTrial) -> None:
    who = make_trial()
    append_reports(conn, who, [training(i, loss=float(i)) for i in range(1500)])
    append_reports(conn, who, [training(3, acc=0.5), training(700, acc=0.75)])
    acc = metric_series.read(conn, who.trial_id, "training", ["acc"]).columns["acc"]
    assert (acc[3], acc[700]) == (0.5, 0.75)
    assert len(acc) == 1500


def test_a_differing_value_is_rejected_and_the_rest_is_kept(conn: Connection, make_trial: MakeTrial) -> None:
    who = make_trial()
    result = append_reports(conn, who, [training(1, loss=0.5), training(1, loss=0.6), training(2, loss=0.4)])
    assert [type(r.error) for r in result.rejected] == [Conflict]
    assert "already 0.5" in result.rejected[0].error.message
    assert loss(conn, who) == {1: 0.5, 2: 0.4}


def test_nan_reported_twice_is_the_same_value(conn: Connection, make_trial: MakeTrial) -> None:
    who = make_trial()
    assert append_reports(conn, who, [training(1, loss=math.nan), training(1, loss=math.nan)]).rejected == []


@pytest.mark.parametrize(
    ("report", "word"),
    [
        (MetricReport("", 1, {"a": 1}, 0.0), "non-empty"),
        (MetricReport("a.b", 1, {"a": 1}, 0.0), "without '.'"),
        (MetricReport("validation", 1, {"a": None}, 0.0), "None"),
        (MetricReport("training", 1, {"epoch": "one"}, 0.0), "number"),
        (MetricReport("training", -1, {"a": 1}, 0.0), "out of range"),
        (MetricReport("training", None, {"a": 1}, 0.0), "steps"),
        (MetricReport("training", 1, {"a\0b": 1}, 0.0), "NUL"),
    ],
)
def test_bad_reports_are_named(conn: Connection, make_trial: MakeTrial, report: MetricReport, word: str) -> None:
    result = append_reports(conn, make_trial(), [report, training(9, loss=1.0)])
    assert [type(r.error) for r in result.rejected] == [InvalidArgument]
    assert word in result.rejected[0].error.message
    assert len(result.accepted) == 1


def test_out_of_order_steps_are_read_in_order(conn: Connection, make_trial: MakeTrial) -> None:
    who = make_trial()
    append_reports(conn, who, [training(s, loss=float(s)) for s in (5, 1, 9, 3)])
    append_reports(conn, who, [training(2, loss=2.0)])
    assert list(loss(conn, who)) == [1, 2, 3, 5, 9]
    summary = metric.summary(conn, [who.trial_id])[who.trial_id]["avg_metrics"]["loss"]
    assert (summary["last"], summary["min"], summary["max"], summary["count"]) == (9.0, 1.0, 9.0, 5)


def test_non_finite_values_stay_out_of_the_summary(conn: Connection, make_trial: MakeTrial) -> None:
    who = make_trial()
    values = [1.0, math.inf, 3.0, math.nan]
    append_reports(conn, who, [training(i, loss=v) for i, v in enumerate(values)])
    summary = metric.summary(conn, [who.trial_id])[who.trial_id]["avg_metrics"]["loss"]
    assert summary == {
        "count": 2, "last": "NaN", "max": 3.0, "mean": 2.0, "min": 1.0, "sum": 4.0, "type": "number",
    }  # fmt: skip


def test_types_of_values_are_kept_in_the_summary(conn: Connection, make_trial: MakeTrial) -> None:
    who = make_trial()
    append_reports(conn, who, [training(1, "custom", s="x", b=True, o={"k": 1}, a=[1], n=3)])
    summary = metric.summary(conn, [who.trial_id])[who.trial_id]["custom"]
    types = {name: s["type"] for name, s in summary.items()}
    assert types == {"s": "string", "b": "boolean", "o": "object", "a": "array", "n": "number"}
    assert summary["o"] == {"count": 1, "last": {"k": 1}, "type": "object"}


def test_encoded_summaries_read_as_plain_ones_of_every_type(conn: Connection, make_trial: MakeTrial) -> None:
    many, none = make_trial(), make_trial()
    append_reports(conn, many, [training(i, loss=v) for i, v in enumerate([1.0, math.inf, 3.0, math.nan])])
    append_reports(conn, many, [training(10, huge=1.7e308), training(11, huge=1.7e308)])
    append_reports(conn, many, [training(12, huge=1.7e308), training(13, huge=1.7e308)])
    append_reports(conn, many, [training(1, "custom", s="x", b=True, o={"k": 1}, a=[1], n=3, z=None)])
    append_reports(conn, many, [validation(1, loss=2.0)])
    ids = [many.trial_id, none.trial_id]
    encoded = msgspec.json.decode(msgspec.json.encode(metric.encoded_summaries(conn, ids)))
    assert encoded == {str(trial): entries for trial, entries in metric.summary(conn, ids).items()}
    assert encoded[str(none.trial_id)] == {}
    assert encoded[str(many.trial_id)]["avg_metrics"]["huge"]["sum"] == "Infinity"


def test_trial_columns_follow_the_searcher_metric(conn: Connection, make_trial: MakeTrial) -> None:
    small, large = make_trial(smaller=True), make_trial(smaller=False)
    reports = [validation(10, loss=3.0), validation(20, loss=1.0), validation(30, loss=2.0), validation(40, other=1)]
    for who in (small, large):
        append_reports(conn, who, reports)
    row = trial_row(conn, small.trial_id)
    assert (row["best_validation_step"], row["best_validation_value"]) == (20, 1.0)
    assert (row["latest_validation_step"], row["latest_validation_value"]) == (40, None)
    assert row["steps_completed"] == 40
    assert trial_row(conn, large.trial_id)["best_validation_value"] == 3.0


def test_nan_is_never_the_best_validation(conn: Connection, make_trial: MakeTrial) -> None:
    who = make_trial()
    append_reports(conn, who, [validation(1, loss=math.nan), validation(2, loss=5.0), validation(3, loss=math.nan)])
    assert trial_row(conn, who.trial_id)["best_validation_value"] == 5.0


def test_a_new_run_archives_later_steps_and_sums_up_again(conn: Connection, make_trial: MakeTrial) -> None:
    first = make_trial()
    append_reports(conn, first, [training(i, loss=float(i)) for i in range(1, 701)])
    append_reports(conn, first, [validation(i, loss=1000.0 - i) for i in (100, 200, 300, 700)])
    second = replace(first, run_id=2)
    append_reports(conn, second, [training(201, loss=0.5)])

    kept = loss(conn, first)
    assert max(kept) == 201
    assert kept[201] == 0.5
    assert kept[200] == 200.0
    assert list(loss(conn, first, "validation")) == [100, 200]
    summary = metric.summary(conn, [first.trial_id])[first.trial_id]
    assert summary["avg_metrics"]["loss"]["count"] == 201
    assert summary["avg_metrics"]["loss"]["max"] == 200.0
    assert summary["validation_metrics"]["loss"]["min"] == 800.0
    row = trial_row(conn, first.trial_id)
    assert (row["steps_completed"], row["latest_validation_step"], row["best_validation_value"]) == (201, 200, 800.0)


def test_the_same_group_is_archived_from_the_step_on_and_others_beyond_it(
    conn: Connection, make_trial: MakeTrial
) -> None:
    who = make_trial()
    append_reports(conn, who, [training(100, loss=1.0), validation(100, loss=1.0)])
    again = replace(who, run_id=2)
    append_reports(conn, again, [training(100, loss=2.0)])
    assert loss(conn, who) == {100: 2.0}
    assert loss(conn, who, "validation") == {100: 1.0}
    append_reports(conn, again, [validation(100, loss=3.0)])
    assert loss(conn, who, "validation") == {100: 3.0}
    assert trial_row(conn, who.trial_id)["best_validation_value"] == 3.0


def test_groups_without_steps_are_numbered_and_outlive_restarts(conn: Connection, make_trial: MakeTrial) -> None:
    who = make_trial()
    append_reports(
        conn, who, [training(None, "gpu", loss=1.0), training(None, "gpu", loss=2.0), training(50, loss=1.0)]
    )
    again = replace(who, run_id=2)
    append_reports(conn, again, [training(0, loss=9.0), training(None, "gpu", loss=3.0)])
    assert loss(conn, who, "gpu") == {0: 1.0, 1: 2.0, 2: 3.0}
    assert loss(conn, who) == {0: 9.0}


def test_only_the_asked_range_is_read(conn: Connection, make_trial: MakeTrial) -> None:
    who = make_trial()
    append_reports(conn, who, [training(i, loss=float(i)) for i in range(2000)])
    series = metric_series.read(conn, who.trial_id, "training", ["loss"], first=510, last=515)
    assert series.steps == [510, 511, 512, 513, 514, 515]


def test_whole_reports_come_back_with_batch_metrics(conn: Connection, make_trial: MakeTrial) -> None:
    who = make_trial()
    report = MetricReport("training", 1, {"loss": 1.0}, 5.0, [{"loss": 0.9}, {"loss": 1.1}])
    append_reports(conn, who, [report, training(2, loss=2.0)])
    places = metric_series.report_places(conn, who.trial_id, None)
    found = [r for place in places for r in metric_series.reports(conn, place)]
    assert [(r.row.step, r.row.batch_metrics) for r in found] == [(1, [{"loss": 0.9}, {"loss": 1.1}]), (2, None)]
    assert len({r.id for r in found}) == 2
