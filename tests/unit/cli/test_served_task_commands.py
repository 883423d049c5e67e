"""det notebook and det tensorboard: what they send, and the lines that scripts look for."""

import json
import re
from typing import Any

import pytest
from recorded_master import TIME, Det, error, page, workspace
from small_master import SmallMaster

from determined.cli import environment, private_link

ID = "0a1b2c3d-0000-4000-8000-000000000001"


def _task(**changes: Any) -> dict[str, Any]:
    fields = {
        "id": ID, "description": "JupyterLab (a-b-c)", "jobId": "j", "resourcePool": "default", "startTime": TIME,
        "state": "STATE_RUNNING", "username": "determined", "workspaceId": 1, "isReady": True,
        "serviceAddress": f"/proxy/{ID}/?token=secret",
    }  # fmt: skip
    return fields | changes


def _answer(master: SmallMaster, noun: str, *turns: dict[str, Any]) -> None:
    """Answers of a launch, and of each look at the task after it."""
    launched = _task(isReady=False, state="STATE_QUEUED")
    master.answers["POST", f"/api/v1/{noun}s"] = (200, {noun: launched, "config": {"description": "d"}})
    looks = [(200, {noun: turn, "config": {}}) for turn in turns or [_task()]]
    master.answers["GET", f"/api/v1/{noun}s/{ID}"] = looks


def _sent(master: SmallMaster, path: str) -> dict[str, Any]:
    sent: dict[str, Any] = next(
        json.loads(raw) for method, to, _, raw in master.asked if (method, to) == ("POST", path)
    )
    return sent


def test_notebook_start_waits_and_says_where_it_is(det: Det, master: SmallMaster) -> None:
    _answer(master, "notebook", _task(isReady=False), _task())
    done = det("notebook", "start", "--config", "resources.slots=2", "--no-browser")
    assert done.status == 0, done.err
    first, *rest = done.out.splitlines()
    assert re.fullmatch(r"Launched .* \(id: (.*), name: (.*)\)\.", first)
    assert rest == [
        f"Jupyter Notebook is running at: {master.url}/det/tasks/{ID}",
        f"Connect to remote Jupyter server: {master.url}/proxy/{ID}/?token=secret",
    ]
    assert _sent(master, "/api/v1/notebooks")["config"] == {"resources": {"slots": 2}}


def test_address_with_a_token_comes_with_a_warning(det: Det, master: SmallMaster) -> None:
    _answer(master, "notebook")
    assert "without a login. Do not pass it on." in det("notebook", "start", "--no-browser").err


def test_a_detached_start_prints_the_id_alone(det: Det, master: SmallMaster) -> None:
    for noun, words in (("notebook", []), ("tensorboard", ["1"])):
        _answer(master, noun)
        done = det(noun, "start", *words, "-d")
        assert (done.status, done.out) == (0, f"{ID}\n"), done.err


def test_a_preview_prints_the_config_and_asks_for_nothing_else(det: Det, master: SmallMaster) -> None:
    _answer(master, "notebook")
    done = det("notebook", "start", "--preview", "--template", "t")
    assert (done.status, done.out) == (0, "description: d\n"), done.err
    sent = _sent(master, "/api/v1/notebooks")
    assert (sent["preview"], sent["templateName"]) == (True, "t")


def test_a_preview_says_what_comes_from_the_template(det: Det, master: SmallMaster) -> None:
    body = {"notebook": _task(), "config": {"debug": True}, "fromTemplate": ["debug", "resources.weight"]}
    master.answers["POST", "/api/v1/notebooks"] = (200, body)
    done = det("notebook", "start", "--preview", "--template", "t")
    assert done.out == "# from template t: debug, resources.weight\ndebug: true\n"


def test_tensorboard_start_names_experiments_and_trials(det: Det, master: SmallMaster) -> None:
    _answer(master, "tensorboard", _task(state="STATE_WAITING"))
    done = det("tensorboard", "start", "3", "1", "-t", "7", "8", "--no-browser", "--config", "tensorboard_args=[--x=1]")
    assert done.status == 0, done.err
    assert done.out.splitlines()[-1] == f"Tensorboard is running at: {master.url}/det/tasks/{ID}"
    sent = _sent(master, "/api/v1/tensorboards")
    assert (sent["experimentIds"], sent["trialIds"]) == ([3, 1], [7, 8])
    assert sent["config"] == {"tensorboard_args": ["--x=1"]}


def test_tensorboard_start_without_a_source_is_a_wrong_command_line(det: Det, master: SmallMaster) -> None:
    done = det("tensorboard", "start")
    assert done.status == 2
    assert "Either experiment_ids or trial_ids must be specified." in done.err


def test_a_task_that_ends_before_it_is_ready_fails_the_start(det: Det, master: SmallMaster) -> None:
    ended = _task(isReady=False, state="STATE_TERMINATED", endTime=TIME, exitStatus="resources failed")
    _answer(master, "tensorboard", ended)
    done = det("tensorboard", "start", "1")
    assert done.status == 1
    assert "Waiting stopped: task has been terminated." in done.err and f"det tensorboard logs {ID}" in done.err


def test_task_that_was_killed_before_it_was_ready_is_not_said_to_have_succeeded(det: Det, master: SmallMaster) -> None:
    status = "allocation exited successfully"
    _answer(master, "notebook", _task(isReady=False, state="STATE_TERMINATED", endTime=TIME, exitStatus=status))
    done = det("notebook", "start")
    assert done.status == 1
    assert "it was killed or left before it was ready" in done.err and "successfully" not in done.err


