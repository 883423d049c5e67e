"""torch_batch_process: runs a processor over a dataset on all workers, saves its position and goes on from it."""

import contextlib
import json
import logging
import uuid
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from torch.utils.data import BatchSampler, DataLoader, Dataset, IterableDataset, SequentialSampler

from determined import core
from determined._info import ClusterInfo, get_cluster_info, trial_of
from determined._json import JsonObject
from determined.pytorch import _parallel, _tensorboard
from determined.pytorch._loader import adapt_batch_sampler
from determined.pytorch.experimental._batch_processor import TorchBatchProcessor, TorchBatchProcessorContext
from determined.search.generations import generation

logger = logging.getLogger("determined.pytorch")

_STATE_FILE, _METADATA_FILE = "batch_completed.json", "metadata.json"
_NO_BATCH = object()


def torch_batch_process(
    batch_processor_cls: type[TorchBatchProcessor],
    dataset: Dataset[object],
    batch_size: int | None = None,
    max_batches: int | None = None,
    checkpoint_interval: int = 5,
    dataloader_kwargs: JsonObject | None = None,
    distributed_context: core.DistributedContext | None = None,
) -> None:
    """Process a dataset in batches, shared among all workers of a trial.

    Worker r of n gets batches r, r + n, r + 2n and so on of the dataset in its own order. Every `checkpoint_interval`
    batches the position is saved and the platform may pause the trial. A paused trial goes on exactly after the last
    batch; one that crashed repeats what came after its last checkpoint.

    Args:
        batch_processor_cls: the class that processes; each worker makes one object of it.
        dataset: a map-style dataset with a length.
        batch_size: records per batch; 1 unless it is given here or in `dataloader_kwargs`.
        max_batches: at most so many batches per worker.
        checkpoint_interval: batches of each worker from one checkpoint to the next.
        dataloader_kwargs: further arguments of `torch.utils.data.DataLoader`, such as `num_workers` or `collate_fn`.
        distributed_context: who this worker is; by default what `determined.launch.torch_distributed` says.

    Raises:
        RuntimeError: there is no trial around this process.
        ValueError: a dataset without a length, a `checkpoint_interval` that is not positive, `dataloader_kwargs` that
            would change the order of the data or give the batch size a second time, several slots and no launcher.

    Example:
        >>> torch_batch_process(Predict, dataset, batch_size=64, checkpoint_interval=10)
    """
    if checkpoint_interval <= 0:
        raise ValueError(f"checkpoint_interval={checkpoint_interval} is not positive; give a number of batches")
    data = _Data.checked(dataset, batch_size, dict(dataloader_kwargs or {}))
    info = _trial_around()
    with _distributed(info, distributed_context) as distributed, _context(distributed) as core_context:
        _Run(core_context, info, data, max_batches, checkpoint_interval).process(batch_processor_cls)


