"""Imports: what is stored, read back and removed, on both databases."""

from database_world import NOW, World
from sqlalchemy import Connection, insert, select

from determined.master.db import metric_chunk, schema
from determined.master.db.metric_chunk import Row
from determined.master.db.metric_summary import summarize
from determined.master.db.queries import (
    import_check,
    import_removal,
    import_unit,
    imported,
    imported_metrics,
    log,
    metric,
    metric_range,
    trial,
    user,
)
from determined.master.db.queries import model as models
from determined.wire.report import LogLine


def _begin(conn: Connection) -> int:
    return import_unit.start(conn, NOW, "upstream", "cluster-1", "postgresql://db", {"logs": True})


def _unit(conn: Connection, import_id: int, number: int, ids: list[int]) -> None:
    import_unit.add_unit(
        conn,
        {
            "import_id": import_id, "step": "users", "number": number, "rows": len(ids), "checksum": "0",
            "upto": ids[-1:], "ids": ids, "notes": {},
        },
    )  # fmt: skip


def test_an_import_runs_until_it_is_finished_or_removed(conn: Connection) -> None:
    assert import_unit.running(conn) is None
    first = _begin(conn)
    running = import_unit.running(conn)
    assert running is not None
    assert (running.id, running.options, running.started_at) == (first, {"logs": True}, NOW)
    import_unit.finish(conn, NOW, first)
    assert import_unit.running(conn) is None
    second = _begin(conn)
    _unit(conn, second, 0, [1])
    import_unit.remove(conn, second)
    assert [row.id for row in import_unit.list_all(conn)] == [first]
    assert import_unit.units(conn, second) == []


def test_units_come_back_in_order_and_ids_of_all_imports_of_a_source(conn: Connection) -> None:
    first = _begin(conn)
    _unit(conn, first, 0, [1, 2])
    _unit(conn, first, 1, [7])
    import_unit.finish(conn, NOW, first)
    _unit(conn, _begin(conn), 0, [9])
    assert [unit.upto for unit in import_unit.units(conn, first)] == [[2], [7]]
    assert import_unit.stored_ids(conn, "cluster-1", "users") == {1, 2, 7, 9}
    assert import_unit.stored_ids(conn, "cluster-2", "users") == set()


def test_rows_keep_their_ids_and_new_ones_get_larger_ids(conn: Connection, world: World) -> None:
    row = {"id": 5000, "username": "five", "created_at": NOW, "modified_at": NOW}
    imported.insert_rows(conn, "users", [row])
    imported.put_rows(conn, "users", [{**row, "username": "changed"}])
    assert imported.existing_names(conn, "users", "username")["changed"] == 5000
    assert imported.existing_ids(conn, "users", [4999, 5000]) == {5000}
    assert imported.existing_keys(conn, "users", "username", ["five", "changed"]) == {"changed"}
    imported.continue_numbers(conn)
    assert world.user({}) > 5000
    assert imported.count(conn, "users") >= 2


def test_built_in_users_make_room_for_those_of_the_source(conn: Connection, world: World) -> None:
    world.user({"username": "admin"})
    imported.free_names_of_built_in_users(conn)
    names = {row.id: row.username for row in user.list_all(conn)}
    assert {name for id_, name in names.items() if id_ in (1, 2)} <= {"built-in 1", "built-in 2"}


def _metrics(conn: Connection, trial_id: int, steps: range, run_id: int = 1) -> None:
    rows = [Row(step, 1000.0 + step, {"loss": float(step)}) for step in steps]
    imported_metrics.add(
        conn,
        [
            {
                "trial_id": trial_id, "run_id": run_id, "group": "training", "first_step": steps[0],
                "last_step": steps[-1], "n": len(rows), "full": True, "data": metric_chunk.encode(rows),
            }
        ],
        {(trial_id, run_id, "training"): (steps[0], steps[-1])},
        {(trial_id, "training"): summarize(rows)},
    )  # fmt: skip


