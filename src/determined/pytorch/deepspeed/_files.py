"""Files of a DeepSpeedTrial's checkpoint: which of them is a rank's, and whether DeepSpeed may load its own."""

import pickle
from pathlib import Path

import torch

from determined.errors import CheckpointNotFound, UnsafeCheckpoint
from determined.pytorch._plain_values import plain_values
from determined.pytorch.deepspeed._trial import DeepSpeedTrial

# DeepSpeed unpickles whatever its files hold. These of its classes are in them, and are mere data.
_PLAIN_CLASSES = frozenset(
    [
        "deepspeed.runtime.fp16.loss_scaler.DynamicLossScaler",
        "deepspeed.runtime.fp16.loss_scaler.LossScaler",
        "deepspeed.runtime.zero.config.ZeroStageEnum",
        "deepspeed.utils.tensor_fragment.fragment_address",
    ]
)


def state_name(rank: int) -> str:
    return f"det_state_dict_rank{rank}.pth"


def state_file(directory: Path, rank: int) -> Path:
    """The rank's own; the first one's, where there were fewer ranks. Raises CheckpointNotFound without any."""
    for name in (state_name(rank), state_name(0)):
        if (directory / name).is_file():
            return directory / name
    files = sorted(path.name for path in directory.iterdir())
    raise CheckpointNotFound(f"{directory} is no checkpoint of a DeepSpeedTrial: it has no {state_name(0)} ({files})")


def are_loaded_by_deepspeed(trial: DeepSpeedTrial) -> bool:
    """Return whether the trial leaves loading to `DeepSpeedTrial.load`; what it loads by itself is its own affair."""
    bound: object = trial.load
    return getattr(bound, "__func__", bound) is DeepSpeedTrial.load


def are_saved_by_deepspeed(trial: DeepSpeedTrial) -> bool:
    """Return whether the trial leaves saving to `DeepSpeedTrial.save`."""
    bound: object = trial.save
    return getattr(bound, "__func__", bound) is DeepSpeedTrial.save


def refuse_unsafe(directory: Path, engines: int) -> None:
    """Raise UnsafeCheckpoint where a file of an engine holds more than tensors and plain values."""
    for number in range(engines):
        for file in sorted((directory / f"model{number}").rglob("*.pt")):
            refused = [name for name in _unsafe_classes(file) if name not in _PLAIN_CLASSES]
            if refused:
                raise UnsafeCheckpoint(
                    f"{file.name} of another trial's checkpoint holds {', '.join(refused)}, and loading that could run "
                    "any code. If you trust it, load it in DeepSpeedTrial.load of your own: "
                    "engine.load_checkpoint(load_path, tag='model0')"
                )


def _unsafe_classes(file: Path) -> list[str]:
    with plain_values():
        try:
            return sorted(torch.serialization.get_unsafe_globals_in_checkpoint(file))
        except (ValueError, pickle.UnpicklingError) as err:
            return [f"what cannot be looked into ({err})"]
