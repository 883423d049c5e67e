"""`det model`: tables, JSON, what is sent, and what is refused before anything is sent."""

import json
from typing import Any

import pytest
from recorded_master import SHOWN_TIME, TIME, Det, checkpoint, error, page, workspace
from small_master import SmallMaster

UUID = "3f1d2a8e-0000-4000-8000-000000000001"


def _model(name: str = "mnist", **changes: Any) -> dict[str, Any]:
    return {
        "id": 4, "name": name, "archived": False, "creationTime": TIME, "lastUpdatedTime": TIME,
        "metadata": {"task": "digits"}, "numVersions": 2, "userId": 1, "username": "ann", "workspaceId": 7,
        "description": "reads digits", "labels": [], **changes,
    }  # fmt: skip


def _version(number: int = 2, **changes: Any) -> dict[str, Any]:
    trained = {"experimentId": 1, "trialId": 9, "validationMetrics": {"avgMetrics": {"loss": 0.25}}}
    return {
        "id": 40 + number, "version": number, "model": _model(), "checkpoint": checkpoint(UUID, 100, training=trained),
        "creationTime": TIME, "lastUpdatedTime": TIME, "aliases": ["production"], **changes,
    }  # fmt: skip


def _sent(master: SmallMaster) -> Any:
    return json.loads(master.asked[-1][3])


@pytest.fixture
def registry(master: SmallMaster) -> SmallMaster:
    master.answers["GET", "/api/v1/models"] = page("models", _model(), _model("other", id=5, archived=True))
    master.answers["GET", "/api/v1/models/mnist"] = (200, {"model": _model()})
    versions = page("modelVersions", _version(2), _version(1, aliases=[]))
    master.answers["GET", "/api/v1/models/4/versions"] = (200, {**versions[1], "model": _model()})
    for name in ("latest", "2", "production"):
        master.answers["GET", f"/api/v1/models/4/versions/{name}"] = (200, {"modelVersion": _version()})
    return master


def test_models_are_listed_with_their_newest_change_last(det: Det, registry: SmallMaster) -> None:
    lines = det("model").out.splitlines()
    assert lines[0].split(" | ") == [
        " ID", "Name ", "Workspace ID", "Creation Time           ", "Last Updated Time       ", "Metadata          ",
        "# Versions", "Archived",
    ]  # fmt: skip
    assert [line.split("|")[1].strip() for line in lines[2:]] == ["mnist", "other"]
    assert SHOWN_TIME in lines[2] and '{"task": "digits"}' in lines[2]
    assert "sortBy=SORT_BY_LAST_UPDATED_TIME" in registry.asked[-1][1]


def test_the_order_and_the_workspaces_are_asked_for(det: Det, registry: SmallMaster) -> None:
    det("m", "ls", "-w", "lab,prod", "--sort-by", "name", "--order-by", "desc")
    assert {"sortBy=SORT_BY_NAME", "orderBy=ORDER_BY_DESC", "workspaceNames=lab", "workspaceNames=prod"} <= set(
        registry.asked[-1][1].partition("?")[2].split("&")
    )


def test_a_list_as_json_has_every_field(det: Det, registry: SmallMaster) -> None:
    assert [m["name"] for m in json.loads(det("model", "list", "--json").out)] == ["mnist", "other"]
    assert json.loads(det("model", "list", "--json").out)[0]["numVersions"] == 2


def test_a_model_is_described_with_its_latest_version(det: Det, registry: SmallMaster) -> None:
    lines = det("model", "describe", "mnist").out.splitlines()
    assert lines[0].split(" | ")[:4] == [" ID", "Name ", "Description ", "Workspace ID"]
    assert lines[3] == ""
    assert [word.strip() for word in lines[4].split("|")] == [
        "Version #", "Trial ID", "Batch #", "Checkpoint UUID", "Validation Metrics", "Metadata", "Aliases",
    ]  # fmt: skip
    assert [word.strip() for word in lines[6].split("|")] == [
        "2", "9", "100", UUID, '{"loss": 0.25}', '{"steps_completed": 100}', "production",
    ]  # fmt: skip


@pytest.mark.parametrize("version", ["2", "production"])
def test_a_version_is_described_by_number_or_alias(det: Det, registry: SmallMaster, version: str) -> None:
    assert UUID in det("model", "describe", "mnist", "--version", version).out
    assert registry.paths()[-1] == f"GET /api/v1/models/4/versions/{version}"


def test_a_model_without_versions_is_described_alone(det: Det, registry: SmallMaster) -> None:
    registry.answers["GET", "/api/v1/models/mnist"] = (200, {"model": _model(numVersions=0)})
    done = det("model", "describe", "mnist", "--version", "-1")
    assert (done.status, len(done.out.splitlines())) == (0, 3)


def test_a_model_as_json_is_the_model(det: Det, registry: SmallMaster) -> None:
    described = json.loads(det("model", "describe", "mnist", "--json").out)
    assert (described["id"], described["username"], described["metadata"]) == (4, "ann", {"task": "digits"})


def test_versions_are_listed_latest_first(det: Det, registry: SmallMaster) -> None:
    lines = det("model", "list-versions", "mnist").out.splitlines()
    assert [line.split("|")[0].strip() for line in lines[6:]] == ["2", "1"]
    assert "orderBy=ORDER_BY_DESC" in registry.asked[-1][1]
    as_json = json.loads(det("model", "list-versions", "mnist", "--json").out)
    assert (as_json["model"]["name"], [v["version"] for v in as_json["modelVersions"]]) == ("mnist", [2, 1])


