"""Checkpoints of a TFKerasTrial: everything that training goes on from, saved and put back."""

import contextlib
import pickle
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from determined._json import JsonObject
from determined.errors import CheckpointStateException, UnsafeCheckpoint
from determined.keras._callback_set import CallbackSet
from determined.keras._context import TFKerasTrialContext
from determined.keras._model_inputs import write_inputs
from determined.keras._model_weights import lacking_weights, load_model_weights, save_model_weights
from determined.keras._optimizer_state import keeping_rates, load_optimizers, save_optimizers
from determined.keras._random_state import random_state, restore_random_state
from determined.keras._tensorflow import keras, tf
from determined.trial import WORKLOADS_FILE, Origin, metadata, read_plain, read_plain_state

if TYPE_CHECKING:
    from keras import Model

_RNG_FILE, _CALLBACKS_FILE = "rng_state.pkl", "determined-callbacks.v1.pkl"
# Names in the random state's file; the rest is under ours.
_OLDER_NAMES = {"random": "random_rng_state", "numpy": "np_rng_state"}


@dataclass(frozen=True, slots=True)
class Restored:
    """Parts of a checkpoint that are put back later: how far training was, and the random state of this rank."""

    workloads: JsonObject | None
    rng: JsonObject | None


class Checkpoints:
    """Saves and restores one trial."""

    def __init__(self, trial: object, context: TFKerasTrialContext, model: "Model", callbacks: CallbackSet) -> None:
        self._context = context
        self._core = context._core
        self._dist = context.distributed
        self._model = model
        self._callbacks = callbacks
        self.inputs: object = None  # of a model that does not know them by itself
        env = context.env
        self._origin = Origin(
            type(trial), "TFKerasTrial", self._core, hparams=env.hparams, config=env.experiment_config
        )

    def save(self, workloads: JsonObject) -> str:
        """Store the trial as it is now, on all ranks together; the storage id."""
        rng = random_state(keras, self._model)
        everybody = self._dist.gather(rng)
        storage_id = None
        if everybody is not None:
            words = metadata(workloads["steps_completed"], f"tensorflow-{tf.__version__}", "saved_weights")
            with self._core.checkpoint.store_path(words) as (path, storage_id):
                self._write(path, workloads, everybody)
        self.share_statistics()
        restore_random_state(rng, self._model)  # callbacks may have drawn: a run that goes on from here will not have
        return str(self._dist.broadcast(storage_id))

    def restore(self, storage_id: str) -> Restored:
        """Load model, optimizers and callbacks, on all ranks together.

        Raises:
            CheckpointStateException: it has weights of parts of the model that have no variables yet.
            UnsafeCheckpoint: another trial's, and its callbacks hold objects whose loading would run code.
        """
        with self._core.checkpoint.restore_path(storage_id) as path:
            lack = lacking_weights(self._model, path)
            if lack is not None:
                raise CheckpointStateException(lack)
            workloads, optimizers = read_plain_state(path), self._context._optimizers
            # Another trial's learning rate is not the one that this trial's hyperparameters ask for.
            with contextlib.nullcontext() if self._is_of_this_trial(workloads) else keeping_rates(optimizers):
                load_model_weights(self._model, path)  # Keras saves the compiled optimizer with it
                load_optimizers(optimizers, path)
            self._callbacks.load_state(self._read_callbacks(path, storage_id))
            return Restored(workloads, self._read_rng(path))

    def share(self) -> None:
        """Give all ranks the chief's weights, whatever their own code made."""
        if self._dist.size == 1:
            return
        values = self._dist.broadcast(self._model.get_weights() if self._dist.rank == 0 else None)
        self._model.set_weights(values)

    def share_statistics(self) -> None:
        """Share what is not trained, such as the statistics of BatchNormalization: it is each rank's own, and the
        chief's is saved. All validate and go on with that, as they will after a pause.
        """
        weights = self._model.non_trainable_weights
        if self._dist.size == 1 or not weights:
            return
        values = self._dist.broadcast([weight.numpy() for weight in weights] if self._dist.rank == 0 else None)
        for weight, value in zip(weights, values, strict=True):
            weight.assign(value)

    def _write(self, path: Path, workloads: JsonObject, everybody: Sequence[JsonObject]) -> None:
        """Write the files of a checkpoint, on the chief."""
        save_model_weights(self._model, path)
        save_optimizers(self._context._optimizers, path)
        _dump(workloads, path / WORKLOADS_FILE)
        _dump(self._callbacks.state(), path / _CALLBACKS_FILE)
        rng = {_OLDER_NAMES.get(name, name): value for name, value in everybody[0].items()}
        _dump(rng | ({"ranks": list(everybody)} if len(everybody) > 1 else {}), path / _RNG_FILE)
        if self.inputs is not None:
            write_inputs(self.inputs, path)
        self._origin.write(path)
        self._callbacks.checkpoint_end(path)

    def _read_callbacks(self, path: Path, storage_id: str) -> list[object]:
        file = path / _CALLBACKS_FILE
        if not file.is_file():
            return []
        # What this very trial has saved was made by the code that runs now.
        states = pickle.loads(file.read_bytes()) if self._is_own(storage_id) else _read_foreign(file)  # noqa: S301
        return list(states.values()) if isinstance(states, dict) else list(states)

    def _is_of_this_trial(self, workloads: JsonObject | None) -> bool:
        return workloads is not None and workloads.get("trial_id") == int(self._context.env.det_trial_id)

    def _is_own(self, storage_id: str) -> bool:
        env = self._context.env
        return env.on_cluster and env.steps_completed > 0 and env.latest_checkpoint == storage_id

    def _read_rng(self, path: Path) -> JsonObject | None:
        file = path / _RNG_FILE
        if not file.is_file():
            return None
        states = read_plain(file, arrays=True)
        ranks = states.pop("ranks", None)
        if ranks is not None and len(ranks) == self._dist.size:
            return dict(ranks[self._dist.rank])
        newer = {older: name for name, older in _OLDER_NAMES.items()}
        return {newer.get(name, name): value for name, value in states.items()}


def _dump(value: object, file: Path) -> None:
    with file.open("wb") as stream:
        pickle.dump(value, stream)


def _read_foreign(file: Path) -> Any:
    try:
        return read_plain(file, arrays=True)
    except UnsafeCheckpoint as err:
        raise UnsafeCheckpoint(f"{err}. Return plain values and arrays from get_state() of callbacks") from err
