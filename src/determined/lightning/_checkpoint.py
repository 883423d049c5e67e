"""DeterminedCheckpoint: Lightning's own checkpoints in the cluster's storage, taken between two batches, with all that
a run needs to go on as if it had never stopped."""

import contextlib
import json
import logging
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from determined import core
from determined._info import trial_of
from determined._json import JsonObject
from determined.config import ExperimentConfig
from determined.errors import CheckpointNotFound, InvalidExperimentException, UnsafeCheckpoint
from determined.lightning import _averages, _data, _random
from determined.lightning._callback import CHECKPOINT, LAST, OTHERS, DeterminedCallback
from determined.lightning._flavour import flavours
from determined.lightning._position import batches_trained, before_batch, going_on, is_between_steps, resumed
from determined.trial import metadata

if TYPE_CHECKING:
    from lightning.pytorch import LightningModule, Trainer

logger = logging.getLogger("determined.lightning")

LIGHTNING_FILE = "lightning.ckpt"
_ABOUT_FILE = "determined.json"


class DeterminedCheckpoint(DeterminedCallback):
    """Saves `lightning.ckpt`, in Lightning's format, through `core_context.checkpoint`; goes on from it exactly.

    Beside that file lie the random numbers and the place in the data of every rank. Checkpoints are taken before the
    next batch starts, when all hooks, schedulers and validations of the last one have run; the final one when training
    ends.

    Args:
        core_context: of `core.init`, or `context.core` of `determined.lightning.init`.
        every_n_epochs: how often; None for never.
        every_n_batches: how often besides; None for never.

    Example:
        >>> checkpoint = DeterminedCheckpoint(core_context)
        >>> trainer = L.Trainer(callbacks=[checkpoint, DeterminedPreemption(core_context)])
        >>> trainer.fit(model, ckpt_path=checkpoint.resume_path())
    """

    _place = CHECKPOINT

    def __init__(
        self, core_context: core.Context, *, every_n_epochs: int | None = 1, every_n_batches: int | None = None
    ) -> None:
        super().__init__(core_context)
        self._every_n_epochs = _checked("every_n_epochs", every_n_epochs)
        self._every_n_batches = _checked("every_n_batches", every_n_batches)
        self._is_due = False
        self.saved_at: int | None = None
        self._unsafe: list[str] = []
        self._keep = contextlib.ExitStack()
        self._restored: JsonObject | None = None
        self._weights: Path | None = None
        self._loaders: list[_data.FollowedLoader] = []
        self._logged: JsonObject = {}
        info = trial_of(core_context.info)
        self._is_async = info is None or ExperimentConfig.load(info.trial._config).async_checkpointing

    def resume_path(self, storage_id: str | None = None) -> str | None:
        """Return what to give `trainer.fit(ckpt_path=...)`; None for a trial that begins. All ranks must call it.

        Args:
            storage_id: the checkpoint to go on from; this trial's latest where none is given. Of another trial's only
                the weights are taken, when the fit begins.

        Raises:
            CheckpointNotFound: there is no such checkpoint, or it is none of Lightning's.
            UnsafeCheckpoint: it is another trial's, and holds objects whose loading would run code.
        """
        latest = self._core.info.latest_checkpoint if self._core.info is not None else None
        checkpoint = storage_id or latest
        if checkpoint is None:
            return None
        directory = self._keep.enter_context(self._core.checkpoint.restore_path(checkpoint))
        if not (directory / LIGHTNING_FILE).exists():
            raise CheckpointNotFound(
                f"checkpoint {checkpoint} has no {LIGHTNING_FILE}, so it was not saved by DeterminedCheckpoint; go on "
                "from one that was"
            )
        about = _about(directory)
        self._unsafe = _unsafe_classes(directory / LIGHTNING_FILE)
        if about.get("trial_id") != self._trial_id():
            self._refuse_unsafe(checkpoint)
            logger.info(
                "training begins with the weights of checkpoint %s of trial %s", checkpoint, about.get("trial_id")
            )
            self._weights = directory / LIGHTNING_FILE
            return None
        self._restored = self._read(directory, about)
        logger.info("going on from checkpoint %s at batch %s", checkpoint, self._restored["batches"])
        return str(directory / LIGHTNING_FILE)

    def request(self) -> None:
        """Have a checkpoint before the next batch, or after the last one. All ranks must ask at the same batch."""
        self._is_due = True
        self.note_data()

    def is_due(self) -> bool:
        return self._is_due

    def setup(self, trainer: "Trainer", pl_module: "LightningModule", stage: str) -> None:
        if not any(isinstance(callback, _Final) for callback in trainer.callbacks):
            trainer.callbacks = [*trainer.callbacks, _Final(self)]
        super().setup(trainer, pl_module, stage)
        if stage != "fit":
            return
        self.saved_at = None if self._restored is None else self._restored["batches"]
        if self._restored is not None and self._unsafe:
            self._trust(trainer)
        if self._weights is not None:
            saved = torch.load(self._weights, map_location="cpu", weights_only=True)
            pl_module.load_state_dict(saved["state_dict"], strict=pl_module.strict_loading)

    def on_train_start(self, trainer: "Trainer", pl_module: "LightningModule") -> None:
        vars(trainer.strategy).pop("load_checkpoint", None)  # it is loaded
        self._loaders = _data.follow(trainer)
        if self._restored is not None:
            self._take_up(trainer, self._restored)
        _data.begin_again(trainer)
        if self._is_due:
            self.note_data()

    def on_train_epoch_start(self, trainer: "Trainer", pl_module: "LightningModule") -> None:
        self._loaders = _data.follow(trainer)  # Lightning may have asked for new ones
        if self._is_due:
            self.note_data()

    def on_train_batch_start(
        self, trainer: "Trainer", pl_module: "LightningModule", batch: object, batch_idx: int
    ) -> None:
        _end_validation(trainer)
        if self._restored is not None:
            going_on(trainer)
            if "random" in self._restored:
                _random.put_back(self._restored["random"])
            self._restored = None
        if self._is_due and is_between_steps(trainer, batch_idx):
            self._is_due = False
            with before_batch(trainer):
                self._save(trainer, [loader.taken() for loader in self._loaders], awaited=False)

    def on_train_batch_end(
        self, trainer: "Trainer", pl_module: "LightningModule", outputs: object, batch: object, batch_idx: int
    ) -> None:
        if self._logged:
            self._logged = _averages.add(trainer, self._logged)
        every = self._every_n_batches
        if every is not None and batches_trained(trainer) % every == 0:
            self.request()

    def on_train_epoch_end(self, trainer: "Trainer", pl_module: "LightningModule") -> None:
        _end_validation(trainer)
        self._logged = {}
        every = self._every_n_epochs
        if every is not None and (trainer.current_epoch + 1) % every == 0:
            self.request()

    def teardown(self, trainer: "Trainer", pl_module: "LightningModule", stage: str) -> None:
        _end_validation(trainer)
        if stage == "fit":
            self._keep.close()

    def note_data(self) -> None:
        """Have the loaders remember where they are, before the next batch is fetched."""
        for loader in self._loaders:
            loader.note_next()

    def finish(self, trainer: "Trainer") -> None:
        """Save what was trained last, when training ends, unless it is saved."""
        self._is_due = False
        if self.saved_at != batches_trained(trainer):
            self._save(trainer, None, awaited=True)
        self._core.checkpoint._wait()  # who comes back from `fit` finds it stored

    def _refuse_unsafe(self, checkpoint: str) -> None:
        if self._unsafe:
            raise UnsafeCheckpoint(
                f"checkpoint {checkpoint} of another trial holds {', '.join(self._unsafe)}, and loading that could "
                "run any code; if you trust it, call torch.serialization.add_safe_globals([...]) with these first"
            )

    def _trust(self, trainer: "Trainer") -> None:
        """Trust this trial's own checkpoint, whatever its module and callbacks have put into it."""
        logger.warning("the checkpoint holds %s: it is unpickled as it is, being this trial's own", self._unsafe)
        load = trainer.strategy.load_checkpoint
        trainer.strategy.load_checkpoint = lambda path, **_options: load(path, weights_only=False)

    def _take_up(self, trainer: "Trainer", restored: JsonObject) -> None:
        if restored["loaders"] is None:  # an epoch was over, and the next one draws its order from these
            _random.put_back(restored.pop("random"))
            return
        # It does not know that loaders are followed.
        warnings.filterwarnings("ignore", "You're resuming from a checkpoint that ended before the epoch ended")
        resumed(trainer)
        for loader, state in zip(self._loaders, restored["loaders"], strict=True):
            if state is not None:
                loader.take_up(state)
        _averages.put_back(trainer, restored["averages"])
        self._logged = restored["averages"]["logged"]

    def _save(self, trainer: "Trainer", loaders: list[_data.LoaderState | None] | None, *, awaited: bool) -> None:
        batches, now = batches_trained(trainer), _random.take()
        if self.saved_at == batches:
            return
        if self._is_chief:
            self._core.train.set_status("checkpointing")
        about = metadata(batches, f"lightning-{flavours()[0].__version__}", "lightning")
        with self._stored(about, in_background=self._is_async and not awaited) as path:
            trainer.save_checkpoint(path / LIGHTNING_FILE, weights_only=False)
            own = {"random": now, "loaders": loaders, "averages": _averages.take(trainer)}
            torch.save(own, path / _rank_file(self._core.distributed.rank))
            if self._is_chief:
                ranks = self._core.distributed.size
                about |= {"trial_id": self._trial_id(), "batches_trained": batches, "ranks": ranks}
                (path / _ABOUT_FILE).write_text(json.dumps(about))
            _save_logs(trainer)
        self.saved_at = batches
        for loader in self._loaders:
            loader.forget()
        _random.put_back(now)  # saving may have drawn: a run that goes on from here will not have
        if self._is_chief:
            self._core.train.set_status("training")

    @contextlib.contextmanager
    def _stored(self, about: JsonObject, *, in_background: bool) -> Iterator[Path]:
        """Store what is written in the block, where asked for while training goes on behind it."""
        checkpoints, shard = self._core.checkpoint, self._core.distributed.size > 1
        words = about if self._is_chief else {}
        if in_background:
            with checkpoints.store_path_async(words, shard=shard) as save:
                yield save.path
            return
        with checkpoints.store_path(words, shard=shard) as (path, _storage_id):
            yield path

    def _read(self, directory: Path, about: JsonObject) -> JsonObject:
        rank, size = self._core.distributed.rank, self._core.distributed.size
        if about["ranks"] != size:
            logger.warning(
                "the checkpoint is of %s rank(s), and %s go on from it: the rest of this epoch has its data in another "
                "order than it would have had",
                about["ranks"],
                size,
            )
            rank = 0
        state: JsonObject = torch.load(directory / _rank_file(rank), map_location="cpu", weights_only=True)
        state["batches"] = about["batches_trained"]
        if about["ranks"] != size and state["loaders"] is not None:
            state["loaders"] = [None] * len(state["loaders"])
        return state

    def _trial_id(self) -> int:
        info = trial_of(self._core.info)
        return 0 if info is None else info.trial.trial_id


