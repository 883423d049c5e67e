"""Scripts written on `determined.common.api`: sessions, logins, bindings and streams against a running master."""

import itertools
from pathlib import Path
from typing import Any

import pytest

from determined.common import api
from determined.common.api import authentication, bindings, certs, errors
from determined.common.streams import (
    LomondStreamWebSocket,
    ModelSpec,
    ModelVersionSpec,
    ProjectSpec,
    Stream,
    Sync,
    wire,
)
from determined.experimental import client
from determined.wire.user import GET_ME


@pytest.fixture
def session(master: Any, client_files: Path) -> api.Session:
    return authentication.login(api.canonicalize_master_url(master.url), "admin", "")


def _project(session: Any, name: str) -> bindings.v1Project:
    body = bindings.v1PostProjectRequest(name=name, workspaceId=1)
    workspace = bindings.post_PostWorkspace(session, body=bindings.v1PostWorkspaceRequest(name=name)).workspace
    body.workspaceId = workspace.id
    return bindings.post_PostProject(session, body=body, workspaceId=workspace.id).project


def test_logging_in_touches_no_file_and_its_session_works_everywhere(session: api.Session, client_files: Path) -> None:
    assert not (client_files / "auth.json").exists()
    assert bindings.get_GetMe(session).user.username == session.username == "admin"
    assert session.get("/api/v1/me").json()["user"]["username"] == "admin"
    assert session.call(GET_ME).user.admin, "it is a session of our own client too"
    sdk = client.Determined._from_session(session)
    assert (sdk.whoami().username, sdk.get_session_username()) == ("admin", "admin")
    assert "by sdk" in {sdk.create_workspace("by sdk").name, *(each.name for each in sdk.list_workspaces())}
    assert client.User(bindings.get_GetMe(session).user.id or 0, session).user_id


def test_a_session_of_the_sdk_serves_the_bindings(sdk: Any) -> None:
    assert bindings.get_GetMe(sdk("admin")._session).user.admin is True


def test_a_wrong_password_and_a_missing_thing_raise_upstreams_errors(session: api.Session) -> None:
    with pytest.raises(errors.UnauthenticatedException):
        authentication.login(session.master, "admin", "wrong")
    with pytest.raises(errors.NotFoundException) as caught:
        bindings.get_GetExperiment(session, experimentId=4711)
    assert caught.value.status_code == 404
    assert caught.value.response_error["error"] == caught.value.message
    with pytest.raises(errors.BadRequestException):
        bindings.post_PostWorkspace(session, body=bindings.v1PostWorkspaceRequest(name=""))


def test_a_session_without_a_user_reads_what_everybody_may(session: api.Session) -> None:
    with api.UnauthSession(session.master, certs.Cert(), max_retries=0) as anonymous:
        assert "version" in anonymous.get("info").json()
        with pytest.raises(errors.UnauthenticatedException):
            bindings.get_GetMe(anonymous)


def test_an_address_must_be_canonical(session: api.Session) -> None:
    with pytest.raises(RuntimeError, match="canonicalize_master_url"):
        api.Session("localhost", "admin", "t", None)
    assert session.with_retry(0)._max_retries == 0
    assert isinstance(session.with_retry(0), api.Session)


def test_requests_by_hand_take_json_params_and_headers(session: api.Session) -> None:
    made = session.post("/api/v1/workspaces", json={"name": "by hand"}).json()["workspace"]
    answer = session.get("api/v1/workspaces", params={"name": "by hand", "limit": 1}, headers={"X-Mine": "1"})
    assert (answer.status_code, answer.ok, [w["id"] for w in answer.json()["workspaces"]]) == (200, True, [made["id"]])
    session.patch(f"/api/v1/workspaces/{made['id']}", json={"name": "renamed"})
    assert api.workspace_by_name(session, "renamed").id == made["id"]
    session.delete(f"/api/v1/workspaces/{made['id']}")
    with pytest.raises(errors.NotFoundException, match="workspace 'renamed' not found"):
        api.workspace_by_name(session, "renamed")


def test_an_empty_body_is_sent(session: api.Session) -> None:
    session.post("/api/v1/templates/plain", json={"name": "plain", "config": {"description": "x"}})
    assert session.patch("/api/v1/templates/plain", json={}).json()["template"]["config"] == {}


