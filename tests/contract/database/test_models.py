"""Queries of the model registry: models, versions, aliases, and which checkpoints they protect."""

import pytest
from database_world import AWKWARD, NOW, World, after
from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from determined.errors import InvalidArgument
from determined.master.db.queries import change, checkpoint, model, model_alias, model_list, model_version
from determined.master.db.queries.model_alias import AliasDetail
from determined.wire.base import OrderBy
from determined.wire.model import GetModelsRequestSortBy as SortBy
from determined.wire.model import ListModels
from determined.wire.model_alias import ListModelAliasHistory
from determined.wire.model_version import GetModelVersionsRequestSortBy, ListModelVersions


def made(world: World, name: str, **values: object) -> int:
    return world.model({"name": name, **values})  # type: ignore[typeddict-item]


@pytest.fixture
def uuid(world: World) -> str:
    return world.checkpoint(world.trial(world.experiment({}), {}), {})


def test_a_model_is_found_by_id_and_by_exact_name(conn: Connection, world: World) -> None:
    model_id = made(world, AWKWARD, metadata={"a": [None, AWKWARD]}, labels=[AWKWARD], notes=AWKWARD)
    row = model.get(conn, model_id)
    assert row is not None
    assert (row.name, row.metadata, row.labels, row.notes) == (AWKWARD, {"a": [None, AWKWARD]}, [AWKWARD], AWKWARD)
    assert (row.created_at, row.updated_at, row.num_versions, row.archived) == (NOW, NOW, 0, False)
    assert model.by_name(conn, AWKWARD) == row
    assert model.by_name(conn, AWKWARD.upper()) is model.get(conn, model_id + 1000) is None
    with pytest.raises(IntegrityError), conn.begin_nested():
        made(world, AWKWARD)


def test_a_change_writes_the_time(conn: Connection, world: World) -> None:
    model_id, other = made(world, "m"), made(world, "o")
    model.change(conn, after(5), model_id, {"description": AWKWARD, "archived": True})
    row, untouched = model.get(conn, model_id), model.get(conn, other)
    assert row is not None and untouched is not None
    assert (row.description, row.archived, row.updated_at, row.created_at) == (AWKWARD, True, after(5), NOW)
    assert untouched.updated_at == NOW


def test_numbers_of_versions_are_never_given_again(conn: Connection, world: World, uuid: str) -> None:
    model_id = made(world, "m")
    assert [world.model_version(model_id, uuid).version for _ in range(3)] == [1, 2, 3]
    newest = model_version.get(conn, model_id, 3)
    assert newest is not None
    model_version.remove(conn, newest.id)
    model.count_down(conn, after(1), model_id)
    assert (model_version.highest(conn, model_id), model_version.get(conn, model_id, 3)) == (2, None)
    assert world.model_version(model_id, uuid, 2).version == 4
    row = model.get(conn, model_id)
    assert row is not None
    assert (row.num_versions, row.last_version, row.updated_at) == (3, 4, after(2))


def test_a_removed_model_takes_its_versions_and_leaves_checkpoints(conn: Connection, world: World, uuid: str) -> None:
    gone, stays = made(world, "gone"), made(world, "stays")
    for one in (gone, stays):
        world.model_version(one, uuid)
        row = {"model_id": one, "alias": "production", "version": 1, "user_id": world.owner}
        model_alias.put(conn, NOW, row, None)  # type: ignore[arg-type]
    model.remove(conn, gone)
    assert model.get(conn, gone) is None
    assert [version.model_id for version in model_version.of_checkpoint(conn, uuid)] == [stays]
    assert model_alias.of_models(conn, [gone, stays]) == {stays: {"production": 1}}
    assert checkpoint.owner(conn, uuid) is not None


def test_models_keep_a_workspace(conn: Connection, world: World) -> None:
    made(world, "b")
    made(world, "a")
    assert model.names_in_workspace(conn, world.workspace_id, 5) == ["b", "a"]
    assert model.names_in_workspace(conn, world.workspace_id, 1) == ["b"]
    assert model.names_in_workspace(conn, world.workspace({}), 5) == []