def test_metrics_of_a_trial_may_come_in_several_units(conn: Connection, world: World) -> None:
    experiment_id = world.experiment({})
    trial_id = world.trial(experiment_id, {})
    imported_metrics.add(conn, [], {}, {})
    _metrics(conn, trial_id, range(1, 11))
    _metrics(conn, trial_id, range(11, 21))
    assert import_check.points(conn, [trial_id]) == {(trial_id, "training"): (20, 1, 20)}
    summary = metric.summary(conn, [trial_id])[trial_id]["avg_metrics"]["loss"]
    assert (summary["count"], summary["min"], summary["max"], summary["last"]) == (20, 1.0, 20.0, 20.0)
    imported.make_ranges(conn, [experiment_id])
    assert metric_range.of_project(conn, world.home) == [("training", "loss", 1.0, 20.0)]
    point = import_check.point(conn, trial_id, "training", 1, 12)
    assert point is not None
    assert point.metrics == {"loss": 12.0}
    assert import_check.point(conn, trial_id, "training", 2, 12) is None


def test_points_that_a_later_run_hides_are_counted(conn: Connection, world: World) -> None:
    trial_id = world.trial(world.experiment({}), {})
    _metrics(conn, trial_id, range(1, 11))
    assert import_check.groups_of_several_runs(conn, [trial_id]) == []
    _metrics(conn, trial_id, range(6, 8), run_id=2)
    assert import_check.groups_of_several_runs(conn, [trial_id]) == [(trial_id, "training")]
    assert import_check.visible_points(conn, trial_id, "training") == 7


def test_checkpoints_are_read_back_with_state_size_and_files(conn: Connection, world: World) -> None:
    trial_id = world.trial(world.experiment({}), {})
    _checkpoint(conn, trial_id, {"a": 3})
    assert import_check.checkpoint_sizes(conn, ["u1", "u2"]) == {"u1": ("COMPLETED", 3, {"a": 3})}


def test_an_import_is_removed_and_what_it_wrote_over_comes_back(conn: Connection, world: World) -> None:
    project_id, workspace_id, owner = world.home, world.workspace_id, world.owner
    before = import_removal.snapshot(conn)
    imported.put_rows(conn, "users", [{"id": owner, "username": "other", "created_at": NOW, "modified_at": NOW}])
    stranger = world.user({})
    import_removal.remove_settings(conn, [stranger])
    other = world.workspace({"user_id": stranger})
    inside = world.project({"workspace_id": other, "user_id": stranger})
    experiment_id = world.experiment({"project_id": inside, "owner_id": stranger})
    import_removal.remove_experiments(conn, [experiment_id])
    import_removal.remove_places(conn, [inside], [other])
    import_removal.restore(conn, before)
    import_removal.remove_users(conn, [stranger])
    assert import_removal.snapshot(conn) == before
    assert imported.existing_ids(conn, "projects", [project_id]) == {project_id}
    assert imported.existing_ids(conn, "workspaces", [workspace_id]) == {workspace_id}


def test_the_registry_of_an_import_is_counted_read_back_and_removed(conn: Connection, world: World) -> None:
    trial_id = world.trial(world.experiment({}), {})
    _checkpoint(conn, trial_id, {})
    imported.insert_rows(conn, "models", [_model(7, "kept", world), _model(8, "gone", world)])
    imported.insert_rows(conn, "model_versions", [_version(70, 7, world), _version(80, 8, world)])
    imported.count_versions(conn, [7, 8])
    assert imported.all_ids(conn, "models") == {7, 8}
    assert imported.version_ids(conn) == {(7, 1): 70, (8, 1): 80}
    assert import_check.versions(conn, [70, 80, 90]) == {70: (7, 1, "u1"), 80: (8, 1, "u1")}
    removed = {"model versions": [70, 80], "models": [8], "templates": [], "webhooks": []}
    import_removal.remove_registry(conn, removed)
    assert imported.all_ids(conn, "models") == {7}
    assert conn.execute(select(schema.models.c.num_versions)).scalar_one() == 0