def test_a_model_is_created_in_a_workspace(det: Det, registry: SmallMaster) -> None:
    registry.answers["POST", "/api/v1/models"] = (200, {"model": _model(numVersions=0)})
    done = det("model", "create", "mnist", "-w", "lab", "--description", "reads digits")
    assert done.status == 0 and "reads digits" in done.out
    sent = _sent(registry)
    assert (sent["name"], sent["workspaceName"], sent["description"]) == ("mnist", "lab", "reads digits")


def test_a_checkpoint_is_registered(det: Det, registry: SmallMaster) -> None:
    registry.answers["POST", "/api/v1/models/mnist/versions"] = (200, {"modelVersion": _version(3)})
    done = det("model", "register-version", "mnist", UUID, "--comment", "best so far")
    assert UUID in done.out
    assert (_sent(registry)["checkpointUuid"], _sent(registry)["comment"]) == (UUID, "best so far")
    as_json = json.loads(det("model", "register-version", "mnist", UUID, "--json").out)
    assert as_json["modelVersion"]["version"] == 3


def test_a_model_is_moved_archived_and_deleted(det: Det, registry: SmallMaster) -> None:
    registry.answers["GET", "/api/v1/workspaces"] = page("workspaces", workspace(8, "prod"))
    registry.answers["PATCH", "/api/v1/models/mnist"] = (200, {"model": _model(workspaceId=8)})
    assert det("model", "move", "mnist", "-w", "prod").out == "Moved model mnist to workspace prod\n"
    assert _sent(registry) == {"workspaceId": 8}
    for verb in ("archive", "unarchive"):
        registry.answers["POST", f"/api/v1/models/mnist/{verb}"] = (200, {})
        assert det("model", verb, "mnist").out == f"{verb.capitalize()}d model mnist\n"
    registry.answers["DELETE", "/api/v1/models/4"] = (200, {})
    assert det("model", "delete", "mnist").out == ("Deleted model mnist with 2 version(s); their checkpoints stay\n")


def test_a_version_is_deleted_by_its_number_also_where_an_alias_was_given(det: Det, registry: SmallMaster) -> None:
    registry.answers["GET", "/api/v1/models/mnist/versions/production"] = (200, {"modelVersion": _version()})
    registry.answers["DELETE", "/api/v1/models/4/versions/2"] = (200, {})
    done = det("model", "delete-version", "mnist", "production")
    assert done.out == "Deleted version 2 of model mnist; its checkpoint stays\n"


def test_a_refusal_of_the_master_is_one_line(det: Det, registry: SmallMaster) -> None:
    registry.answers["GET", "/api/v1/models/x"] = error(404, "not_found", 'model "x" not found')
    done = det("model", "describe", "x")
    assert (done.status, done.err) == (1, 'Failed to describe model: model "x" not found\n')


ALIAS = {"alias": "production", "version": 2, "userId": 1, "username": "ann", "setTime": TIME}
CHANGES = [
    {"id": 1, "alias": "production", "userId": 1, "username": "ann", "time": TIME, "version": 1},
    {"id": 2, "alias": "production", "userId": 1, "username": "bob", "time": TIME, "version": 2, "previousVersion": 1},
    {"id": 3, "alias": "production", "userId": 1, "username": "ann", "time": TIME, "previousVersion": 2},
]


@pytest.mark.parametrize(("typed", "sent"), [("2", 2), ("candidate", "candidate"), ("latest", "latest")])
def test_an_alias_is_set_to_a_number_or_another_alias(
    det: Det, registry: SmallMaster, typed: str, sent: int | str
) -> None:
    registry.answers["PUT", "/api/v1/models/mnist/aliases/production"] = (200, {"alias": ALIAS})
    done = det("model", "alias", "set", "mnist", "production", typed, "--expected", "1")
    assert done.out == "mnist:production is now version 2\n"
    assert _sent(registry) == {"version": sent, "expectedVersion": 1}


def test_aliases_are_listed_with_who_set_them(det: Det, registry: SmallMaster) -> None:
    registry.answers["GET", "/api/v1/models/mnist/aliases"] = (200, {"aliases": [ALIAS]})
    lines = det("model", "alias", "list", "mnist").out.splitlines()
    assert [word.strip() for word in lines[2].split("|")] == ["production", "2", "ann", SHOWN_TIME]
    assert json.loads(det("model", "alias", "ls", "mnist", "--json").out) == [ALIAS]


def test_the_history_of_an_alias_names_users_and_versions(det: Det, registry: SmallMaster) -> None:
    registry.answers["GET", "/api/v1/models/mnist/alias-history"] = page("changes", *CHANGES)
    lines = det("model", "alias", "history", "mnist", "production").out.splitlines()
    rows = [[word.strip() for word in line.split("|")] for line in lines[2:]]
    assert [row[1:] for row in rows] == [
        ["ann", "production", "N/A", "1"], ["bob", "production", "1", "2"], ["ann", "production", "2", "N/A"],
    ]  # fmt: skip
    assert "alias=production" in registry.asked[-1][1]


def test_an_alias_is_removed(det: Det, registry: SmallMaster) -> None:
    registry.answers["DELETE", "/api/v1/models/mnist/aliases/production"] = (200, {})
    done = det("model", "alias", "remove", "mnist", "production")
    assert done.out == "Removed alias production of model mnist; the version stays\n"
