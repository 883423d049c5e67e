"""The trial of docs/training-apis/estimator.md works with the config beside it."""

import re
import sys
from pathlib import Path

import pytest
import yaml

from determined.estimator import EstimatorTrial
from determined.experimental import test_one_batch as tried

PAGE = Path(__file__).parents[4] / "docs" / "training-apis" / "estimator.md"


def test_the_documented_trial_trains_with_the_documented_config(monkeypatch: pytest.MonkeyPatch) -> None:
    files = dict(re.findall(r"File `(\S+)`:\n```\w+\n(.*?)```", PAGE.read_text(), re.DOTALL))
    for name, text in files.items():
        Path(name).write_text(text)
    monkeypatch.syspath_prepend(str(Path.cwd()))
    monkeypatch.delitem(sys.modules, "model_def", raising=False)
    config = yaml.safe_load(files["config.yaml"])
    module, _, name = config["entrypoint"].partition(":")
    trial = tried(getattr(__import__(module), name), config)
    monkeypatch.delitem(sys.modules, "model_def")
    assert isinstance(trial, EstimatorTrial)
