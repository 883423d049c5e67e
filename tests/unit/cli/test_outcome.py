"""How the end of an experiment is told: status 0 for success, else one block with the cause and the next command."""

from typing import Any

import pytest
from recorded_master import Det, error, experiment, log, page, stream, trial
from small_master import SmallMaster

from determined.rundir.failure_cause import Cause

CAUSE = Cause("ValueError: bad", "train.py, line 3: go()", "raised from KeyError: 'x'", "add the key")


def _record(master: SmallMaster, state: str, *, trial_state: str | None = None, **changes: Any) -> None:
    """Experiment 1 with trial 8, or with none."""
    trials = [] if trial_state is None else [trial(8, state=f"STATE_{trial_state}", taskId="8.t")]
    one = experiment(state=f"STATE_{state}", **changes)
    master.answers["GET", "/api/v1/experiments/1"] = (200, {"experiment": one})
    failed = trials if trial_state == "ERROR" else []
    master.answers["GET", "/api/v1/experiments/1/trials"] = [page("trials", *trials), page("trials", *failed)]
    if trials:
        master.answers["GET", "/api/v1/trials/8"] = (200, {"trial": trials[0]})


def _record_end(master: SmallMaster, cause: Cause) -> None:
    ended = {"allocationId": "a", "slots": 1, "state": "STATE_TERMINATED", "taskId": "8.t"}
    newest = ended | {"exitReason": f"node 0 (vm): {cause.with_end('the entrypoint exited with status 1')}"}
    earlier = ended | {"exitReason": "node 0 (vm): the entrypoint exited with status 9"}
    task = {"taskId": "8.t", "startTime": "2026-01-01T00:00:00Z", "taskType": "TASK_TYPE_TRIAL"}
    master.answers["GET", "/api/v1/tasks/8.t"] = (200, {"task": task | {"allocations": [newest, earlier]}})


def _block(text: str) -> dict[str, str]:
    """Title under "", and the parts by their names."""
    lines = [line for line in text.splitlines() if line]
    parts = dict(line.strip().split(":", 1) for line in lines[1:])
    return {"": lines[0], **{name: value.strip() for name, value in parts.items()}}


def test_completed_experiment_ends_with_0(det: Det, master: SmallMaster) -> None:
    _record(master, "COMPLETED")
    done = det("e", "wait", "1")
    assert (done.status, done.out, done.err) == (0, "Experiment 1 ended: COMPLETED\n", "")


def test_canceled_experiment_ends_with_1_and_how_to_run_it_again(det: Det, master: SmallMaster) -> None:
    _record(master, "CANCELED")
    done = det("e", "wait", "1")
    assert (done.status, done.out) == (1, "Experiment 1 ended: CANCELED\n")
    assert done.err == "Experiment 1 was canceled; to run it again: det e continue 1\n"


def test_waiting_goes_on_until_a_state_is_final(det: Det, master: SmallMaster) -> None:
    _record(master, "COMPLETED")
    answers = [(200, {"experiment": experiment(state=f"STATE_{s}")}) for s in ("QUEUED", "RUNNING", "STOPPING_ERROR")]
    master.answers["GET", "/api/v1/experiments/1"] = [*answers, master.answers["GET", "/api/v1/experiments/1"]]
    assert det("e", "wait", "1", "--polling-interval", "0").status == 0
    assert master.paths().count("GET /api/v1/experiments/1") == 4


BLOCK = {
    "what": CAUSE.what,
    "where": CAUSE.where,
    "cause": CAUSE.likely,
    "fix": CAUSE.advice,
    "next": "det trial logs 8 --tail 50",
}
ENDED = {"": "Experiment 1 failed"} | BLOCK


def test_failure_is_told_by_what_where_cause_fix_and_next(det: Det, master: SmallMaster) -> None:
    _record(master, "ERROR", trial_state="ERROR", error="every trial failed")
    _record_end(master, CAUSE)
    done = det("e", "wait", "1")
    assert (done.status, _block(done.err)) == (1, ENDED)


def test_description_of_a_failed_experiment_says_the_same(det: Det, master: SmallMaster) -> None:
    _record(master, "ERROR", trial_state="ERROR", error="every trial failed")
    _record_end(master, CAUSE)
    master.answers["GET", "/api/v1/trials/8/workloads"] = page("workloads")
    shown = det("e", "describe", "1").out
    assert _block(shown[shown.index("Experiment 1 failed") : shown.index("\nTrials")]) == ENDED


def test_description_of_a_failed_trial_says_the_same(det: Det, master: SmallMaster) -> None:
    _record(master, "ERROR", trial_state="ERROR", error="every trial failed")
    _record_end(master, CAUSE)
    master.answers["GET", "/api/v1/trials/8/workloads"] = page("workloads")
    shown = det("t", "describe", "8").out
    assert _block(shown[shown.index("Trial 8 failed") : shown.index("\nWorkloads")]) == {"": "Trial 8 failed"} | BLOCK
    assert "failed" not in det("t", "describe", "8", "--csv").out


def test_completed_search_tells_how_many_of_its_trials_failed(det: Det, master: SmallMaster) -> None:
    _record(master, "COMPLETED", trial_state="ERROR", searcherType="random")
    trials = [trial(n, state=f"STATE_{state}") for n, state in enumerate(["ERROR", "COMPLETED", "ERROR", "ERROR"])]
    master.answers["GET", "/api/v1/experiments/1/trials"] = page("trials", *trials)
    done = det("e", "wait", "1")
    assert (done.status, done.out) == (0, "Experiment 1 ended: COMPLETED; 3 of 4 trials failed\n")


