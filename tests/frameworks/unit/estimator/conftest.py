"""Estimators need TensorFlow as it was in version 1, in the whole process."""

import sys
from pathlib import Path

import pytest

from determined.estimator import _tensorflow

sys.path.insert(0, str(Path(__file__).parent))
_tensorflow.behave_as_version_1(0)


@pytest.fixture(autouse=True)
def own_place(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Code that checkpoints keep is that of the working directory."""
    monkeypatch.chdir(tmp_path_factory.mktemp("work"))
