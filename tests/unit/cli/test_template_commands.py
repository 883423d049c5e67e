"""det template: what it sends, and the lines that scripts look for."""

import json
from pathlib import Path
from typing import Any

import pytest
from recorded_master import TIME, Det, error, page
from small_master import SmallMaster

PATH = "/api/v1/templates"


def _template(name: str = "gpu", **changes: Any) -> dict[str, Any]:
    found = {"name": name, "workspaceId": 1, "config": {"debug": True}, "updatedAt": TIME, "username": "determined"}
    return found | changes


def _sent(master: SmallMaster, method: str, path: str) -> dict[str, Any]:
    sent: dict[str, Any] = next(json.loads(raw) for way, to, _, raw in master.asked if (way, to) == (method, path))
    return sent


@pytest.fixture
def listed(master: SmallMaster) -> SmallMaster:
    master.answers["GET", PATH] = page("templates", _template("a"), _template("b", workspaceId=7))
    workspace = {
        "id": 1, "name": "Uncategorized", "archived": False, "errorMessage": "", "immutable": True, "pinned": False,
        "numExperiments": 0, "numProjects": 1, "state": "WORKSPACE_STATE_UNSPECIFIED", "userId": 1, "username": "admin",
    }  # fmt: skip
    master.answers["GET", "/api/v1/workspaces"] = page("workspaces", workspace)
    return master


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "t.yaml"
    path.write_text("resources:\n  priority: 3\n")
    return str(path)


def test_list_names_templates_and_their_workspaces(det: Det, listed: SmallMaster) -> None:
    lines = det("tpl").out.splitlines()
    assert [[cell.strip() for cell in line.split("|")] for line in (lines[0], *lines[2:])] == [
        ["name", "workspace"],
        ["a", "Uncategorized"],
        ["b", "missing workspace"],
    ]
    assert '{"debug": true}' in det("template", "ls", "-d").out
    assert [one["name"] for one in json.loads(det("template", "list", "--json").out)] == ["a", "b"]


def test_describe_prints_the_config_as_yaml(det: Det, master: SmallMaster) -> None:
    master.answers["GET", f"{PATH}/gpu"] = (200, {"template": _template()})
    assert det("template", "describe", "gpu").out == "debug: true\n"
    assert json.loads(det("template", "describe", "gpu", "--json").out)["name"] == "gpu"


def test_create_sends_the_file_and_says_so(det: Det, master: SmallMaster, file: str) -> None:
    master.answers["POST", f"{PATH}/my%20gpu"] = (200, {"template": _template("my gpu")})
    done = det("template", "create", "my gpu", file)
    assert (done.status, done.out, done.err) == (0, "Created template my gpu\n", "")
    sent = _sent(master, "POST", f"{PATH}/my%20gpu")
    assert (sent["name"], sent["config"]) == ("my gpu", {"resources": {"priority": 3}})


def test_create_names_the_workspace(det: Det, listed: SmallMaster, file: str) -> None:
    listed.answers["POST", f"{PATH}/x"] = (200, {"template": _template("x")})
    assert det("template", "create", "x", file, "-w", "Uncategorized").status == 0
    assert _sent(listed, "POST", f"{PATH}/x")["workspaceId"] == 1
    absent = det("template", "create", "x", file, "-w", "none")
    assert (absent.status, "workspace 'none' does not exist" in absent.err) == (1, True)


def test_set_value_and_the_older_set(det: Det, master: SmallMaster, file: str) -> None:
    answer = (200, {"template": _template()})
    master.answers["PATCH", f"{PATH}/gpu"] = answer
    assert det("template", "set-value", "config", "gpu", file).out == "Updated template gpu\n"
    assert _sent(master, "PATCH", f"{PATH}/gpu") == {"resources": {"priority": 3}}, "the body is the config"
    master.answers["PUT", f"{PATH}/gpu"] = answer
    done = det("template", "set", "gpu", file)
    assert (done.out, "deprecated" in done.err) == ("Set template gpu\n", True)
    master.answers["PATCH", "/api/v1/template/rename"] = (200, {"template": _template("new")})
    assert det("tpl", "set-value", "name", "gpu", "new").out == "Updated template new\n"
    assert _sent(master, "PATCH", "/api/v1/template/rename") == {"newName": "new", "oldName": "gpu"}


def test_a_template_is_moved_without_its_config_being_sent(det: Det, listed: SmallMaster) -> None:
    listed.answers["GET", f"{PATH}/gpu"] = listed.answers["PUT", f"{PATH}/gpu"] = (200, {"template": _template()})
    assert det("template", "set-value", "workspace", "gpu", "Uncategorized").out == "Updated template gpu\n"
    sent = _sent(listed, "PUT", f"{PATH}/gpu")
    assert (sent["workspaceId"], sent.get("config")) == (1, None)


def test_remove_says_so_and_a_missing_one_fails(det: Det, master: SmallMaster) -> None:
    master.answers["DELETE", f"{PATH}/gpu"] = (200, {})
    assert det("template", "rm", "gpu").out == "Removed template gpu\n"
    message = "template 'gpo' not found; did you mean 'gpu'?"
    master.answers["DELETE", f"{PATH}/gpo"] = error(404, "NotFound", message)
    gone = det("template", "remove", "gpo")
    assert (gone.status, "did you mean 'gpu'?" in gone.err) == (1, True), gone.err


def test_what_experiments_will_refuse_is_said_at_once(det: Det, master: SmallMaster, tmp_path: Path) -> None:
    (tmp_path / "t.yaml").write_text("serchr: 1\nidle_timeout: 1h\n")
    master.answers["POST", f"{PATH}/x"] = (200, {"template": _template("x")})
    done = det("template", "create", "x", str(tmp_path / "t.yaml"))
    assert done.out == "Created template x\n"
    assert "additional property `serchr` not allowed; did you mean `searcher`?" in done.err
    assert "idle_timeout: only for tasks; an experiment with this template is refused" in done.err


@pytest.mark.parametrize("text", [b"a: [1", b"- 1", b"\xff\xfe", b"a: 1\na: 2"])
def test_a_file_that_is_no_mapping_is_refused_here(det: Det, tmp_path: Path, text: bytes) -> None:
    (tmp_path / "t.yaml").write_bytes(text)
    done = det("template", "create", "x", str(tmp_path / "t.yaml"))
    assert (done.status, "Traceback" in done.err) == (1, False), done.err


def test_a_missing_file_and_a_mistyped_verb_are_told_apart(det: Det) -> None:
    assert "does not exist" in det("template", "create", "x", "nowhere.yaml").err
    assert "did you mean 'det template describe'" in det("template", "descibe", "x").err