def test_lists_of_models_are_filtered(conn: Connection, world: World) -> None:
    other_place, person = world.workspace({"name": AWKWARD}), world.user({"username": "ann"})
    one = made(world, "Net 50%", description="Größe", labels=["a", "b"])
    two = made(world, "net two", labels=["b,c"], user_id=person)
    three = made(world, "other", archived=True, workspace_id=other_place)

    def ids(**conditions: object) -> list[int]:
        params = ListModels(**conditions)  # type: ignore[arg-type]
        found = model_list.find(conn, params)
        assert model_list.count(conn, params) == len(found)
        return found

    assert ids() == [one, two, three]
    assert ids(id=two) == [two]
    assert ids(name="NET") == [one, two]
    assert ids(name="%") == [one]
    assert ids(description="größe") == [one]
    assert ids(archived=True) == [three]
    assert ids(archived=False, name="o") == [two]
    assert ids(labels=["a", "nothing"]) == [one]
    assert ids(labels=["b"]) == [one], "a label with a comma is one label"
    assert ids(labels=["b,c", "a"]) == [one, two]
    assert ids(labels=["a", *(f"l{n}" for n in range(499))]) == [one]
    with pytest.raises(InvalidArgument, match="501 labels are too many"):
        ids(labels=[f"l{n}" for n in range(501)])
    assert ids(users=["ann"]) == ids(user_ids=[person]) == [two]
    assert ids(workspace_ids=[other_place]) == ids(workspace_names=[AWKWARD]) == [three]
    assert ids(workspace_ids=[other_place], workspace_names=["nowhere"]) == [three], "ids come first"
    assert ids(workspace_names=["nowhere"]) == []


def test_lists_of_models_are_sorted_with_ties_by_id_in_the_same_direction(
    conn: Connection, world: World, uuid: str
) -> None:
    place = world.workspace({"name": "A first"})
    b, a, c = (
        made(world, "b", description="x"),
        made(world, "A"),
        made(world, "c", workspace_id=place),
    )
    world.model_version(a, uuid, 9)

    def ids(sort: SortBy, order: OrderBy = OrderBy.ASC) -> list[int]:
        return model_list.find(conn, ListModels(sort_by=sort, order_by=order))

    assert ids(SortBy.UNSPECIFIED) == [b, a, c]
    assert ids(SortBy.UNSPECIFIED, OrderBy.DESC) == [c, a, b]
    assert ids(SortBy.NAME) == [a, b, c]
    assert ids(SortBy.DESCRIPTION) == [a, c, b]
    assert ids(SortBy.DESCRIPTION, OrderBy.DESC) == [b, c, a]
    assert ids(SortBy.CREATION_TIME) == [b, a, c]
    assert ids(SortBy.LAST_UPDATED_TIME, OrderBy.DESC) == [a, c, b]
    assert ids(SortBy.NUM_VERSIONS) == [b, c, a]
    assert ids(SortBy.WORKSPACE) == [c, b, a]
    assert model_list.find(conn, ListModels(sort_by=SortBy.NAME), limit=1, offset=1) == [b]
    assert [row.id for row in model_list.load(conn, [c, b, c + 1000])] == [c, b]


def test_labels_come_by_the_number_of_models_then_by_alphabet(conn: Connection, world: World) -> None:
    other = world.workspace({})
    made(world, "m1", labels=["z", "b"])
    made(world, "m2", labels=["z", "a"])
    made(world, "m3", labels=["q"], workspace_id=other)
    assert model_list.labels_by_popularity(conn, None) == ["z", "a", "b", "q"]
    assert model_list.labels_by_popularity(conn, other) == ["q"]


def test_versions_are_listed_by_number_or_time_and_changed(conn: Connection, world: World, uuid: str) -> None:
    model_id = made(world, "m")
    world.model_version(model_id, uuid, 5)
    world.model_version(model_id, uuid, 1)
    by_time = GetModelVersionsRequestSortBy.CREATION_TIME

    def numbers(params: ListModelVersions, **page: int) -> list[int]:
        return [row.version for row in model_version.find(conn, model_id, params, **page)]  # type: ignore[arg-type]

    assert numbers(ListModelVersions()) == [1, 2]
    assert numbers(ListModelVersions(order_by=OrderBy.DESC), limit=1) == [2]
    assert numbers(ListModelVersions(), limit=5, offset=1) == [2]
    assert numbers(ListModelVersions(sort_by=by_time)) == [2, 1]
    row = model_version.get(conn, model_id, 1)
    assert row is not None
    model_version.change(conn, after(9), row.id, {"name": AWKWARD, "labels": [AWKWARD], "comment": AWKWARD})
    row = model_version.get(conn, model_id, 1)
    assert row is not None
    assert (row.name, row.labels, row.updated_at, row.created_at) == (AWKWARD, [AWKWARD], after(9), after(5))
    assert model_version.highest(conn, model_id + 1000) is None


