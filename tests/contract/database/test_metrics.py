"""Queries that read metrics, validations and log scopes, and lists that filter, sort and page."""

import pytest
from database_world import AWKWARD, NOW, World, after
from sqlalchemy import Connection

from determined.errors import NotFound
from determined.master.db.log_chunk import Origin
from determined.master.db.log_filter import LogFilter
from determined.master.db.metric_summary import Summary
from determined.master.db.queries import (
    experiment_list,
    hp_analysis,
    log,
    log_scope,
    metric,
    metric_live,
    metric_points,
    metric_position,
    metric_range,
    metric_series,
    metric_trial,
    project_columns,
    query_filter,
    run,
    run_group,
    trial,
    trial_list,
    unmanaged,
    validation,
)
from determined.master.db.queries.metric_points import Window
from determined.master.db.queries.metric_trial import Reporter
from determined.wire.base import OrderBy
from determined.wire.experiment import ListExperiments, ListTrials
from determined.wire.metric import SeriesAxis
from determined.wire.report import LogLine, MetricReport


@pytest.fixture
def reporter(conn: Connection, world: World) -> Reporter:
    """A completed trial with ten training reports and two validations."""
    experiment_id = world.experiment({})
    trial_id = world.trial(experiment_id, {"state": "COMPLETED", "end_time": after(60)})
    who = metric_trial.reporter(conn, trial_id)
    training = [
        MetricReport(group="training", steps=n, time=1000.0 + n, metrics={"loss": 1.0 / (n + 1), AWKWARD: n})
        for n in range(10)
    ]
    validations = [
        MetricReport(group="validation", steps=n, time=2000.0 + n, metrics={"loss": float(n), "acc": 2**60})
        for n in (5, 9)
    ]
    metric.append_reports(conn, who, [*training, *validations])
    return who


def test_reports_are_read_back_by_name_step_and_place(conn: Connection, reporter: Reporter) -> None:
    trial_id = reporter.trial_id
    series = metric_series.read(conn, trial_id, "training", ["loss", AWKWARD, "none"], first=2, last=4)
    assert (series.steps, series.columns[AWKWARD], series.columns["none"]) == ([2, 3, 4], [2, 3, 4], [None] * 3)
    places = metric_series.report_places(conn, trial_id, None)
    assert sum(len(metric_series.reports(conn, place)) for place in places) == 12
    assert metric_series.groups(conn, trial_id) == ["training", "validation"]
    assert metric_series.names_of_trial(conn, trial_id, "validation") == ["acc", "loss"]
    assert ("training", AWKWARD) in metric_series.names(conn, [reporter.experiment_id])
    assert metric_series.searcher_metrics(conn, [reporter.experiment_id]) == ["loss"]
    assert metric_series.experiment_states(conn, [reporter.experiment_id]) == {reporter.experiment_id: "ACTIVE"}
    assert metric_series.smaller_is_better(conn, reporter.experiment_id) is True
    assert metric_series.existing_trials(conn, [trial_id, 2**62]) == {trial_id}
    assert metric_series.trial_ended(conn, trial_id)
    found = metric_series.trials_with(conn, reporter.experiment_id, "training", AWKWARD)
    assert [(one.id, one.best_value) for one in found] == [(trial_id, 5.0)]


def test_the_trial_carries_its_latest_and_best_validation(conn: Connection, reporter: Reporter) -> None:
    row = trial.get(conn, reporter.trial_id)
    assert (row.latest_validation_step, row.latest_validation_value, row.best_validation_value) == (9, 9.0, 5.0)
    metric_trial.recompute_validations(conn, reporter)
    assert trial.get(conn, reporter.trial_id) == row
    metric_trial.set_steps(conn, reporter.trial_id, 2**40)
    metric_trial.advance(conn, reporter, [], 3)
    assert trial.get(conn, reporter.trial_id).steps_completed == 2**40
    assert metric_trial.validation_names(conn, reporter.trial_id, 1) == ["acc"]
    with pytest.raises(NotFound):
        metric_trial.reporter(conn, 2**62)


