"""`/stream`: what is told to whom, from when on, and what a client that comes back hears."""

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from listening import Listener
from sqlalchemy import text
from tracked import Tracked, one, write
from websockets.exceptions import ConnectionClosed, InvalidStatus

from determined.errors import Unavailable
from determined.master.routes import stream as routes
from determined.master.services import stream, stream_sync
from determined.wire.report import MetricReport, Phase

NOW = {"since": -1}

Listen = Callable[..., Listener]


@pytest.fixture
def listen(master: Any, admin: Any) -> Iterator[Listen]:
    """`listen()`: a connection of the administrator."""
    opened: list[Listener] = []

    def start(headers: dict[str, str] | None = None, **options: Any) -> Listener:
        opened.append(Listener(master.url, admin.headers if headers is None else headers, **options))
        return opened[-1]

    yield start
    for listener in opened:
        listener.close()


def metric(step: int, group: str = "training", **values: Any) -> MetricReport:
    return MetricReport(group, step, values, 1e6 + step)


def test_a_reported_point_is_told(listen: Listen, trial: Tracked) -> None:
    listener = listen()
    listener.subscribe(metrics={**NOW, "trial_ids": [trial.trial_id]})
    trial.send(metric(3, loss=1.0))
    tick = listener.until(lambda m: "metrics" in m)["metrics"]
    assert (tick["trial_id"], tick["group"], tick["last_batch"]) == (trial.trial_id, "training", 3)


def test_a_change_of_an_experiment_is_told_with_its_shown_state(listen: Listen, trial: Tracked, admin: Any) -> None:
    listener = listen()
    listener.subscribe(experiments={**NOW, "experiment_ids": [trial.experiment_id]}, jobs=NOW)
    path = f"/api/v1/experiments/{trial.experiment_id}"
    assert admin.post(f"{path}/kill").status == 200
    row = listener.until(lambda m: "STOPPING" in m.get("experiment", {}).get("state", ""))["experiment"]
    assert (row["id"], row["state"]) == (trial.experiment_id, admin.get(path).json["experiment"]["state"])
    assert row["project_id"] == 1
    listener.until(lambda m: "job" in m)


def test_states_of_allocations_show_on_trials_tasks_and_experiments(
    listen: Listen, submit_trial: Callable[..., Tracked]
) -> None:
    listener = listen()
    listener.subscribe(trials=NOW, tasks=NOW, experiments=NOW)
    trial = submit_trial()
    trial.send(Phase("PULLING", 1.0), Phase("STARTING", 1.0), Phase("RUNNING", 1.0), source="logs")
    for key, found in (("trial", trial.trial_id), ("experiment", trial.experiment_id), ("task", trial.task_id)):
        listener.until(lambda m, k=key, i=found: m.get(k, {}).get("id") == i and m[k]["state"] == "STATE_RUNNING")


def test_only_what_was_asked_for_is_told(listen: Listen, submit_trial: Callable[..., Tracked]) -> None:
    mine, other = submit_trial(), submit_trial()
    listener = listen()
    listener.subscribe(trials={**NOW, "experiment_ids": [mine.experiment_id]}, metrics={**NOW, "trial_ids": []})
    other.send(metric(1, loss=1.0))
    mine.send(metric(1, loss=1.0))
    listener.until(lambda m: m.get("trial", {}).get("total_batches_processed") == 1)
    assert {row["id"] for row in listener.rows("trial")} == {mine.trial_id}
    assert listener.rows("metrics") == []


def test_who_comes_back_hears_of_what_it_missed_and_of_nothing_else(
    listen: Listen, submit_trial: Callable[..., Tracked]
) -> None:
    first, second = submit_trial(), submit_trial()
    listener = listen()
    done = listener.subscribe(metrics=NOW, trials=NOW)[-1]
    listener.close()
    second.send(metric(7, loss=1.0))
    again = listen().subscribe(epoch=done["epoch"], metrics={"since": done["seq"]}, trials={"since": done["seq"]})
    assert [m["metrics"]["last_batch"] for m in again if "metrics" in m] == [7]
    assert [m["trial"]["id"] for m in again if "trial" in m] == [second.trial_id]
    assert again[-1]["seq"] > done["seq"]
    nothing = listen().subscribe(epoch=done["epoch"], metrics={"since": again[-1]["seq"]})
    assert [m for m in nothing if "metrics" in m] == []
    assert first.trial_id not in {m["trial"]["id"] for m in again if "trial" in m}


