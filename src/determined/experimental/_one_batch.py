"""test_one_batch: tries a trial class here and now, without a cluster."""

from typing import Any

from determined._frameworks import framework_of
from determined._json import JsonObject


def test_one_batch(trial_class: type, config: JsonObject | None = None) -> Any:
    """Train a trial class on one batch, validate on one batch and save one checkpoint, in this process.

    Hyperparameters with a range are drawn from it. The checkpoint goes to a temporary directory and is removed.

    Args:
        trial_class: a subclass of `determined.pytorch.PyTorchTrial`, or of another API's trial.
        config: an experiment config: what the trial asks of its context, hyperparameters first of all.

    Returns:
        The trial, to look at.

    Raises:
        TypeError: not a class.
        NotImplementedError: a class of no training API that can be tried this way.

    Example:
        >>> test_one_batch(MyTrial, {"hyperparameters": {"global_batch_size": 32, "lr": 0.1}})
    """
    if not isinstance(trial_class, type):
        raise TypeError(f"test_one_batch got {trial_class!r}; pass the trial class itself")
    framework = framework_of(trial_class)
    if framework is not None:
        return framework.load("_one_batch").run(trial_class, dict(config or {}))
    raise NotImplementedError(
        f"{trial_class.__name__} is no trial class that can be tried on one batch; derive it from PyTorchTrial, "
        "or run a script of your own with det experiment create --local"
    )
