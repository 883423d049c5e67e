"""EstimatorTrialContext off cluster, and what it refuses."""

import dataclasses

import pytest
import tensorflow as tf

from determined.errors import InvalidExperimentException
from determined.estimator import EstimatorTrialContext

CONFIG = {"hyperparameters": {"global_batch_size": 8, "lr": 0.1}, "data": {"place": "here"}}


def test_a_context_for_debugging_answers_and_leaves_optimizers_alone() -> None:
    context = EstimatorTrialContext.from_config(CONFIG)
    assert (context.get_hparam("lr"), context.get_data_config()) == (0.1, {"place": "here"})
    assert (context.get_global_batch_size(), context.get_per_slot_batch_size()) == (8, 8)
    anything = object()
    assert context.wrap_optimizer(anything) is anything


def test_what_is_no_dataset_cannot_be_wrapped() -> None:
    with pytest.raises(InvalidExperimentException, match="got a list"):
        EstimatorTrialContext.from_config(CONFIG).wrap_dataset([1, 2])


def test_a_slot_reads_its_part_unless_asked_not_to() -> None:
    context = EstimatorTrialContext.from_config(CONFIG)
    context.distributed.rank, context.distributed.size = 1, 2

    def read(**how: bool) -> list[int]:
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            data = context.wrap_dataset(tf.data.Dataset.range(4), **how).batch(4)
            return session.run(tf.compat.v1.data.make_one_shot_iterator(data).get_next()).tolist()

    assert read() == [1, 3]
    assert read(shard_dataset=False) == [0, 1, 2, 3]


def test_names_of_older_releases_do_the_same_or_say_what_to_do() -> None:
    context = EstimatorTrialContext.from_config(CONFIG)
    assert context.experimental.allgather_metrics(3) == [3]
    with tf.Graph().as_default():
        value, update = context.experimental.make_metric(tf.constant(1.0), sum, float)
    assert value.dtype == tf.float64 and update is not None
    for name in ("cache_train_dataset", "cache_validation_dataset"):
        with pytest.raises(RuntimeError, match=r"tf.data.Dataset.cache"):
            getattr(context.experimental, name)("id", 1, True)


def test_no_optimizer_is_left_to_the_estimator_on_one_slot_and_refused_on_several() -> None:
    context = EstimatorTrialContext.from_config(CONFIG)
    context.env = dataclasses.replace(context.env, managed_training=True)
    assert context.wrap_optimizer(None) is None
    context.distributed.size = 2
    with pytest.raises(InvalidExperimentException, match=r"wrap_optimizer\(None\).*several slots"):
        context.wrap_optimizer(None)
