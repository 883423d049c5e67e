"""A context as `pytorch.init` makes it, for tests that need no Trainer."""

from pathlib import Path
from typing import Any

from determined import core
from determined.pytorch import PyTorchTrialContext
from determined.storage import SharedFSStorageManager


def made_context(directory: Path, distributed: core.DistributedContext | None = None, **chosen: Any) -> Any:
    """`chosen` replaces arguments of the context; checkpoints and event files go to `directory`."""
    alone = distributed or core.DummyDistributedContext()
    core_context = core.Context(
        core.DummyCheckpointContext(alone, SharedFSStorageManager(str(directory / "checkpoints"))),
        distributed=alone,
        train=core.DummyTrainContext(directory / "tensorboard"),
    )
    arguments: dict[str, Any] = {
        "core_context": core_context,
        "trial_seed": 7,
        "hparams": {"global_batch_size": 8, "lr": 0.1},
        "exp_conf": {"data": {"url": "here"}},
        "slots_per_trial": alone.size,
        "num_gpus": 0,
    }
    return PyTorchTrialContext(**{**arguments, **chosen})
