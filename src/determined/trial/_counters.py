"""Counters of a trial when it saved a checkpoint: read from the files of every release, without running what a
pickle may hold."""

import pickle
from pathlib import Path
from typing import Any

from determined._json import JsonObject
from determined.errors import UnsafeCheckpoint

WORKLOADS_FILE = "workload_sequencer.pkl"  # of the trial APIs that are driven by workloads
_FILES = ("trial_state.pkl", WORKLOADS_FILE)
_OLDER_NAMES = ("steps_completed", "latest_batch")  # of batches_trained
# What numpy's arrays and numbers are made by when they are unpickled, in its releases 1 and 2.
_NUMPY = frozenset(
    ["numpy.ndarray", "numpy.dtype", "_codecs.encode"]
    + [
        f"numpy.{room}.{name}"
        for room in ("core", "_core")
        for name in ("multiarray._reconstruct", "multiarray.scalar")
    ]
    + [f"numpy.{room}.numeric._frombuffer" for room in ("core", "_core")]
)
_NAMES = ("trial_id", "last_ckpt", "step_id", "last_val", "batches_trained", "epochs_trained")


def read_counters(directory: Path) -> dict[str, int] | None:
    """The counters a checkpoint has, under today's names; None when it has none at all.

    Raises:
        UnsafeCheckpoint: the file holds more than plain values.
    """
    state = read_plain_state(directory)
    if state is None:
        return None
    for older in _OLDER_NAMES:
        if older in state:
            state.setdefault("batches_trained", state[older])
    return {name: int(state[name]) for name in _NAMES if state.get(name) is not None}


def read_plain_state(directory: Path) -> JsonObject | None:
    """Return the stored counters as they were written; None where there are none."""
    file = next((directory / name for name in _FILES if (directory / name).is_file()), None)
    return None if file is None else dict(read_plain(file))


def read_plain(file: Path, *, arrays: bool = False) -> Any:
    """Return what a pickle holds.

    Args:
        file: the pickle.
        arrays: whether there may be numpy's arrays in it.

    Raises:
        UnsafeCheckpoint: more than numbers, texts and their containers.
    """
    with file.open("rb") as stream:
        return _PlainUnpickler(stream, file, _NUMPY if arrays else frozenset()).load()


def is_counters_file(name: str) -> bool:
    """Return whether `read_counters` may read it, for whoever fetches no more than that."""
    return name in _FILES


class _PlainUnpickler(pickle.Unpickler):
    """Numbers, texts and their containers need no class; a pickle that asks for one is refused before it is called."""

    def __init__(self, stream: Any, file: Path, allowed: frozenset[str]) -> None:
        super().__init__(stream)
        self._file = file
        self._allowed = allowed

    def find_class(self, module: str, name: str) -> Any:
        if f"{module}.{name}" in self._allowed:
            return super().find_class(module, name)
        raise UnsafeCheckpoint(f"{self._file} holds {module}.{name}, and only numbers belong there; it is not loaded")