def test_failure_without_a_run_is_told_by_the_reason_of_the_experiment(det: Det, master: SmallMaster) -> None:
    _record(master, "ERROR", trial_state="ERROR", error="its checkpoint storage is full")
    master.answers["GET", "/api/v1/tasks/8.t"] = error(404, "not_found", "the task is gone")
    block = _block(det("e", "wait", "1").err)
    assert (block[""], block["what"]) == ("Experiment 1 failed", "its checkpoint storage is full")
    assert block["next"] == "det trial logs 8 --tail 50" and "cause" not in block


def test_failure_before_any_trial_leads_to_the_experiment(det: Det, master: SmallMaster) -> None:
    _record(master, "ERROR", error="the search has no points")
    block = _block(det("e", "wait", "1").err)
    assert block == {"": "Experiment 1 failed", "what": "the search has no points", "next": "det e describe 1"}


def test_reason_of_the_experiment_is_the_cause_where_the_trial_has_none(det: Det, master: SmallMaster) -> None:
    _record(master, "ERROR", trial_state="ERROR", error="the storage refused a checkpoint")
    _record_end(master, Cause("CustomError: of mine"))
    block = _block(det("e", "wait", "1").err)
    assert (block["what"], block["cause"]) == ("CustomError: of mine", "the storage refused a checkpoint")
    assert "fix" not in block


def test_title_is_red_for_those_who_watch(det: Det, master: SmallMaster) -> None:
    _record(master, "ERROR", error="x")
    assert "\x1b[31m\nExperiment 1 failed\x1b[0m" in det("e", "wait", "1", watched=True).err


def _continued(master: SmallMaster) -> None:
    master.answers["POST", "/api/v1/experiments/continue"] = (200, {"experiment": experiment()})
    master.answers["GET", "/api/v1/trials/8/logs"] = stream(log("one\n", trialId=8))


def test_followed_success_ends_with_how_to_look_again(det: Det, master: SmallMaster) -> None:
    _record(master, "COMPLETED", trial_state="COMPLETED")
    _continued(master)
    done = det("e", "continue", "1", "-f")
    assert done.status == 0
    assert done.out.splitlines() == [
        "Continued experiment 1",
        "Waiting for first trial to begin...",
        "Following first trial with ID 8",
        "one",
        "Trial log stream ended. To reopen log stream, run: det trial logs -f 8",
    ]


def test_trial_that_fails_in_a_search_that_goes_on_is_told_and_is_no_failure(det: Det, master: SmallMaster) -> None:
    _record(master, "RUNNING", trial_state="ERROR", searcherType="random")
    _continued(master)
    done = det("e", "continue", "1", "-f")
    assert done.status == 0
    assert _block(done.err)[""] == "Trial 8 failed; experiment 1 goes on (RUNNING)"
    assert "log stream ended" not in done.out


def test_experiment_that_ends_before_its_first_trial_is_told(det: Det, master: SmallMaster) -> None:
    _record(master, "CANCELED")
    _continued(master)
    done = det("e", "continue", "1", "-f")
    assert done.status == 1
    assert done.err.splitlines() == [
        "Experiment 1 ended (CANCELED) before a trial began",
        "Experiment 1 was canceled; to run it again: det e continue 1",
    ]


def test_end_of_the_experiment_is_awaited_after_that_of_its_trial(det: Det, master: SmallMaster) -> None:
    """An experiment ends a moment after its only trial; the status must be that of the end."""
    _record(master, "ERROR", trial_state="ERROR", error="every trial failed")
    _continued(master)
    ended = master.answers["GET", "/api/v1/experiments/1"]
    running = (200, {"experiment": experiment(state="STATE_RUNNING")})
    stopping = (200, {"experiment": experiment(state="STATE_STOPPING_ERROR")})
    master.answers["GET", "/api/v1/experiments/1"] = [running, stopping, ended]
    assert det("e", "continue", "1", "-f").status == 1


@pytest.mark.parametrize("words", [["reproduce", "1"], ["fork", "1"]])
def test_experiment_made_from_another_is_named_with_its_page(det: Det, master: SmallMaster, words: list[str]) -> None:
    answer = (200, {"experiment": experiment(12), "config": {}, "messages": ["two keys have no effect"]})
    master.answers["GET", "/api/v1/experiments/1"] = (200, {"experiment": experiment()})
    master.answers["POST", "/api/v1/experiments"] = answer
    master.answers["POST", "/api/v1/experiments/1/reproduce"] = answer
    done = det("e", *words)
    assert (done.status, done.out) == (0, "Created experiment 12\n")
    assert done.err.splitlines() == ["Warning: two keys have no effect", f"  {master.url}/det/experiments/12"]


def test_experiment_that_waits_for_slots_is_warned_of(det: Det, master: SmallMaster) -> None:
    warnings = ["LAUNCH_WARNING_CURRENT_SLOTS_EXCEEDED"]
    master.answers["GET", "/api/v1/experiments/1"] = (200, {"experiment": experiment()})
    master.answers["POST", "/api/v1/experiments"] = (
        200,
        {"experiment": experiment(12), "config": {}, "warnings": warnings},
    )
    assert "asks for more slots than its pool has now, and waits for them: det job list" in det("e", "fork", "1").err
