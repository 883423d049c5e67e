"""Queries of workspaces, projects, views, templates, nodes, pool bindings, cluster settings, and finding by text."""

from typing import Any

import pytest
from database_world import AWKWARD, NOW, World, after
from sqlalchemy import Connection, select
from sqlalchemy.exc import IntegrityError

from determined._json import JsonObject
from determined.master.db.queries import (
    cluster,
    job,
    lookup,
    node,
    place_deletion,
    project,
    submission,
    template,
    text_match,
    view,
    workspace,
)
from determined.master.db.queries.place_deletion import Place
from determined.master.db.rows.cluster import NodeOverride
from determined.master.db.rows.workspaces import TemplateValues
from determined.master.db.schema import workspaces
from determined.wire.base import OrderBy
from determined.wire.template import ListTemplates


def test_a_workspace_shows_its_owner_its_pin_and_what_is_in_it(conn: Connection, world: World) -> None:
    workspace_id = world.workspace({"name": AWKWARD, "checkpoint_storage": {"type": "s3", "bucket": None}})
    world.project({"workspace_id": workspace_id})
    world.experiment({"project_id": world.project({"workspace_id": workspace_id})})
    viewer = world.user({})
    workspace.pin(conn, NOW, workspace_id, viewer)
    workspace.pin(conn, after(1), workspace_id, viewer)
    row = workspace.get(conn, workspace_id, viewer)
    assert row is not None
    assert (row.name, row.user_id, row.num_projects, row.num_experiments) == (AWKWARD, world.owner, 2, 1)
    assert (row.pinned_at, row.checkpoint_storage, row.state) == (
        after(1),
        {"type": "s3", "bucket": None},
        "UNSPECIFIED",
    )
    workspace.unpin(conn, workspace_id, viewer)
    row = workspace.get(conn, workspace_id, viewer)
    assert row is not None
    assert row.pinned_at is None
    assert workspace.get(conn, workspace_id + 1000, viewer) is None


def test_workspaces_are_listed_by_id_and_found_by_exact_name(conn: Connection, world: World) -> None:
    first, second = world.workspace({"name": AWKWARD}), world.workspace({"name": "b"})
    assert [row.id for row in workspace.list_all(conn, world.owner)] == [first, second]
    assert workspace.by_name(conn, AWKWARD) == first
    assert workspace.by_name(conn, AWKWARD.upper()) is None
    with pytest.raises(IntegrityError), conn.begin_nested():
        world.workspace({"name": "b"})


def test_archiving_a_workspace_touches_its_projects(conn: Connection, world: World) -> None:
    project_id = world.project({})
    workspace.change(conn, world.workspace_id, {"archived": True, "default_compute_pool": "gpu"})
    workspace.change(conn, world.workspace_id, {})
    row = project.get(conn, project_id)
    assert row is not None
    assert (row.workspace_archived, row.archived) == (True, False)


def test_a_removed_workspace_takes_its_projects_and_leaves_its_jobs(conn: Connection, world: World) -> None:
    conn.execute(
        workspaces.insert().values(id=workspace.DEFAULT_ID, name="Uncategorized", user_id=world.owner, created_at=NOW)
    )
    gone = 2**40  # beyond 32 bits
    conn.execute(workspaces.insert().values(id=gone, name="gone", user_id=world.owner, created_at=NOW))
    project_id = world.project({"workspace_id": gone})
    job_id = world.job({"workspace_id": gone})
    workspace.remove(conn, gone)
    assert project.get(conn, project_id) is None
    assert job.get(conn, job_id).workspace_id == workspace.DEFAULT_ID


def test_a_project_counts_what_is_in_it(conn: Connection, world: World) -> None:
    experiment_id = world.experiment({"start_time": after(5)})
    world.experiment({"state": "COMPLETED"})
    world.trial(experiment_id, {})
    row = project.get(conn, world.home)
    assert row is not None
    assert (row.num_experiments, row.num_active, row.num_runs, row.last_started_at) == (2, 1, 1, after(5))
    assert (row.workspace_id, row.workspace_owner_id, row.notes) == (world.workspace_id, world.owner, [])
    empty = project.get(conn, world.project({}))
    assert empty is not None
    assert (empty.num_experiments, empty.last_started_at) == (0, None)


