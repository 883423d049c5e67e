"""Files of a trial's checkpoint as every release has written them: found, read without running what they hold, and
brought to today's shape. What is returned is always that of the newest release."""

import contextlib
import logging
import pickle
import re
from collections import OrderedDict
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import torch

from determined._json import JsonObject
from determined.errors import CheckpointNotFound, UnsafeCheckpoint
from determined.pytorch._plain_values import plain_values

logger = logging.getLogger("determined.pytorch")

STATE_FILE, COUNTERS_FILE = "state_dict.pth", "trial_state.pkl"
SHARDS = "sharded"  # the directory of what every rank saved for itself
_STATE_FILES = (
    STATE_FILE, "state-dict.pth", "determined/state_dict.pth", "pedl/state_dict.pth", "checkpoint.pt",
)  # fmt: skip
# Names of releases that had one model, one optimizer and one scheduler.
_SINGULAR = {
    "model_state_dict": "models_state_dict",
    "optimizer_state_dict": "optimizers_state_dict",
    "lr_scheduler": "lr_schedulers_state_dict",
}
_DDP, _COMPILED = "module.", "_orig_mod."


def read_state(directory: Path, *, is_own: bool = False, options: Mapping[str, object] | None = None) -> JsonObject:
    """The state a checkpoint holds, in today's shape, on the CPU.

    Args:
        directory: the checkpoint.
        is_own: it is this trial's own, so that whatever it holds was made by the same code: it may be unpickled.
        options: for `torch.load`; they go before ours.

    Raises:
        CheckpointNotFound: there is no file that a PyTorch trial writes.
        UnsafeCheckpoint: it holds objects whose loading would run code.
        RuntimeError: its content is not that of a trial.
    """
    file = _state_file(directory)
    return _in_todays_shape(read_file(file, is_own=is_own, options=options), file)


def read_file(file: Path, *, is_own: bool = False, options: Mapping[str, object] | None = None) -> Any:
    """Return what `torch.save` has written to `file`, on the CPU. Arguments and UnsafeCheckpoint as of `read_state`."""
    loading: JsonObject = {"map_location": "cpu", "weights_only": True, **(options or {})}
    try:
        with plain_values() as values:
            return values.put_into(torch.load(file, **loading))
    except pickle.UnpicklingError as err:
        if not loading["weights_only"]:
            raise
        refused = unsafe_classes(file) or [_class_met(err)]
        if not is_own:
            raise _unsafe(file, refused) from err
        logger.warning("the checkpoint holds %s: it is unpickled as it is, being this trial's own", _listed(refused))
        return torch.load(file, **{**loading, "weights_only": False})


def has_shards(directory: Path) -> bool:
    return (directory / SHARDS).is_dir()


def unsafe_classes(file: Path | BinaryIO) -> list[str]:
    """Return what in a state file is not loaded without being trusted; [] for a file that is too old to be looked
    into."""
    with plain_values(), contextlib.suppress(ValueError):
        return sorted(torch.serialization.get_unsafe_globals_in_checkpoint(file))
    return []


def fitted(state: Mapping[str, object], expected: Collection[str]) -> Mapping[str, Any]:
    """A model's state under the names `expected`, whether it was saved inside DDP or torch.compile or without."""
    if state.keys() == set(expected):
        return state
    names = dict(zip(_bare_names(expected), expected, strict=True))
    renamed = OrderedDict(
        (names.get(bare, name), value) for bare, (name, value) in zip(_bare_names(state), state.items(), strict=True)
    )
    versions = getattr(state, "_metadata", None)
    if versions is not None:
        renamed._metadata = _versions_by_bare_name(versions)  # type: ignore[attr-defined]
    return renamed


def of_rank(state: Mapping[str, Any], key: str, rank: int, size: int) -> Any:
    """Return what rank `rank` of `size` had under `key`; the chief's where it is not known or there were more or
    fewer."""
    everybody = state.get(f"{key}s")
    if everybody is not None and len(everybody) == size:
        return everybody[rank]
    return state.get(key)


def _state_file(directory: Path) -> Path:
    for name in _STATE_FILES:
        if (directory / name).is_file():
            return directory / name
    files = sorted(path.name for path in directory.iterdir()) if directory.is_dir() else "no such directory"
    raise CheckpointNotFound(
        f"{directory} is no checkpoint of a PyTorchTrial: it has none of {', '.join(_STATE_FILES)} (found: {files})"
    )


def _class_met(err: pickle.UnpicklingError) -> str:
    """Return what torch stopped at, out of its ten lines of advice: an array of objects, say, holds no class of a
    name."""
    met = re.search(r"<class '([^']+)'>", str(err))
    return met[1] if met else str(err)


def _unsafe(file: Path, refused: list[str]) -> UnsafeCheckpoint:
    return UnsafeCheckpoint(
        f"{file} holds {_listed(refused)}, and loading that could run any code. If you trust it, name the classes in "
        "your model code, torch.serialization.add_safe_globals([...]), or, for load_trial_from_checkpoint_path, pass "
        'torch_load_kwargs={"weights_only": False}'
    )


def _listed(refused: list[str]) -> str:
    return ", ".join(refused)


def _in_todays_shape(state: object, file: Path) -> JsonObject:
    if not isinstance(state, dict):
        raise RuntimeError(f"{file} holds a {type(state).__name__}, not the dict that a PyTorchTrial saves")
    shaped = dict(state)
    for older, name in _SINGULAR.items():
        if older not in shaped:
            continue
        if name in shaped:
            raise RuntimeError(f"{file} has both {older} and {name}; remove the one that is not meant")
        value = shaped.pop(older)
        shaped[name] = [] if value is None else [value]
    if "models_state_dict" not in shaped:
        raise RuntimeError(
            f"{file} has no models_state_dict, only {sorted(map(str, shaped))}; no PyTorchTrial wrote it"
        )
    return shaped


def _bare_names(names: Collection[str]) -> list[str]:
    """Names as the user's own model has them. A wrapper's name is cut where all have it: it may be a user's, too."""
    bare = [name.replace(_COMPILED, "") for name in names]
    while bare and all(name.startswith(_DDP) for name in bare):
        bare = [name.removeprefix(_DDP) for name in bare]
    return bare


def _versions_by_bare_name(versions: Mapping[str, object]) -> "OrderedDict[str, Any]":
    """Torch keeps each module's version by the module's name; "" is the whole."""
    inner = [name for name in versions if name]
    bare = [name.removesuffix(".") for name in _bare_names([f"{name}." for name in inner])]
    whole = OrderedDict({"": versions[""]} if "" in versions else {})
    whole.update((name, versions[older]) for name, older in zip(bare, inner, strict=True))
    return whole
