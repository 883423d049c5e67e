"""Templates over HTTP: stored, listed, changed, renamed, moved, removed, and what hostile callers may not do."""

import json
from typing import Any

import pytest

PATH = "/api/v1/templates"
MASKED = "********"


def make(client: Any, name: str, config: Any = None, **body: Any) -> Any:
    answer = client.post(f"{PATH}/{name}", {"name": name, "config": config or {}, "workspaceId": 0, **body})
    assert answer.status == 200, answer.raw
    return answer.json["template"]


def names(client: Any, **fields: Any) -> list[str]:
    return [one["name"] for one in client.get(PATH, fields=fields).json["templates"]]


def workspace(client: Any, name: str) -> int:
    made: int = client.post("/api/v1/workspaces", {"name": name}).json["workspace"]["id"]
    return made


def test_a_template_is_kept_as_it_was_sent_for_everybody(admin: Any, user: Any) -> None:
    config = {"resources": {"slots_per_trial": 2}, "nobody_knows": [{"a": None}], "searcher": {"metric": "m"}}
    made = make(user, "gpu", config)
    assert (made["name"], made["workspaceId"], made["config"], made["username"]) == ("gpu", 1, config, "determined")
    assert admin.get(f"{PATH}/gpu").json["template"] == made
    assert admin.get(PATH).json["templates"] == [made]


def test_only_its_owner_and_administrators_change_a_template(admin: Any, user: Any) -> None:
    make(admin, "lab", {"max_restarts": 1})
    evil = {"environment": {"environment_variables": ["LD_PRELOAD=/home/somebody/x.so"]}}
    for answer in (
        user.put(f"{PATH}/lab", {"name": "lab", "config": evil}),
        user.patch(f"{PATH}/lab", evil),
        user.patch("/api/v1/template/rename", {"oldName": "lab", "newName": "x"}),
        user.delete(f"{PATH}/lab"),
    ):
        assert (answer.status, "only the owner of template 'lab'" in answer.message) == (403, True)
    assert user.get(f"{PATH}/lab").json["template"]["config"] == {"max_restarts": 1}
    make(user, "mine")
    assert admin.delete(f"{PATH}/mine").status == 200


def test_names_are_unique_and_required(user: Any) -> None:
    make(user, "gpu")
    taken = user.post(f"{PATH}/gpu", {"name": "gpu", "config": {}, "workspaceId": 0})
    assert (taken.status, "already a template 'gpu'" in taken.message) == (409, True)
    blank = user.post(f"{PATH}/%20", {"name": " ", "config": {}, "workspaceId": 0})
    assert (blank.status, "name is required" in blank.message) == (400, True)
    make(user, "GPU")
    assert make(user, "with%20blanks%20%26%20%22quotes%22")["name"] == 'with blanks & "quotes"'
    for name in ("x" * 200, "a%0ab", "..%2f", "%5c"):
        assert user.post(f"{PATH}/{name}", {"name": name, "config": {}}).status in (400, 404, 405), name
    assert user.post(f"{PATH}/none", {"name": "none"}).status == 400


def test_a_workspace_is_named_by_its_id_and_must_exist(user: Any) -> None:
    lab = workspace(user, "lab")
    assert make(user, "a", workspaceId=lab)["workspaceId"] == lab
    unknown = user.post(f"{PATH}/b", {"name": "b", "config": {}, "workspaceId": 777})
    assert (unknown.status, "workspace '777' not found" in unknown.message) == (404, True)
    assert user.get(f"{PATH}/b").status == 404


def test_a_put_creates_then_changes_config_or_workspace_or_both(user: Any, admin: Any) -> None:
    lab = workspace(user, "lab")
    assert user.put(f"{PATH}/p", {"name": "p", "config": {"a": 1}}).json["template"]["workspaceId"] == 1
    moved = admin.put(f"{PATH}/p", {"name": "p", "workspaceId": lab}).json["template"]
    assert (moved["config"], moved["workspaceId"], moved["username"]) == ({"a": 1}, lab, "determined")
    changed = user.put(f"{PATH}/p", {"name": "p", "config": {"b": 2}, "workspaceId": 0}).json["template"]
    assert (changed["config"], changed["workspaceId"]) == ({"b": 2}, lab)
    assert user.put(f"{PATH}/p", {"workspaceId": 777}).status == 404
    assert user.put(f"{PATH}/new", {"workspaceId": lab}).status == 400, "a new one needs a config"