def test_registered_checkpoints_are_named_and_cannot_be_deleted(conn: Connection, world: World) -> None:
    experiment_id = world.experiment({})
    trial_id = world.trial(experiment_id, {})
    kept, free = world.checkpoint(trial_id, {}), world.checkpoint(trial_id, {})
    world.model_version(made(world, "m"), kept)
    assert model_version.registered(conn, [free, kept, "nowhere"]) == [kept]
    assert model_version.registered_of_experiment(conn, experiment_id) == [kept]
    assert model_version.registered_of_experiment(conn, world.experiment({})) == []
    assert kept in checkpoint.exempt(conn, experiment_id)
    assert free not in checkpoint.exempt(conn, experiment_id)


def test_an_alias_moves_and_its_history_stays(conn: Connection, world: World) -> None:
    model_id, person = made(world, "m"), world.user({"username": "ann"})
    row = {"model_id": model_id, "alias": "production", "version": 1, "user_id": world.owner}
    model_alias.put(conn, NOW, row, None)  # type: ignore[arg-type]
    model_alias.put(conn, after(1), {**row, "version": 2, "user_id": person}, 1)  # type: ignore[typeddict-item]
    model_alias.put(conn, after(2), {**row, "alias": "candidate"}, None)  # type: ignore[typeddict-item]
    now = model_alias.get(conn, model_id, "production")
    assert now == AliasDetail(model_id, "production", 2, person, after(1), "ann")
    assert [one.alias for one in model_alias.list_all(conn, model_id)] == ["candidate", "production"]
    model_alias.remove(conn, after(3), now, person)
    assert model_alias.get(conn, model_id, "production") is None
    history = model_alias.changes(conn, model_id, ListModelAliasHistory(alias="production"))
    assert [(c.version, c.previous_version, c.changed_at) for c in history] == [
        (1, None, NOW),
        (2, 1, after(1)),
        (None, 2, after(3)),
    ]
    assert history[1].username == "ann"
    newest = ListModelAliasHistory(order_by=OrderBy.DESC)
    assert [c.alias for c in model_alias.changes(conn, model_id, newest, limit=2)] == ["production", "candidate"]
    assert model_alias.count_changes(conn, model_id, newest) == 4
    assert model_alias.count_changes(conn, model_id + 1000, newest) == 0


def test_changes_of_models_and_versions_are_numbered_with_their_owners(
    conn: Connection, world: World, uuid: str
) -> None:
    model_id = made(world, "m")
    world.model_version(model_id, uuid)
    [one] = change.of_noun(conn, "models", 0, ids=[], users=[world.owner])
    assert (one.id, one.parent, one.value, one.deleted) == (str(model_id), world.workspace_id, world.owner, False)
    [version] = change.of_noun(conn, "modelversions", 0, ids=[], parents=[model_id])
    assert (version.value, version.seq < one.seq) == (world.owner, False)
    target = world.workspace({})
    model.change(conn, NOW, model_id, {"workspace_id": target})
    [moved] = change.of_noun(conn, "models", one.seq)
    assert moved.parent == target
    [again] = change.of_noun(conn, "modelversions", version.seq)
    assert again.id == version.id, "its message names the workspace"
    model.remove(conn, model_id)
    gone = [*change.of_noun(conn, "models", moved.seq), *change.of_noun(conn, "modelversions", again.seq)]
    assert [(c.id, c.value, c.deleted) for c in gone] == [
        (str(model_id), world.owner, True),
        (version.id, world.owner, True),
    ]
    assert change.of_noun(conn, "models", 0, ids=[], users=[world.owner + 1000]) == []
