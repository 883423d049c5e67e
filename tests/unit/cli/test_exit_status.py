"""How a command that fails ends: one line that says what failed and why, and a status that scripts can tell apart."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from recorded_master import Det, error, experiment, page, workspace
from small_master import SmallMaster

from determined.api import experiment as experiment_api
from determined.api import workspace as workspace_api
from determined.cli.log_follow import FollowingEnded

EXPERIMENT = ("GET", "/api/v1/experiments/1")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (error(404, "not_found", "experiment 1 not found"), "experiment 1 not found"),
        (error(400, "invalid_argument", "a bad value"), "a bad value"),
        (error(400, "failed_precondition", "it is archived"), "it is archived"),
        (error(409, "conflict", "somebody changed it"), "somebody changed it"),
        (error(410, "gone", "a stale run"), "a stale run"),
        (error(413, "too_large", "over 95 MiB"), "over 95 MiB"),
        (error(429, "too_many_requests", "wait"), "wait"),
        (error(403, "forbidden", "not yours"), "not yours"),
        (error(401, "unauthenticated", "the session has ended"), "the session has ended"),
        (error(500, "internal", "a bug of ours"), "a bug of ours"),
        ((418, {"message": "older masters say it so"}), "older masters say it so"),
        ((404, b"<html>"), "something else is listening there"),
        ((200, b"<html>"), "as a Determined master does (its answer is not JSON)"),
        ((200, {"experiment": {"id": "x"}}), "check the address given with -m or DET_MASTER"),
    ],
)
def test_error_of_the_master_is_one_line_with_the_command_in_it(
    det: Det, master: SmallMaster, answer: Any, said: str
) -> None:
    master.answers[EXPERIMENT] = answer
    done = det("e", "config", "1")
    assert (done.status, done.out) == (1, "")
    assert done.err.startswith("Failed to display experiment config: ") and said in done.err
    assert len(done.err.splitlines()) == 1


def test_refusal_for_lack_of_rights_says_how_an_administrator_would_do_it(det: Det, master: SmallMaster) -> None:
    master.answers[EXPERIMENT] = error(403, "forbidden", "only an administrator may")
    assert det("e", "config", "1").err.endswith(
        "only an administrator may. On a master of your own: det -u admin ...\n"
    )


def test_every_line_of_a_faulty_config_is_shown(det: Det, master: SmallMaster) -> None:
    text = "invalid experiment configuration\n<config>.a: wrong\n<config>.b: wrong too"
    master.answers[EXPERIMENT] = error(400, "invalid_config", text)
    assert det("e", "config", "1").err.splitlines()[1:] == ["<config>.a: wrong", "<config>.b: wrong too"]


def test_message_of_a_master_does_nothing_to_the_terminal(det: Det, master: SmallMaster) -> None:
    master.answers[EXPERIMENT] = error(404, "not_found", "no \x1b]0;PWNED\x07 here")
    done = det("e", "config", "1", watched=True)
    assert done.err == "\x1b[31mFailed to display experiment config: no \\x1b]0;PWNED\\x07 here\x1b[0m\n"


def test_error_without_words_is_called_by_its_kind(det: Det, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(experiment_api, "get", _raising(TimeoutError()))
    assert det("e", "config", "1").err == "Failed to display experiment config: TimeoutError\n"


def test_fault_of_ours_is_told_with_its_traceback(det: Det, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workspace_api, "iterate", _raising(KeyError("columns")))
    done = det("w", "list")
    assert done.status == 1
    assert "Traceback (most recent call last)" in done.err
    assert done.err.splitlines()[-1] == "Failed to list workspaces: 'columns'"


@pytest.mark.parametrize(("value", "shown"), [("1", True), ("TRUE", True), ("0", False), ("", False)])
def test_debug_variable_shows_the_traceback_of_any_error(
    det: Det, monkeypatch: pytest.MonkeyPatch, value: str, shown: bool
) -> None:
    monkeypatch.setenv("DET_DEBUG", value)
    done = det("e", "config", "77")
    assert ("Traceback" in done.err) is shown
    assert done.err.splitlines()[-1].startswith("Failed to display experiment config: no ")


def test_interrupt_ends_with_3_and_no_traceback(det: Det, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workspace_api, "iterate", _raising(KeyboardInterrupt()))
    done = det("w", "list")
    assert (done.status, done.out, done.err) == (3, "", "Interrupting...\n")


def test_interrupt_that_was_answered_has_no_second_line(det: Det, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workspace_api, "iterate", _raising(FollowingEnded()))
    done = det("w", "list")
    assert (done.status, done.out, done.err) == (3, "", "")


def test_file_that_cannot_be_read_is_named(det: Det, master: SmallMaster) -> None:
    done = det("w", "create", "lab", "--checkpoint-storage-config-file", "none.yaml")
    assert (done.status, "none.yaml" in done.err) == (1, True)
    assert "Traceback" not in done.err


def _raising(what: BaseException) -> Any:
    def fail(*_: Any, **__: Any) -> Any:
        raise what

    return fail


@pytest.fixture
def many(master: SmallMaster) -> SmallMaster:
    master.answers["GET", "/api/v1/workspaces"] = page("workspaces", workspace(1, "größe \u4f60"), workspace(2, "b"))
    return master


def _started(master: SmallMaster, surroundings: Path, stdout: Any, *words: str, **variables: str) -> tuple[int, str]:
    # What is printed must wait in a buffer, as it does where nobody has switched that off.
    environment = {**os.environ, "PYTHONUNBUFFERED": "", "DET_MASTER": master.url, **variables}
    command = [sys.executable, "-m", "determined.cli", *words]
    done = subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE, text=True, env=environment, check=False)
    return done.returncode, done.stderr


@pytest.mark.parametrize("words", [["w", "list"], ["w", "list", "--json"], ["--help"], ["w", "list", "--help"]])
def test_reader_that_left_before_the_output_came_is_no_error(
    many: SmallMaster, surroundings: Path, words: list[str]
) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        assert _started(many, surroundings, writer, *words) == (0, "")
    finally:
        os.close(writer)


def test_full_disk_is_told_once_and_ends_with_1(many: SmallMaster, surroundings: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    with Path("/dev/full").open("w") as full:
        status, said = _started(many, surroundings, full, "w", "list")
    assert status == 1
    assert "No space left on device" in said and "Exception ignored" not in said


def test_name_that_the_output_cannot_encode_is_escaped(many: SmallMaster, surroundings: Path) -> None:
    target = surroundings / "out"
    with target.open("w") as out:
        status, said = _started(many, surroundings, out, "w", "list", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert (status, said) == (0, "")
    assert "gr\\xf6\\xdfe \\u4f60" in target.read_text()


def test_closed_output_is_no_error(many: SmallMaster, surroundings: Path) -> None:
    command = f"{sys.executable} -m determined.cli w list >&-"
    environment = {**os.environ, "DET_MASTER": many.url}
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, env=environment, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_several_experiments_are_described_only_if_all_are_there(det: Det, master: SmallMaster) -> None:
    master.answers[EXPERIMENT] = (200, {"experiment": experiment()})
    done = det("e", "describe", "1,2")
    assert (done.status, done.out) == (1, "")
    assert "/api/v1/experiments/2" in done.err