def test_a_patch_replaces_the_whole_config(user: Any) -> None:
    make(user, "t", {"a": {"b": 1}, "slots_per_trial": 3})
    assert user.patch(f"{PATH}/t", {"some_key": 1}).json["template"]["config"] == {"some_key": 1}
    assert user.patch(f"{PATH}/none", {}).status == 404
    for body in (b"[]", b"7", b"null", b'"x"', b"{"):
        assert user.patch(f"{PATH}/t", body).status == 400, body
    assert user.get(f"{PATH}/t").json["template"]["config"] == {"some_key": 1}


def test_a_template_is_renamed(user: Any) -> None:
    made = make(user, "old", {"a": 1})
    make(user, "taken")
    rename = "/api/v1/template/rename"
    assert user.patch(rename, {"oldName": "old", "newName": "taken"}).status == 409
    assert user.patch(rename, {"oldName": "none", "newName": "x"}).status == 404
    assert user.patch(rename, {"oldName": "old", "newName": ""}).status == 400
    assert user.patch(rename, {"oldName": "old", "newName": "a/b"}).status == 400
    assert user.patch(rename, {"oldName": "old", "newName": "old"}).status == 200
    renamed = user.patch(rename, {"oldName": "old", "newName": "new"}).json["template"]
    assert (renamed["name"], renamed["config"]) == ("new", made["config"])
    assert names(user) == ["new", "taken"]


def test_a_missing_template_is_named_with_what_may_be_meant(user: Any) -> None:
    make(user, "pytorch-gpu")
    far, near = user.get(f"{PATH}/zz"), user.get(f"{PATH}/pytorch-gpo")
    assert (far.status, far.message) == (404, "template 'zz' not found; list them with: det template list")
    assert (near.status, near.message) == (404, "template 'pytorch-gpo' not found; did you mean 'pytorch-gpu'?")
    assert user.delete(f"{PATH}/zz").status == 404
    assert user.delete(f"{PATH}/pytorch-gpu").json == {}
    assert names(user) == []


def test_lists_are_filtered_sorted_and_paged(user: Any) -> None:
    lab = workspace(user, "lab")
    for name in ("beta", "alpha", "50%25"):
        make(user, name)
    make(user, "Gamma-BETA", workspaceId=lab)
    assert sorted(names(user)) == sorted(["50%", "Gamma-BETA", "alpha", "beta"])
    assert names(user, orderBy="ORDER_BY_DESC", sortBy="SORT_BY_NAME") == names(user)[::-1]
    assert set(names(user, name="bEta")) == {"beta", "Gamma-BETA"}
    assert names(user, name="%") == ["50%"]
    assert names(user, workspaceIds=lab) == ["Gamma-BETA"]
    assert len(names(user, workspaceIds=[lab, 1])) == 4 and names(user, workspaceIds=[777]) == []
    page = user.get(PATH, fields={"limit": 2, "offset": 1}).json
    assert [one["name"] for one in page["templates"]] == names(user)[1:3]
    assert (page["pagination"]["total"], page["pagination"]["startIndex"], page["pagination"]["endIndex"]) == (4, 1, 3)
    assert names(user, limit=1, offset=-1) == names(user)[-1:]


def test_a_deleted_workspace_takes_its_templates_along(user: Any) -> None:
    lab = workspace(user, "lab")
    make(user, "stays")
    make(user, "goes", workspaceId=lab)
    assert user.delete(f"/api/v1/workspaces/{lab}").json["completed"] is True
    assert names(user) == ["stays"]


