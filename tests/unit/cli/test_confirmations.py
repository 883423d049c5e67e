"""Commands that destroy ask first: a person on a terminal answers, a script passes --yes, nobody else gets it done."""

import json

import pytest
from recorded_master import Det, page, project, workspace
from small_master import SmallMaster

# words, the request that does it, and what the question says
DESTROYING = [
    (["e", "delete", "3"], "DELETE /api/v1/experiments/3", "experiment 3 removes its checkpoints"),
    (["c", "delete", "u-1,u-2"], "DELETE /api/v1/checkpoints", "Delete 2 checkpoint(s)?"),
    (["c", "rm", "u-1", "--glob", "*.bin"], "POST /api/v1/checkpoints/rm", "matching ['*.bin'] from 1 checkpoint(s)?"),
    (["w", "delete", "lab"], "DELETE /api/v1/workspaces/7", "'lab' and its 2 project(s) and 3 experiment(s)"),
    (["p", "delete", "lab", "vision"], "DELETE /api/v1/projects/3", "'vision' and its 4 experiment(s)"),
    (
        ["e", "set", "gc-policy", "3", *(f"--save-{n}=1" for n in ("experiment-best", "trial-best", "trial-latest"))],
        "PATCH /api/v1/experiments/3",
        "deletes the checkpoints it no longer keeps",
    ),
]
IDS = [" ".join(words[:3]) for words, _, _ in DESTROYING]


@pytest.fixture(autouse=True)
def _answers(master: SmallMaster) -> None:
    master.answers["GET", "/api/v1/workspaces"] = page("workspaces", workspace(7, "lab"))
    master.answers["GET", "/api/v1/workspaces/7/projects"] = page("projects", project(3, "vision"))
    for _, request, _ in DESTROYING:
        method, path = request.split()
        master.answers[method, path] = (200, {"completed": False} if path[-2] == "/" else {})


@pytest.mark.parametrize(("words", "request_", "question"), DESTROYING, ids=IDS)
def test_without_a_terminal_nothing_is_destroyed_and_the_flag_is_named(
    det: Det, master: SmallMaster, words: list[str], request_: str, question: str
) -> None:
    done = det(*words, stdin="y\n")
    assert (done.status, done.out) == (1, "")
    assert question in done.err and "pass --yes" in done.err
    assert request_ not in master.paths()


@pytest.mark.parametrize("typed", ["n\n", "\n", "no\n", "yess\n", ""], ids=["n", "enter", "no", "typo", "ctrl-d"])
@pytest.mark.parametrize(("words", "request_", "question"), DESTROYING, ids=IDS)
def test_anything_but_yes_on_a_terminal_destroys_nothing(
    det: Det, master: SmallMaster, words: list[str], request_: str, question: str, typed: str
) -> None:
    done = det(*words, typed=typed)
    assert done.status == 1
    assert question in done.out and "[y/n]" in done.out
    assert "Traceback" not in done.err
    assert request_ not in master.paths()


@pytest.mark.parametrize("typed", ["y\n", " YES \n"])
@pytest.mark.parametrize(("words", "request_", "question"), DESTROYING, ids=IDS)
def test_yes_on_a_terminal_does_it(
    det: Det, master: SmallMaster, words: list[str], request_: str, question: str, typed: str
) -> None:
    assert det(*words, typed=typed).status == 0
    assert master.paths().count(request_) == 1


@pytest.mark.parametrize(("words", "request_", "question"), DESTROYING, ids=IDS)
def test_the_flag_does_it_without_a_question(
    det: Det, master: SmallMaster, words: list[str], request_: str, question: str
) -> None:
    done = det(*words, "--yes")
    assert done.status == 0
    assert question not in done.out + done.err
    assert master.paths().count(request_) == 1


def test_question_shows_control_characters_of_a_name(det: Det, master: SmallMaster) -> None:
    master.answers["GET", "/api/v1/workspaces"] = page("workspaces", workspace(7, "l\x1b[2Jab"))
    done = det("w", "delete", "l\x1b[2Jab", typed="n\n")
    assert "\x1b" not in done.out and "l\\x1b[2Jab" in done.out


@pytest.mark.parametrize(("completed", "said"), [(True, "Deleted workspace lab"), (False, "Started deletion of")])
def test_deletion_that_goes_on_in_the_master_is_not_told_as_done(
    det: Det, master: SmallMaster, completed: bool, said: str
) -> None:
    master.answers["DELETE", "/api/v1/workspaces/7"] = (200, {"completed": completed})
    assert said in det("w", "delete", "lab", "--yes").out


def test_named_checkpoints_and_patterns_are_sent_as_lists(det: Det, master: SmallMaster) -> None:
    done = det("c", "rm", "u-1,,u-2,", "--glob", "*.bin", "--glob", "logs/**", "--yes")
    assert done.out == "Removal of files from 2 checkpoint(s) is in progress\n"
    body = json.loads(next(body for method, _, _, body in master.asked if method == "POST" and b"Globs" in body))
    assert body == {"checkpointUuids": ["u-1", "u-2"], "checkpointGlobs": ["*.bin", "logs/**"]}
