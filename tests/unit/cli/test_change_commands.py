"""Commands that change one thing: the request that each sends, and the sentence that it prints."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from recorded_master import Det, agent, error, experiment, page, project, user, workspace
from small_master import SmallMaster

LAB = {("GET", "/api/v1/workspaces"): page("workspaces", workspace(7, "lab"))}
VISION = {**LAB, ("GET", "/api/v1/workspaces/7/projects"): page("projects", project(3, "vision"))}
ANN = {("GET", "/api/v1/users/ann/by-username"): (200, {"user": user("ann", id=5)})}

# words, what is asked before, the request, the part of its body that matters, what is printed
Case = tuple[str, dict[tuple[str, str], Any], str, dict[str, Any], str]
CHANGES: list[Case] = [
    ("e activate 1", {}, "POST /api/v1/experiments/1/activate", {}, "Activated experiment 1"),
    ("e unpause 1", {}, "POST /api/v1/experiments/1/activate", {}, "Activated experiment 1"),
    ("e pause 1", {}, "POST /api/v1/experiments/1/pause", {}, "Paused experiment 1"),
    ("e cancel 1", {}, "POST /api/v1/experiments/1/cancel", {}, "Canceled experiment 1"),
    ("e kill 1", {}, "POST /api/v1/experiments/1/kill", {}, "Killed experiment 1"),
    ("e archive 1", {}, "POST /api/v1/experiments/1/archive", {}, "Archived experiment 1"),
    ("e unarchive 1", {}, "POST /api/v1/experiments/1/unarchive", {}, "Unarchived experiment 1"),
    ("e set name 1 x", {}, "PATCH /api/v1/experiments/1", {"name": "x"}, "Set name of experiment 1 to 'x'"),
    (
        "e set max-slots 1 none",
        {},
        "PATCH /api/v1/experiments/1",
        {"resources": {"maxSlots": None}},
        "Set max-slots of experiment 1 to None",
    ),
    (
        "e set max-slots 1 4",
        {},
        "PATCH /api/v1/experiments/1",
        {"resources": {"maxSlots": 4}},
        "Set max-slots of experiment 1 to 4",
    ),
    (
        "e set weight 1 2",
        {},
        "PATCH /api/v1/experiments/1",
        {"resources": {"weight": 2.0}},
        "Set weight of experiment 1 to 2.0",
    ),
    (
        "e move 1 lab vision",
        VISION,
        "POST /api/v1/experiments/1/move",
        {"destinationProjectId": 3},
        "Moved experiment 1 to project 'vision'",
    ),
    (
        "e delete-tb-files 1",
        {},
        "DELETE /api/v1/experiments/1/tensorboard-files",
        {},
        "Deleted the TensorBoard files of",
    ),
    ("t kill 8", {}, "POST /api/v1/trials/8/kill", {}, "Killed trial 8"),
    ("w archive lab", LAB, "POST /api/v1/workspaces/7/archive", {}, "Archived workspace lab"),
    ("w unarchive lab", LAB, "POST /api/v1/workspaces/7/unarchive", {}, "Unarchived workspace lab"),
    ("p archive lab vision", VISION, "POST /api/v1/projects/3/archive", {}, "Archived project vision"),
    ("p unarchive lab vision", VISION, "POST /api/v1/projects/3/unarchive", {}, "Unarchived project vision"),
    ("slot enable a 0", {}, "POST /api/v1/agents/a/slots/0/enable", {}, "Enabled slot 0 of agent a"),
    ("slot disable a 0", {}, "POST /api/v1/agents/a/slots/0/disable", {}, "Disabled slot 0 of agent a"),
    ("user activate ann", ANN, "PATCH /api/v1/users/5", {"active": True}, "Activated user ann"),
    ("user deactivate ann", ANN, "PATCH /api/v1/users/5", {"active": False}, "Deactivated user ann"),
    ("user rename ann eve", ANN, "PATCH /api/v1/users/5", {"username": "eve"}, "Renamed user ann to eve"),
    (
        "user edit ann --admin no --display-name Ann",
        ANN,
        "PATCH /api/v1/users/5",
        {"admin": False, "displayName": "Ann"},
        "Changed admin, displayName of user ann",
    ),
    (
        "user link-with-agent-user ann --agent-uid 1 --agent-user u --agent-gid 2 --agent-group g",
        ANN,
        "PATCH /api/v1/users/5",
        {"agentUserGroup": {"agentUid": 1, "agentUser": "u", "agentGid": 2, "agentGroup": "g"}},
        "Tasks of ann run as u(1)",
    ),
    ("token revoke 4", {}, "PATCH /api/v1/tokens/4", {"setRevoked": True}, "Revoked access token 4"),
    ("token edit 4 -d x", {}, "PATCH /api/v1/tokens/4", {"description": "x"}, "Changed access token 4"),
    (
        "master cluster-message set -m hi -s T1 -e T2",
        {},
        "PUT /api/v1/master/cluster_message",
        {"message": "hi", "startTime": "T1", "endTime": "T2", "duration": None},
        "Set the cluster message",
    ),
    ("master cluster-message clear", {}, "DELETE /api/v1/master/cluster_message", {}, "Cleared the cluster message"),
]


@pytest.mark.parametrize("case", CHANGES, ids=[case[0] for case in CHANGES])
def test_change_is_sent_once_and_told(det: Det, master: SmallMaster, case: Case) -> None:
    words, before, request, part, said = case
    method, path = request.split()
    master.answers.update(before)
    master.answers[method, path] = (200, {"user": user("ann")})
    done = det(*words.split())
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith(said) and done.out.count("\n") == 1
    [body] = [body for m, p, _, body in master.asked if f"{m} {p}" == request]
    sent = json.loads(body or b"{}")
    assert {name: sent[name] for name in part} == part


@pytest.mark.parametrize("case", CHANGES, ids=[case[0] for case in CHANGES])
def test_change_that_is_refused_is_not_told_as_done(det: Det, master: SmallMaster, case: Case) -> None:
    words, before, request, _, _ = case
    method, path = request.split()
    master.answers.update(before)
    master.answers[method, path] = error(403, "forbidden", "not yours")
    done = det(*words.split())
    assert (done.status, done.out) == (1, "")
    assert done.err.startswith("Failed to ") and done.err.endswith("not yours\n")


@pytest.mark.parametrize("verb", ["kill", "cancel"])
def test_experiment_that_had_ended_is_not_told_as_ended_now(det: Det, master: SmallMaster, verb: str) -> None:
    master.answers["GET", "/api/v1/experiments/1"] = (200, {"experiment": experiment(), "config": {}})
    master.answers["POST", f"/api/v1/experiments/1/{verb}"] = (200, {})
    done = det("e", verb, "1")
    assert (done.status, done.out) == (0, f"Experiment 1 had ended already (COMPLETED); nothing to {verb}\n")


def test_search_is_extended_by_the_trials_given(det: Det, master: SmallMaster) -> None:
    master.answers["POST", "/api/v1/experiments/1/extend"] = (200, {"experiment": experiment()})
    assert det("e", "extend", "1", "--trials", "5").out == "Extended experiment 1 by 5 trial(s)\n"
    assert json.loads(master.asked[-1][3]) == {"trials": 5}


def test_unset_fields_of_a_change_are_not_sent(det: Det, master: SmallMaster) -> None:
    """A null would clear them."""
    master.answers["PATCH", "/api/v1/experiments/1"] = (200, {})
    det("e", "set", "description", "1", "")
    sent = json.loads(master.asked[-1][3])
    assert sent["description"] == "" and not {"name", "labels", "notes"} & set(sent)


def _settings(master: SmallMaster) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(next(b for m, _, _, b in reversed(master.asked) if m in ("POST", "PATCH")))
    return body


def test_settings_of_a_workspace_are_sent_as_given(det: Det, master: SmallMaster, surroundings: Path) -> None:
    master.answers.update(LAB)
    master.answers["POST", "/api/v1/workspaces"] = (200, {"workspace": workspace(9, "new")})
    master.answers["PATCH", "/api/v1/workspaces/7"] = (200, {"workspace": workspace(7, "renamed")})
    storage = {"type": "shared_fs", "host_path": "/data"}
    (surroundings / "storage.yaml").write_text(yaml.safe_dump(storage))
    assert "new" in det("w", "create", "new", "--checkpoint-storage-config", json.dumps(storage)).out
    assert _settings(master)["checkpointStorageConfig"] == storage
    det("w", "create", "new", "--checkpoint-storage-config-file", "storage.yaml", "--agent-uid", "0")
    sent = _settings(master)
    assert (sent["checkpointStorageConfig"], sent["agentUserGroup"]["agentUid"]) == (storage, 0)
    done = det("w", "edit", "lab", "--name", "renamed", "--default-aux-pool", "p", "--json")
    assert json.loads(done.out)["name"] == "renamed"
    sent = _settings(master)
    assert (sent["name"], sent["defaultAuxPool"]) == ("renamed", "p")
    assert not {"defaultComputePool", "agentUserGroup", "checkpointStorageConfig"} & set(sent)


def test_project_is_made_in_its_workspace(det: Det, master: SmallMaster) -> None:
    master.answers.update(LAB)
    master.answers["POST", "/api/v1/workspaces/7/projects"] = (200, {"project": project(3, "vision")})
    made = json.loads(det("p", "create", "lab", "vision", "--key", "VIS", "--json").out)
    assert made["id"] == 3
    sent = _settings(master)
    assert (sent["name"], sent["workspaceId"], sent["description"], sent["key"]) == ("vision", 7, "", "VIS")


def test_agents_that_the_master_itself_offers_are_kept(det: Det, master: SmallMaster) -> None:
    master.answers["GET", "/api/v1/agents"] = page("agents", agent("own"), agent("added"))
    master.answers["DELETE", "/api/v1/agents/own"] = error(400, "invalid_argument", "it is the master's own")
    master.answers["DELETE", "/api/v1/agents/added"] = (200, {})
    done = det("-m", master.url, "deploy", "local", "agent-down", "--all")
    assert done.out.splitlines() == [
        "Kept agent own, which goes with: det deploy local cluster-down",
        "Removed agent added",
    ]
    alone = det("-m", master.url, "deploy", "local", "agent-down", "--agent-name", "own")
    assert (alone.status, "it is the master's own" in alone.err) == (1, True)


def test_information_about_the_master_is_yaml_unless_json_is_wanted(det: Det, master: SmallMaster) -> None:
    facts = {"clusterId": "c", "clusterName": "n", "hasCustomLogo": False, "masterId": "m"}
    answer = {**facts, "strictJobQueueControl": False, "version": "1"}
    master.answers["GET", "/api/v1/master"] = (200, answer)
    master.answers["GET", "/api/v1/master/config"] = (200, {"config": {"log": {"level": "info"}}})
    done = det("master", "info")
    assert "\nclusterName: n\n" in done.out
    assert done.err == f"Master at {master.url}\n", "who reads standard output wants the answer alone"
    assert json.loads(det("master", "info", "--json").out)["clusterId"] == "c"
    assert det("master", "config").out == "log:\n  level: info\n"
    assert json.loads(det("master", "config", "show", "--json").out) == {"log": {"level": "info"}}


def test_downloaded_code_replaces_an_older_copy(det: Det, master: SmallMaster, surroundings: Path) -> None:
    master.answers["GET", "/api/v1/experiments/1/model_def"] = [(200, {"b64Tgz": "b25l"}), (200, {"b64Tgz": "dHdv"})]
    for content in (b"one", b"two"):
        assert (
            det("e", "download-model-def", "1", "--output-dir", "a/b").out == "Wrote a/b/experiment_1_model_def.tgz\n"
        )
        assert (surroundings / "a" / "b" / "experiment_1_model_def.tgz").read_bytes() == content


def test_local_run_needs_no_master_and_keeps_the_status_of_the_script(alone: Det, surroundings: Path) -> None:
    (surroundings / "c.yaml").write_text("entrypoint: exit 7\n")
    done = alone("e", "create", "--local", "c.yaml", ".")
    assert done.status == 7
    assert f"Running locally in {surroundings}: exit 7" in done.err


def test_script_that_a_signal_ends_has_the_status_of_a_shell(alone: Det, surroundings: Path) -> None:
    (surroundings / "c.yaml").write_text("entrypoint: kill -9 $$\n")
    assert alone("e", "create", "--local", "c.yaml").status == 137
