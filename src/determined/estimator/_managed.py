"""The user's estimator and input functions as they are trained with: our configuration around the same model, and data
that never ends and goes on where a checkpoint left it."""

import functools
import inspect
from collections.abc import Callable
from pathlib import Path

import tensorflow as tf

from determined.errors import InvalidExperimentException
from determined.estimator._context import EstimatorTrialContext


def managed_estimator(
    estimator: "tf.estimator.Estimator",
    context: EstimatorTrialContext,
    directory: Path,
    adorn: Callable[[object], object],
) -> "tf.estimator.Estimator":
    """An estimator of the same model.

    Args:
        estimator: the user's, premade or not.
        context: its seed becomes the estimator's.
        directory: a session begins with the variables that lie there.
        adorn: changes the EstimatorSpec of training.

    Raises:
        InvalidExperimentException: not an estimator, or one that distributes itself.
    """
    if not isinstance(estimator, tf.compat.v1.estimator.Estimator):
        raise InvalidExperimentException(
            f"build_estimator returned a {type(estimator).__name__}; return a tf.estimator.Estimator"
        )
    build = estimator.model_fn

    def model_fn(
        features: object, labels: object, mode: str, params: object, config: object
    ) -> "tf.estimator.EstimatorSpec":
        """`params` are known to `build`; here they are for input functions that ask the estimator for them."""
        spec = build(features, labels, mode, config)
        return adorn(spec) if mode == tf.estimator.ModeKeys.TRAIN else spec

    return tf.estimator.Estimator(
        model_fn,
        params=estimator.params,
        config=_config(estimator.config, context, directory),
        warm_start_from=estimator._warm_start_settings,
    )


def training_input(
    input_fn: Callable[..., object], context: EstimatorTrialContext, skip: int
) -> Callable[..., "tf.data.Dataset"]:
    """An input function whose dataset has no end, and leaves out the batches that were trained on before.

    The whole pipeline is run for those: so the order of shuffled records, and whatever else is random in it, is as it
    would be without the pause.
    """

    # The operation is there with nothing to skip, too: the seeds of what is built after it depend on its number.
    def repeated(dataset: "tf.data.Dataset") -> "tf.data.Dataset":
        return dataset.repeat().skip(skip)

    return _checked_input(input_fn, context, "build_train_spec", repeated)


def validation_input(
    input_fn: Callable[..., object], context: EstimatorTrialContext
) -> Callable[..., "tf.data.Dataset"]:
    return _checked_input(input_fn, context, "build_validation_spec", lambda dataset: dataset)


def _config(config: "tf.estimator.RunConfig", context: EstimatorTrialContext, directory: Path) -> object:
    for name in ("train_distribute", "eval_distribute"):
        if getattr(config, name) is not None:
            raise InvalidExperimentException(
                f"the estimator's RunConfig has {name}; leave it out, and ask for slots by resources.slots_per_trial"
            )
    return config.replace(
        model_dir=str(directory),
        tf_random_seed=context.get_trial_seed(),
        session_config=_session_config(config.session_config, context),
        save_checkpoints_secs=None,
        save_checkpoints_steps=None,
        keep_checkpoint_max=1,
        save_summary_steps=0,  # they go to TensorBoard's directory, by a hook of ours
        log_step_count_steps=None,
    )


def _session_config(chosen: object, context: EstimatorTrialContext) -> object:
    """Return the session config: each rank has its own of the node's GPUs."""
    if not context.env.use_gpu or context.distributed.size == 1:
        return chosen
    config = tf.compat.v1.ConfigProto()
    if chosen is not None:
        config.CopyFrom(chosen)
    config.gpu_options.visible_device_list = str(context.distributed.local_rank)
    return config


def _checked_input(
    input_fn: Callable[..., object], context: EstimatorTrialContext, method: str, finish: Callable[[object], object]
) -> Callable[..., object]:
    bound = input_fn.keywords if isinstance(input_fn, functools.partial) else {}
    accepted = inspect.signature(input_fn).parameters.keys() - bound.keys()

    def checked(mode: str, params: object, config: object) -> "tf.estimator.EstimatorSpec":
        """Estimators look at the names of the parameters to see what is wanted."""
        given = {"mode": mode, "params": params, "config": config}
        before = context._wrapped_datasets
        dataset = input_fn(**{name: value for name, value in given.items() if name in accepted})
        if not isinstance(dataset, tf.data.Dataset):
            raise InvalidExperimentException(
                f"the input_fn of {method} returned a {type(dataset).__name__}; return a tf.data.Dataset of batches"
            )
        if context._wrapped_datasets == before:
            raise InvalidExperimentException(
                f"the input_fn of {method} did not call context.wrap_dataset; pass its dataset through it, before "
                "records are shuffled and batched"
            )
        return finish(dataset)

    return checked
