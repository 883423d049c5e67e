"""Which words of a launcher's command line are overrides, which the script, and which are refused."""

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from determined.launch._arguments import UsageError, parse

if TYPE_CHECKING:
    from .conftest import Task

HARNESS = [sys.executable, "-m", "determined.exec.harness", "model_def:Cls"]


@pytest.mark.parametrize(
    ("words", "overrides", "script"),
    [
        ("python3 t.py", "", "python3 t.py"),
        ("python3 t.py -- --flag", "", "python3 t.py -- --flag"),
        ("-- python3 t.py", "", "python3 t.py"),
        ("--max_restarts 1 -- python3 t.py", "--max_restarts 1", "python3 t.py"),
        ("--max_restarts=1 -- python3 t.py -- x", "--max_restarts=1", "python3 t.py -- x"),
    ],
)
def test_overrides_end_at_the_first_double_dash_only_when_they_come_first(
    words: str, overrides: str, script: str
) -> None:
    found = parse(words.split(), overridable=True)
    assert (found.overrides, found.script) == (overrides.split(), script.split())


@pytest.mark.parametrize("words", ["--trial model_def:Cls", "-- --trial model_def:Cls", "--trial=model_def:Cls"])
def test_trial_is_the_harness(words: str) -> None:
    assert parse(words.split(), overridable=True).script == HARNESS
    assert parse(words.split(), overridable=False).script == HARNESS


def test_overrides_go_with_a_trial() -> None:
    found = parse(["--max_restarts", "1", "--", "--trial", "model_def:Cls"], overridable=True)
    assert (found.overrides, found.script) == (["--max_restarts", "1"], HARNESS)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("", "empty script is not allowed"),
        ("--", "empty script is not allowed"),
        ("--max_restarts 1 --", "empty script is not allowed"),
        ("--max_restarts 1 python3 t.py", "put -- between the overrides"),
        ("--trial", "needs the trial's MODULE:CLASS"),
        ("--trial a:B python3 t.py", "takes no script beside it: python3 t.py"),
    ],
)
def test_what_nobody_can_run_is_refused(words: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        parse(words.split(), overridable=True)


def test_options_are_refused_where_nothing_takes_them() -> None:
    with pytest.raises(UsageError, match="--foo is no option of this launcher"):
        parse(["--foo", "--", "x"], overridable=False)


@pytest.mark.parametrize("launcher", ["torch_distributed", "deepspeed", "horovod", "tensorflow"])
def test_empty_script_prints_the_usage_with_status_1(task: "Task", launcher: str) -> None:
    done = task.launch(launcher)
    assert done.returncode == 1
    assert done.stderr.startswith(f"usage: python3 -m determined.launch.{launcher}")
    assert done.stderr.endswith("error: empty script is not allowed\n")


@pytest.mark.parametrize("launcher", ["torch_distributed", "deepspeed", "horovod", "tensorflow"])
def test_outside_of_a_task_a_launcher_says_so(task: "Task", launcher: str) -> None:
    (task.run_dir / "info" / "cluster.json").unlink()
    done = task.launch(launcher, "true")
    assert done.returncode == 1
    assert f"determined.launch.{launcher} runs in a task of a cluster, and here is none" in done.stderr


def test_launcher_loads_neither_a_framework_nor_an_http_library() -> None:
    code = (
        "import sys, determined.launch.torch_distributed, determined.launch.deepspeed, determined.launch.horovod;"
        "print([m for m in ('torch', 'deepspeed', 'horovod', 'urllib3', 'numpy') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
