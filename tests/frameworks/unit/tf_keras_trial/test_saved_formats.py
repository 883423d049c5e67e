"""Checkpoints as every release has written them, and a model from one of them."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
import yaml
from small_keras_trial import Run, SmallTrial

from determined.errors import CheckpointNotFound, CheckpointStateException
from determined.experimental import test_one_batch as tried
from determined.keras import TFKerasTrial, load_model_from_checkpoint_path
from determined.keras._model_weights import load_model_weights
from determined.keras._optimizer_state import load_optimizers, save_optimizers, variables_of

PAGE = Path(__file__).parents[4] / "docs" / "training-apis" / "tf-keras-trial.md"
UPSTREAM = Path(__file__).parent / "older_checkpoints"


@pytest.fixture
def documented(monkeypatch: pytest.MonkeyPatch) -> tuple[Any, dict[str, Any]]:
    """(trial class, config) of the guide, imported from the working directory."""
    files = dict(re.findall(r"File `(\S+)`:\n```\w+\n(.*?)```", PAGE.read_text(), re.DOTALL))
    for name, text in files.items():
        Path(name).write_text(text)
    monkeypatch.syspath_prepend(str(Path.cwd()))
    monkeypatch.delitem(sys.modules, "model_def", raising=False)
    config = yaml.safe_load(files["config.yaml"])
    module, _, name = config["entrypoint"].partition(":")
    return getattr(__import__(module), name), config


def test_the_documented_trial_trains_with_the_documented_config(documented: Any) -> None:
    trial_class, config = documented
    assert isinstance(tried(trial_class, config), TFKerasTrial)


def test_a_model_is_built_again_from_its_checkpoint(documented: Any, tmp_path: Path) -> None:
    trial_class, config = documented
    kept = []

    class Kept(trial_class):  # type: ignore[misc, valid-type]
        def build_model(self) -> Any:
            kept.append(super().build_model())
            return kept[-1]

    run = Run(tmp_path, Kept, batches=3, config={"hyperparameters": config["hyperparameters"]})
    checkpoint = tmp_path / run.saved[-1]
    load_data = json.loads((checkpoint / "load_data.json").read_text())
    assert load_data["trial_type"] == "TFKerasTrial"
    load_data["trial_cls_spec"] = config["entrypoint"]
    (checkpoint / "load_data.json").write_text(json.dumps(load_data))
    x = np.linspace(0.0, 1.0, 4, dtype=np.float32)[:, None]
    loaded = load_model_from_checkpoint_path(str(checkpoint))
    assert np.array_equal(loaded.predict(x, verbose=0), kept[0].predict(x, verbose=0))


def test_a_checkpoint_has_the_files_that_earlier_releases_had(tmp_path: Path) -> None:
    run = Run(tmp_path, batches=1)
    names = {path.name for path in (tmp_path / run.saved[-1]).iterdir()}
    expected = {
        "determined-keras-optimizer-weights.h5", "determined-callbacks.v1.pkl", "rng_state.pkl",
        "workload_sequencer.pkl", "load_data.json", "code",
    }  # fmt: skip
    assert expected <= names
    assert any(name.startswith("determined-keras-model-weights") for name in names)


@pytest.mark.parametrize("layout", ["weights", "whole_h5", "saved_model"])
def test_weights_of_older_releases_load(layout: str) -> None:
    model = _older_model()
    load_model_weights(model, UPSTREAM / layout)
    expected = np.load(UPSTREAM / "outputs.npy")
    assert np.allclose(model.predict(_inputs(), verbose=0), expected, atol=1e-5)


def test_weights_of_another_model_are_refused_in_words() -> None:
    model = tf.keras.Sequential([tf.keras.layers.Input([2]), tf.keras.layers.Dense(7), tf.keras.layers.Dense(7)])
    with pytest.raises((CheckpointStateException, ValueError), match=r"no values for|[sS]hape"):
        load_model_weights(model, UPSTREAM / "weights")


def test_a_directory_without_weights_is_named(tmp_path: Path) -> None:
    with pytest.raises(CheckpointNotFound, match="no checkpoint of a TFKerasTrial"):
        load_model_weights(_older_model(), tmp_path)


def test_moments_of_older_optimizers_are_found_by_their_names() -> None:
    model = _older_model()
    optimizer = tf.keras.optimizers.Adam(0.5)
    optimizer.build(model.trainable_variables)
    load_optimizers([optimizer], UPSTREAM / "weights")
    assert int(optimizer.iterations.numpy()) == 3
    moments = [variable for variable in variables_of(optimizer) if len(variable.shape)]
    assert len(moments) == 2 * len(model.trainable_variables)
    assert all(np.any(moment.numpy()) for moment in moments)
    assert float(optimizer.learning_rate.numpy()) == 0.5


def test_an_optimizer_without_a_fitting_state_begins_anew(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    run = Run(tmp_path / "run", batches=1)
    save_optimizers([run.trial.model.optimizer], tmp_path)
    other = tf.keras.optimizers.SGD(momentum=0.5)
    other.build(_older_model().trainable_variables)
    load_optimizers([other], tmp_path)
    assert "begins anew" in caplog.text


def test_objects_in_another_trials_callbacks_are_not_unpickled(tmp_path: Path) -> None:
    from determined.errors import UnsafeCheckpoint
    from determined.keras.callbacks import Callback

    class Odd(Callback):
        def get_state(self) -> Any:
            return Path("x")

    class Trial(SmallTrial):
        callbacks = (Odd(),)

    run = Run(tmp_path, Trial, batches=1)
    with pytest.raises(UnsafeCheckpoint, match=r"get_state\(\)"):
        Run(tmp_path, Trial, batches=2, latest=run.saved[-1])


def _older_model() -> Any:
    """Build the model of older_checkpoints/make.py."""
    layers = tf.keras.layers
    inputs = layers.Input([3, 2])
    x = layers.LSTM(4)(inputs)
    x = layers.BatchNormalization()(x)
    return tf.keras.Model(inputs, layers.Dense(1)(x))


def _inputs() -> Any:
    return np.linspace(-1.0, 1.0, 4 * 3 * 2, dtype=np.float32).reshape(4, 3, 2)
