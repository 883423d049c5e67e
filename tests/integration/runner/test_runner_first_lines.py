"""The first lines of a task's log, and the one that explains its failure."""

import json
import platform
import sys
import tempfile
from pathlib import Path

from fake_master import FakeMaster, RunnerUnderTest, trial

from determined.constants import CONFIG_LINE_PREFIX, MAX_LOG_LINE_BYTES


def test_first_lines_name_the_run_and_the_interpreter(
    fake_master: FakeMaster, runner: RunnerUnderTest, tmp_path: Path
) -> None:
    trial(fake_master, tmp_path)
    fake_master.spec.entrypoint = "true"
    runner.start().finish()
    first, second = fake_master.texts("agent")[:2]
    assert first == "New trial runner: run 2 of trial 7 on node, slots [0]"
    assert second == f"Python {platform.python_version()}, {sys.executable}: the node's own"


def test_first_run_names_each_key_without_effect_once(
    fake_master: FakeMaster, runner: RunnerUnderTest, tmp_path: Path
) -> None:
    remarks = ["environment.image: not used", "pbs: accepted, but has no effect"]
    trial(fake_master, tmp_path)
    fake_master.spec.warnings = remarks
    fake_master.spec.is_first_run = True
    fake_master.spec.entrypoint = "true"
    runner.start().finish()
    lines = [line for line in fake_master.lines("agent") if line.text in remarks]
    assert [line.text for line in lines] == remarks
    assert {line.level for line in lines} == {"WARNING"}


def test_restart_repeats_neither_config_nor_remarks(
    fake_master: FakeMaster, runner: RunnerUnderTest, tmp_path: Path
) -> None:
    trial(fake_master, tmp_path)
    fake_master.spec.warnings = ["environment.image: not used"]
    fake_master.spec.is_first_run = False
    fake_master.spec.entrypoint = "true"
    runner.start().finish()
    said = fake_master.texts("agent")
    assert "New trial runner" in said[0]
    assert len(said) == 2, said


def test_failure_is_explained_with_the_users_line_and_the_interpreter(
    fake_master: FakeMaster, runner: RunnerUnderTest
) -> None:
    fake_master.files = {"train.py": "import json\nimport no_such_module\n"}
    fake_master.spec.entrypoint = "python3 train.py"
    told = runner.start().finish()
    status, what, where, _, fix = told.message.splitlines()
    assert status == "the entrypoint exited with status 1"
    assert what == "what: ModuleNotFoundError: No module named 'no_such_module'"
    assert where == "where: train.py, line 2: import no_such_module"
    assert f"install no_such_module in {sys.executable}" in fix and "environment.python" in fix


def test_file_that_only_the_nodes_tmp_has_is_explained(fake_master: FakeMaster, runner: RunnerUnderTest) -> None:
    with tempfile.NamedTemporaryFile(dir="/tmp", prefix="det-test-") as data:
        fake_master.files = {"train.py": f"open({data.name!r})\n"}
        fake_master.spec.entrypoint = "python3 train.py"
        told = runner.start().finish()
    if told.code != 0:  # 0 where the system gives the task no /tmp of its own
        assert f"{data.name} is in the node's /tmp" in told.message
        assert "bind_mounts" in told.message and "environment.shared_tmp" in told.message


def test_config_is_logged_before_the_first_line_of_the_task(
    fake_master: FakeMaster, runner: RunnerUnderTest, tmp_path: Path
) -> None:
    trial(fake_master, tmp_path)
    fake_master.spec.shown_config = '{"name": "mine"}'
    fake_master.spec.entrypoint = "echo trained"
    runner.start().finish()
    texts = [line.text for line in fake_master.lines(None)]
    assert texts.index(f'{CONFIG_LINE_PREFIX}{{"name": "mine"}}') < texts.index("trained")


def test_every_piece_of_a_long_config_says_that_it_is_config(
    fake_master: FakeMaster, runner: RunnerUnderTest, tmp_path: Path
) -> None:
    trial(fake_master, tmp_path)
    fake_master.spec.shown_config = json.dumps({"data": {"words": ["é" * 7] * 3000}})
    fake_master.spec.entrypoint = "true"
    runner.start().finish()
    pieces = [text for text in fake_master.texts("agent") if text.startswith(CONFIG_LINE_PREFIX)]
    assert len(pieces) > 3
    assert not [text for text in fake_master.texts("agent") if "00e9" in text and text not in pieces]
    assert max(len(piece) for piece in pieces) <= MAX_LOG_LINE_BYTES
    whole = json.loads("".join(piece.removeprefix(CONFIG_LINE_PREFIX) for piece in pieces))
    assert whole["data"]["words"] == ["é" * 7] * 3000
