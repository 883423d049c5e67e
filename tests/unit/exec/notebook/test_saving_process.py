"""The process that keeps notebooks in a store: it lays out, saves at its end, and says when it cannot."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from determined.storage.directory.config import section_at
from determined.wire.codec import to_json
from determined.wire.notebook_settings import NotebookSettings, SavedFiles


@pytest.fixture
def work_dir(tmp_path: Path) -> Path:
    path = tmp_path / "work"
    path.mkdir()
    return path


def _start(tmp_path: Path, work_dir: Path, store: Path) -> tuple["subprocess.Popen[str]", int]:
    saved = SavedFiles(storage=section_at(str(store)), prefix="user-1")
    (tmp_path / "service.json").write_bytes(to_json(NotebookSettings(token="t", saved_files=saved)))
    reader, writer = os.pipe()
    words = ["determined.exec.notebook.saving_process", str(tmp_path / "service.json"), str(work_dir), "12345678"]
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", *words, str(writer)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, pass_fds=[writer], text=True,
    )  # fmt: skip
    os.close(writer)
    return process, reader


def test_it_saves_once_more_when_its_input_ends(tmp_path: Path, work_dir: Path) -> None:
    process, reader = _start(tmp_path, work_dir, tmp_path / "store")
    assert os.read(reader, 1) == b"1", "it says when the directory is laid out"
    os.close(reader)
    (work_dir / "a.ipynb").write_text("a")
    assert process.communicate(timeout=60) == ("", None)
    assert process.returncode == 0
    assert (tmp_path / "store" / "user-1" / "from-12345678" / "a.ipynb").read_text() == "a"


def test_a_store_that_cannot_be_used_is_named(tmp_path: Path, work_dir: Path) -> None:
    (tmp_path / "store").write_text("no directory")
    process, reader = _start(tmp_path, work_dir, tmp_path / "store")
    assert os.read(reader, 1) == b"", "it ends without a word on this pipe"
    os.close(reader)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 1
    assert out.startswith("WARNING: notebooks cannot be stored: ") and "store" in out