def test_deletions_are_told_live_and_to_who_comes_back(listen: Listen, admin: Any) -> None:
    ids = [_project(admin, f"p{i}") for i in range(3)]
    listener = listen()
    done = listener.subscribe(projects=NOW)[-1]
    assert admin.delete(f"/api/v1/projects/{ids[0]}").status == 200
    assert listener.until(lambda m: "projects_deleted" in m)["projects_deleted"] == str(ids[0])
    for project in ids[1:]:
        assert admin.delete(f"/api/v1/projects/{project}").status == 200
    missed = listen().subscribe(epoch=done["epoch"], projects={"since": done["seq"]})
    assert f"{ids[0]}-{ids[2]}" in [m.get("projects_deleted") for m in missed]


def test_upstreams_client_hears_what_it_lacks_and_what_it_must_drop(listen: Listen, admin: Any) -> None:
    kept, changed, gone = [_project(admin, name) for name in ("kept", "changed", "gone")]
    first = listen().subscribe(projects={"project_ids": [kept, changed, gone]})
    rows = {m["project"]["id"]: m["project"] for m in first if "project" in m}
    assert rows.keys() == {kept, changed, gone}
    wanted = "id name description archived created_at notes workspace_id user_id immutable state key seq"
    assert set(rows[kept]) == set(wanted.split())
    seen = max(row["seq"] for row in rows.values())
    admin.delete(f"/api/v1/projects/{gone}")
    assert admin.patch(f"/api/v1/projects/{changed}", {"description": "new"}).status == 200
    ids = f"{kept}-{gone}"
    again = listen().subscribe(known={"projects": ids}, projects={"since": seen, "project_ids": [kept, changed, gone]})
    assert [m["project"]["description"] for m in again if "project" in m] == ["new"]
    assert [m["projects_deleted"] for m in again if "projects_deleted" in m] == [str(gone)]


def test_what_moves_to_an_owner_that_was_not_asked_for_is_told_as_deleted(listen: Listen, admin: Any) -> None:
    workspace = admin.post("/api/v1/workspaces", {"name": "elsewhere"}).json["workspace"]["id"]
    project = _project(admin, "wanderer")
    listener = listen()
    origin = admin.get(f"/api/v1/projects/{project}").json["project"]["workspaceId"]
    listener.subscribe(projects={"workspace_ids": [origin]})
    answer = admin.post(f"/api/v1/projects/{project}/move", {"destinationWorkspaceId": workspace, "projectId": project})
    assert answer.status == 200, answer.raw
    assert listener.until(lambda m: "projects_deleted" in m)["projects_deleted"] == str(project)


def test_projects_are_told_when_their_workspace_is_archived(listen: Listen, admin: Any) -> None:
    workspace = admin.post("/api/v1/workspaces", {"name": "lab"}).json["workspace"]["id"]
    answer = admin.post(f"/api/v1/workspaces/{workspace}/projects", {"name": "p", "workspaceId": workspace})
    listener = listen()
    listener.subscribe(projects=NOW)
    for verb, archived in (("archive", True), ("unarchive", False)):
        assert admin.post(f"/api/v1/workspaces/{workspace}/{verb}").status == 200
        row = listener.until(lambda m, wanted=archived: m.get("project", {}).get("archived") is wanted)["project"]
        assert row["id"] == answer.json["project"]["id"]


def test_a_client_that_was_away_too_long_is_told_to_start_again(listen: Listen, master: Any, admin: Any) -> None:
    done = listen().subscribe(projects=NOW)[-1]
    for i in range(3):
        admin.delete(f"/api/v1/projects/{_project(admin, f'p{i}')}")
    assert asyncio.run(stream_sync.sweep_tombstones(master.ctx, keep=1)) == 2
    assert {"reset": ["projects"]} in listen().subscribe(epoch=done["epoch"], projects={"since": done["seq"]})
    newest = listen().subscribe(projects=NOW)[-1]["seq"]
    assert {"reset": ["projects"]} in listen().subscribe(projects={"since": newest + 100})
    assert {"reset": ["projects"]} in listen().subscribe(epoch="another cluster", projects={"since": newest})
    assert len(listen().subscribe(epoch=done["epoch"], projects={"since": newest})) == 1


def test_nodes_are_told_to_every_new_client_and_when_they_change(listen: Listen, trial: Tracked, admin: Any) -> None:
    listener = listen()
    (agent,) = [m["agent"] for m in listener.subscribe(agents={"since": 99}, known={"agents": "gone"}) if "agent" in m]
    assert (agent["id"], agent["slots"], agent["used"], agent["enabled"]) == ("node0", 64, 1, True)
    assert {"agents_deleted": "gone"} in listener.heard
    assert admin.post("/api/v1/agents/node0/disable", {"drain": True}).status == 200
    assert listener.until(lambda m: m.get("agent", {}).get("draining"))["agent"]["seq"] > agent["seq"]


