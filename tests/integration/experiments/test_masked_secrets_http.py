"""Secrets in configs: nobody reads them again, and they survive being sent back as masks."""

import json
from typing import Any

import pytest

MASK = "********"
SECRETS = {
    "data": {"secrets": {"token": "data-secret"}},
    "environment": {
        "registry_auth": {"username": "u", "password": "registry-secret"},
        "environment_variables": ["WANDB_API_KEY=variable-secret", "PROXY=http://u:proxy-secret@h:1", "PLAIN=shown"],
    },
    "checkpoint_storage": {"type": "s3", "bucket": "b", "access_key": "s3-key", "secret_key": "s3-secret"},
}
HIDDEN = (b"data-secret", b"variable-secret", b"proxy-secret", b"registry-secret", b"s3-key", b"s3-secret")


@pytest.fixture
def eve(master: Any, admin: Any) -> Any:
    admin.post("/api/v1/users", {"user": {"username": "eve", "admin": False, "active": True}, "password": ""})
    return master.client("eve")


def _stored(master: Any, experiment: int) -> dict[str, Any]:
    with master.ctx.db.engine.connect() as conn:
        text = conn.exec_driver_sql(f"SELECT config FROM experiments WHERE id = {experiment}").scalar_one()
    config: dict[str, Any] = text if isinstance(text, dict) else json.loads(text)
    return config


def _fork(client: Any, parent: int | None, config: str) -> Any:
    return client.post("/api/v1/experiments", {"config": config, "parentId": parent, "activate": False})


def test_no_view_of_an_experiment_shows_its_secrets(user: Any, eve: Any, submit: Any) -> None:
    experiment = submit(user, **SECRETS)["experiment"]
    for client in (user, eve):
        raw = b"".join(
            [
                client.get("/api/v1/experiments").raw,
                client.get(f"/api/v1/experiments/{experiment['id']}").raw,
                client.post("/api/v1/experiments-search", {}).raw,
            ]
        )
        assert not [secret for secret in HIDDEN if secret in raw]
        assert MASK.encode() in raw
    shown = user.get(f"/api/v1/experiments/{experiment['id']}").json["experiment"]["originalConfig"]
    assert "python3 train.py" in shown


def test_a_config_without_secrets_is_shown_as_it_was_written(user: Any, config: Any) -> None:
    text = "# mine\n" + json.dumps(config())
    made = user.post("/api/v1/experiments", {"config": text, "activate": False}).json["experiment"]
    assert made["originalConfig"] == text


@pytest.mark.parametrize("which", ["originalConfig", "config"])
def test_a_fork_by_the_owner_keeps_the_secrets(master: Any, user: Any, admin: Any, submit: Any, which: str) -> None:
    parent = submit(user, **SECRETS)["experiment"]
    shown = parent[which] if which == "originalConfig" else json.dumps(parent[which])
    for client in (user, admin):
        answer = _fork(client, parent["id"], shown)
        assert answer.status == 200, answer.raw
        stored = _stored(master, answer.json["experiment"]["id"])
        assert stored["data"]["secrets"] == {"token": "data-secret"}
        assert stored["environment"]["registry_auth"]["password"] == "registry-secret"
        assert stored["checkpoint_storage"]["secret_key"] == "s3-secret"
        again = _fork(client, answer.json["experiment"]["id"], answer.json["experiment"]["originalConfig"])
        assert again.status == 200, "the fork can be forked in turn"


def test_a_fork_by_somebody_else_gets_no_secrets(user: Any, eve: Any, submit: Any) -> None:
    parent = submit(user, **SECRETS)["experiment"]
    refused = _fork(eve, parent["id"], parent["originalConfig"])
    assert refused.status == 400
    assert "environment.registry_auth.password" in refused.message
    alone = _fork(user, None, parent["originalConfig"])
    assert alone.status == 400
    assert "data.secrets.token" in alone.message


def test_a_mask_where_no_secret_belongs_is_just_text(user: Any, submit: Any) -> None:
    assert submit(user, description=MASK)["experiment"]["description"] == MASK


def test_a_continued_experiment_keeps_its_secrets(master: Any, user: Any, submit: Any) -> None:
    experiment = submit(user, **SECRETS)["experiment"]["id"]
    user.post(f"/api/v1/experiments/{experiment}/kill")
    override = {"environment": {"registry_auth": {"username": "v", "password": MASK}}}
    body = {"id": experiment, "overrideConfig": json.dumps(override)}
    answer = user.post("/api/v1/experiments/continue", body)
    assert answer.status == 200, answer.raw
    auth = _stored(master, experiment)["environment"]["registry_auth"]
    assert (auth["username"], auth["password"]) == ("v", "registry-secret")


def test_nobody_else_changes_what_runs_with_an_owners_secrets(user: Any, eve: Any, submit: Any) -> None:
    experiment = submit(user, **SECRETS)["experiment"]["id"]
    user.post(f"/api/v1/experiments/{experiment}/kill")
    body = {"id": experiment, "overrideConfig": json.dumps({"entrypoint": "env"})}
    assert eve.post("/api/v1/experiments/continue", body).status == 403
    assert eve.post("/api/v1/experiments/continue", {"id": experiment, "overrideConfig": ""}).status == 200


def test_a_workspace_hides_its_storage_secrets_and_keeps_them(master: Any, user: Any, eve: Any) -> None:
    storage = SECRETS["checkpoint_storage"]
    body = {"name": "lab", "checkpointStorageConfig": storage}
    made = user.post("/api/v1/workspaces", body)
    assert made.status == 200, made.raw
    path = f"/api/v1/workspaces/{made.json['workspace']['id']}"
    seen = b"".join(client.get(p).raw for client in (user, eve) for p in (path, "/api/v1/workspaces")) + made.raw
    assert b"s3-secret" not in seen
    shown = user.get(path).json["workspace"]["checkpointStorageConfig"]
    assert (shown["bucket"], shown["secret_key"]) == ("b", MASK)
    changed = user.patch(path, {"checkpointStorageConfig": {**shown, "bucket": "c"}})
    assert changed.status == 200, changed.raw
    assert b"s3-secret" not in changed.raw
    with master.ctx.db.engine.connect() as conn:
        kept = str(conn.exec_driver_sql("SELECT checkpoint_storage FROM workspaces WHERE name = 'lab'").scalar_one())
    assert "s3-secret" in kept
    assert MASK not in kept
    refused = user.post("/api/v1/workspaces", {"name": "other", "checkpointStorageConfig": shown})
    assert refused.status == 400
