"""Parts of a model that have no variables before their first batch: Keras 3 would load nothing into them, silently."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import unbuilt_trials
from small_keras_trial import Run
from unbuilt_trials import BuiltPairTrial, BuiltTrial, LazyPairTrial, Taught, TaughtTrial

from determined.errors import CheckpointStateException
from determined.keras import load_model_from_checkpoint_path
from determined.keras._tensorflow import KERAS_3
from determined.storage import SharedFSStorageManager

COUNT = "determined-keras-model-weights.json"

pytestmark = pytest.mark.skipif(not KERAS_3, reason="Keras 2 loads into variables that are made later")


def test_parts_that_cannot_be_loaded_are_named_with_what_to_do(tmp_path: Path) -> None:
    before = Run(tmp_path, TaughtTrial, batches=2)
    assert json.loads((tmp_path / before.saved[-1] / COUNT).read_text()) == {"weights": 4}
    with pytest.raises(CheckpointStateException, match=r"Taught has 2 of the 4 weights.*build_model:.* lazy_teacher"):
        Run(tmp_path, TaughtTrial, batches=4, latest=before.saved[-1])


def test_the_same_checkpoint_is_gone_on_from_once_that_is_done(tmp_path: Path) -> None:
    before = Run(tmp_path, TaughtTrial, batches=2)
    after = Run(tmp_path, BuiltTrial, batches=4, latest=before.saved[-1])
    taught, again = (run.trial.model.teacher.get_weights() for run in (before, after))
    assert all(np.array_equal(one, other) for one, other in zip(taught, again, strict=True))
    assert after.reports.training[-1][0] == 4


def test_a_checkpoint_that_does_not_count_its_weights_still_loads(tmp_path: Path) -> None:
    before = Run(tmp_path, TaughtTrial, batches=2)
    SharedFSStorageManager(str(tmp_path)).delete(before.saved[-1], [COUNT])
    after = Run(tmp_path, TaughtTrial, batches=4, latest=before.saved[-1])
    assert after.reports.training[-1][0] == 4


def test_an_optimizer_that_does_not_know_late_parts_says_which_and_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="Unknown variable") as caught:
        Run(tmp_path, LazyPairTrial, batches=1)
    [note] = caught.value.__notes__
    assert "build_model" in note and "Input" in note
    assert "lazy_judge" in note and "lazy_maker" in note


def test_another_error_of_a_step_is_left_as_it_is(tmp_path: Path) -> None:
    class Failing(Taught):
        def train_step(self, data: Any) -> Any:
            raise ValueError("of the user's")

    class Trial(TaughtTrial):
        model_class = Failing

    with pytest.raises(ValueError, match="of the user's") as caught:
        Run(tmp_path, Trial, batches=1)
    assert not getattr(caught.value, "__notes__", [])


def test_a_model_of_which_a_part_is_not_loaded_is_warned_of(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    shutil.copy(str(unbuilt_trials.__file__), ".")
    before = Run(tmp_path, TaughtTrial, batches=2)
    loaded = load_model_from_checkpoint_path(str(tmp_path / before.saved[-1]))
    assert np.array_equal(loaded.net.get_weights()[0], before.trial.model.net.get_weights()[0])
    assert "is not loaded: Taught has 2 of the 4 weights" in caplog.text


def test_a_model_that_nothing_is_loaded_into_is_refused(tmp_path: Path) -> None:
    shutil.copy(str(unbuilt_trials.__file__), ".")
    before = Run(tmp_path, BuiltPairTrial, batches=1)
    about = tmp_path / before.saved[-1] / "load_data.json"
    about.write_text(about.read_text().replace("BuiltPairTrial", "LazyPairTrial"))
    with pytest.raises(CheckpointStateException, match=r"LazyPair has 0 of the 4 weights.*lazy_maker"):
        load_model_from_checkpoint_path(str(tmp_path / before.saved[-1]))
