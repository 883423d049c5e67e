"""DeepSpeedTrial: the class a user writes."""

import abc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from deepspeed.runtime.zero.utils import ZeRORuntimeException

from determined._json import JsonObject
from determined.pytorch._batch_data import data_length
from determined.pytorch._callback import PyTorchCallback
from determined.pytorch._loader import DataLoader
from determined.pytorch._reducer import Reducer
from determined.pytorch.deepspeed._context import DeepSpeedTrialContext
from determined.trial import Trial

# What DeepSpeed raises, mostly without words, where a checkpoint does not fit.
_MISFITS = (AssertionError, AttributeError, LookupError, RuntimeError, ZeRORuntimeException)
_ADVICE = (
    "engine {number} could not be loaded from its checkpoint. The ZeRO stage, the precision, the stages of a pipeline "
    "and the number of slots must be those it was saved with; to begin with its weights alone, override "
    "DeepSpeedTrial.load by engine.load_checkpoint(load_path, tag='model{number}', load_module_only=True)"
)


class DeepSpeedTrial(Trial):
    """Engines, data and training step of a trial with DeepSpeed; derive from it. The platform runs the loop around it.

    A subclass makes its engines in `__init__` and wraps each by its context, builds two loaders, and trains and
    evaluates what it takes from an iterator. Exactly one of `evaluate_batch` and `evaluate_full_dataset` is overridden.

    Example:
        >>> class MyTrial(DeepSpeedTrial):
        ...     def __init__(self, context):
        ...         self.context = context
        ...         net = torch.nn.Linear(4, 1)
        ...         engine, *_ = deepspeed.initialize(model=net, model_parameters=net.parameters(), config="ds.json")
        ...         self.engine = context.wrap_model_engine(engine)
        ...
        ...     def train_batch(self, dataloader_iter, epoch_idx, batch_idx):
        ...         loss = self.engine(self.context.to_device(next(dataloader_iter))).mean()
        ...         self.engine.backward(loss)
        ...         self.engine.step()
        ...         return {"loss": loss}
    """

    trial_context_class = DeepSpeedTrialContext

    @abc.abstractmethod
    def __init__(self, context: DeepSpeedTrialContext) -> None:
        """Make engines by `deepspeed.initialize`, and wrap them by `context.wrap_model_engine`.

        Args:
            context: hyperparameters, the device, and the wrap_* methods.
        """

    @abc.abstractmethod
    def train_batch(
        self, dataloader_iter: Iterator[Any] | None, epoch_idx: int, batch_idx: int
    ) -> torch.Tensor | JsonObject:
        """Train on one micro batch: forward, `engine.backward(loss)`, `engine.step()`.

        Called `gradient_accumulation_steps` times for each batch; once, where a pipeline takes all micro batches by
        itself (`engine.train_batch(data_iter=dataloader_iter)`), or after `context.disable_auto_grad_accumulation()`.

        Args:
            dataloader_iter: gives micro batches, on the host; None on ranks that load no data.
            epoch_idx: passes over the data before this one.
            batch_idx: batches before this one, over the whole trial.

        Returns:
            Metrics by name, the same names each time; a bare tensor is the metric `loss`. They are averaged over the
            micro batches of a batch.
        """

    @abc.abstractmethod
    def build_training_data_loader(self) -> DataLoader | None:
        """The training data in micro batches (`context.get_train_micro_batch_size_per_gpu()`).

        Called on ranks that load data. None where the engine has its data from `deepspeed.initialize`.
        """

    @abc.abstractmethod
    def build_validation_data_loader(self) -> DataLoader | None:
        """The validation data in micro batches, likewise."""

    def build_callbacks(self) -> dict[str, PyTorchCallback]:
        """Callbacks by name; the name keys their state in checkpoints. Called once."""
        return {}

    def evaluate_batch(self, dataloader_iter: Iterator[Any] | None, batch_idx: int) -> JsonObject:
        """Validation metrics of one micro batch, with a pipeline of as many as are trained at once.

        Args:
            dataloader_iter: gives micro batches, on the host; None on ranks that load no data.
            batch_idx: calls before this one in this validation.
        """
        raise NotImplementedError

    def evaluation_reducer(self) -> Reducer | dict[str, Reducer]:
        """Return how metrics of `evaluate_batch` become one number: for all, or for each by name."""
        return Reducer.AVG

    def evaluate_full_dataset(self, data_loader: torch.utils.data.DataLoader[Any] | None) -> JsonObject:
        """Validation metrics over all validation data at once.

        Runs on the chief alone; on all ranks, of which the chief's result counts, where the model is spread over them
        by ZeRO 3, by a pipeline or as `context.set_mpu` says.

        Args:
            data_loader: all of the validation data, not sharded; None on ranks that load no data.
        """
        raise NotImplementedError

    def save(self, context: DeepSpeedTrialContext, path: Path) -> None:
        """Write the engines into a checkpoint; called on every rank. Override it together with `load`.

        Args:
            context: holds the engines.
            path: the checkpoint's directory on this node.
        """
        for number, engine in enumerate(context.models):
            engine.save_checkpoint(str(path), tag=f"model{number}")

    def load(self, context: DeepSpeedTrialContext, load_path: Path) -> None:
        """Load the engines from a checkpoint; called on every rank.

        Args:
            context: holds the engines.
            load_path: a directory that holds the whole checkpoint.

        Raises:
            RuntimeError: an engine is not in it. What DeepSpeed raises where it does not fit is raised with a note.
        """
        for number, engine in enumerate(context.models):
            if not _is_loaded(engine, load_path, number):
                raise RuntimeError(
                    f"engine {number} of wrap_model_engine is not in the checkpoint; restore it with the code that "
                    "saved it"
                )

    def get_batch_length(self, batch: Any) -> int:
        """Return how many records a micro batch has; override it for batches whose length cannot be seen."""
        return data_length(batch)


def _is_loaded(engine: Any, load_path: Path, number: int) -> bool:
    tag = f"model{number}"
    if not (load_path / tag).is_dir():
        return False  # DeepSpeed would fail without a word
    try:
        return engine.load_checkpoint(str(load_path), tag=tag)[0] is not None
    except _MISFITS as err:
        err.add_note(_ADVICE.format(number=number))
        raise
