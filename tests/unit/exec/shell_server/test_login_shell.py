"""Which shell a session gets, and what profiles can do to its PATH."""

import os
import subprocess
from pathlib import Path

import pytest

from determined.exec.shell_server.login_shell import TASK_PATH, find_shell, login_argv


def test_the_shell_of_the_task_wins() -> None:
    assert find_shell({"SHELL": "/bin/sh"}) == "/bin/sh"


@pytest.mark.parametrize("shell", ["", "/usr/sbin/nologin", "/bin/false", "/none", "sh"])
def test_a_shell_that_cannot_be_used_is_passed_over(shell: str) -> None:
    found = find_shell({"SHELL": shell})
    assert found != shell and os.access(found, os.X_OK)


def test_a_profile_that_sets_path_does_not_hide_the_tasks_programs(tmp_path: Path) -> None:
    (tmp_path / ".profile").write_text("PATH=/from/profile:/usr/bin:/bin; PROFILE=read; export PROFILE\n")
    variables = {"HOME": str(tmp_path), "SHELL": "/bin/sh", "PATH": "/task/bin:/bin", TASK_PATH: "/task/bin:/bin"}
    done = subprocess.run(
        login_argv("/bin/sh", interactive=False),
        input=f"echo $PATH $PROFILE ${{{TASK_PATH}-unset}}\n",
        env=variables,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout == "/task/bin:/bin:/from/profile:/usr/bin:/bin read unset\n"
