"""Checkpoints of a PyTorchTrial: everything that training goes on from, saved and put back."""

import dataclasses
import logging
import pickle
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

import torch

from determined import core
from determined._info import ClusterInfo, trial_of
from determined._json import JsonObject
from determined.pytorch import _formats
from determined.pytorch._batches import TrainingBatches
from determined.pytorch._callback_set import CallbackSet
from determined.pytorch._context import PyTorchTrialContext
from determined.pytorch._saves import OpenSave, Saves, Way
from determined.pytorch._state import RngState, TrialState, restore_rng, take_rng
from determined.trial import Origin, is_counters_file, metadata, read_counters

if TYPE_CHECKING:
    from determined.pytorch._shards import Like, Place

logger = logging.getLogger("determined.pytorch")


@dataclass(frozen=True, slots=True)
class Restored:
    """Parts of a checkpoint that others put back later.

    Attributes:
        state: how far this trial was trained; nothing, when the checkpoint is another trial's.
        loader_state: where its data goes on; None where it begins.
        rng: for `restore_rng`, once whatever draws random numbers at the start has done so.
    """

    state: TrialState
    loader_state: JsonObject | None
    rng: RngState | None


class Checkpoints:
    """Saves and restores one trial.

    Args:
        trial: its class is what a checkpoint is loaded as, later.
        context: holds what is saved.
        callbacks: keep a state of their own, and hear of every checkpoint.
        is_trainer: the trial runs by a script's Trainer, not by its entrypoint.
        in_background: let training go on while checkpoints are written and stored.
    """

    _TRIAL_TYPE = "PyTorchTrial"

    def __init__(
        self,
        trial: object,
        context: PyTorchTrialContext,
        callbacks: CallbackSet,
        *,
        is_trainer: bool,
        in_background: bool = False,
    ) -> None:
        self._context = context
        self._callbacks = callbacks
        self._core: core.Context = context._core
        self._dist = self._core.distributed
        self._origin = Origin(
            type(trial),
            self._TRIAL_TYPE,
            self._core,
            hparams=context._hparams,
            config=context._exp_conf,
            is_trainer=is_trainer,
        )
        self._saves = Saves(self._core, callbacks, in_background=in_background)
        self._is_first = True
        self._pending: object = None  # gradients collected for the next step, while a checkpoint is saved

    def save(self, state: TrialState, batches: TrainingBatches | None, *, awaited: bool = False) -> str:
        """Save a checkpoint of the trial as it is now, on all ranks together; its storage id.

        It may be stored later: `wait`. The state that `on_checkpoint_save_start` sees on the chief has None in place of
        parameters that are sharded: each rank saves its part of those by itself.

        Args:
            state: how far the trial is trained.
            batches: its data.
            awaited: training does not go on before it is stored.

        Raises:
            Exception: what the last save has failed with in the background, whatever it is.
        """
        self.wait()
        data, rng = None if batches is None else batches.state(state.batches_trained), take_rng()
        everybody = self._dist.gather((rng, data))
        self._pending = self._context._gradients.pending(self._context.optimizers, self._dist.size)
        saved = dataclasses.replace(state, last_ckpt=state.batches_trained)
        storage_id, way = self._way_to_save()(saved, everybody, awaited)
        restore_rng(rng)  # callbacks may have drawn: a run that goes on from here will not have
        self._saves.left(storage_id, way)
        return storage_id

    def wait(self) -> None:
        """Wait until the last checkpoint is stored, on all ranks together. Raises what that has failed with."""
        self._saves.wait()

    def look(self) -> None:
        """Tell callbacks if the last checkpoint is stored by now, on all ranks together. Raises as `wait`."""
        self._saves.look()

    def restore(self, storage_id: str, state: TrialState) -> Restored:
        """Load models, optimizers, schedulers, scaler and callbacks from a checkpoint, on all ranks together.

        Args:
            storage_id: the checkpoint, this trial's or another's.
            state: that of a trial that begins: it tells which trial this is.

        Raises:
            UnsafeCheckpoint: another trial's, and it holds objects whose loading would run code.
            RuntimeError: it does not fit the models and optimizers of this trial.
        """
        with self._core.checkpoint.restore_path(storage_id) as path:
            checkpoint = _formats.read_state(path, is_own=self._is_own(storage_id))
            self._load_shards(checkpoint, path)
            counters = read_counters(path)
            self._read_pending(checkpoint, path)
        self._callbacks.fire("on_checkpoint_load_start", checkpoint)
        self._load(checkpoint)
        return self._restored(checkpoint, counters, state)

    def _load_shards(self, checkpoint: JsonObject, path: Path) -> None:
        if not _formats.has_shards(path):
            return
        from determined.pytorch import _shards

        _shards.load(checkpoint, path, self._like())

    def _way_to_save(self) -> "Callable[[TrialState, Positions, bool], tuple[str, Way]]":
        if self._context._is_sharded():
            return self._save_sharded
        return self._save_between_steps if self._pending is not None and self._dist.size > 1 else self._save_whole

    def _save_whole(self, state: TrialState, everybody: "Positions", awaited: bool) -> tuple[str, Way]:
        saved: tuple[str, Way] | None = None
        if everybody is not None:
            checkpoint = self._state_dicts() | self._rest(everybody)
            way = self._saves.way(checkpoint, awaited=awaited)
            with self._saves.opened(torch_metadata(state.batches_trained), way) as save:
                self._write(save, checkpoint, state)
            saved = save.storage_id, way
        storage_id, way = self._dist.broadcast(saved)
        return storage_id, way

    def _save_sharded(self, state: TrialState, everybody: "Positions", awaited: bool) -> tuple[str, Way]:
        from determined.pytorch import _shards  # takes a second to import, and most trials have none

        whole, shards = _shards.split(self._state_dicts())
        way = self._saves.way([shards, whole if everybody is not None else None], awaited=awaited, shared=True)
        words = torch_metadata(state.batches_trained) if everybody is not None else {}
        with self._saves.opened(words, way, shard=True) as save:
            save.write_shards(shards)
            if everybody is not None:
                self._write(save, whole | self._rest(everybody), state)
        return save.storage_id, way

    def _save_between_steps(self, state: TrialState, everybody: "Positions", awaited: bool) -> tuple[str, Way]:
        """Save the gradients that each rank has collected: their mean would change the last bits of the next step."""
        words = torch_metadata(state.batches_trained) if everybody is not None else {}
        own, self._pending = self._pending, None
        whole = self._state_dicts() if everybody is not None else {}
        way = self._saves.way([own, whole], awaited=awaited, shared=True)
        with self._saves.opened(words, way, shard=True) as save:
            save.write_state(_pending_file(self._dist.rank), own)
            if everybody is not None:
                self._write(save, whole | self._rest(everybody), state)
        return save.storage_id, way

    def _read_pending(self, checkpoint: JsonObject, path: Path) -> None:
        """Read what `_save_between_steps` saved on this rank; ranks of another number aggregate anew."""
        rank, size = self._dist.rank, self._dist.size
        if size > 1 and len(list(path.glob(_pending_file("*")))) == size:
            file = path / _pending_file(rank)
            checkpoint["pending_gradients"] = torch.load(file, map_location="cpu", weights_only=True)

    def _write(self, save: OpenSave, checkpoint: JsonObject, state: TrialState) -> None:
        """Write the files of a checkpoint, on the chief."""
        self._callbacks.fire("on_checkpoint_save_start", checkpoint)
        file = save.write_state(_formats.STATE_FILE, checkpoint)
        with (save.path / _formats.COUNTERS_FILE).open("wb") as stream:
            pickle.dump(dataclasses.asdict(state), stream)
        self._origin.write_load_data(save.path)
        save.write_rest(self._origin.write_code)
        if self._is_first:
            self._is_first = False
            self._warn_of_unsafe(file.content)
        self._callbacks.fire("on_checkpoint_end", str(save.path))
        self._callbacks.fire("on_checkpoint_write_end", str(save.path))

    def _state_dicts(self) -> JsonObject:
        context = self._context
        return {
            "models_state_dict": [context._bare(model).state_dict() for model in context.models],
            "optimizers_state_dict": [optimizer.state_dict() for optimizer in context.optimizers],
        }

    def _rest(self, everybody: Sequence[tuple[RngState, JsonObject | None]]) -> JsonObject:
        context, (rng, data) = self._context, everybody[0]
        rest: JsonObject = {
            "lr_schedulers_state_dict": [scheduler.state_dict() for scheduler in context.lr_schedulers],
            "callbacks": self._callbacks.state_dict(),
            "rng_state": rng,
            "loader_state": data,
        }
        if self._pending is not None:
            rest["pending_gradients"] = self._pending
        if len(everybody) > 1:
            rest["rng_states"] = [position[0] for position in everybody]
            rest["loader_states"] = [position[1] for position in everybody]
        rest |= {key: part.state_dict() for key, part in self._precision_parts() if part is not None}
        return rest

    def _load(self, checkpoint: JsonObject) -> None:
        context = self._context
        if context._is_sharded():
            from determined.pytorch import _shards

            checkpoint = _shards.spread(checkpoint, self._like())
        bare = [context._bare(model) for model in context.models]
        for number, (model, state) in enumerate(_pairs(bare, checkpoint, "models_state_dict", "wrap_model")):
            load_model(model, state, number)
        for optimizer, state in _pairs(context.optimizers, checkpoint, "optimizers_state_dict", "wrap_optimizer"):
            optimizer.load_state_dict(state)
        schedulers = _pairs(context.lr_schedulers, checkpoint, "lr_schedulers_state_dict", "wrap_lr_scheduler")
        for scheduler, state in schedulers:
            scheduler.load_state_dict(state)
        for key, part in self._precision_parts():
            _load_optional_part(part, checkpoint, key)
        self._callbacks.load_state_dict(checkpoint.get("callbacks") or {})

    def _restored(self, checkpoint: JsonObject, counters: dict[str, int] | None, state: TrialState) -> Restored:
        rank, size = self._dist.rank, self._dist.size
        rng = _formats.of_rank(checkpoint, "rng_state", rank, size)
        if rng is None:
            logger.warning("the checkpoint has no random state: what is random from here on is not what it would be")
        if counters is None:
            logger.warning("the checkpoint does not say how far it was trained: batches are counted from 0")
        elif counters.get("trial_id") == state.trial_id:
            loader_state = _formats.of_rank(checkpoint, "loader_state", rank, size)
            if checkpoint.get("pending_gradients") is not None:
                self._context._gradients.put_back(self._context.optimizers, checkpoint["pending_gradients"])
            return Restored(TrialState(**counters), loader_state, rng)
        return Restored(TrialState(state.trial_id), None, rng)

    def _precision_parts(self) -> Iterator[tuple[str, "_Stateful | None"]]:
        yield "scaler_state_dict", self._context._scaler
        yield "amp_state", self._context._apex_state

    def _like(self) -> "Like":
        """Return which parameter, as it is distributed now, a tensor of a saved state belongs to."""
        models = [self._context._bare(model).state_dict(keep_vars=True) for model in self._context.models]
        parameters = [
            dict(enumerate(parameter for group in optimizer.param_groups for parameter in group["params"]))
            for optimizer in self._context.optimizers
        ]

        def like(place: "Place") -> torch.Tensor | None:
            match place:
                case ["models_state_dict", int(number), str(name)] if number < len(models):
                    return models[number].get(name)
                case ["optimizers_state_dict", int(number), "state", int(index), _] if number < len(parameters):
                    return parameters[number].get(index)
            return None

        return like

    def _is_own(self, storage_id: str) -> bool:
        """Return whether the master says that this very trial has saved it."""
        info = self._trial_info()
        return info is not None and info.trial._steps_completed > 0 and info.latest_checkpoint == storage_id

    def _trial_info(self) -> ClusterInfo | None:
        return trial_of(self._core.info)

    def _warn_of_unsafe(self, file: Path | BinaryIO) -> None:
        refused = _formats.unsafe_classes(file)
        if not refused:
            return
        who = "nothing goes on from them off cluster, nor does"
        if self._trial_info() is not None:
            who = "this trial resumes from them, but another one does not, nor does"
        logger.warning(
            "checkpoints of this trial hold %s: %s load_trial_from_checkpoint_path load them, before "
            "torch.serialization.add_safe_globals([...]); return plain values and tensors from state_dict() of "
            "callbacks and schedulers",
            ", ".join(refused),
            who,
        )


