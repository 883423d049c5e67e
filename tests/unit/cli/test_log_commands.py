"""Logs on the terminal and in pipes: filters, the last lines, JSON, colours, and following to the end."""

import json
import os
import signal
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from recorded_master import Det, error, experiment, log, page, stream, trial
from small_master import SmallMaster

LOGS = ("GET", "/api/v1/trials/1/logs")
RED = "\x1b[31mred\x1b[0m\n"


def _query(master: SmallMaster) -> dict[str, list[str]]:
    target = next(target for _, target, _, _ in reversed(master.asked) if "/logs" in target)
    return parse_qs(urlsplit(target).query)


@pytest.mark.parametrize(
    ("flags", "asked"),
    [
        ([], {}),
        (["--head", "3"], {"limit": ["3"]}),
        (["--tail", "3"], {"limit": ["3"], "orderBy": ["ORDER_BY_DESC"]}),
        (["--level", "UNSPECIFIED"], {}),
        (["--level", "ERROR"], {"levels": ["LOG_LEVEL_ERROR", "LOG_LEVEL_CRITICAL"]}),
        (["--rank-id", "0", "--rank-id", "3"], {"rankIds": ["0", "3"]}),
        (["--agent-id", "a", "--container-id", "c"], {"agentIds": ["a"], "containerIds": ["c"]}),
        (["--source", "task", "--stdtype", "stderr"], {"sources": ["task"], "stdtypes": ["stderr"]}),
        (["--search", "a b&c", "--regex"], {"searchText": ["a b&c"], "enableRegex": ["true"]}),
        (["--timestamp-after", "T1"], {"timestampAfter": ["T1"]}),
        (["--timestamp-before", "T2"], {"timestampBefore": ["T2"]}),
    ],
)
def test_filters_reach_the_master(det: Det, master: SmallMaster, flags: list[str], asked: dict[str, list[str]]) -> None:
    master.answers[LOGS] = stream()
    assert det("t", "logs", "1", *flags).status == 0
    assert _query(master) == asked


def test_every_level_from_the_named_one_up_is_asked_for(det: Det, master: SmallMaster) -> None:
    master.answers[LOGS] = stream()
    det("t", "logs", "1", "--level", "TRACE")
    levels = ["TRACE", "DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"]
    assert _query(master)["levels"] == [f"LOG_LEVEL_{level}" for level in levels]


def test_last_lines_are_printed_oldest_first(det: Det, master: SmallMaster) -> None:
    master.answers[LOGS] = stream(log("third\n"), log("second\n"))
    assert det("t", "logs", "1", "--tail", "2").out == "second\nthird\n"


def test_json_is_an_object_a_line_with_control_characters_escaped(det: Det, master: SmallMaster) -> None:
    master.answers[LOGS] = stream(log("a\u202e\n", rankId=3), log("b\n"))
    lines = det("t", "logs", "1", "--json").out.splitlines()
    assert [json.loads(line)["message"] for line in lines] == ["a\u202e\n", "b\n"]
    assert json.loads(lines[0])["rankId"] == 3 and "\u202e" not in lines[0]


def test_colours_of_a_program_are_for_those_who_watch(det: Det, master: SmallMaster) -> None:
    master.answers[LOGS] = stream(log(RED))
    assert det("t", "logs", "1").out == "red\n"
    assert det("t", "logs", "1", watched=True).out == "\x1b[31mred\x1b[0m\x1b[0m\n"


def test_log_without_lines_prints_nothing(det: Det, master: SmallMaster) -> None:
    master.answers[LOGS] = stream()
    done = det("t", "logs", "1")
    assert (done.status, done.out, done.err) == (0, "", "")


def test_followed_log_ends_with_how_to_look_again(det: Det, master: SmallMaster) -> None:
    master.answers[LOGS] = stream(log("one\n"))
    assert det("t", "logs", "1", "-f").out.splitlines() == [
        "one",
        "Trial log stream ended. To reopen log stream, run: det trial logs -f 1",
    ]
    assert _query(master)["follow"] == ["true"]
    assert "\x1b[32mTrial log stream ended." in det("t", "logs", "1", "-f", watched=True).out


def test_followed_json_has_no_words_of_ours_in_it(det: Det, master: SmallMaster) -> None:
    master.answers[LOGS] = stream(log("one\n"))
    (line,) = det("t", "logs", "1", "-f", "--json").out.splitlines()
    assert json.loads(line)["message"] == "one\n"


