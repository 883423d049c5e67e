"""Probe of checkpoint storage: what is wrong, how certain that is, and what to do."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from determined.exec.probe_storage import NO_DRIVER, UNUSABLE
from determined.exec.runner import storage_check
from determined.exec.runner.storage_check import Lack, Trouble, find_trouble

S3 = {"type": "s3", "bucket": "b"}


@pytest.fixture
def python(tmp_path: Path) -> Any:
    """`python(text)`: variables of a task whose `python3` is this shell script."""

    def make(text: str) -> dict[str, str]:
        (tmp_path / "bin").mkdir(exist_ok=True)
        path = tmp_path / "bin" / "python3"
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return {"PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin"}

    return make


@pytest.mark.parametrize(
    ("lack", "entrypoint", "is_hooked", "is_certain"),
    [
        (Lack.STORE, "anything", True, True),
        (Lack.STORE, "./run.sh", False, True),
        (Lack.PYTHON, "python3 train.py", False, False),
        (Lack.DRIVER, "python3 train.py", False, True),
        (Lack.DRIVER, "python3 train.py", True, False),
        (Lack.DRIVER, "./run.sh", False, False),
        (Lack.DRIVER, "model_def:Trial", False, True),
        (Lack.DRIVER, ["torchrun", "train.py"], False, True),
    ],
)
def test_a_task_is_ended_only_where_it_is_sure_that_it_could_not_save(
    lack: Lack, entrypoint: Any, is_hooked: bool, is_certain: bool
) -> None:
    assert Trouble(lack, "x").is_certain_for(entrypoint, is_hooked=is_hooked) is is_certain


def test_a_reason_that_names_the_key_to_correct_needs_no_remedy() -> None:
    assert Trouble(Lack.STORE, "no such bucket").remedy == "; correct checkpoint_storage"
    assert Trouble(Lack.STORE, "fix checkpoint_storage in the config").remedy == ""


@pytest.mark.parametrize(
    ("text", "lack", "reason"),
    [
        (f"echo noise; echo 'AccessDenied: no key'; exit {UNUSABLE}", Lack.STORE, "AccessDenied: no key"),
        (f"echo 'install s3fs'; exit {NO_DRIVER}", Lack.DRIVER, "install s3fs"),
        ("echo 'No module named determined' >&2; exit 1", Lack.PYTHON, "(No module named determined)"),
        ("exit 2", Lack.PYTHON, "(status 2)"),
        ("kill -9 $$", Lack.PYTHON, "(status -9)"),
    ],
)
def test_the_last_words_of_a_probe_are_the_reason(
    python: Any, tmp_path: Path, text: str, lack: Lack, reason: str
) -> None:
    found = find_trouble(S3, python(text), tmp_path)
    assert found is not None and found.lack is lack and reason in found.reason


def test_a_probe_that_succeeds_is_no_trouble_and_gets_the_section_on_its_input(python: Any, tmp_path: Path) -> None:
    assert find_trouble(S3, python(f"cat > {tmp_path}/given"), tmp_path) is None
    assert json.loads((tmp_path / "given").read_text()) == S3


def test_a_store_that_hangs_is_a_store_that_does_not_work(
    python: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storage_check, "_PROBE_SECONDS", 0.2)
    found = find_trouble(S3, python("exec sleep 600"), tmp_path)
    assert found == Trouble(Lack.STORE, "s3 has not answered within 0.2 s")


def test_a_python_that_cannot_be_started_is_named(tmp_path: Path) -> None:
    found = find_trouble(S3, {"PATH": str(tmp_path)}, tmp_path)
    assert found == Trouble(Lack.PYTHON, "python3 cannot be started (No such file or directory)")


def test_a_directory_is_probed_here_and_left_as_it_was(tmp_path: Path) -> None:
    section = {"type": "directory", "container_path": str(tmp_path / "store")}
    assert find_trouble(section, {}, tmp_path) is None
    assert list((tmp_path / "store").iterdir()) == []
    found = find_trouble(section, {"DET_RUN_DIR": str(tmp_path)}, tmp_path)
    assert found is not None and "which is deleted when the task ends" in found.reason


@pytest.mark.parametrize(
    ("section", "status", "words"),
    [
        ('{"type": "shared_fs", "host_path": "/proc/none"}', UNUSABLE, "/proc/none cannot be used"),
        ('{"type": "tape"}', UNUSABLE, "checkpoint_storage cannot be used"),
        ("{", UNUSABLE, "Expecting property name"),
        ('{"type": "s3", "bucket": "b"}', NO_DRIVER, "redetermined[s3]"),
    ],
)
def test_the_program_of_a_probe_says_why_in_one_line(section: str, status: int, words: str) -> None:
    command = [sys.executable, "-m", "determined.exec.probe_storage"]
    done = subprocess.run(command, input=section, capture_output=True, text=True, check=False)
    assert done.returncode == status
    assert words in done.stdout and done.stdout.count("\n") == 1