def test_a_project_is_found_by_key_and_name_and_changed(conn: Connection, world: World) -> None:
    project_id = world.project({"name": AWKWARD, "key": "ABC", "notes": [{"name": "n", "contents": AWKWARD}]})
    other = world.project({})
    assert project.by_name(conn, world.workspace_id, AWKWARD) == project_id
    assert project.by_name(conn, world.workspace_id + 1000, AWKWARD) is None
    found = project.by_key(conn, "abc")
    assert found is not None
    assert (found.id, found.notes) == (project_id, [{"name": "n", "contents": AWKWARD}])
    assert project.keys(conn) == {"ABC"}
    project.change(conn, other, {"key": "XYZ", "description": AWKWARD})
    project.change(conn, other, {})
    assert project.keys(conn) == {"ABC", "XYZ"}
    assert [row.id for row in project.list_all(conn)] == [project_id, other]
    assert project.list_all(conn, world.workspace({})) == []
    with pytest.raises(IntegrityError), conn.begin_nested():
        project.change(conn, other, {"key": "ABC"})


def test_a_moved_project_takes_the_jobs_of_its_experiments(conn: Connection, world: World) -> None:
    job_id = world.job({})
    world.experiment({"job_id": job_id})
    target = world.workspace({})
    project.move(conn, world.home, target)
    row = project.get(conn, world.home)
    assert row is not None
    assert (row.workspace_id, job.get(conn, job_id).workspace_id) == (target, target)
    empty = world.project({})
    project.remove(conn, empty)
    assert project.get(conn, empty) is None


def test_projects_viewed_last_come_first(conn: Connection, world: World) -> None:
    first, second, third = (world.project({}) for _ in range(3))
    project.viewed(conn, NOW, first, world.owner)
    project.viewed(conn, after(1), second, world.owner)
    project.viewed(conn, after(2), first, world.owner)
    project.viewed(conn, after(3), third, world.user({}))
    assert [row.id for row in project.recently_viewed(conn, world.owner, None)] == [first, second]
    assert [row.id for row in project.recently_viewed(conn, world.owner, 1)] == [first]


def test_saved_views_are_listed_by_name_changed_and_removed(conn: Connection, world: World) -> None:
    def save(name: str) -> int:
        made = {"project_id": world.home, "user_id": world.owner, "name": name, "state": AWKWARD}
        return view.create(conn, NOW, made)  # type: ignore[arg-type]

    second, first = save("b"), save("a")
    assert [row.id for row in view.list_all(conn, world.home)] == [first, second]
    assert view.by_name(conn, world.home, "b") == second
    assert view.by_name(conn, world.home, "c") is None
    view.change(conn, second, {"state": "x=1"})
    view.change(conn, second, {})
    row = view.get(conn, world.home, second)
    assert row is not None
    assert (row.state, row.created_at, row.name) == ("x=1", NOW, "b")
    view.remove(conn, first)
    assert view.get(conn, world.home, first) is None
    assert view.get(conn, world.home + 1000, second) is None


def test_the_last_word_on_a_node_or_slot_counts(conn: Connection) -> None:
    node.put_override(conn, "n", node.WHOLE_NODE, enabled=True, draining=True)
    node.put_override(conn, "n", node.WHOLE_NODE, enabled=False, draining=False)
    node.put_override(conn, "n", 0, enabled=False, draining=False)
    assert NodeOverride("n", node.WHOLE_NODE, False, False) in node.overrides(conn)
    node.drop_override(conn, "n", 0)
    assert len(node.overrides(conn)) == 1
    node.drop_overrides(conn, "n")
    assert node.overrides(conn) == []


def test_nodes_added_by_hand_come_in_the_order_of_their_times(conn: Connection) -> None:
    node.add(conn, after(1), "late", "default", 2)
    node.add(conn, NOW, "early", "default", 0)
    node.add(conn, after(2), "late", "gpu", 4)
    assert [(row.node_id, row.pool, row.slots) for row in node.added(conn)] == [
        ("early", "default", 0),
        ("late", "gpu", 4),
    ]
    node.remove(conn, "early")
    assert [row.node_id for row in node.added(conn)] == ["late"]


