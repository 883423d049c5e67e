"""Code that a checkpoint carries: the submitted one, or the working directory, if it is not too large."""

import json
import logging
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from saving_trial import Made
from small_trial import SmallTrial

from determined import _info
from determined.rundir import context as packing
from determined.rundir.layout import RunDir

pytestmark = pytest.mark.usefixtures("own_place")


def test_a_class_of_the_script_is_named_by_the_script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    main = type(sys)("__main__")
    main.__file__ = str(Path.cwd() / "jobs" / "train.py")
    monkeypatch.setitem(sys.modules, "__main__", main)
    scripted = type("Scripted", (SmallTrial,), {"__module__": "__main__"})
    load_data = json.loads((Made(tmp_path, scripted).save() / "load_data.json").read_text())
    assert (load_data["trial_cls_spec"], load_data["script_directory"]) == ("jobs.train:Scripted", "jobs")


def test_on_a_cluster_the_submitted_code_is_kept_not_the_working_directory(
    tmp_path: Path, task: Callable[..., None], run_dir: RunDir, monkeypatch: pytest.MonkeyPatch
) -> None:
    (run_dir.model / "layers").mkdir(parents=True)
    (run_dir.model / "model_def.py").write_text("submitted")
    (run_dir.model / "layers" / "one.py").write_text("submitted")
    Path("model_def.py").write_text("edited since")
    Path("downloaded.bin").write_text("data")
    monkeypatch.delenv("DET_INFO_DIR")
    task()
    made = Made(tmp_path)
    made.context._core.info = _info.get_cluster_info()
    code = made.save() / "code"
    kept = {entry.relative_to(code).as_posix() for entry in code.rglob("*") if entry.is_file()}
    assert kept == {"model_def.py", "layers/one.py"}
    assert (code / "model_def.py").read_text() == "submitted"


def test_off_cluster_code_is_the_working_directory_without_what_detignore_names(tmp_path: Path) -> None:
    Path(".detignore").write_text("*.bin\n/data\n")
    Path("train.py").write_text("x")
    Path("weights.bin").write_text("x")
    for directory in ("data", "lib", "__pycache__"):
        Path(directory).mkdir()
        Path(directory, "part.py").write_text("x")
    code = Made(tmp_path).save() / "code"
    assert {entry.relative_to(code).as_posix() for entry in code.rglob("*.*")} == {"train.py", "lib/part.py"}


def test_checkpoints_that_lie_in_the_working_directory_are_not_copied_into_the_next(tmp_path: Path) -> None:
    Path("train.py").write_text("x")
    made = Made(Path.cwd())
    for _ in range(3):
        last = made.save()
    assert last.is_relative_to(Path.cwd())
    assert [entry.name for entry in (last / "code").rglob("*")] == ["train.py"]


def test_a_working_directory_too_large_to_keep_is_left_out_with_one_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(packing, "MAX_CONTEXT_BYTES", 10)
    Path("data.csv").write_text("0" * 11)
    made = Made(tmp_path)
    with caplog.at_level(logging.WARNING, logger="determined.pytorch"):
        made.save()
        path = made.save()
    assert not (path / "code").exists()
    assert caplog.text.count("stored without the code") == 1 and ".detignore" in caplog.text
