"""`det run` before the program starts: which program, which project."""

from pathlib import Path

import pytest
from recorded_master import Det, error, page
from small_master import SmallMaster

from determined.api.session import Session
from determined.cli.commands.run import _project

WORKSPACE = {"id": 7, "errorMessage": "", "name": "team",
             "archived": False, "immutable": False, "numExperiments": 0, "numProjects": 0,
             "pinned": False, "state": "WORKSPACE_STATE_UNSPECIFIED", "userId": 1, "username": "a"}  # fmt: skip


def test_a_project_that_another_run_makes_meanwhile_is_taken(master: SmallMaster) -> None:
    made = error(409, "already_exists", "it exists")
    master.answers.update({
        ("GET", "/api/v1/workspaces"): [page("workspaces"), page("workspaces", WORKSPACE)],
        ("POST", "/api/v1/workspaces"): made,
        ("GET", "/api/v1/workspaces/7/projects"): page("projects"),
        ("POST", "/api/v1/workspaces/7/projects"): made,
    })  # fmt: skip
    assert _project(Session(master.url), "team/demo") == ("team", "demo")


def test_a_file_that_is_not_executable_has_the_status_of_a_shell(det: Det, surroundings: Path) -> None:
    (surroundings / "train.sh").write_text("exit 0")
    done = det("run", "./train.sh")
    assert (done.status, "not executable" in done.err) == (126, True)
    assert det("run", "./missing.sh").status == 127


@pytest.mark.parametrize(("typed", "status"), [("train.py", 127), ("./train.py", 126)])
def test_python_script_in_the_place_of_a_program_is_told_what_runs_it(
    det: Det, surroundings: Path, typed: str, status: int
) -> None:
    (surroundings / "train.py").write_text("pass")
    done = det("run", typed, "--name", "a b")
    assert done.status == status
    assert f"did you mean: det run python {typed} --name 'a b'" in done.err
    assert "did you mean" not in det("run", "./missing.py").err


def test_option_of_the_program_before_it_is_told_where_it_stands(det: Det) -> None:
    done = det("run", "--lr", "0.1", "python", "train.py")
    assert done.status == 2
    assert (
        "--lr is no option of det run; options of the program stand behind it: det run python train.py --lr" in done.err
    )
