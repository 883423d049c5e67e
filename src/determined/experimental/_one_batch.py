"""test_one_batch: tries a trial class here and now, without a cluster."""

from importlib import import_module
from typing import Any

# Package of the base class -> the module whose `run(trial_class, config)` tries it; by name, as it needs a framework.
_APIS = {"determined.pytorch": "determined.pytorch._one_batch"}


def test_one_batch(trial_class: type, config: dict[str, Any] | None = None) -> Any:
    """Train a trial class on one batch, validate on one batch and save one checkpoint, in this process.

    Hyperparameters with a range are drawn from it. The checkpoint goes to a temporary directory and is removed.

    Args:
        trial_class: a subclass of `determined.pytorch.PyTorchTrial`.
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
    for base in trial_class.__mro__:
        package = ".".join(base.__module__.split(".")[:2])
        if package in _APIS:
            return import_module(_APIS[package]).run(trial_class, dict(config or {}))
    raise NotImplementedError(
        f"{trial_class.__name__} is no trial class that can be tried on one batch; derive it from PyTorchTrial, "
        "or run a script of your own with det experiment create --local"
    )
