"""`determined.lightning.init`: everything a script with Lightning's Trainer needs on a cluster, in one call."""

import contextlib
import logging
from collections.abc import Iterator

import torch

from determined import core
from determined._info import ClusterInfo, trial_of
from determined._json import JsonObject
from determined.lightning import _flavour
from determined.lightning._callback import check_ranks, is_in_a_trainer
from determined.lightning._checkpoint import DeterminedCheckpoint
from determined.lightning._logger import DeterminedLogger
from determined.lightning._preemption import DeterminedPreemption
from determined.lightning._search import DeterminedSearch
from determined.trial import Batch, Epoch, TrainUnit, late_length

logger = logging.getLogger("determined.lightning")

_LIMITS = ("max_epochs", "max_steps", "max_time")
_WAY_OUT = "pass max_epochs=n to context.trainer_kwargs"


@contextlib.contextmanager
def init(
    *,
    distributed: core.DistributedContext | None = None,
    checkpoint_storage: str | JsonObject | None = None,
    every_n_epochs: int | None = 1,
    every_n_batches: int | None = None,
) -> "Iterator[LightningContext]":
    """A context for a script with Lightning's Trainer, for the length of the block.

    On a cluster all random numbers are seeded with the trial's seed. Several slots need a launcher that starts one
    process for each: `python3 -m determined.launch.torch_distributed python3 train.py`.

    Args:
        distributed: who this process is among its peers; what the launcher or torchrun says where it is left out.
        checkpoint_storage: as `core.init` takes it.
        every_n_epochs: epochs between checkpoints. A pause and the end save one in any case.
        every_n_batches: batches between checkpoints.

    Raises:
        ValueError: a task with several slots whose entrypoint has no launcher.

    Example:
        >>> with determined.lightning.init() as context:
        ...     trainer = L.Trainer(**context.trainer_kwargs(max_epochs=10))
        ...     trainer.fit(Net(), datamodule=Digits(), ckpt_path=context.resume_path())
    """
    if distributed is None and torch.distributed.is_available() and torch.distributed.is_torchelastic_launched():
        distributed = core.DistributedContext.from_torch_distributed()
    with core.init(distributed=distributed, checkpoint_storage=checkpoint_storage) as core_context:
        context = LightningContext(core_context, every_n_epochs=every_n_epochs, every_n_batches=every_n_batches)
        if context.info is not None:
            _flavour.flavours()[0].seed_everything(context.info.trial.trial_seed, workers=True)
        yield context
        if context.info is not None and core_context.distributed.rank == 0 and not is_in_a_trainer(core_context):
            logger.warning(
                "no Trainer had the callbacks of this context: nothing was saved, and a pause or a crash would have "
                "lost what was trained; make it by Trainer(**context.trainer_kwargs(...))"
            )


class LightningContext:
    """Made by `init`.

    Attributes:
        core: the Core API of this process.
        info: the trial it works on; None off cluster.
        hparams: the trial's hyperparameters; {} off cluster.
        checkpoint, logger, preemption, search: what `trainer_kwargs` hands to the Trainer.
    """

    def __init__(
        self, core_context: core.Context, *, every_n_epochs: int | None = 1, every_n_batches: int | None = None
    ) -> None:
        self.core = core_context
        self.info: ClusterInfo | None = trial_of(core_context.info)
        self.hparams: JsonObject = {} if self.info is None else self.info.trial.hparams
        self.checkpoint = DeterminedCheckpoint(
            core_context, every_n_epochs=every_n_epochs, every_n_batches=every_n_batches
        )
        self.logger = DeterminedLogger(core_context)
        self.preemption = DeterminedPreemption(core_context)
        self.search = DeterminedSearch(core_context)

    @property
    def is_preempted(self) -> bool:
        """Return whether `trainer.fit` was left because the cluster wants the slots back: exit soon, and training goes
        on."""
        return self.preemption.is_preempted

    def resume_path(self) -> str | None:
        """Return what to give `trainer.fit(ckpt_path=...)`; see `DeterminedCheckpoint.resume_path`."""
        return self.checkpoint.resume_path()

    def trainer_kwargs(self, **given: object) -> JsonObject:
        """Arguments for `Trainer(...)`: those given, and what a trial needs.

        Our callbacks and logger join those given. Devices and nodes are those the launcher started; the length is what
        the searcher says where it hands out lengths, else what is given, else the config's `searcher.max_length` or
        `max_time`.

        Args:
            given: arguments of Lightning's Trainer.

        Raises:
            ValueError: on a cluster, no length anywhere.
            InvalidExperimentException: more devices or nodes than the launcher started processes for.
        """
        callbacks = _listed(given.get("callbacks"))
        chosen = {
            **self._defaults(callbacks),
            **given,
            **self._length(given),
            "callbacks": [self.checkpoint, self.search, self.preemption, *callbacks],
            # The first of them is `self.logger` of a module, whose `experiment` only the user's own have.
            "logger": [*_loggers(given.get("logger")), self.logger],
        }
        if isinstance(chosen["devices"], int) and chosen["devices"] > 0:  # Lightning would start the others and wait
            check_ranks(chosen["devices"] * chosen["num_nodes"], self.core.distributed.size)
        return chosen

    def _defaults(self, callbacks: list[object]) -> JsonObject:
        ranks = self.core.distributed
        # The user's own, such as a ModelCheckpoint, are left to work as they do.
        own = any(base.__name__ == "Checkpoint" for callback in callbacks for base in type(callback).__mro__)
        defaults: JsonObject = {
            "accelerator": "gpu" if torch.cuda.is_available() else "cpu",
            "devices": ranks.local_size,
            "num_nodes": ranks.cross_size,
            "enable_checkpointing": own,
        }
        if self.info is not None:
            defaults["enable_progress_bar"] = False  # the log of a task is no terminal
        return defaults

    def _length(self, given: JsonObject) -> JsonObject:
        if self.info is None:
            return {}
        named = {name: given[name] for name in _LIMITS if given.get(name) is not None}
        if self.search.is_classic:
            if named:
                logger.warning("%s is ignored: the searcher decides how long this trial trains", ", ".join(named))
            return {"max_epochs": -1, "max_steps": -1, "max_time": None}
        epochs = named.get("max_epochs", 0)
        if named and epochs < 1:
            return {}  # the script has chosen steps, a time, or no end
        searcher, size = self.info.trial._config.get("searcher") or {}, self.search._global_batch_size
        length = late_length(Epoch(epochs) if named else None, searcher, size, "Trainer.fit", _WAY_OUT)
        return {} if named else self._limit(length)

    def _limit(self, length: TrainUnit) -> JsonObject:
        if not isinstance(length, Batch):
            return {"max_epochs": length.value}
        self.search.train_batches(length)
        return {"max_epochs": -1}


def _listed(given: object) -> list[object]:
    if given is None:
        return []
    return list(given) if isinstance(given, list | tuple) else [given]


def _loggers(given: object) -> list[object]:
    """Return the loggers. True is Lightning's default, which writes beside the script; on a cluster there is ours."""
    return [] if given in (None, True, False) else _listed(given)