def test_points_and_positions_go_on_where_a_reader_left(conn: Connection, reporter: Reporter) -> None:
    trial_id = reporter.trial_id
    parts = list(metric_points.parts(conn, trial_id, "training", ["loss"], SeriesAxis.BATCH, Window(first=8)))
    assert [list(part.x) for part in parts] == [[8, 9]]
    before = metric_position.current(conn, trial_id, "training")
    metric.append_reports(conn, reporter, [MetricReport(group="training", steps=10, time=1.0, metrics={"loss": 0.0})])
    now = metric_position.current(conn, trial_id, "training")
    assert metric_position.goes_on(conn, trial_id, "training", before, now)
    assert metric_position.parse(str(now)) == now
    assert len(metric_live.watermarks(conn, trial_id).rows) == 2
    assert sum(chunk.chunk.n for chunk in metric_live.live_chunks(conn, trial_id, "training")) == 11


def test_summaries_and_ranges_follow_the_reports(conn: Connection, world: World, reporter: Reporter) -> None:
    loss = metric.summary(conn, [reporter.trial_id, 2**62])[reporter.trial_id]["validation_metrics"]["loss"]
    assert (loss["count"], loss["min"], loss["max"], loss["last"]) == (2, 5.0, 9.0, 9.0)
    assert ("validation", "loss", 5.0, 9.0) in metric_range.of_project(conn, world.home)
    assert ("training", AWKWARD) in metric_range.names_of_project(conn, world.home)
    assert metric_range.of_project(conn, world.project({})) == []


def test_nan_and_infinities_are_kept_out_of_sums(conn: Connection, reporter: Reporter) -> None:
    reports = [
        MetricReport(group="odd", steps=n, time=1.0, metrics={"x": x})
        for n, x in enumerate([float("nan"), float("inf"), 2.0])
    ]
    metric.append_reports(conn, reporter, reports)
    x = metric.summary(conn, [reporter.trial_id])[reporter.trial_id]["odd"]["x"]
    assert (x["count"], x["min"], x["max"], x["last"]) == (1, 2.0, 2.0, 2.0)
    values = metric_series.read(conn, reporter.trial_id, "odd", ["x"]).columns["x"]
    assert str(values) == "[nan, inf, 2.0]"


def test_validations_are_found_at_their_steps(conn: Connection, reporter: Reporter) -> None:
    trial_id = reporter.trial_id
    assert [one.steps for one in validation.of_trial(conn, trial_id)] == [5, 9]
    found = validation.at_places(conn, [(trial_id, 5), (trial_id, 6), *((n, 1) for n in range(2**40, 2**40 + 2000))])
    assert list(found) == [(trial_id, 5)]
    assert validation.searcher_values(conn, [(trial_id, 9)])[trial_id, 9][0] == 9.0
    assert validation.metric_values(conn, [(trial_id, 5)], "acc")[trial_id, 5][0] == float(2**60)
    assert [value for _, _, value in validation.history(conn, [trial_id], "loss")] == [5.0, 9.0]


def test_results_of_ended_trials_are_collected(conn: Connection, reporter: Reporter) -> None:
    experiment_id, trial_id = reporter.experiment_id, reporter.trial_id
    assert hp_analysis.mark(conn, experiment_id, "COMPLETED") == (1, after(60))
    assert hp_analysis.mark(conn, experiment_id, "ERROR") == (0, None)
    result = hp_analysis.results(conn, experiment_id, "COMPLETED", ["loss", "none"])[trial_id]["loss"]
    assert (result.low, result.high, result.last) == (5.0, 9.0, 9.0)
    assert hp_analysis.hparams(conn, [trial_id, *range(2**40, 2**40 + 2000)]) == {trial_id: {"lr": 0.1}}


def test_columns_of_a_project_are_read_from_its_trials(conn: Connection, world: World) -> None:
    first = world.trial(world.experiment({"name": "b"}), {"metadata": {"a": AWKWARD}})
    second = world.trial(world.experiment({"name": "a"}), {})
    assert project_columns.mark(conn, world.home) == (2, second, first + second)
    assert project_columns.mark(conn, world.project({}))[0] == 0
    assert list(project_columns.hparams(conn, world.home)) == [{"lr": 0.1}] * 2
    assert list(project_columns.metadata(conn, world.home)) == [{"a": AWKWARD}]
    assert list(project_columns.distinct(conn, world.home, "name", 10, of_run=False)) == ["a", "b"]


