"""Event files of a trial: who writes and copies them. The chief's metrics are written and copied on a thread of core;
what users and profilers write on other ranks is copied at each boundary."""

from determined import core
from determined.tensorboard.util import get_rank_aware_path


def mode_of(distributed: core.DistributedContext | None, enabled: bool) -> core.TensorboardMode:
    is_chief = distributed is None or distributed.rank == 0
    return core.TensorboardMode.AUTO if is_chief and enabled else core.TensorboardMode.MANUAL


def upload(core_context: core.Context) -> None:
    """Copy what this rank has written; nothing where core does it."""
    train = core_context.train
    if not isinstance(train, core.TrainContext) or train._tensorboard_mode is core.TensorboardMode.AUTO:
        return
    is_chief = core_context.distributed.rank == 0
    train.upload_tensorboard_files(lambda path: is_chief or "tfevents" not in path.name, get_rank_aware_path)