def test_task_log_is_filtered_by_allocation_and_named_in_the_end(det: Det, master: SmallMaster) -> None:
    entry = {**log("one\n"), "taskId": "t.1"}
    master.answers["GET", "/api/v1/tasks/t.1/logs"] = stream(entry)
    done = det("task", "logs", "t.1", "-f", "--allocation-id", "a.1", "--allocation-id", "a.2")
    assert done.out.splitlines()[-1] == "Task log stream ended. To reopen log stream, run: det task logs -f t.1"
    assert _query(master)["allocationIds"] == ["a.1", "a.2"]


def test_error_in_the_middle_of_a_log_ends_the_command_after_what_came(det: Det, master: SmallMaster) -> None:
    wrong = json.dumps({"error": {"reason": "invalid_argument", "error": "bad pattern"}}).encode()
    master.answers[LOGS] = (200, stream(log("one\n"))[1] + wrong)
    done = det("t", "logs", "1")
    assert (done.status, done.out) == (1, "one\n")
    assert done.err == "Failed to fetch trial logs: bad pattern\n"


def test_log_of_an_experiment_is_that_of_its_first_trial(det: Det, master: SmallMaster) -> None:
    master.answers["GET", "/api/v1/experiments/5/trials"] = page("trials", trial(1))
    master.answers[LOGS] = stream(log("one\n"))
    assert det("e", "logs", "5").out == "one\n"
    master.answers["GET", "/api/v1/experiments/5/trials"] = page("trials")
    done = det("e", "logs", "5")
    assert (done.status, done.err) == (1, "Failed to fetch experiment logs: experiment 5 has no trial yet\n")


def _away() -> Any:
    return error(503, "unavailable", "shutting down")


def test_followed_log_goes_on_after_its_master_came_back_with_each_line_once(
    det: Det, master: SmallMaster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)
    info = master.answers["GET", "/info"]
    first = stream(log("one\n"), log("two\n"))
    again = stream(log("one\n"), log("two\n"), log("three\n"))
    master.answers[LOGS] = [first, again]
    master.answers["GET", "/info"] = [info, _away(), _away(), info]  # greeting, looks, and then it is back
    done = det("t", "logs", "1", "-f")
    assert done.status == 0
    assert done.out.splitlines()[:-1] == ["one", "two", "three"]
    assert done.err.count("The master went away; waiting for it to come back") == 1


def test_log_that_is_not_followed_does_not_wait_for_a_master(
    det: Det, master: SmallMaster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)
    master.answers[LOGS] = _away()
    done = det("t", "logs", "1")
    assert (done.status, done.err) == (1, "Failed to fetch trial logs: shutting down\n")


def test_master_that_stays_away_is_given_up(det: Det, master: SmallMaster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("determined.cli.log_follow._PATIENCE_SECONDS", -1.0)
    info = master.answers["GET", "/info"]
    master.answers[LOGS] = stream(log("one\n"))
    master.answers["GET", "/info"] = [info, _away()]
    done = det("t", "logs", "1", "-f")
    assert done.status == 1
    assert "did not come back; look again once it has" in done.err


def test_interrupt_ends_the_looking_and_says_how_to_go_on(det: Det, master: SmallMaster) -> None:
    def press() -> Any:
        os.kill(os.getpid(), signal.SIGINT)
        return stream(log("one\n"))

    master.answers[LOGS] = press
    done = det("t", "logs", "1", "-f")
    assert done.status == 3
    assert "It goes on without you. To reopen log stream, run: det trial logs -f 1" in done.err


def test_interrupt_while_the_first_trial_is_awaited_names_the_experiment(det: Det, master: SmallMaster) -> None:
    def press() -> Any:
        os.kill(os.getpid(), signal.SIGINT)
        return page("trials")

    master.answers["POST", "/api/v1/experiments/continue"] = (200, {"experiment": experiment(4)})
    master.answers["GET", "/api/v1/experiments/4/trials"] = press
    done = det("e", "continue", "4", "-f")
    assert (done.status, done.out.splitlines()[-1]) == (3, "Waiting for first trial to begin...")
    assert "det experiment logs -f 4" in done.err


def test_master_log_is_asked_for_from_its_end(det: Det, master: SmallMaster) -> None:
    entry = {"id": 1, "level": "LOG_LEVEL_WARNING", "message": "slow\x1b[2J", "timestamp": "T"}
    master.answers["GET", "/api/v1/master/logs"] = stream({"logEntry": entry})
    assert det("master", "logs", "--tail", "5").out == "T [warning]: slow\\x1b[2J\n"
    assert (_query(master)["limit"], _query(master)["offset"]) == (["5"], ["-5"])
    det("master", "logs")
    assert "limit" not in _query(master) and "offset" not in _query(master)