def test_a_new_subscription_replaces_the_one_before(listen: Listen, trial: Tracked, admin: Any) -> None:
    listener = listen()
    listener.subscribe(metrics=NOW)
    listener.subscribe(projects=NOW)
    trial.send(metric(1, loss=1.0))
    project = _project(admin, "told after whatever came before it")
    listener.until(lambda m: m.get("project", {}).get("id") == project)
    assert listener.rows("metrics") == []


def test_plain_clients_get_one_message_a_frame_and_nothing_they_cannot_read(
    listen: Listen, admin: Any, master: Any
) -> None:
    from websockets.sync.client import connect

    address = master.url.replace("http", "ws", 1) + "/stream"
    with connect(address, additional_headers=admin.headers) as socket:
        socket.send('{"sync_id": "1", "known": {}, "subscribe": {"projects": {}, "models": {}, "modelversions": {}}}')
        assert socket.recv(timeout=60) == '{"sync_id":"1","complete":false}'
        assert str(socket.recv(timeout=60)).startswith('{"project":{"id":1,')
        assert socket.recv(timeout=60) == '{"sync_id":"1","complete":true}'


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ("{", "truncated"),
        ('{"sync_id": "1", "subscribe": {"cats": {}}}', "subscribe.cats: there is no such noun"),
        ('{"sync_id": "1", "subscribe": {"trials": {}}, "known": {"trials": "x"}}', "known.trials"),
    ],
)
def test_a_subscription_that_makes_no_sense_is_refused_with_its_reason(
    listen: Listen, message: str, reason: str
) -> None:
    listener = listen()
    listener.socket.send(message)
    with pytest.raises(ConnectionClosed) as closed:
        listener.socket.recv(timeout=60)
    assert closed.value.rcvd is not None
    assert (closed.value.rcvd.code, reason in closed.value.rcvd.reason) == (1008, True)


def test_strangers_and_other_sites_are_refused(listen: Listen, admin: Any) -> None:
    token = admin.headers["Authorization"].removeprefix("Bearer ")
    cookie = {"Cookie": f"auth={token}"}
    for headers in (
        {},
        {"Authorization": "Bearer nonsense"},
        {**cookie, "Origin": "https://evil.example"},
        {**cookie, "Sec-Fetch-Site": "cross-site"},
    ):
        with pytest.raises((InvalidStatus, ConnectionClosed)):
            listen(headers).subscribe(projects=NOW)
    handshake = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
    rebound = admin.get("/stream", headers={**handshake, "Sec-WebSocket-Key": "x" * 22 + "==", "Host": "evil.example"})
    assert rebound.status == 403
    own = {**cookie, "Origin": admin.url}
    assert listen(own).subscribe(projects=NOW)[-1]["complete"]


def test_one_look_at_the_database_serves_all_clients(listen: Listen, master: Any, trial: Tracked) -> None:
    listeners = [listen() for _ in range(20)]
    for listener in listeners:
        listener.subscribe(metrics={**NOW, "trial_ids": [trial.trial_id]}, trials=NOW)
    finders = 0
    real = stream._look

    def counted(*arguments: Any) -> Any:
        """Looks that found the point; a heartbeat of the master may cause others, which find nothing."""
        nonlocal finders
        seen = real(*arguments)
        finders += any(message.noun == "metrics" for message in seen.messages)
        return seen

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stream, "_look", counted)
        trial.send(metric(1, loss=1.0))
        for listener in listeners:
            listener.until(lambda m: "metrics" in m)
    assert finders == 1


def test_a_client_that_reads_nothing_is_dropped(
    listen: Listen, trial: Tracked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "MAX_BACKLOG", -1)
    listener = listen()
    listener.subscribe(metrics=NOW)
    trial.send(metric(1, loss=1.0))
    with pytest.raises(ConnectionClosed) as closed:
        listener.until(lambda m: "metrics" in m)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == stream.TOO_SLOW


def test_what_a_failed_pass_did_not_say_is_said_by_the_next(
    listen: Listen, trial: Tracked, monkeypatch: pytest.MonkeyPatch
) -> None:
    listener = listen()
    listener.subscribe(metrics=NOW)
    real, failures = stream._look, [Unavailable("the database is away")] * 2

    def look(*arguments: Any) -> Any:
        if failures:
            raise failures.pop()
        return real(*arguments)

    monkeypatch.setattr(stream, "_RETRY", 0.01)
    monkeypatch.setattr(stream, "_look", look)
    trial.send(metric(5, loss=1.0))
    assert listener.until(lambda m: "metrics" in m)["metrics"]["last_batch"] == 5
    assert failures == []