def test_pools_are_bound_to_workspaces_and_unbound(conn: Connection, world: World) -> None:
    a, b = sorted([world.workspace({"name": "a"}), world.workspace({"name": "b"})])
    node.bind(conn, "gpu", [b, a])
    node.bind(conn, "gpu", [a])
    node.bind(conn, "cpu", [a])
    node.bind(conn, "none", [])
    assert list(node.bound_workspaces(conn, "gpu")) == [a, b]
    assert node.bound_pools(conn) == {"gpu": {a, b}, "cpu": {a}}
    node.unbind(conn, "gpu", [b])
    node.unbind(conn, "cpu", None)
    assert node.bound_pools(conn) == {"gpu": {a}}
    assert node.workspace_ids_by_name(conn, ["a", "nobody"]) == {"a": a}
    assert node.existing_workspaces(conn, [a, b, b + 1000]) == {a, b}
    assert (node.workspace_name(conn, a), node.workspace_name(conn, b + 1000)) == ("a", None)


def test_a_place_that_is_deleted_is_archived_with_what_is_in_it(conn: Connection, world: World) -> None:
    first, second = world.experiment({}), world.experiment({"state": "DELETING"})
    place = Place(workspace_id=world.workspace_id)
    assert [row.id for row in place_deletion.experiments_in(conn, place)] == [first, second]
    assert [row.id for row in place_deletion.experiments_in(conn, place, 1)] == [first]
    assert list(place_deletion.untouched(conn, place, 10)) == [first]
    place_deletion.mark(conn, place, place_deletion.DELETING)
    assert place_deletion.waiting(conn) == [place], "its projects go with it"
    place_deletion.mark(conn, place, place_deletion.DELETE_FAILED, AWKWARD)
    alone = Place(project_id=world.home)
    place_deletion.mark(conn, alone, place_deletion.DELETING)
    assert place_deletion.waiting(conn) == [alone]
    row = workspace.get(conn, world.workspace_id, world.owner)
    assert row is not None
    assert (row.archived, row.error_message) == (True, AWKWARD)


def test_a_submission_finds_its_project_by_id_and_by_names(conn: Connection, world: World) -> None:
    workspace_id = world.workspace({"name": AWKWARD, "default_compute_pool": "gpu"})
    project_id = world.project({"workspace_id": workspace_id, "name": AWKWARD})
    row = submission.project_by_id(conn, project_id)
    assert row is not None
    assert (row.workspace_name, row.default_compute_pool, row.archived) == (AWKWARD, "gpu", False)
    assert submission.project_by_name(conn, AWKWARD, AWKWARD) == row
    assert submission.project_by_name(conn, AWKWARD, "%") is None
    assert submission.project_by_id(conn, project_id + 1000) is None


@pytest.mark.parametrize(
    ("text", "matches"),
    [("50%", True), ("%_off", True), ("50x", False), ("_", True), ("größe", True), ("GRÖSSE", False), ("\\", True),
     ("学習", True), ("'D", True), ("🚀", True), ('"größe"', True), ("5%e", False), ("", True)],
)  # fmt: skip
def test_text_matches_what_is_written_and_no_pattern(conn: Connection, world: World, text: str, matches: bool) -> None:
    world.workspace({"name": AWKWARD})
    name = workspaces.c.name
    count = len(conn.execute(select(name).where(text_match.contains(name, text))).all())
    assert (count == 1) is matches


def test_a_text_matches_at_the_start_or_whole(conn: Connection, world: World) -> None:
    world.workspace({"name": AWKWARD})
    name = workspaces.c.name

    def matches(condition: object) -> bool:
        return bool(conn.execute(select(name).where(condition)).all())  # type: ignore[arg-type]

    assert matches(text_match.starts(name, "50%_OFF"))
    assert not matches(text_match.starts(name, "%_off"))
    assert matches(text_match.equals(name, AWKWARD.lower()))
    assert not matches(text_match.equals(name, "50%"))


