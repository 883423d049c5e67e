"""Checkpoints of a DeepSpeedTrial: DeepSpeed's own files of every rank, and beside them what the loop goes on from."""

import contextlib
import dataclasses
import pickle
from collections.abc import Iterator
from typing import Any, cast

from determined._json import JsonObject
from determined.pytorch import _formats
from determined.pytorch._checkpoint import Checkpoints, Restored, torch_metadata
from determined.pytorch._saves import OpenSave
from determined.pytorch._state import TrialState, restore_rng, take_rng
from determined.pytorch.deepspeed import _files
from determined.pytorch.deepspeed._context import DeepSpeedTrialContext
from determined.pytorch.deepspeed._engine_files import EngineFiles
from determined.pytorch.deepspeed._trial import DeepSpeedTrial
from determined.trial import read_counters


class DeepSpeedCheckpoints(Checkpoints):
    """Saves and restores one trial, on every rank."""

    _TRIAL_TYPE = "DeepSpeedTrial"

    def __init__(self, trial: DeepSpeedTrial, context: DeepSpeedTrialContext, *given: Any, **options: bool) -> None:
        super().__init__(trial, context, *given, **cast(Any, options))
        self._trial = trial
        self._engine_files = EngineFiles()

    def save(self, state: TrialState, batches: Any, *, awaited: bool = False) -> str:
        """Do as `Checkpoints.save`. Before training goes on, DeepSpeed's files are written the first time, which tells
        how large they are, and copied in memory later; always written where the trial has a `save` of its own."""
        self.wait()
        rng, is_chief = take_rng(), self._dist.rank == 0
        own: JsonObject = {
            "callbacks": self._callbacks.state_dict(),
            "rng_state": rng,
            "loader_state": None if batches is None else batches.state(state.batches_trained),
        }
        saved = dataclasses.replace(state, last_ckpt=state.batches_trained)
        words = torch_metadata(state.batches_trained) if is_chief else {}
        way = self._saves.way(own, awaited=awaited, shared=True, more=self._engine_files.size)
        with self._saves.opened(words, way, shard=True) as save, self._failing_alone():
            self._callbacks.fire("on_checkpoint_save_start", own)
            with self._taking_files(save):
                self._trial.save(cast(DeepSpeedTrialContext, self._context), save.path)
            self._write_own(save, own, saved if is_chief else None)
            self._callbacks.fire("on_checkpoint_end", str(save.path))
            self._callbacks.fire("on_checkpoint_write_end", str(save.path))
        restore_rng(rng)  # callbacks may have drawn: a run that goes on from here will not have
        self._saves.left(save.storage_id, way)
        return save.storage_id

    def restore(self, storage_id: str, state: TrialState) -> Restored:
        """Load engines and callbacks from a checkpoint, as `Checkpoints.restore` does with models and optimizers.

        Raises:
            CheckpointNotFound: it is none of a DeepSpeedTrial.
        """
        with self._core.checkpoint.restore_path(storage_id) as path:
            is_own = self._is_own(storage_id)
            checkpoint: JsonObject = _formats.read_file(_files.state_file(path, self._dist.rank), is_own=is_own)
            counters = read_counters(path)
            if not is_own and _files.are_loaded_by_deepspeed(self._trial):
                _files.refuse_unsafe(path, len(self._context.models))
            self._callbacks.fire("on_checkpoint_load_start", checkpoint)
            self._trial.load(cast(DeepSpeedTrialContext, self._context), path)
        self._callbacks.load_state_dict(checkpoint.get("callbacks") or {})
        return self._restored(checkpoint, counters, state)

    def _taking_files(self, save: OpenSave) -> contextlib.AbstractContextManager[None]:
        if not _files.are_saved_by_deepspeed(self._trial):  # it may read them, or write others
            return contextlib.nullcontext()
        return self._engine_files.taken(self._context.models, save)

    @contextlib.contextmanager
    def _failing_alone(self) -> Iterator[None]:
        try:
            yield
        except BaseException as err:
            if self._dist.size > 1:
                # The others may be in a collective call of DeepSpeed's that waits for this rank: were it to wait for
                # them in turn, as it would to agree on the failure, nobody would ever come to an end.
                self._dist.__exit__(type(err), err, err.__traceback__)
            raise

    def _write_own(self, save: OpenSave, own: JsonObject, state: TrialState | None) -> None:
        """Write what this rank adds to DeepSpeed's files; the chief has `state`."""
        file = save.write_state(_files.state_name(self._dist.rank), own)
        if state is None:
            return
        with (save.path / _formats.COUNTERS_FILE).open("wb") as counters:
            pickle.dump(dataclasses.asdict(state), counters)
        self._origin.write_load_data(save.path)
        save.write_rest(self._origin.write_code)
        if self._is_first:
            self._is_first = False
            self._warn_of_unsafe(file.content)
