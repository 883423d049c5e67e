"""`det e create --local`: which entrypoints are scripts to run and which are trial classes to try."""

import sys
from pathlib import Path

import pytest

from determined.cli import local_run
from determined.errors import InvalidArgument, InvalidConfig


@pytest.mark.parametrize(
    ("entrypoint", "expected"),
    [
        ("model_def:MyTrial", "model_def:MyTrial"),
        (["model_def:MyTrial"], "model_def:MyTrial"),
        ("python3 -m determined.launch.torch_distributed --trial pkg.model_def:MyTrial", "pkg.model_def:MyTrial"),
        ("python3 -m determined.launch.horovod --autohorovod --trial model_def:MyTrial", "model_def:MyTrial"),
        (["python3", "-m", "determined.launch.torch_distributed", "--trial", "m:T"], "m:T"),
        ("python3 train.py", None),
        ("python3 train.py --trial a:b", None),
        ("python3 -m determined.launch.torch_distributed python3 train.py", None),
        (["python3", "train.py"], None),
    ],
)
def test_a_trial_class_is_told_from_a_script(entrypoint: str | list[str], expected: str | None) -> None:
    assert local_run.trial_class_of(entrypoint) == expected


def test_a_script_runs_in_its_directory_and_its_status_is_returned(tmp_path: Path) -> None:
    text = f'entrypoint: ["{sys.executable}", "-c", "open(\'here\', \'w\'); raise SystemExit(4)"]'
    assert local_run.run(text, tmp_path, test_mode=False) == 4
    assert (tmp_path / "here").exists()


def test_a_script_has_the_variables_of_its_config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAKEN_AWAY", "x")
    script = "import os; assert os.environ['GIVEN'] == 'a=b' and 'TAKEN_AWAY' not in os.environ"
    text = f"""
entrypoint: ["{sys.executable}", "-c", "{script}"]
environment: {{environment_variables: ["GIVEN=a=b", "TAKEN_AWAY"]}}
"""
    assert local_run.run(text, tmp_path, test_mode=False) == 0


def test_a_trial_class_needs_test_mode(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="--local --test"):
        local_run.run("entrypoint: model_def:MyTrial", tmp_path, test_mode=False)


def test_a_trial_class_that_is_not_there_fails_the_test(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    monkeypatch.delenv("CONDA_PREFIX", raising=False)
    assert local_run.run("entrypoint: model_def:MyTrial", tmp_path, test_mode=True) == 1
    printed = capfd.readouterr()
    assert "there is no module model_def" in printed.err
    assert "Local test failed with status 1" in printed.out


def test_a_class_of_no_training_api_cannot_be_tried(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    monkeypatch.delenv("CONDA_PREFIX", raising=False)
    (tmp_path / "model_def.py").write_text("class MyTrial: ...\n")
    assert local_run.run("entrypoint: model_def:MyTrial", tmp_path, test_mode=True) == 1
    assert "derive it from PyTorchTrial" in capfd.readouterr().err


def test_a_config_without_an_entrypoint_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidConfig, match="entrypoint"):
        local_run.run("name: x", tmp_path, test_mode=True)