def test_runs_and_experiments_are_filtered_sorted_and_paged(conn: Connection, world: World) -> None:
    ids = [world.experiment({"name": name}) for name in ("50%_a", "50x_a", "b")]
    runs = [world.trial(experiment_id, {}) for experiment_id in ids]
    everything = query_filter.parse(None)
    of_runs = run.run_conditions(everything, world.home)
    of_experiments = run.experiment_conditions(everything, world.home)
    assert (run.count_runs(conn, of_runs), run.count_experiments(conn, of_experiments)) == (3, 3)
    assert run.find_runs(conn, of_runs, None, 2, 1) == [runs[1], runs[0]]
    assert run.find_experiments(conn, of_experiments, None, None, 0) == ids[::-1]
    grouped = list(run_group.values(conn, of_runs, ["state"], []))
    assert [run_id for run_id, _, _ in grouped] == runs[::-1]


def test_lists_of_experiments_and_trials_are_counted_and_paged(conn: Connection, world: World) -> None:
    experiments = [world.experiment({"name": name, "labels": [name]}) for name in ("50%_a", "50x_a", AWKWARD)]
    by_text = ListExperiments(name="50%_")
    assert experiment_list.find(conn, by_text) == [experiments[0], experiments[2]]
    assert experiment_list.count(conn, by_text) == 2
    assert experiment_list.find(conn, ListExperiments(labels=[AWKWARD])) == [experiments[2]]
    newest_first = ListExperiments(order_by=OrderBy.DESC, ids=[*experiments, *range(2**40, 2**40 + 2000)])
    assert experiment_list.find(conn, newest_first, limit=1, offset=1) == [experiments[1]]
    ids = [world.trial(experiments[0], {}) for _ in range(3)]
    assert trial_list.find(conn, NOW, experiments[0], ListTrials(), limit=2, offset=1) == ids[1:]
    assert trial_list.count(conn, experiments[0], ListTrials()) == 3


def test_ranges_of_an_experiment_widen_and_narrow(conn: Connection, world: World, reporter: Reporter) -> None:
    before = {"loss": Summary("number", 1, 5.0, 5.0, 9.0, 9.0, 9)}
    beyond = {"loss": Summary("number", 1, 5.0, -1.0, 9.0, 9.0, 9)}
    metric_range.widen(conn, reporter.experiment_id, "validation", before, beyond)
    assert ("validation", "loss", -1.0, 9.0) in metric_range.of_project(conn, world.home)
    metric_range.narrow(conn, reporter.experiment_id, "validation", beyond, before)
    assert ("validation", "loss", 5.0, 9.0) in metric_range.of_project(conn, world.home)


def test_lines_of_several_origins_and_of_the_master_are_kept_in_order(conn: Connection, world: World) -> None:
    task_id = trial.get(conn, world.trial(world.experiment({}), {})).task_id
    origins = [Origin("a", None, AWKWARD, n, "stdout", "s") for n in (0, 1)]
    line = LogLine(AWKWARD, 1.5, "stdout", "INFO", 0, "s")
    log.append_mixed(conn, task_id, [(origin, line) for origin in origins])
    log.append_master_line(conn, NOW, task_id, "said")
    page = log.read_forward(conn, task_id, 0, LogFilter())
    assert [record.id for record in page.records] == [1, 2, 3]
    assert log.origins(conn, task_id, 0)[0] >= set(origins)


def test_the_logs_of_a_trial_are_those_of_its_tasks(conn: Connection, world: World) -> None:
    trial_id = world.trial(world.experiment({}), {})
    task_id = trial.get(conn, trial_id).task_id
    allocation_id = world.allocation(trial_id, {})
    scope = log_scope.of_trial(conn, trial_id)
    assert (scope.task_ids, scope.ended_at, scope.drained) == ((task_id,), None, False)
    assert log_scope.of_task(conn, task_id).task_ids == (task_id,)
    for missing in (lambda: log_scope.of_trial(conn, 2**62), lambda: log_scope.of_task(conn, "nowhere")):
        with pytest.raises(NotFound):
            missing()
    log.append_lines(conn, task_id, [LogLine(AWKWARD, 1.5, "stdout", "INFO", 0, "s")], allocation_id=allocation_id)
    unmanaged.set_task_end(conn, task_id, NOW)
    assert log_scope.expired(conn, after(86_400 * 8), 7) == [task_id]
    assert log_scope.expired(conn, after(86_400 * 6), 7) == []
    assert log_scope.expired(conn, after(86_400 * 8), -1) == []