def test_secrets_are_masked_and_survive_an_edit_of_the_rest(user: Any, master: Any) -> None:
    storage = {"type": "s3", "bucket": "b", "access_key": "hush1", "secret_key": "hush2"}
    config = {
        "checkpoint_storage": storage,
        "environment": {"registry_auth": {"password": "hush3"}, "environment_variables": ["API_TOKEN=hush4", "A=1"]},
        "data": {"secrets": {"x": "hush5"}},
    }
    shown = make(user, "s", config)["config"]
    assert "hush" not in json.dumps(shown) and shown["checkpoint_storage"]["secret_key"] == MASKED
    assert "hush" not in user.get(PATH).raw.decode() + user.get(f"{PATH}/s").raw.decode()
    shown["checkpoint_storage"]["bucket"] = "other"
    assert user.patch(f"{PATH}/s", shown).status == 200
    kept = master.client("admin").put(f"{PATH}/s", {"config": shown}).json["template"]["config"]
    assert kept["checkpoint_storage"]["bucket"] == "other"
    stored = _stored(master, "s")
    assert stored["checkpoint_storage"] == {**storage, "bucket": "other"}
    assert stored["environment"] == config["environment"] and stored["data"] == config["data"]
    lone = user.post(f"{PATH}/copy", {"config": shown})
    assert (lone.status, "is not a secret" in lone.message) == (400, True)
    moved = {"checkpoint_storage": {"type": "s3"}, "data": {"secrets": {"y": MASKED}}}
    assert user.patch(f"{PATH}/s", moved).status == 400, "a mask elsewhere stands for nothing"


@pytest.mark.parametrize(
    "config", [{"a": "\0"}, {"a": 10**30}, {"a": ["x"] * 9_999, "b": ["x"] * 9_999, "c": list(range(9_999))}]
)
def test_what_cannot_be_kept_is_refused(user: Any, config: Any) -> None:
    assert user.post(f"{PATH}/big", {"config": config}).status == 400
    assert names(user) == []


def test_sizes_are_bounded(user: Any) -> None:
    deep: Any = 1
    for _ in range(150):
        deep = {"a": deep}
    long = {f"k{n}": "x" * 1000 for n in range(100)}
    for config in (deep, long):
        for answer in (user.post(f"{PATH}/big", {"config": config}), user.put(f"{PATH}/big", {"config": config})):
            assert answer.status == 400, answer.raw
    make(user, "ok")
    assert user.patch(f"{PATH}/ok", long).status == 400
    assert "at most 65536" in user.patch(f"{PATH}/ok", long).message
    assert user.get(PATH, fields={"workspaceIds": 2**70}).status == 400
    assert user.post(f"{PATH}/w", {"config": {}, "workspaceId": 2**70}).status in (400, 404)


def test_a_check_names_lines_and_says_what_is_for_tasks_only(user: Any) -> None:
    def check(config: Any) -> Any:
        answer = user.post("/api/v1/template/check", {"config": config})
        assert answer.status == 200, answer.raw
        return answer.json

    text = "resources:\n  priority: 500\nserchr: 1\nidle_timeout: 1h  # of notebooks\n"
    found = check(text)
    assert found["text"] == text and found["config"]["idle_timeout"] == "1h"
    assert [(one["path"], one["line"]) for one in found["problems"]] == [("resources.priority", 2), ("serchr", 3)]
    assert found["warnings"] == ["idle_timeout: only for tasks; an experiment with this template is refused"]
    sound = check({"resources": {"slots": 2}})
    assert (sound["text"], sound["problems"], sound["warnings"]) == ("resources:\n  slots: 2\n", [], [])
    broken = check("a: [1\n")
    assert broken["config"] is None and broken["problems"][0]["line"] is not None
    assert check("")["config"] == {} and check("- 1")["problems"]
    assert check(f"data: {{secrets: {{x: '{MASKED}'}}}}")["warnings"] == [
        "data.secrets.x: masked; a template that has a secret there keeps it"
    ]


def _stored(master: Any, name: str) -> Any:
    import asyncio

    from determined.master.db.queries import template

    return asyncio.run(master.ctx.db.read(lambda conn: template.config_of(conn, name)))