def test_in_quiet_times_the_client_hears_how_far_everything_was_said(
    listen: Listen, admin: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(routes, "_QUIET_SECONDS", 0.05)
    listener = listen()
    done = listener.subscribe(metrics=NOW)[-1]
    listener.until(lambda m: m.get("alive") == done["seq"])
    _project(admin, "of no interest")
    listener.until(lambda m: m.get("alive", 0) > done["seq"])


def test_the_end_of_a_session_ends_its_streams(listen: Listen, master: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(routes, "_QUIET_SECONDS", 0.05)
    monkeypatch.setattr(routes, "_AUTHORISED_SECONDS", 0.0)
    user = master.client("determined")
    listener = listen(user.headers)
    listener.subscribe(metrics=NOW)
    assert user.post("/api/v1/auth/logout").status == 200
    with pytest.raises(ConnectionClosed) as closed:
        listener.until(lambda m: False)
    assert closed.value.rcvd is not None
    assert (closed.value.rcvd.code, closed.value.rcvd.reason) == (1008, "the session ended; log in again")


def test_a_session_that_a_commit_ends_loses_its_streams_at_once(listen: Listen, master: Any, admin: Any) -> None:
    """By logging out, by a new password, by revoking a token, by deactivating the user; others listen on."""
    user = master.client("determined")
    user_id = user.get("/api/v1/me").json["user"]["id"]
    bystander = listen()
    bystander.subscribe(projects=NOW)
    token = user.post("/api/v1/tokens", {"userId": user_id}).json

    def ends(headers: dict[str, str], act: Callable[[], Any]) -> None:
        listener = listen(headers)
        listener.subscribe(metrics=NOW)
        assert act().status == 200
        with pytest.raises(ConnectionClosed) as closed:
            listener.until(lambda m: False)
        assert closed.value.rcvd is not None
        assert (closed.value.rcvd.code, closed.value.rcvd.reason) == (1008, "the session ended; log in again")

    other = master.client("determined")
    ends(other.headers, lambda: other.post("/api/v1/auth/logout"))
    bearer = {"Authorization": f"Bearer {token['token']}"}
    token_id = token["tokenId"]
    ends(bearer, lambda: admin.patch(f"/api/v1/tokens/{token_id}", {"tokenId": token_id, "setRevoked": True}))
    ends(user.headers, lambda: admin.patch(f"/api/v1/users/{user_id}", {"active": False}))
    _project(admin, "heard by who is still there")
    bystander.until(lambda m: m.get("project", {}).get("name") == "heard by who is still there")


def test_streams_end_when_the_master_stops(listen: Listen, master: Any) -> None:
    listener = listen()
    listener.subscribe(projects=NOW)
    master.stop()
    with pytest.raises(ConnectionClosed):
        listener.until(lambda m: False)


def test_every_watched_table_numbers_its_changes(master: Any, trial: Tracked) -> None:
    """A migration that copies a table on SQLite drops its triggers: then this fails."""
    trial.send(metric(1, loss=1.0))

    def touched(table: str, noun: str) -> bool:
        before = one(master, "SELECT max(seq) FROM changes")
        column = {"tasks": "end_time", "allocations": "slots", "metric_watermarks": "last_step"}.get(table, "")
        key = column or {"checkpoints": "size", "trials": "restarts"}.get(table, "id")
        write(master, lambda conn: conn.execute(text(f"UPDATE {table} SET {key} = {key}")))
        return bool(one(master, f"SELECT count(*) FROM changes WHERE seq > {before} AND noun = '{noun}'"))

    expected = {
        "projects": "projects", "experiments": "experiments", "trials": "trials", "tasks": "tasks", "jobs": "jobs",
        "allocations": "tasks", "metric_watermarks": "metrics",
    }  # fmt: skip
    assert [table for table, noun in expected.items() if not touched(table, noun)] == []
    names = one(master, _TRIGGERS[master.ctx.db.engine.dialect.name])
    assert names == 31


_TRIGGERS = {
    "sqlite": "SELECT count(*) FROM sqlite_master WHERE type = 'trigger' AND substr(name, 1, 7) = 'change_'",
    "postgresql": "SELECT count(*) FROM pg_trigger WHERE substr(tgname, 1, 7) = 'change_'",
}


def _project(admin: Any, name: str) -> int:
    workspace = admin.post("/api/v1/workspaces", {"name": f"of {name}"[:53]}).json["workspace"]["id"]
    answer = admin.post(f"/api/v1/workspaces/{workspace}/projects", {"name": name, "workspaceId": workspace})
    assert answer.status == 200, answer.raw
    project: int = answer.json["project"]["id"]
    return project
