"""PyTorchTrial: the class a user writes."""

import abc
from typing import Any

import torch

from determined._json import JsonObject
from determined.pytorch._batch_data import TorchData, data_length
from determined.pytorch._callback import PyTorchCallback
from determined.pytorch._context import PyTorchTrialContext
from determined.pytorch._loader import DataLoader
from determined.pytorch._reducer import Reducer
from determined.trial import Trial


class PyTorchTrial(Trial):
    """Model, data and training step of a trial; derive from it. The platform runs the loop, metrics, checkpoints and
    distribution.

    A subclass makes its models, optimizers and schedulers in `__init__` and wraps each by its context, builds two
    loaders, and trains and evaluates one batch at a time. Exactly one of `evaluate_batch` and `evaluate_full_dataset`
    is overridden.

    Example:
        >>> class MyTrial(PyTorchTrial):
        ...     def __init__(self, context):
        ...         self.context = context
        ...         self.model = context.wrap_model(torch.nn.Linear(4, 1))
        ...         self.optimizer = context.wrap_optimizer(torch.optim.SGD(self.model.parameters(), lr=0.1))
    """

    trial_context_class = PyTorchTrialContext

    @abc.abstractmethod
    def __init__(self, context: PyTorchTrialContext) -> None:
        """Make and wrap everything that training needs.

        Args:
            context: hyperparameters, the device, and the wrap_* methods.
        """

    @abc.abstractmethod
    def train_batch(self, batch: TorchData, epoch_idx: int, batch_idx: int) -> torch.Tensor | JsonObject:
        """Train on one batch: forward, `context.backward(loss)`, `context.step_optimizer(optimizer)`.

        Args:
            batch: what the loader gave, on the context's device.
            epoch_idx: passes over the data before this one.
            batch_idx: batches before this one, over the whole trial.

        Returns:
            Metrics by name, the same names for every batch; a bare tensor is the metric `loss`. Tensors stay on
            their device until the reporting period ends: `.item()` is not needed, and slows training down.
        """

    @abc.abstractmethod
    def build_training_data_loader(self) -> DataLoader:
        """The training data, with the batch size of one slot."""

    @abc.abstractmethod
    def build_validation_data_loader(self) -> DataLoader:
        """The validation data, with the batch size of one slot."""

    def build_callbacks(self) -> dict[str, PyTorchCallback]:
        """Callbacks by name; the name keys their state in checkpoints. Called once."""
        return {}

    def evaluate_batch(self, batch: TorchData, batch_idx: int) -> JsonObject:
        """Validation metrics of one batch; reduced over batches and slots as `evaluation_reducer` says.

        Args:
            batch: what the loader gave, on the context's device.
            batch_idx: batches before this one in this validation; a method without it is fine.
        """
        raise NotImplementedError

    def evaluation_reducer(self) -> Reducer | dict[str, Reducer]:
        """Return how metrics of `evaluate_batch` become one number: for all, or for each by name."""
        return Reducer.AVG

    def evaluate_full_dataset(self, data_loader: torch.utils.data.DataLoader[Any]) -> JsonObject:
        """Validation metrics over all validation data at once; runs on the chief alone.

        Args:
            data_loader: all of the validation data, not sharded.
        """
        raise NotImplementedError

    def get_batch_length(self, batch: Any) -> int:
        """Return how many records a batch has; override it for batches whose length cannot be seen."""
        return data_length(batch)