@dataclass(frozen=True, slots=True)
class _Data:
    """A dataset in batches, in its own order."""

    dataset: Dataset[object]
    batch_size: int
    drop_last: bool
    options: JsonObject

    @classmethod
    def checked(cls, dataset: Dataset[object], batch_size: int | None, options: JsonObject) -> "_Data":
        if not hasattr(dataset, "__len__") or isinstance(dataset, IterableDataset):
            raise ValueError(
                f"{type(dataset).__name__} has no __len__ or no __getitem__; torch_batch_process shares a dataset by "
                "index, so give it a map-style dataset with a length"
            )
        size = _batch_size(batch_size, options)
        drop_last = bool(options.pop("drop_last", False))
        if options.pop("shuffle", False):
            raise ValueError("dataloader_kwargs has shuffle=True; leave it out, a resumed job needs one fixed order")
        for name in ("sampler", "batch_sampler"):
            if options.pop(name, None) is not None:
                raise ValueError(f"dataloader_kwargs has {name}; leave it out, workers get their batches by number")
        return cls(dataset, size, drop_last, options)

    def batches_per_worker(self, workers: int) -> int:
        """The same for each, so that all make the same collective calls; some may find nothing in the last one."""
        return -(-len(self._sampler()) // workers)

    def loader(self, first: int, workers: int, rank: int) -> "DataLoader[Any]":
        sampler = adapt_batch_sampler(self._sampler(), repeat=False, skip=first, num_replicas=workers, rank=rank)
        return DataLoader(self.dataset, batch_sampler=sampler, **self.options)

    def _sampler(self) -> BatchSampler:
        return BatchSampler(SequentialSampler(self.dataset), self.batch_size, self.drop_last)  # type: ignore[arg-type]


def _batch_size(given: int | None, options: JsonObject) -> int:
    other = options.pop("batch_size", None)
    if given is not None and other is not None:
        raise ValueError(f"batch_size={given} and dataloader_kwargs['batch_size']={other}; give only one of them")
    size = given if given is not None else other
    if size is None:
        logger.info("torch_batch_process has no batch_size; a batch is one record")
        return 1
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise ValueError(f"batch_size={size!r} is not a positive int; give the number of records per batch")
    return size


def _trial_around() -> ClusterInfo:
    info = trial_of(get_cluster_info())
    if info is None:
        raise RuntimeError("torch_batch_process runs in a trial only; submit the script with det experiment create")
    return info


def _distributed(
    info: ClusterInfo, given: core.DistributedContext | None
) -> contextlib.AbstractContextManager[core.DistributedContext | None]:
    return _parallel.backend(info, None) if given is None else contextlib.nullcontext(given)


def _context(distributed: core.DistributedContext | None) -> core.Context:
    return core.init(distributed=distributed, tensorboard_mode=_tensorboard.mode_of(distributed))


@dataclass(frozen=True, slots=True)
class _Position:
    """Position in a checkpoint: so many batches of each worker are done."""

    steps_completed: int
    default_output_uuid: str
    workers: int
    batch_size: int


class _Run:
    """Part of one worker."""

    def __init__(
        self, core_context: core.Context, info: ClusterInfo, data: _Data, max_batches: int | None, interval: int
    ) -> None:
        self._core = core_context
        self._info = info
        self._data = data
        self._interval = interval
        self._rank, self._size = core_context.distributed.rank, core_context.distributed.size
        self._first, self._output = self._beginning()
        self._last = _limited(data.batches_per_worker(self._size), max_batches)
        self._saved = self._first

    def process(self, processor_class: type[TorchBatchProcessor]) -> None:
        # Asked before anything is loaded: a script that has never asked is ended by force 15 seconds into a pause.
        if self._first < self._last and self._core.preempt.should_preempt():
            return
        if self._rank == 0:
            logger.info("outputs go to %s/ in the experiment's checkpoint storage", self._output)
        context = TorchBatchProcessorContext(self._core, f"{self._output}/rank_{self._rank}")
        processor = processor_class(context)
        context._reducers.reset()
        reached = self._process_batches(processor)
        if reached < self._last:
            self._report_reduced(context, reached)
            return
        self._flush(processor, reached)
        processor.on_finish()
        metrics = self._report_reduced(context, reached)
        self._save(reached)  # last: a worker that failed before goes back and has something to reduce
        self._complete(metrics)

    def _process_batches(self, processor: TorchBatchProcessor) -> int:
        """Return how many batches are done: all, or as many as there were when the platform wanted us to leave."""
        batches = iter(self._data.loader(self._first, self._size, self._rank))
        for step in range(self._first, self._last):
            batch = next(batches, _NO_BATCH)
            if batch is not _NO_BATCH:
                processor.process_batch(batch=batch, batch_idx=step)
            done = step + 1
            if done % self._interval != 0 or done == self._last:
                continue
            self._flush(processor, done)
            self._save(done)
            if self._core.preempt.should_preempt():
                return done
        return max(self._first, self._last)

    def _flush(self, processor: TorchBatchProcessor, done: int) -> None:
        if done != self._saved:
            processor.on_checkpoint_start()

    def _save(self, done: int) -> None:
        """Collective: the chief stores the position only after every worker has put its own output away."""
        if done == self._saved:
            return
        self._saved = done
        slowest = min(self._core.distributed.allgather(done))
        _tensorboard.upload(self._core)
        if self._rank != 0:
            return
        position = _Position(slowest, self._output, self._size, self._data.batch_size)
        metadata = {"steps_completed": slowest, "default_output_uuid": self._output}
        with self._core.checkpoint.store_path(metadata) as (path, _):
            (path / _STATE_FILE).write_text(json.dumps(asdict(position)))
        self._core.train.report_progress(min(slowest / self._last, 1.0))

    def _report_reduced(self, context: TorchBatchProcessorContext, done: int) -> JsonObject:
        """Report reduced metrics, on all ranks. A worker that came back only to finish has nothing to reduce."""
        if done == self._first:
            return {}
        metrics = context._reducers.reduce(self._core.distributed, for_training=False)
        if metrics and self._rank == 0:
            self._core.train.report_validation_metrics(done, metrics)
        return metrics

    def _complete(self, metrics: JsonObject) -> None:
        """A classic search waits for a metric. Inference has none to offer unless a reducer has its name."""
        config = self._info.trial._config
        if self._rank != 0 or generation(config) != "classic":
            return
        metric = metrics.get(config["searcher"].get("metric"), 1.0)
        for operation in self._core.searcher.operations(core.SearcherMode.ChiefOnly):
            operation.report_completed(metric)

    def _beginning(self) -> tuple[int, str]:
        """Return the batch that each worker goes on from, and the name under which outputs are stored."""
        position = self._restored()
        if position is None:
            return 0, str(self._core.distributed.broadcast(str(uuid.uuid4())))
        if (position.workers, position.batch_size) == (self._size, self._data.batch_size):
            return position.steps_completed, position.default_output_uuid
        records = position.steps_completed * position.workers * position.batch_size
        step = self._size * self._data.batch_size
        # Batches are numbered otherwise now: under the old id they would replace what others have stored.
        output = str(self._core.distributed.broadcast(str(uuid.uuid4())))
        logger.warning(
            "the checkpoint is of %s workers with batches of %s, now there are %s with batches of %s; "
            "%s records are processed again; outputs so far are in %s/, those from here on go to %s/",
            position.workers,
            position.batch_size,
            self._size,
            self._data.batch_size,
            records % step,
            position.default_output_uuid,
            output,
        )
        return records // step, output

    def _restored(self) -> _Position | None:
        latest = self._info.latest_checkpoint
        if latest is None:
            return None
        with self._core.checkpoint.restore_path(latest) as path:
            return self._read(path)

    def _read(self, path: Path) -> _Position | None:
        if not (path / _STATE_FILE).is_file():
            logger.info(
                "the checkpoint this trial starts from is none of a batch process; it begins at the first batch"
            )
            return None
        state = {**_json(path / _METADATA_FILE), **_json(path / _STATE_FILE)}
        return _Position(
            steps_completed=int(state["steps_completed"]),
            default_output_uuid=str(state["default_output_uuid"]),
            workers=int(state.get("workers", self._size)),
            batch_size=int(state.get("batch_size", self._data.batch_size)),
        )


def _json(path: Path) -> JsonObject:
    return dict(json.loads(path.read_text())) if path.is_file() else {}


def _limited(batches: int, max_batches: int | None) -> int:
    """`max_batches` where it makes sense, else all."""
    if max_batches is None:
        return batches
    if 0 < max_batches <= batches:
        return max_batches
    why = "is not positive" if max_batches <= 0 else f"is more than the {batches} batches that each worker has"
    logger.warning("max_batches=%s %s; it is ignored", max_batches, why)
    return batches