@pytest.mark.parametrize(("noun", "title"), [("notebook", "Notebook"), ("tensorboard", "Tensorboard")])
def test_an_ended_task_is_not_opened(det: Det, master: SmallMaster, noun: str, title: str) -> None:
    _answer(master, noun, _task(state="STATE_TERMINATED", endTime=TIME))
    done = det(noun, "open", ID)
    assert done.status == 1
    assert f"{title} has ended" in done.err


@pytest.mark.parametrize("noun", ["notebook", "tensorboard"])
def test_open_starts_a_browser_that_is_signed_in(
    det: Det, master: SmallMaster, noun: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(environment, "has_screen", lambda: True)
    monkeypatch.setattr(private_link, "open_browser", opened.append)
    master.answers["POST", "/api/v1/auth/link"] = (200, {"code": "c0de", "expiresAt": TIME})
    _answer(master, noun)
    done = det(noun, "open", ID)
    assert (done.status, done.out) == (0, f"{master.url}/det/tasks/{ID}\n"), done.err
    assert opened == [f"{master.url}/det/login?redirect=/det/tasks/{ID}#code=c0de"]


def _record(det: Det, master: SmallMaster, *words: str) -> dict[str, Any]:
    """The answer of a command with --json: nothing else is on its standard output."""
    master.answers["GET", "/api/v1/workspaces"] = page("workspaces", workspace(1, "Home"))
    done = det(*words, "--json")
    assert done.status == 0, done.err
    record: dict[str, Any] = json.loads(done.out)
    return record


@pytest.mark.parametrize(("noun", "words"), [("notebook", []), ("tensorboard", ["1"])])
def test_start_prints_the_ready_task_as_json(
    det: Det, master: SmallMaster, noun: str, words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(environment, "has_screen", lambda: pytest.fail("a script wants no browser"))
    _answer(master, noun, _task(isReady=False), _task())
    record = _record(det, master, noun, "start", *words)
    assert (record["id"], record["state"], record["isReady"]) == (ID, "RUNNING", True)
    assert (record["workspaceName"], record["address"]) == ("Home", f"{master.url}/det/tasks/{ID}")


@pytest.mark.parametrize(("noun", "words"), [("notebook", []), ("tensorboard", ["1"]), ("shell", [])])
def test_detached_start_prints_the_queued_task_as_json(
    det: Det, master: SmallMaster, noun: str, words: list[str]
) -> None:
    _answer(master, noun)
    if noun == "shell":
        launched = _task(state="STATE_QUEUED", privateKey="secret")
        master.answers["POST", "/api/v1/shells"] = (200, {"shell": launched, "config": {}})
    record = _record(det, master, noun, "start", *words, "-d")
    assert (record["id"], record["state"], "privateKey" in record) == (ID, "QUEUED", False)


def test_shell_start_prints_json_only_where_no_session_is_opened(det: Det, master: SmallMaster) -> None:
    done = det("shell", "start", "--json")
    assert (done.status, done.out, master.asked) == (2, "", [])
    assert "add --detach" in done.err


def test_preview_can_be_json(det: Det, master: SmallMaster) -> None:
    _answer(master, "notebook")
    assert _record(det, master, "notebook", "start", "--preview") == {"description": "d"}


@pytest.mark.parametrize("noun", ["notebook", "tensorboard"])
def test_open_prints_the_task_as_json_and_starts_no_browser(
    det: Det, master: SmallMaster, noun: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(environment, "has_screen", lambda: pytest.fail("a script wants no browser"))
    _answer(master, noun)
    record = _record(det, master, noun, "open", ID)
    assert (record["id"], record["address"]) == (ID, f"{master.url}/det/tasks/{ID}")


@pytest.mark.parametrize("noun", ["notebook", "tensorboard"])
def test_share_prints_the_link_and_warns_whose_rights_it_carries(det: Det, master: SmallMaster, noun: str) -> None:
    master.answers["POST", f"/api/v1/tasks/{ID}/share"] = (200, {"address": f"/proxy/{ID}/?share=s3cret"})
    done = det(noun, "share", ID)
    assert (done.status, done.out) == (0, f"{master.url}/proxy/{ID}/?share=s3cret\n"), done.err
    assert f"Whoever has this link uses the {noun} as you do, without a login." in done.err
    assert f"det {noun} unshare {ID}" in done.err
    record = _record(det, master, noun, "share", ID)
    assert record == {"id": ID, "address": f"{master.url}/proxy/{ID}/?share=s3cret"}


@pytest.mark.parametrize("noun", ["notebook", "tensorboard"])
def test_unshare_withdraws_the_link(det: Det, master: SmallMaster, noun: str) -> None:
    master.answers["DELETE", f"/api/v1/tasks/{ID}/share"] = (200, {})
    done = det(noun, "unshare", ID)
    assert (done.status, done.out) == (0, f"Withdrew the link to {noun} {ID}\n"), done.err
    assert f"DELETE /api/v1/tasks/{ID}/share" in master.paths()


@pytest.mark.parametrize("noun", ["notebook", "tensorboard"])
@pytest.mark.parametrize(("verb", "method"), [("share", "POST"), ("unshare", "DELETE")])
def test_refusal_to_share_is_printed(det: Det, master: SmallMaster, noun: str, verb: str, method: str) -> None:
    refusal = error(403, "permission_denied", f"task {ID} belongs to ann: its owner and administrators can share it")
    master.answers[method, f"/api/v1/tasks/{ID}/share"] = refusal
    done = det(noun, verb, ID)
    assert (done.status, done.out) == (1, "")
    assert "its owner and administrators can share it" in done.err