def test_things_are_found_by_id_and_the_closest_name_first(conn: Connection, world: World) -> None:
    person = world.user({"username": "lookup", "display_name": "Größe"})
    exact = world.workspace({"name": "net"})
    begins = world.workspace({"name": "network"})
    inside = world.workspace({"name": "a net"})
    project_id = world.project({"workspace_id": exact, "name": "50%", "key": "NET"})
    experiment_id = world.experiment({"project_id": project_id, "name": "net_%"})
    trial_id = world.trial(experiment_id, {})
    assert [row.id for row in lookup.find_workspaces(conn, "NET", None, 10)] == [exact, begins, inside]
    assert [row.id for row in lookup.find_workspaces(conn, "net", inside, 1)] == [inside]
    assert [row.id for row in lookup.find_projects(conn, "net", None, 10)] == [project_id]
    assert [row.workspace for row in lookup.find_projects(conn, "%", None, 10)] == ["net"]
    assert [row.project for row in lookup.find_experiments(conn, "_%", None, 10)] == ["50%"]
    assert lookup.find_experiments(conn, "x%", None, 10) == []
    assert [row.id for row in lookup.find_users(conn, "GRÖ", None, 10)] == [person]
    found = lookup.find_trial(conn, trial_id)
    assert found is not None
    assert (found.experiment_id, found.experiment) == (experiment_id, "net_%")
    assert lookup.find_trial(conn, trial_id + 1000) is None


def test_a_cluster_setting_is_put_replaced_and_removed(conn: Connection) -> None:
    assert cluster.get(conn, "k") is None
    cluster.put(conn, "k", 1)
    cluster.put(conn, "k", {"a": [None, AWKWARD]})
    assert cluster.get(conn, "k") == {"a": [None, AWKWARD]}
    cluster.remove(conn, "k")
    assert cluster.get(conn, "k") is None


def test_templates_are_found_by_exact_name_and_keep_what_was_stored(conn: Connection, world: World) -> None:
    config: JsonObject = {"data": {AWKWARD: [None, 1.5, AWKWARD]}, "empty": {}}
    _template(conn, world, AWKWARD, config=config)
    row = template.get(conn, AWKWARD)
    assert row is not None
    assert (row.name, row.config, row.workspace_id, row.updated_at) == (AWKWARD, config, world.workspace_id, NOW)
    assert row.username and template.config_of(conn, AWKWARD) == config
    assert template.get(conn, AWKWARD.upper()) is None and template.config_of(conn, "none") is None
    with pytest.raises(IntegrityError), conn.begin_nested():
        _template(conn, world, AWKWARD)


def test_templates_are_listed_by_name_and_part_of_it_and_workspace(conn: Connection, world: World) -> None:
    other = world.workspace({})
    for name in ("b", "a", "ab%"):
        _template(conn, world, name)
    _template(conn, world, "c", workspace_id=other)

    def found(**params: Any) -> list[str]:
        asked = ListTemplates(**params)
        names = [row.name for row in template.find_page(conn, asked, limit=9, offset=0)]
        assert template.count(conn, asked) == len(names)
        return names

    assert found() == ["a", "ab%", "b", "c"] == template.list_names(conn)
    assert found(order_by=OrderBy.DESC) == ["c", "b", "ab%", "a"]
    assert found(name="A") == ["a", "ab%"] and found(name="%") == ["ab%"]
    assert found(workspace_ids=[other]) == ["c"]
    assert [row.name for row in template.find_page(conn, ListTemplates(), limit=2, offset=1)] == ["ab%", "b"]


def test_templates_are_changed_removed_and_go_with_their_workspace(conn: Connection, world: World) -> None:
    other = world.workspace({})
    for name in ("a", "b"):
        _template(conn, world, name)
    template.change(conn, "a", {"name": "c", "config": {}, "workspace_id": other, "updated_at": after(1)})
    changed = template.get(conn, "c")
    assert changed is not None
    assert (changed.config, changed.workspace_id, changed.updated_at) == ({}, other, after(1))
    assert (template.remove(conn, "b"), template.remove(conn, "b")) == (True, False)
    workspace.remove(conn, other)
    assert template.list_names(conn) == []


def _template(conn: Connection, world: World, name: str, **values: Any) -> None:
    given: TemplateValues = {
        "name": name,
        "workspace_id": values.get("workspace_id", world.workspace_id),
        "config": values.get("config", {"a": 1}),
        "user_id": world.owner,
        "updated_at": NOW,
    }
    template.create(conn, given)