def test_a_login_is_kept_and_ended(session: api.Session) -> None:
    kept = authentication.login_with_cache(session.master, "admin", "")
    store = authentication.TokenStore(session.master)
    assert store.get_token("admin") == kept.token
    assert authentication.login_with_cache(session.master, "admin", "whatever").token == kept.token
    store.set_active("admin")
    assert authentication.default_load_user_password(None, None, store) == ("admin", None, False)
    assert authentication.logout(session.master, None, None) == "admin"
    with pytest.raises(errors.UnauthenticatedException):
        bindings.get_GetMe(kept)
    assert authentication.logout(session.master, "admin", None) is None
    assert bindings.get_GetMe(session).user.admin, "another token is still valid"


def test_pages_of_a_list_are_read(session: api.Session) -> None:
    names = [f"w{number}" for number in range(5)]
    for name in names:
        bindings.post_PostWorkspace(session, body=bindings.v1PostWorkspaceRequest(name=name))
    pages = api.read_paginated(lambda at: bindings.get_GetWorkspaces(session, offset=at, limit=2, name="w"))
    assert [w.name for page in pages for w in page.workspaces] == names


def test_changes_of_projects_are_streamed(session: api.Session) -> None:
    first = _project(session, "first")
    with Stream(LomondStreamWebSocket(session)) as stream:
        stream.subscribe("mine", projects=ProjectSpec(workspace_id=first.workspaceId))
        start, row, end = itertools.islice(stream, 3)
        assert (start, end) == (Sync("mine", False), Sync("mine", True))
        assert isinstance(row, wire.ProjectMsg) and row.name == "first"
        bindings.patch_PatchProject(session, id=first.id, body=bindings.v1PatchProject(name="renamed"))
        changed = next(stream)
        assert isinstance(changed, wire.ProjectMsg) and (changed.name, changed.seq > row.seq) == ("renamed", True)
        bindings.delete_DeleteProject(session, id=first.id)
        gone = next(message for message in stream if isinstance(message, wire.DeleteMsg))
        assert gone == wire.ProjectsDeleted(str(first.id))


def test_changes_of_models_are_streamed(session: api.Session) -> None:
    made = bindings.post_PostModel(session, body=bindings.v1PostModelRequest(name="streamed", labels=["a"])).model
    specs: dict[str, Any] = {
        "models": ModelSpec(model_id=made.id),
        "model_versions": ModelVersionSpec(model_id=made.id),
    }
    with Stream(LomondStreamWebSocket(session)) as stream:
        _, row, end = itertools.islice(stream.subscribe(1, **specs), 3)
        assert isinstance(row, wire.ModelMsg) and (row.name, row.labels, end) == ("streamed", ["a"], Sync(1, True))
        body = bindings.v1PatchModel(description="new")
        bindings.patch_PatchModel(session, modelName="streamed", body=body)
        changed = next(stream)
        assert isinstance(changed, wire.ModelMsg) and (changed.description, changed.seq > row.seq) == ("new", True)
        bindings.delete_DeleteModel(session, modelName="streamed")
        assert next(stream) == wire.ModelsDeleted(str(made.id))


def test_another_subscription_replaces_the_first(session: api.Session) -> None:
    one, two = _project(session, "one"), _project(session, "two")
    with Stream(LomondStreamWebSocket(session)) as stream:
        stream.subscribe(1, projects=ProjectSpec(project_id=one.id)).subscribe(
            2, projects=ProjectSpec(project_id=two.id)
        )
        told = list(itertools.takewhile(lambda message: message != Sync(2, True), stream))
    rows = [message.id for message in told if isinstance(message, wire.ProjectMsg)]
    assert rows == [one.id, two.id]
    assert [message for message in told if isinstance(message, Sync)] == [Sync(1, False), Sync(1, True), Sync(2, False)]


def test_a_stream_goes_on_after_a_lost_connection(session: api.Session) -> None:
    project = _project(session, "kept")
    socket = LomondStreamWebSocket(session)
    with Stream(socket) as stream:
        stream.subscribe(projects=ProjectSpec(project_id=project.id))
        list(itertools.islice(stream, 3))
        socket._socket.socket.close()  # type: ignore[union-attr]
        bindings.patch_PatchProject(session, id=project.id, body=bindings.v1PatchProject(name="meanwhile"))
        changed = next(stream)
    assert isinstance(changed, wire.ProjectMsg) and changed.name == "meanwhile"


def test_a_stream_is_refused_without_a_valid_token(session: api.Session) -> None:
    stranger = api.Session(session.master, "admin", "nonsense", None)
    socket = LomondStreamWebSocket(stranger)
    socket.get_backoff = lambda retries: None  # type: ignore[method-assign]
    with pytest.raises(ConnectionError, match="opens no stream"):
        next(Stream(socket).subscribe(projects=ProjectSpec()))