def load_model(model: torch.nn.Module, state: Any, number: int) -> None:
    """Load the weights of a model. Raises RuntimeError, naming the model, when its parameters are not those that were
    saved."""
    try:
        model.load_state_dict(_formats.fitted(state, list(model.state_dict())))
    except RuntimeError as err:
        raise RuntimeError(
            f"model {number} of wrap_model, a {type(model).__name__}, is not the one in the checkpoint: {err}"
        ) from err


def batches_trained(core_context: core.Context, storage_id: str, trial_id: int) -> int:
    """Return how far trial `trial_id` was trained when it saved a checkpoint; 0 where another one did, or it does not
    say.

    Raises:
        CheckpointNotFound: there is no such checkpoint.
    """
    with tempfile.TemporaryDirectory(prefix="determined-") as directory:
        core_context.checkpoint.download(
            storage_id, directory, core.DownloadMode.NoSharedDownload, selector=is_counters_file
        )
        counters = read_counters(Path(directory)) or {}
    return counters.get("batches_trained", 0) if counters.get("trial_id") == trial_id else 0


def torch_metadata(batches_trained: int) -> JsonObject:
    return metadata(batches_trained, f"torch-{torch.__version__}", "pickle")


class _Stateful(Protocol):
    def state_dict(self) -> Any: ...
    def load_state_dict(self, state: Any, /) -> None: ...


# (random state, loader's state) of every rank, on the chief.
Positions = Sequence[tuple[RngState, JsonObject | None]] | None


def _pending_file(rank: int | str) -> str:
    return f"pending_gradients_{rank}.pth"


def _pairs(wrapped: Sequence[object], checkpoint: JsonObject, key: str, method: str) -> list[tuple[Any, object]]:
    states = checkpoint.get(key) or []
    if len(states) < len(wrapped):
        raise RuntimeError(
            f"the trial has {len(wrapped)} object(s) of {method} and the checkpoint's {key} {len(states)}; "
            "restore it with the code that saved it"
        )
    if len(states) > len(wrapped):
        logger.warning("the checkpoint's %s has %s states, the trial only %s", key, len(states), len(wrapped))
    return list(zip(wrapped, states, strict=False))


def _load_optional_part(part: "_Stateful | None", checkpoint: JsonObject, key: str) -> None:
    if part is not None and key in checkpoint:
        part.load_state_dict(checkpoint[key])
    elif part is not None:
        logger.warning("the checkpoint has no %s, though the trial uses it now; it starts anew", key)
    elif key in checkpoint:
        logger.warning("the checkpoint has a %s, which the trial does not use now", key)
