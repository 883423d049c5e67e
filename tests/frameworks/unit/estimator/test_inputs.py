"""Input functions get what they ask for, as they do from an estimator alone."""

import functools
from pathlib import Path
from typing import Any

import tensorflow as tf
from small_trial import SmallTrial, train


def test_an_input_fn_is_given_the_params_of_the_estimator_and_the_mode(tmp_path: Path) -> None:
    asked = []

    class Asking(SmallTrial):
        def build_estimator(self) -> Any:
            def model_fn(features: Any, labels: Any, mode: str, params: Any) -> Any:
                return self.model_fn(features * params["scale"], labels, mode)

            return tf.estimator.Estimator(model_fn, params={"scale": 2.0, "records": 8})

        def build_train_spec(self) -> Any:
            return tf.estimator.TrainSpec(self.training_input)

        def training_input(self, mode: str, params: Any) -> Any:
            asked.append((mode, params["records"]))
            return self.dataset(params["records"])

    train(Asking, tmp_path, batches=1)
    assert asked == [("train", 8)]


def test_what_a_partial_input_fn_has_bound_stays(tmp_path: Path) -> None:
    asked = []

    class Bound(SmallTrial):
        def build_train_spec(self) -> Any:
            return tf.estimator.TrainSpec(functools.partial(self.training_input, mode="mine", params={"records": 8}))

        def training_input(self, mode: str, params: Any, config: Any) -> Any:
            asked.append((mode, config.keep_checkpoint_max))
            return self.dataset(params["records"])

    train(Bound, tmp_path, batches=1)
    assert asked == [("mine", 1)]
