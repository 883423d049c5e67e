"""det command: what it sends, and the lines that scripts look for."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from recorded_master import TIME, Det, error, page, stream, workspace
from small_master import SmallMaster

ID = "0a1b2c3d-0000-4000-8000-000000000001"
OTHER = "0a1b2c3d-0000-4000-8000-000000000002"
ENDED = f"Task log stream ended. To reopen log stream, run: det task logs -f {ID}"


def _task(**changes: Any) -> dict[str, Any]:
    fields = {
        "id": ID, "description": "Command (a-b-c)", "jobId": "j", "resourcePool": "default", "startTime": TIME,
        "state": "STATE_RUNNING", "username": "ann", "workspaceId": 1, "exitStatus": "",
    }  # fmt: skip
    return fields | changes


def _line(text: str) -> dict[str, Any]:
    return {"id": "1", "message": text, "log": text, "timestamp": TIME, "level": "LOG_LEVEL_INFO", "taskId": ID}


@pytest.fixture
def master(master: SmallMaster) -> SmallMaster:
    master.answers["POST", "/api/v1/commands"] = (200, {"command": _task(state="STATE_QUEUED"), "config": {}})
    master.answers["GET", f"/api/v1/commands/{ID}"] = (200, {"command": _task(), "config": {"entrypoint": ["a"]}})
    master.answers["GET", "/api/v1/workspaces"] = page("workspaces", workspace(1, "Home"))
    master.answers["GET", f"/api/v1/tasks/{ID}/logs"] = stream(_line("hello\n"))
    return master


def _sent(master: SmallMaster, path: str = "/api/v1/commands") -> dict[str, Any]:
    sent: dict[str, Any] = next(
        json.loads(raw) for method, to, _, raw in master.asked if (method, to) == ("POST", path)
    )
    return sent


def _ended(master: SmallMaster, code: int) -> None:
    run = {"allocationId": f"{ID}.1", "taskId": ID, "state": "STATE_TERMINATED", "statusCode": code, "slots": 1}
    task = {"taskId": ID, "taskType": "TASK_TYPE_COMMAND", "startTime": TIME, "endTime": TIME, "allocations": [run]}
    master.answers["GET", f"/api/v1/tasks/{ID}"] = (200, {"task": task})


def test_run_says_what_it_launched_follows_the_log_and_succeeds_whatever_the_command_does(
    det: Det, master: SmallMaster
) -> None:
    _ended(master, 3)
    done = det("cmd", "run", "python", "-c", "import sys; sys.exit(3)")
    first, *rest = done.out.splitlines()
    assert re.fullmatch(rf"Launched command \(id: {ID}, name: Command \(a-b-c\)\)\.", first)
    assert (done.status, "hello" in rest[0], rest[-1]) == (0, True, ENDED), done.err
    assert _sent(master)["config"] == {"entrypoint": ["python", "-c", "import sys; sys.exit(3)"]}


def test_run_can_exit_with_the_status_of_the_command(det: Det, master: SmallMaster) -> None:
    _ended(master, 3)
    assert det("cmd", "run", "--propagate-status", "false").status == 3


def test_detached_run_prints_the_task_as_json(det: Det, master: SmallMaster) -> None:
    done = det("cmd", "run", "-d", "--json", "ls")
    assert done.status == 0, done.err
    record = json.loads(done.out)
    assert (record["id"], record["state"], record["workspaceName"]) == (ID, "QUEUED", "Home")


def test_run_prints_json_only_where_no_log_is_followed(det: Det, master: SmallMaster) -> None:
    done = det("cmd", "run", "--json", "ls")
    assert (done.status, done.out, master.asked) == (2, "", [])
    assert "add --detach" in done.err


def test_everything_after_the_first_word_belongs_to_the_command(det: Det, master: SmallMaster) -> None:
    det("cmd", "run", "-d", "--config", "resources.slots=0", "ls", "-d", "--config", "x")
    assert _sent(master)["config"] == {"entrypoint": ["ls", "-d", "--config", "x"], "resources": {"slots": 0}}


def test_the_entrypoint_of_a_config_file_wins(det: Det, master: SmallMaster, surroundings: Path) -> None:
    (surroundings / "c.yaml").write_text("entrypoint: [from, file]\nenvironment: {environment_variables: [A=b]}\n")
    options = ["--config", "environment.environment_variables=['C=d']", "-v", "/data:data"]
    done = det("cmd", "run", "-d", "--config-file", "c.yaml", *options, "word")
    assert (done.status, done.out) == (0, f"{ID}\n"), done.err
    assert _sent(master)["config"] == {
        "entrypoint": ["from", "file"],
        "environment": {"environment_variables": ["C=d"]},
        "bind_mounts": [{"host_path": "/data", "container_path": "data"}],
    }


def test_files_are_sent_and_a_link_among_them_is_followed(det: Det, master: SmallMaster, surroundings: Path) -> None:
    (surroundings / "context").mkdir()
    (surroundings / "context" / "a.py").write_text("a")
    (surroundings / "context" / "link.py").symlink_to("a.py")
    (surroundings / "startup-hook.sh").write_text("true")
    done = det("cmd", "run", "-d", "-c", "context", "-i", "startup-hook.sh", "--template", "t", "true")
    assert done.status == 0, done.err
    sent = _sent(master)
    assert {one["path"] for one in sent["files"]} >= {"a.py", "link.py", "startup-hook.sh"}
    assert sent["templateName"] == "t"


def test_wrong_command_lines_are_refused_before_anything_is_sent(det: Det, master: SmallMaster) -> None:
    for words, text in (
        (["run"], "name what to run"),
        (["run", "-v", "nocolon", "true"], "could not read volume option 'nocolon'"),
        (["run", "-c", "non-existent-path", "true"], "'non-existent-path' doesn't exist"),
        (["run", "--config-file", "none.yaml", "true"], "none.yaml"),
    ):
        done = det("cmd", *words)
        assert (done.status != 0, text in done.err) == (True, True), (words, done.err)
    assert not any(method == "POST" and path.endswith("commands") for method, path, _, _ in master.asked)


def test_list_shows_own_commands_or_all(det: Det, master: SmallMaster) -> None:
    lost = _task(id=OTHER, state="STATE_TERMINATED", exitStatus="allocation exited successfully", workspaceId=9)
    master.answers["GET", "/api/v1/commands"] = page("commands", _task(), lost)
    done = det("cmd", "list", "--csv")
    header, first, second = done.out.splitlines()
    assert header == "id,username,description,state,exitStatus,resourcePool,workspaceName"
    assert first == f"{ID},ann,Command (a-b-c),RUNNING,N/A,default,Home"
    assert second.endswith("TERMINATED,allocation exited successfully,default,missing workspace id 9")
    assert any("commands?" in path and "users=determined" in path for path in master.paths())
    master.asked.clear()
    assert det("cmd", "list", "-a").status == 0
    assert not any("users=" in path for path in master.paths())
    assert det("cmd", "ls", "-q").out.splitlines() == [ID, OTHER]


def test_list_and_describe_as_json_have_a_short_state_and_the_name_of_the_workspace(
    det: Det, master: SmallMaster
) -> None:
    master.answers["GET", "/api/v1/commands"] = page("commands", _task())
    [listed] = json.loads(det("cmd", "list", "--json").out)
    assert (listed["state"], listed["workspaceName"], listed["resourcePool"]) == ("RUNNING", "Home", "default")
    assert json.loads(det("cmd", "describe", ID, "--json").out) == listed


def test_describe_prints_one_row(det: Det, master: SmallMaster) -> None:
    assert len(det("cmd", "describe", ID).out.splitlines()) == 3
    assert len(det("cmd", "describe", ID, "--csv").out.splitlines()) == 2


def test_config_prints_yaml_or_json(det: Det, master: SmallMaster) -> None:
    assert det("cmd", "config", ID).out == "entrypoint:\n- a\n"
    assert json.loads(det("cmd", "config", ID, "--json").out) == {"entrypoint": ["a"]}


def test_kill_stops_at_the_first_error_and_goes_on_if_forced(det: Det, master: SmallMaster) -> None:
    master.answers["POST", f"/api/v1/commands/{ID}/kill"] = (200, {"command": _task()})
    master.answers["POST", f"/api/v1/commands/{OTHER}/kill"] = error(404, "not_found", f"command '{OTHER}' not found")
    done = det("cmd", "kill", ID, OTHER, ID)
    assert (done.status, done.out) == (1, f"Killed command {ID}\n")
    assert f"Cowardly not killing {ID}" in done.err and f"command '{OTHER}' not found" in done.err
    forced = det("cmd", "kill", "-f", OTHER, ID)
    assert (forced.status, forced.out) == (0, f"Killed command {ID}\n")
    assert "Skipping: " in forced.err and "(NotFound)" in forced.err


def test_a_priority_is_set(det: Det, master: SmallMaster) -> None:
    path = f"/api/v1/commands/{ID}/set_priority"
    master.answers["POST", path] = (200, {"command": _task()})
    assert det("cmd", "set", "priority", ID, "7").out == f"Set priority of command {ID} to 7\n"
    assert _sent(master, path)["priority"] == 7


def test_logs_end_with_the_hint_and_take_one_of_head_tail_and_follow(det: Det, master: SmallMaster) -> None:
    done = det("cmd", "logs", ID, "-f")
    assert (done.status, "hello" in done.out, done.out.splitlines()[-1]) == (0, True, ENDED)
    assert det("cmd", "logs", ID, "--head", "1", "--tail", "1").status == 2
    unknown = "00000000-0000-0000-0000-000000000000"
    master.answers["GET", f"/api/v1/tasks/{unknown}/logs"] = error(404, "not_found", f"task '{unknown}' not found")
    missing = det("cmd", "logs", unknown)
    assert (missing.status, "not found" in missing.err) == (1, True)
