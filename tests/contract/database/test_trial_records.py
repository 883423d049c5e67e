"""Trials in full: what a bundle takes of them, on both databases."""

from database_world import NOW, World, after
from sqlalchemy import Connection

from determined.master.db.queries import log as logs
from determined.master.db.queries import metric, metric_trial, storage_backend, trial_record
from determined.wire.report import LogLine, MetricReport


def test_a_page_of_trials_comes_by_id_with_all_that_hangs_on_them(conn: Connection, world: World) -> None:
    experiment = world.experiment({})
    first, second, third = (world.trial(experiment, {}) for _ in range(3))
    world.trial(world.experiment({}), {})
    assert trial_record.count(conn, experiment) == 3
    assert [row.id for row in trial_record.page(conn, experiment, 2, 0)] == [first, second]
    assert [row.id for row in trial_record.page(conn, experiment, 2, 2)] == [third]


def test_tasks_and_allocations_come_in_order_and_lines_are_counted(conn: Connection, world: World) -> None:
    trial = world.trial(world.experiment({}), {})
    world.task({"id": "later", "trial_id": trial, "start_time": after(60)})
    world.task({"id": "earlier", "trial_id": trial, "start_time": NOW})
    world.task({"id": "other", "start_time": NOW})
    logs.append_lines(conn, "later", [LogLine("one", 1.0), LogLine("two", 2.0)])
    logs.append_lines(conn, "other", [LogLine("not of the trial", 1.0)])
    assert [row.id for row in trial_record.tasks_of(conn, [trial]) if row.id in ("earlier", "later")] == [
        "earlier",
        "later",
    ]
    assert trial_record.log_lines(conn, [trial]) == {"later": 2}
    world.allocation(trial, {"id": "a2", "task_id": "later", "run_id": 2})
    world.allocation(trial, {"id": "a1", "task_id": "earlier", "run_id": 1})
    assert [row.id for row in trial_record.allocations_of(conn, [trial])] == ["a1", "a2"]


def test_series_are_counted_and_those_without_steps_are_told_apart(conn: Connection, world: World) -> None:
    trial = world.trial(world.experiment({}), {"run_id": 3})
    who = metric_trial.reporter(conn, trial)
    reports = [MetricReport("training", step, {"loss": 1.0}, 1.0) for step in (1, 2, 3)]
    metric.append_reports(conn, who, [*reports, MetricReport("gpu", None, {"n": {"util": 1}}, 1.0)])
    series = [(row.run_id, row.group, row.points) for row in trial_record.series_of(conn, [trial])]
    assert series == [(3, "gpu", 1), (3, "training", 3)]
    assert trial_record.indexed(conn, [trial]) == {(trial, 3, "gpu")}


def test_checkpoints_come_with_their_storage_deleted_ones_too(conn: Connection, world: World) -> None:
    trial = world.trial(world.experiment({}), {})
    storage = {"type": "shared_fs", "host_path": "/checkpoints"}
    kept = world.checkpoint(trial, {"steps_completed": 1, "storage_id": storage_backend.ensure(conn, storage)})
    gone = world.checkpoint(trial, {"steps_completed": 2, "state": "DELETED"})
    rows = trial_record.checkpoints_of(conn, [trial])
    assert [(row.uuid, row.state, row.storage) for row in rows] == [
        (kept, "COMPLETED", storage),
        (gone, "DELETED", None),
    ]