def test_the_next_version_of_a_model_gets_a_number_above_those_of_an_import(conn: Connection, world: World) -> None:
    trial_id = world.trial(world.experiment({}), {})
    _checkpoint(conn, trial_id, {})
    imported.insert_rows(conn, "models", [_model(7, "a", world), {**_model(8, "b", world), "last_version": 9}])
    imported.insert_rows(conn, "model_versions", [{**_version(70, 7, world), "version": 5}, _version(80, 8, world)])
    imported.count_versions(conn, [7, 8])
    assert models.next_version(conn, NOW, 7) == 6
    assert models.next_version(conn, NOW, 8) == 10, "the newest version was deleted; its number is not given again"


def test_allocations_that_are_over_are_counted(conn: Connection, world: World) -> None:
    trial_id = world.trial(world.experiment({}), {})
    world.allocation(trial_id, {"ended_at": NOW, "drained": True})
    assert import_check.allocations(conn, [trial_id]) == {trial_id: 1}


def test_log_lines_are_counted_by_task(conn: Connection, world: World) -> None:
    experiment_id = world.experiment({})
    first, silent = world.trial(experiment_id, {}), world.trial(experiment_id, {})
    task_id = trial.get(conn, first).task_id
    log.append_lines(conn, task_id, [LogLine(str(n), 1.0) for n in range(250)])
    log.append_lines(conn, task_id, [LogLine("last", 2.0)])
    assert import_check.log_lines(conn, [first, silent]) == {task_id: 251}


def test_runs_of_other_trackers_are_found_by_the_ids_that_they_had(conn: Connection, world: World) -> None:
    first = world.experiment({"external_id": "ab:1"})
    world.experiment({"external_id": "abc:1"})
    trial_id = world.trial(first, {"external_id": "run"})
    second = world.experiment({"external_id": "ab:2"})
    found = imported.tracked(conn, "ab:")
    assert {name: (here.id, here.trials) for name, here in found.items()} == {
        "ab:1": (first, {"run": trial_id}),
        "ab:2": (second, {}),
    }
    project_id = imported.insert_numbered(
        conn,
        "projects",
        {"workspace_id": world.workspace_id, "user_id": world.owner, "name": "new", "notes": [], "created_at": NOW},
    )
    assert imported.existing_ids(conn, "projects", [project_id]) == {project_id}


def test_trials_are_removed_and_the_ranges_of_their_experiment_are_those_of_the_rest(
    conn: Connection, world: World
) -> None:
    experiment_id = world.experiment({})
    kept, gone = world.trial(experiment_id, {}), world.trial(experiment_id, {})
    _metrics(conn, kept, range(1, 4))
    _metrics(conn, gone, range(1, 11))
    assert [row.step for row in import_check.series(conn, kept, "training")] == [1, 2, 3]
    import_removal.remove_trials(conn, [gone])
    assert import_check.series(conn, gone, "training") == []
    assert metric_range.of_project(conn, world.home) == [("training", "loss", 1.0, 3.0)]


def _checkpoint(conn: Connection, trial_id: int, resources: dict[str, int]) -> None:
    values = {
        "uuid": "u1", "task_id": "", "trial_id": trial_id, "state": "COMPLETED", "steps_completed": 1, "metadata": {},
        "resources": resources, "size": sum(resources.values()), "report_time": NOW,
    }  # fmt: skip
    conn.execute(insert(schema.checkpoints).values(values))


def _model(id_: int, name: str, world: World) -> dict[str, object]:
    return {
        "id": id_, "name": name, "description": "", "notes": "", "labels": [], "metadata": {}, "archived": False,
        "workspace_id": world.workspace_id, "user_id": world.owner, "created_at": NOW, "updated_at": NOW,
        "last_version": 1,
    }  # fmt: skip


def _version(id_: int, model_id: int, world: World) -> dict[str, object]:
    return {
        "id": id_, "model_id": model_id, "version": 1, "checkpoint_uuid": "u1", "name": "", "comment": "", "notes": "",
        "labels": [], "metadata": {}, "user_id": world.owner, "created_at": NOW, "updated_at": NOW,
    }  # fmt: skip
