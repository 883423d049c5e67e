"""The script of docs/training-apis/transformers.md trains off cluster."""

import os
import re
import subprocess
import sys
from pathlib import Path

from determined import config

PAGE = Path(__file__).parents[4] / "docs" / "training-apis" / "transformers.md"


def test_the_documented_script_trains() -> None:
    files = dict(re.findall(r"File `(\S+)`:\n```\w+\n(.*?)```", PAGE.read_text(), re.DOTALL))
    Path("train.py").write_text(files["train.py"])
    env = {**os.environ, "HF_HUB_OFFLINE": "1"}
    done = subprocess.run([sys.executable, "train.py"], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "eval_loss" in done.stdout + done.stderr


def test_the_documented_config_is_sound() -> None:
    files = dict(re.findall(r"File `(\S+)`:\n```\w+\n(.*?)```", PAGE.read_text(), re.DOTALL))
    raw = config.parse_yaml(files["config.yaml"])
    config.check_sane(raw)
    storage = {"checkpoint_storage": {"type": "shared_fs", "host_path": "/tmp"}}
    config.check_complete(config.apply_defaults({**storage, **raw}, seed=1, name="a"))
