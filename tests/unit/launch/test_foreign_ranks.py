"""Ranks that a launcher of somebody else starts: whose variables they have, who ends them, when they failed."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from determined.launch import _rank_environment
from determined.rundir.failure import Failure, record_failure

RANK = [sys.executable, "-m", "determined.launch._horovod_rank"]
# The launcher of a node that others log in to, with something else in place of sshd.
SERVE = """
import os, pathlib, sys
from determined.launch import _program, _rank_environment
here = pathlib.Path(os.environ["DET_RUN_DIR"])
ranks = _rank_environment.followers(here)
sys.exit(_program.launch_foreign(["sleep", "600"], dict(os.environ), followers=ranks, hasty=True))
"""
TRACEBACK = "echo 'Traceback (most recent call last):' >&2; "


def test_rank_has_the_surroundings_of_its_node_and_what_horovodrun_says(tmp_path: Path) -> None:
    own = {"PATH": os.environ["PATH"], "DET_RUN_DIR": str(tmp_path), "OWN": "x"}
    _rank_environment.keep(tmp_path, own, "eth7")
    given = {"HOROVOD_RANK": "3", "HOROVOD_GLOO_IFACE": "eth0", "OF_THE_CALLER": "y", "DET_RUN_DIR": "/nowhere"}
    shown = "$OWN ${OF_THE_CALLER-none} $HOROVOD_GLOO_IFACE $NCCL_SOCKET_IFNAME $HOROVOD_RANK $DET_RUN_DIR"
    done = _run_rank(given | {"DET_SERVED_RUN_DIR": str(tmp_path)}, f'echo "{shown}"')
    assert done.stdout == f"[rank=3] x none eth7 eth7 3 {tmp_path}\n"


def test_rank_on_a_node_that_no_launcher_prepared_says_so(tmp_path: Path) -> None:
    done = _run_rank({"HOROVOD_RANK": "0", "DET_RUN_DIR": str(tmp_path)}, "true")
    assert done.returncode == 1
    assert "no launcher has prepared this node for ranks of Horovod" in done.stderr


def test_failure_of_a_rank_ends_its_peers_and_the_program_that_serves_them(tmp_path: Path) -> None:
    launcher, rank = _serve(tmp_path)
    record_failure(tmp_path, Failure(2, 7, time.time(), ["it broke"]))
    _, err = launcher.communicate(timeout=60)
    assert launcher.returncode == 7
    assert "rank 2 failed first here, with status 7" in err
    rank.communicate(timeout=60)


def test_ranks_that_somebody_else_started_are_told_to_leave_too(tmp_path: Path) -> None:
    launcher, rank = _serve(tmp_path, "trap 'echo saved; exit 0' TERM; echo up; while :; do sleep 0.05; done")
    launcher.terminate()
    out, _ = rank.communicate(timeout=60)
    assert out.endswith("[rank=1] saved\n")
    launcher.communicate(timeout=60)
    assert not (tmp_path / "failure.json").exists()


@pytest.mark.parametrize(("last_words", "early"), [("", True), ("echo on; ", False)])
def test_rank_that_takes_long_to_leave_failed_when_it_raised(tmp_path: Path, last_words: str, early: bool) -> None:
    variables = {"PATH": os.environ["PATH"], "DET_RUN_DIR": str(tmp_path)}
    _rank_environment.keep(tmp_path, variables, None)
    script = f"{TRACEBACK}until [ -e {tmp_path}/go ]; do sleep 0.05; done; {last_words}exit 1"
    command, pipe = [*RANK, "sh", "-c", script], subprocess.PIPE
    with subprocess.Popen(command, stderr=pipe, text=True, env=variables | {"HOROVOD_RANK": "0"}) as rank:
        assert rank.stderr is not None
        assert rank.stderr.readline().startswith("[rank=0] Traceback")
        time.sleep(1.1)  # longer than a traceback takes
        left = time.time()
        (tmp_path / "go").touch()
        rank.communicate(timeout=60)
    assert rank.returncode == 1
    assert (json.loads((tmp_path / "failure.json").read_text())["time"] < left) is early


def _run_rank(variables: dict[str, str], script: str) -> "subprocess.CompletedProcess[str]":
    surroundings = variables | {"PATH": os.environ["PATH"]}
    return subprocess.run(
        [*RANK, "sh", "-c", script], capture_output=True, text=True, env=surroundings, timeout=60, check=False
    )


def _serve(
    run_dir: Path, script: str = "echo up; exec sleep 600"
) -> "tuple[subprocess.Popen[str], subprocess.Popen[str]]":
    """A launcher that serves, and a rank that came by another way, both up."""
    variables = {"PATH": os.environ["PATH"], "DET_RUN_DIR": str(run_dir)}
    _rank_environment.keep(run_dir, variables, None)
    pipe = subprocess.PIPE
    launcher = subprocess.Popen([sys.executable, "-c", SERVE], stderr=pipe, text=True, env=variables)
    command = [*RANK, "sh", "-c", script]
    rank = subprocess.Popen(command, stdout=pipe, text=True, env=variables | {"HOROVOD_RANK": "1"})
    assert rank.stdout is not None
    assert rank.stdout.readline() == "[rank=1] up\n"
    while _children(launcher.pid) == []:
        assert launcher.poll() is None
        time.sleep(0.01)
    return launcher, rank


def _children(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
