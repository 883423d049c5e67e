"""Faults of a trial are named before it trains, with the way out."""

from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from small_trial import SmallTrial, train

from determined.errors import InvalidExperimentException


def _refused(tmp_path: Path, **members: Any) -> str:
    with pytest.raises(InvalidExperimentException) as caught:
        train(type("Bad", (SmallTrial,), members), tmp_path, batches=2)
    return str(caught.value)


def test_a_dataset_that_was_not_wrapped(tmp_path: Path) -> None:
    def dataset(self: Any, records: int, shuffle: bool = False) -> Any:
        return tf.data.Dataset.from_tensor_slices(([1.0], [1.0])).batch(1)

    assert "build_train_spec did not call context.wrap_dataset" in _refused(tmp_path, dataset=dataset)


def test_an_input_fn_without_a_dataset(tmp_path: Path) -> None:
    words = _refused(tmp_path, dataset=lambda self, records, shuffle=False: ([1.0], [1.0]))
    assert "returned a tuple; return a tf.data.Dataset" in words


def test_training_data_without_records(tmp_path: Path) -> None:
    def dataset(self: Any, records: int, shuffle: bool = False) -> Any:
        return SmallTrial.dataset(self, 24).take(0)

    assert "the training data ended after 0 batches" in _refused(tmp_path, dataset=dataset)


def test_validation_data_without_records(tmp_path: Path) -> None:
    def dataset(self: Any, records: int, shuffle: bool = False) -> Any:
        return SmallTrial.dataset(self, 24) if shuffle else SmallTrial.dataset(self, 24).take(0)

    assert "the validation data gave not one batch" in _refused(tmp_path, dataset=dataset)


@pytest.mark.parametrize(
    ("method", "wanted"),
    [
        ("build_estimator", "tf.estimator.Estimator"),
        ("build_train_spec", "tf.estimator.TrainSpec"),
        ("build_validation_spec", "tf.estimator.EvalSpec"),
    ],
)
def test_a_method_that_returns_something_else(tmp_path: Path, method: str, wanted: str) -> None:
    assert f"{method} returned a NoneType; return a {wanted}" in _refused(tmp_path, **{method: lambda self: None})


def test_an_estimator_that_distributes_itself(tmp_path: Path) -> None:
    def build_estimator(self: Any) -> Any:
        strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
        return tf.estimator.Estimator(self.model_fn, config=tf.estimator.RunConfig(train_distribute=strategy))

    assert "train_distribute" in _refused(tmp_path, build_estimator=build_estimator)


@pytest.mark.parametrize("name", ["code", "a/b", "", "..", "checkpoint", "metadata.json"])
def test_a_name_of_an_export_that_is_no_directory_of_its_own(tmp_path: Path, name: str) -> None:
    words = _refused(tmp_path, build_serving_input_receiver_fns=lambda self: {name: lambda: None})
    assert repr(name) in words


def test_exports_that_are_no_dict(tmp_path: Path) -> None:
    words = _refused(tmp_path, build_serving_input_receiver_fns=lambda self: None)
    assert "build_serving_input_receiver_fns returned a NoneType; return a dict" in words


def test_aggregation_without_horovod(tmp_path: Path) -> None:
    with pytest.raises(InvalidExperimentException, match="aggregation_frequency=4"):
        train(SmallTrial, tmp_path, batches=2, config={"optimizations": {"aggregation_frequency": 4}})


def test_hyperparameters_without_a_batch_size(tmp_path: Path) -> None:
    with pytest.raises(InvalidExperimentException, match="global_batch_size"):
        train(SmallTrial, tmp_path, batches=2, config={"hyperparameters": {"lr": 0.1}})
