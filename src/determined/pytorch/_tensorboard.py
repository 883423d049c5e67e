"""Event files of a trial: who writes and copies them. The chief's metrics are written and copied on a thread of core;
what users and profilers write on other ranks is copied at each boundary."""

from determined import core
from determined.tensorboard.util import get_rank_aware_path


def mode_of(distributed: core.DistributedContext | None) -> core.TensorboardMode:
    is_chief = distributed is None or distributed.rank == 0
    return core.TensorboardMode.AUTO if is_chief else core.TensorboardMode.MANUAL


def write_metrics(core_context: core.Context, enabled: bool) -> None:
    """Set whether what is reported from now on is also written as events; on the chief, as nobody else writes
    any."""
    if isinstance(core_context.train, core.TrainContext):
        core_context.train._metrics._events = core_context._events if enabled else None


def upload(core_context: core.Context) -> None:
    """Copy what this rank has written; where core does it at every report, nothing."""
    train, events = core_context.train, core_context._events
    if not isinstance(train, core.TrainContext):
        return
    if train._tensorboard_mode is core.TensorboardMode.MANUAL:
        is_chief = core_context.distributed.rank == 0
        train.upload_tensorboard_files(lambda path: is_chief or "tfevents" not in path.name, get_rank_aware_path)
    elif events is not None and train._metrics._events is None:
        events.sync_soon()  # nothing is reported to it that would make it look for files of the user's
