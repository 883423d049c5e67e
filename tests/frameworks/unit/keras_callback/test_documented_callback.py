"""The script of docs/training-apis/keras.md trains off cluster; on torch, too, where there is no TensorFlow."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from keras_fits import IS_KERAS_3

from determined import config

PAGE = Path(__file__).parents[4] / "docs" / "training-apis" / "keras.md"


@pytest.mark.parametrize("backend", ["tensorflow", "torch"] if IS_KERAS_3 else ["tensorflow"])
def test_the_documented_script_trains(backend: str, tmp_path: Path) -> None:
    files = dict(re.findall(r"File `(\S+)`:\n```\w+\n(.*?)```", PAGE.read_text(), re.DOTALL))
    Path("train.py").write_text(files["train.py"])
    if backend == "torch":
        Path("tensorflow.py").write_text("raise ImportError('not installed', name='tensorflow')\n")
    env = {**os.environ, "KERAS_BACKEND": backend, "XDG_DATA_HOME": str(tmp_path / "data")}
    done = subprocess.run([sys.executable, "train.py"], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "epoch 2/2: done (8 batches)" in done.stdout
    assert list((tmp_path / "data").rglob("callback_state"))


def test_the_documented_config_is_sound() -> None:
    files = dict(re.findall(r"File `(\S+)`:\n```\w+\n(.*?)```", PAGE.read_text(), re.DOTALL))
    raw = config.parse_yaml(files["config.yaml"])
    config.check_sane(raw)
    storage = {"checkpoint_storage": {"type": "shared_fs", "host_path": "/tmp"}}
    config.check_complete(config.apply_defaults({**storage, **raw}, seed=1, name="a"))
