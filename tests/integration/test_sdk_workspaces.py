"""Workspaces, projects and pools in the Python SDK: names, page borders, notes, handles that outlive a name."""

from collections.abc import Callable
from typing import Any

import pytest

from determined.api import paging
from determined.errors import AlreadyExists, Forbidden, InvalidArgument, NotFound
from determined.sdk.determined import Determined
from determined.sdk.project import Project
from determined.sdk.workspace import ResourcePool, Workspace

Sdk = Callable[..., Determined]


@pytest.fixture
def lab(sdk: Sdk) -> Workspace:
    return sdk().create_workspace("lab")


@pytest.fixture
def project(lab: Workspace) -> Project:
    return lab.create_project("p", "first")


def test_every_workspace_and_project_is_listed_once_over_page_borders(
    sdk: Sdk, lab: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = sdk()
    for number in range(4):
        session.create_workspace(f"w{number}")
        lab.create_project(f"p{number}")
    for size in (1, 2, 3, 6):
        monkeypatch.setattr(paging, "PAGE", size)
        names = [each.name for each in session.list_workspaces()]
        assert sorted(map(str, names)) == ["Uncategorized", "lab", "w0", "w1", "w2", "w3"], size
        assert sorted(str(each.name) for each in lab.list_projects()) == ["p0", "p1", "p2", "p3"], size


def test_a_workspace_is_found_by_its_whole_name_in_its_own_case(sdk: Sdk, lab: Workspace) -> None:
    session = sdk()
    session.create_workspace("laboratory")
    assert session.get_workspace("lab").id == lab.id
    for missing in ("Lab", "la", "labo", ""):
        with pytest.raises(NotFound, match=f"workspace '{missing}' does not exist; .*det workspace list"):
            session.get_workspace(missing)


def test_a_project_is_found_by_its_whole_name_in_its_own_case(lab: Workspace, project: Project) -> None:
    lab.create_project("p2")
    assert lab.get_project("p").id == project.id
    for missing in ("P", "p22"):
        with pytest.raises(NotFound, match=f"workspace 'lab' has no project '{missing}'; .*det project list lab"):
            lab.get_project(missing)


def test_a_handle_means_its_workspace_also_after_another_took_its_name(
    sdk: Sdk, user: Any, lab: Workspace, project: Project
) -> None:
    assert user.patch(f"/api/v1/workspaces/{lab.id}", {"name": "old lab"}).status == 200
    usurper = sdk().create_workspace("lab")
    theirs = usurper.create_project("p")
    assert lab.get_project("p").id == project.id
    assert lab.name == "old lab"
    lab.delete_project("p")
    assert [each.id for each in usurper.list_projects()] == [theirs.id]
    assert lab.list_projects() == []


def test_a_name_is_given_once_and_must_be_one(sdk: Sdk, lab: Workspace, project: Project) -> None:
    session = sdk()
    with pytest.raises(AlreadyExists, match="lab"):
        session.create_workspace("lab")
    with pytest.raises(AlreadyExists, match="p"):
        lab.create_project("p")
    for name in ("", "   ", "x" * 300):
        with pytest.raises(InvalidArgument, match="name"):
            session.create_workspace(name)
    assert len(session.list_workspaces()) == 2


def test_a_workspace_is_deleted_by_name(sdk: Sdk, lab: Workspace) -> None:
    session = sdk()
    session.delete_workspace("lab")
    with pytest.raises(NotFound):
        session.delete_workspace("lab")
    with pytest.raises(NotFound, match=str(lab.id)):
        lab.reload()


def test_what_belongs_to_somebody_else_is_not_deleted(sdk: Sdk) -> None:
    theirs = sdk("admin").create_workspace("private")
    theirs.create_project("p")
    session = sdk()
    with pytest.raises(Forbidden):
        session.delete_workspace("private")
    with pytest.raises(Forbidden):
        session.get_workspace("private").delete_project("p")
    assert [each.name for each in theirs.list_projects()] == ["p"]


def test_a_project_shows_each_change_at_once(lab: Workspace, project: Project) -> None:
    assert (project.name, project.description, project.archived) == ("p", "first", False)
    assert (project.workspace_id, project.username, project.n_experiments) == (lab.id, "determined", 0)
    project.set_name("q")
    project.set_description("second")
    project.set_key("QQ")
    assert (project.name, project.description, project.key) == ("q", "second", "QQ")
    project.archive()
    assert project.archived is True
    project.reload()
    assert project.archived is True
    project.unarchive()
    project.reload()
    assert (project.archived, project.n_active_experiments) == (False, 0)


def test_a_refused_change_of_a_project_leaves_the_handle_as_it_was(lab: Workspace, project: Project) -> None:
    lab.create_project("taken").set_key("TAKEN")
    with pytest.raises(AlreadyExists):
        project.set_name("taken")
    with pytest.raises((AlreadyExists, InvalidArgument)):
        project.set_key("TAKEN")
    with pytest.raises(InvalidArgument):
        project.set_key("too long a key")
    assert (project.name, project.key) == (lab.get_project("p").name, lab.get_project("p").key)


def test_notes_of_two_handles_are_all_kept_and_removed_by_name(lab: Workspace, project: Project) -> None:
    stale = lab.get_project("p")
    project.add_note("a", "one")
    stale.add_note("b", "two")
    stale.add_note("b", "two again")
    assert stale.notes == [
        {"name": "a", "contents": "one"},
        {"name": "b", "contents": "two"},
        {"name": "b", "contents": "two again"},
    ]
    with pytest.raises(ValueError, match=f"2 notes of project {project.id} are named 'b'; exactly one"):
        project.remove_note("b")
    with pytest.raises(ValueError, match="0 notes"):
        project.remove_note("c")
    project.remove_note("a")
    assert [note["name"] for note in lab.get_project("p").notes or []] == ["b", "b"]


@pytest.fixture
def two_pools(start_master: Callable[..., Any], sqlite_url: str, client_files: object) -> Determined:
    pools = [{"pool_name": "default"}, {"pool_name": "gpu"}]
    return Determined(start_master(sqlite_url, resource_pools=pools).url, "admin", "")


def test_a_pool_is_bound_to_workspaces_by_their_names(two_pools: Determined) -> None:
    pool = ResourcePool(two_pools._session, "gpu")
    first, second = two_pools.create_workspace("first"), two_pools.create_workspace("second")
    assert pool.list_workspaces() == []
    pool.add_bindings(["first"])
    assert pool.list_workspaces() == ["first"]
    assert sorted(each.name for each in first.list_pools()) == ["default", "gpu"]
    assert [each.name for each in second.list_pools()] == ["default"]
    pool.add_bindings(["second"])
    assert sorted(pool.list_workspaces()) == ["first", "second"]
    pool.remove_bindings(["first"])
    assert pool.list_workspaces() == ["second"]
    pool.replace_bindings(["first"])
    assert pool.list_workspaces() == ["first"]
    pool.replace_bindings([])
    assert pool.list_workspaces() == []


def test_a_binding_needs_workspaces_and_a_pool_that_exist(two_pools: Determined) -> None:
    with pytest.raises(NotFound, match="workspace 'none' does not exist"):
        ResourcePool(two_pools._session, "gpu").add_bindings(["Uncategorized", "none"])
    assert ResourcePool(two_pools._session, "gpu").list_workspaces() == []
    two_pools.create_workspace("first")
    with pytest.raises(NotFound, match="no-such-pool"):
        ResourcePool(two_pools._session, "no-such-pool").add_bindings(["first"])
