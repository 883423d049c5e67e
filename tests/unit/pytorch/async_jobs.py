"""What two ranks do for test_async_checkpointing: train, save in the background, and go on from what was saved."""

import random
import shutil
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
import torch
from exact_jobs import Augmented
from made_context import made_context
from sharded_jobs import ShardedTrial
from sharded_jobs import whole as whole_state
from small_trial import SmallTrial

from determined import pytorch
from determined.pytorch import Batch, _shards
from determined.pytorch._controller import Plan, PyTorchTrialController
from determined.storage.local import LocalStorageManager
from determined.trial import one_leg

LENGTH, EVERY, OPENED_AT = 6, 3, 5
WAIT_SECONDS = 60.0


class Heard(pytorch.PyTorchCallback):
    def __init__(self) -> None:
        self.stored: list[str] = []

    def on_checkpoint_upload_end(self, uuid: str) -> None:
        self.stored.append(uuid)


def whole(distributed: Any, directory: str) -> dict[str, Any]:
    return _interrupted(Augmented, distributed, Path(directory), aggregation=1)


def between_steps(distributed: Any, directory: str) -> dict[str, Any]:
    return _interrupted(Augmented, distributed, Path(directory), aggregation=2)


def sharded(distributed: Any, directory: str) -> dict[str, Any]:
    return _interrupted(ShardedTrial, distributed, Path(directory), aggregation=1)


def failing(distributed: Any, directory: str, culprit: int) -> str:
    """What a rank is told where writing fails on one of them."""
    save = _shards.save

    def save_or_fail(*arguments: Any) -> None:
        if distributed.rank == culprit:
            raise OSError(28, "No space left on device")
        save(*arguments)

    _shards.save = save_or_fail
    try:
        _train(ShardedTrial, distributed, Path(directory), None, aggregation=1)
    except (OSError, RuntimeError) as err:
        return str(err)
    return "nothing"


def _interrupted(trial_class: Any, distributed: Any, directory: Path, aggregation: int) -> dict[str, Any]:
    first, second = directory / "first", directory / "second"
    opened, seen = threading.Event(), []
    with _held_back(opened):
        trial, controller = _made(trial_class, distributed, first, None, aggregation)
        train_batch = trial.train_batch

        def watched(batch: Any, epoch_idx: int, batch_idx: int) -> Any:
            if batch_idx == OPENED_AT:
                seen.append(controller._checkpoints._saves._under_way is not None and not _stored(first))
                distributed.allgather(None)
                opened.set()
            return train_batch(batch, epoch_idx, batch_idx)

        trial.train_batch = watched
        controller.run()
    heard = controller.callbacks._callbacks["heard"].stored
    if distributed.rank == 0:
        shutil.copytree(first, second)
    distributed.allgather(None)
    resumed = _train(trial_class, distributed, second, heard[0], aggregation)
    return {
        "is_under_way": seen == [True],
        "heard": sorted(heard),
        "stored": _stored(first),
        "uninterrupted": _state(trial),
        "resumed": _state(resumed),
    }


def _train(trial_class: Any, distributed: Any, directory: Path, latest: str | None, aggregation: int) -> Any:
    trial, controller = _made(trial_class, distributed, directory, latest, aggregation)
    controller.run()
    return trial


def _made(trial_class: Any, distributed: Any, directory: Path, latest: str | None, aggregation: int) -> Any:
    random.seed(5)
    np.random.seed(5)
    context = made_context(directory, distributed, aggregation_frequency=aggregation)
    context._core.preempt.start()
    trial: SmallTrial = trial_class(context)
    heard = Heard()
    trial.build_callbacks = lambda: {"heard": heard}  # type: ignore[method-assign]
    torch.manual_seed(7 + distributed.rank)
    plan = Plan(
        reporting_period=Batch(1), checkpoint_period=Batch(EVERY), checkpoint_policy="none", latest_checkpoint=latest
    )
    return trial, PyTorchTrialController(trial, context, plan, one_leg(Batch(LENGTH)))


@contextmanager
def _held_back(opened: threading.Event) -> Iterator[None]:
    publish = LocalStorageManager.publish

    def when_opened(*arguments: Any) -> None:
        assert opened.wait(WAIT_SECONDS)
        publish(*arguments)

    LocalStorageManager.publish = when_opened  # type: ignore[method-assign]
    try:
        yield
    finally:
        opened.set()
        LocalStorageManager.publish = publish  # type: ignore[method-assign]


def _stored(directory: Path) -> list[str]:
    return sorted(path.name for path in (directory / "checkpoints").glob("*") if not path.name.startswith("."))


def _state(trial: Any) -> Any:
    if isinstance(trial, ShardedTrial):
        return whole_state(trial)
    return [parameter.detach().clone() for parameter in trial.model.parameters()]