class _Final(DeterminedCallback):
    """Saves when training ends, after all other callbacks: some, such as weight averaging, change the model there."""

    _place = LAST

    def __init__(self, checkpoint: DeterminedCheckpoint) -> None:
        super().__init__(checkpoint._core)
        self._checkpoint = checkpoint

    def on_train_batch_end(
        self, trainer: "Trainer", pl_module: "LightningModule", outputs: object, batch: object, batch_idx: int
    ) -> None:
        if self._checkpoint.is_due():  # it may have had to wait
            self._checkpoint.note_data()

    def on_train_end(self, trainer: "Trainer", pl_module: "LightningModule") -> None:
        self._checkpoint.finish(trainer)


def checkpoint_of(trainer: "Trainer", who: str) -> DeterminedCheckpoint:
    """Return the checkpoint callback of a trainer. Raises InvalidExperimentException where it has none."""
    callbacks = [callback for callback in trainer.callbacks if getattr(callback, "_place", OTHERS) == CHECKPOINT]
    if not callbacks:
        raise InvalidExperimentException(
            f"{who} needs a DeterminedCheckpoint beside it; add one to Trainer(callbacks=[...]), or use "
            "Trainer(**context.trainer_kwargs())"
        )
    checkpoint: DeterminedCheckpoint = callbacks[0]
    return checkpoint


def _checked(name: str, every: int | None) -> int | None:
    if every is not None and every < 1:
        raise ValueError(f"{name}={every} is not a number of them; give 1 or more, or None for never")
    return every


def _end_validation(trainer: "Trainer") -> None:
    """End the validation for our loggers: no hook is left that could log more of it."""
    for each in trainer.loggers:
        if hasattr(each, "end_validation"):
            each.end_validation()


def _save_logs(trainer: "Trainer") -> None:
    """Save what loggers keep in memory, such as a SummaryWriter that a module writes to: who goes on from the
    checkpoint does not write it again."""
    for each in trainer.loggers:
        each.save()


def _unsafe_classes(file: Path) -> list[str]:
    """Return what torch loads only if told to trust it; a directory is one of shards, which hold tensors."""
    return sorted(torch.serialization.get_unsafe_globals_in_checkpoint(file)) if file.is_file() else []


def _rank_file(rank: int) -> str:
    return f"determined_rank_{rank}.pth"


def _about(directory: Path) -> JsonObject:
    file = directory / _ABOUT_FILE
    about: JsonObject = json.loads(file.read_text()) if file.is_file() else {}
    return about
