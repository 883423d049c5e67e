"""det notebook and det tensorboard: what they send, and the lines that scripts look for."""

import json
import re
from typing import Any

import pytest
from recorded_master import TIME, Det
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
