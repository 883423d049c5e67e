"""TorchBatchProcessor: what a user writes to process batches; and the context it is given."""

import contextlib
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import nn

from determined import core
from determined._json import JsonObject
from determined.pytorch import _parallel
from determined.pytorch._batch_data import to_device
from determined.pytorch._reducer import MetricReducer, ReducerSet

Model = TypeVar("Model", bound=nn.Module)


def get_default_device(core_context: core.Context) -> torch.device:
    """The device a worker uses: a GPU of its own where there are any, else the processor.

    Args:
        core_context: the context of this worker.

    Returns:
        `cuda:<local rank>` or `cpu`.

    Example:
        >>> get_default_device(core_context)
        device(type='cpu')
    """
    gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
    return _parallel.device_of(core_context.distributed, gpus)


class TorchBatchProcessorContext:
    """Context of a batch processor. `torch_batch_process` makes one per worker.

    Attributes:
        device: where this worker computes.
    """

    def __init__(self, core_context: core.Context, storage_path: str) -> None:
        self._core = core_context
        self._storage_path = storage_path
        self._reducers = ReducerSet()
        self._warned_types: set[type] = set()
        self.device = get_default_device(core_context)

    def get_hparams(self) -> JsonObject:
        """The trial's hyperparameters."""
        assert self._core.info is not None, "a context is made on a cluster only"
        return self._core.info.trial.hparams

    def to_device(self, data: Any, warned_types: set[type] | None = None) -> Any:
        """Move a batch of any structure to this worker's device.

        Args:
            data: tensors, arrays, and dicts, lists and tuples of them.
            warned_types: types that were already warned about because they cannot be moved; by default the context
                remembers them itself.

        Returns:
            The same structure on the device.
        """
        return to_device(data, self.device, self._warned_types if warned_types is None else warned_types)

    def get_tensorboard_path(self) -> Path:
        """A directory for TensorBoard files, traces of a profiler among them; they are stored with every checkpoint."""
        path = self._core.train.get_tensorboard_path()
        assert path is not None, "a trial on a cluster has a store for these files"
        return path

    def prepare_model_for_inference(self, model: Model) -> Model:
        """The model on this worker's device and in evaluation mode."""
        model.eval()
        return model.to(self.device)

    @contextlib.contextmanager
    def upload_path(self) -> Iterator[Path]:
        """Yield an empty directory; what is in it at a clean end of the block is stored, else nothing is.

        Files go to `<output id>/rank_<rank>/` in the experiment's checkpoint storage. A later file of the same name
        replaces an earlier one: name files after `batch_idx`, and a batch that is processed again after a crash
        leaves no second copy.

        Example:
            >>> with self.context.upload_path() as path:
            ...     torch.save(predictions, path / f"{batch_idx}.pt")
        """
        with tempfile.TemporaryDirectory(prefix="determined-") as directory:
            yield Path(directory)
            self._upload(Path(directory))

    def report_metrics(self, group: str, steps_completed: int, metrics: JsonObject) -> None:
        """Report metrics of any group; call it on the chief (`get_distributed_rank() == 0`) alone.

        Args:
            group: a name without `.`, such as "inference".
            steps_completed: how many batches each worker has done.
            metrics: names to values.
        """
        self._core.train.report_metrics(group, steps_completed, metrics)

    def report_task_using_model_version(self, model_version: Any) -> None:
        """Note that this trial runs inference with a registered model version, so that its metrics are found there.

        Every worker may call it; the chief's call counts.
        """
        if self._core.distributed.rank == 0:
            self._core.experimental.report_task_using_model_version(model_version)

    def report_task_using_checkpoint(self, checkpoint: Any) -> None:
        """Note that this trial runs inference with a checkpoint. Every worker may call it; the chief's call counts."""
        if self._core.distributed.rank == 0:
            self._core.experimental.report_task_using_checkpoint(checkpoint)

    def get_distributed_rank(self) -> int:
        """Return the rank of this worker among all, from 0."""
        return self._core.distributed.rank

    def get_distributed_size(self) -> int:
        """The number of workers."""
        return self._core.distributed.size

    def wrap_reducer(
        self,
        reducer: Callable[[list[Any]], Any] | MetricReducer,
        name: str | None = None,
        for_training: bool = True,
        for_validation: bool = True,
    ) -> MetricReducer:
        """Register a reducer; its result over all workers is reported as a validation metric at the end.

        Args:
            reducer: a `MetricReducer`, or a function of the list of all values that were passed to `update`.
            name: the metric's name; None for a reducer that returns a dict of metrics.
            for_training: has no meaning here, as nothing is trained.
            for_validation: False leaves it out of the report.

        Returns:
            The reducer to keep and to update. One made from a function has `update(value)`.

        Raises:
            AssertionError: the same object twice, or something that is no reducer.
        """
        return self._reducers.wrap(reducer, name, for_training, for_validation)

    def _upload(self, directory: Path) -> None:
        storage = self._core.checkpoint._storage_manager
        for path in sorted(directory.rglob("*")):
            if path.is_file():
                storage.put(path, f"{self._storage_path}/{path.relative_to(directory).as_posix()}")


class TorchBatchProcessor(ABC):
    """Derive from it and hand the class to `torch_batch_process`.

    Example:
        >>> class Predict(TorchBatchProcessor):
        ...     def __init__(self, context):
        ...         self.context = context
        ...         self.model = context.prepare_model_for_inference(build_model())
        ...
        ...     def process_batch(self, batch, batch_idx):
        ...         with torch.inference_mode():
        ...             predictions = self.model(self.context.to_device(batch))
        ...         with self.context.upload_path() as path:
        ...             torch.save(predictions.cpu(), path / f"{batch_idx}.pt")
    """

    @abstractmethod
    def __init__(self, context: TorchBatchProcessorContext) -> None:
        """Load models and what else is needed; called once in every worker.

        Args:
            context: keep it, for everything a processor does goes through it.
        """

    @abstractmethod
    def process_batch(self, batch: Any, batch_idx: int) -> None:
        """Process one batch.

        Args:
            batch: as the data loader collated it, on the CPU.
            batch_idx: the number of this batch among the batches of this worker; a restarted worker goes on counting.
                Over all workers it is batch `batch_idx * get_distributed_size() + get_distributed_rank()`.
        """

    def on_checkpoint_start(self) -> None:
        """Called in every worker before a checkpoint: store here what is still held back.

        What was processed before a checkpoint is not processed again.
        """
        return None

    def on_finish(self) -> None:
        """Called in every worker after its last batch was processed and `on_checkpoint_start` was called.

        The last checkpoint is made afterwards: a worker that fails here is restarted, repeats the batches since the
        checkpoint before, and is called again.
        """
        return None
