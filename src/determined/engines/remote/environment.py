"""Environment variables of the sitter. Its one file that reads os.environ."""

import os
import tempfile
from pathlib import Path

_VISIBLE = ("CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")


def visible_devices() -> str | None:
    """Return the accelerators that this host's own scheduler gave to us."""
    return next((os.environ[name] for name in _VISIBLE if os.environ.get(name)), None)


def slurm_rank() -> int | None:
    value = os.environ.get("SLURM_PROCID")
    return int(value) if value is not None else None


def slurm_node() -> str | None:
    return os.environ.get("SLURMD_NODENAME")


def slurm_gpus() -> list[int] | None:
    """Return which of its node's GPUs this step has; None where Slurm gave none, or does not number them."""
    numbers = os.environ.get("SLURM_STEP_GPUS", "").split(",")
    return [int(number) for number in numbers] if all(number.isdigit() for number in numbers) else None


def run_root(asked: str | None) -> Path:
    """Return a directory of this user alone; `root.make` refuses one that others can reach."""
    return Path(asked).resolve() if asked else Path(tempfile.gettempdir()) / f"determined-runs-{os.getuid()}"
