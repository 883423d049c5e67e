"""The harness says what is missing, in one line."""

import subprocess
import sys
from pathlib import Path

import pytest

from determined import _frameworks
from determined.exec import harness


def run(tmp_path: Path, *arguments: str) -> tuple[int, str]:
    command = [sys.executable, "-m", "determined.exec.harness", *arguments]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    ("source", "spec", "said"),
    [
        ("", "nowhere:Cls", "no module nowhere"),
        ("", "model_def:Cls", "has no class Cls"),
        ("", ":Cls", "'' is no name of a module"),
        ("", ".model_def:Cls", "'.model_def' is no name of a module; write package.module:Class"),
        ("", "model_def..x:Cls", "'model_def..x' is no name of a module"),
        ("class Cls: pass", "model_def:Cls", "derives from no trial class"),
        ("import not_installed_anywhere", "model_def:Cls", "needs not_installed_anywhere; pip install not_installed"),
        ("import usb", "model_def:Cls", "needs usb; pip install pyusb in startup-hook.sh"),
        ("import deepspeed", "model_def:Cls", "needs deepspeed; pip install 'redetermined[deepspeed]'"),
        ("import lightning.pytorch", "model_def:Cls", "needs lightning; pip install 'redetermined[lightning]'"),
        (
            "import determined.no_such_api",
            "model_def:Cls",
            "determined.no_such_api is not part of this installation; change",
        ),
    ],
)
def test_reason_is_one_error_line(tmp_path: Path, source: str, spec: str, said: str) -> None:
    (tmp_path / "model_def.py").write_text(source)
    status, error = run(tmp_path, spec)
    assert status == 1
    assert error.startswith("ERROR: entrypoint " + spec)
    assert said in error
    assert error.count("\n") == 1


def test_wrong_use_is_a_usage_line(tmp_path: Path) -> None:
    status, error = run(tmp_path, "no-colon")
    assert (status, error) == (2, "usage: python -m determined.exec.harness MODULE:CLASS\n")


def test_a_class_goes_to_the_training_api_it_derives_from(monkeypatch: pytest.MonkeyPatch) -> None:
    ran = []

    class Entrypoint:
        def __init__(self, name: str) -> None:
            self.name = name

        def run_trial(self, trial_class: type) -> int:
            ran.append((self.name, trial_class.__name__))
            return 0

    monkeypatch.setattr(_frameworks.importlib, "import_module", Entrypoint)
    for module in ("pytorch._trial", "pytorch.deepspeed._trial", "pytorch.lightning._adapter", "keras._trial"):
        base = type("Base", (), {"__module__": f"determined.{module}"})
        assert harness.run_class("model_def:Mine", type("Mine", (base,), {"__module__": "model_def"})) == 0
    packages = ("pytorch", "pytorch.deepspeed", "pytorch.lightning", "keras")
    assert ran == [(f"determined.{package}._entrypoint", "Mine") for package in packages]
