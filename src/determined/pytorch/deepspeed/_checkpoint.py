"""Checkpoints of a DeepSpeedTrial: DeepSpeed's own files of every rank, and beside them what the loop goes on from."""

import contextlib
import dataclasses
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from determined._json import JsonObject
from determined.pytorch import _formats
from determined.pytorch._checkpoint import Checkpoints, Restored, torch_metadata, write_state
from determined.pytorch._state import TrialState, take_rng
from determined.pytorch.deepspeed import _files
from determined.pytorch.deepspeed._context import DeepSpeedTrialContext
from determined.pytorch.deepspeed._trial import DeepSpeedTrial
from determined.trial import read_counters


class DeepSpeedCheckpoints(Checkpoints):
    """Saves and restores one trial, on every rank."""

    _TRIAL_TYPE = "DeepSpeedTrial"

    def __init__(self, trial: DeepSpeedTrial, context: DeepSpeedTrialContext, *given: Any, is_trainer: bool) -> None:
        super().__init__(trial, context, *given, is_trainer=is_trainer)
        self._trial = trial

    def save(self, state: TrialState, batches: Any) -> str:
        """Store a checkpoint of the trial as it is now, on all ranks together; its storage id."""
        rng, is_chief = take_rng(), self._dist.rank == 0
        own: JsonObject = {
            "callbacks": self._callbacks.state_dict(),
            "rng_state": rng,
            "loader_state": None if batches is None else batches.state(state.batches_trained),
        }
        saved = dataclasses.replace(state, last_ckpt=state.batches_trained)
        words = torch_metadata(state.batches_trained) if is_chief else {}
        with self._core.checkpoint.store_path(words, shard=True) as (path, storage_id), self._failing_alone():
            self._callbacks.fire("on_checkpoint_save_start", own)
            self._trial.save(cast(DeepSpeedTrialContext, self._context), path)
            self._write_own(path, own, saved if is_chief else None)
            self._callbacks.fire("on_checkpoint_end", str(path))
            self._callbacks.fire("on_checkpoint_write_end", str(path))
        return self._uploaded(storage_id, rng)

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

    def _write_own(self, path: Path, own: JsonObject, state: TrialState | None) -> None:
        """Write what this rank adds to DeepSpeed's files; the chief has `state`."""
        file = path / _files.state_name(self._dist.rank)
        with self._core.checkpoint._create_file(file) as stream:
            write_state(own, stream)
        if state is None:
            return
        with (path / _formats.COUNTERS_FILE).open("wb") as counters:
            pickle.dump(dataclasses.asdict(state), counters)
        self._origin.write(path)
        if self._is_first:
            self._is_first = False
            self._warn_of_unsafe(file)
