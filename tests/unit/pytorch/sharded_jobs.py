"""What ranks do for test_shards: a trial with sharded parameters, trained, saved and restored by a Trainer."""

from typing import Any

import torch
from small_trial import SmallTrial, model
from torch.distributed.tensor import DTensor

from determined import core, pytorch
from determined.pytorch._callback_set import CallbackSet
from determined.pytorch._checkpoint import Checkpoints
from determined.pytorch._state import TrialState


class ShardedTrial(SmallTrial):
    """On one rank it is an ordinary trial."""

    def __init__(self, context: pytorch.PyTorchTrialContext) -> None:
        self.context = context
        self.model = context.wrap_model(model(), shard=(torch.nn.Linear,))
        self.optimizer = context.wrap_optimizer(torch.optim.Adam(self.model.parameters(), lr=0.1))
        self.scheduler = context.wrap_lr_scheduler(
            torch.optim.lr_scheduler.StepLR(self.optimizer, 1, gamma=0.9),
            step_mode=pytorch.LRScheduler.StepMode.STEP_EVERY_EPOCH,
        )
        self.seen = []
        self.watch = Watch(self)

    def build_callbacks(self) -> dict[str, pytorch.PyTorchCallback]:
        return {"watch": self.watch}


class Watch(pytorch.PyTorchCallback):
    """Notes the whole state when training begins and after every checkpoint."""

    def __init__(self, trial: ShardedTrial) -> None:
        self.trial = trial
        self.begun: dict[str, Any] = {}
        self.stored: list[tuple[str, dict[str, Any]]] = []
        self.is_distributed = False
        self.restored: dict[str, Any] = {}

    def on_training_start(self) -> None:
        self.begun = whole(self.trial)
        self.is_distributed = any(isinstance(value, DTensor) for value in self.trial.model.parameters())

    def on_checkpoint_upload_end(self, uuid: str) -> None:
        self.stored.append((uuid, whole(self.trial)))


def train(
    distributed: core.DistributedContext | None, batches: int, every: int, latest: str | None, then: str | None = None
) -> Watch:
    """Train, and at last restore another checkpoint into the same trial."""
    with pytorch.init(hparams={}, distributed=distributed, enable_tensorboard_logging=False) as context:
        trial = ShardedTrial(context)
        pytorch.Trainer(trial, context).fit(
            max_length=pytorch.Batch(batches),
            checkpoint_period=pytorch.Batch(every),
            checkpoint_policy="none",
            latest_checkpoint=latest,
            async_checkpointing=False,  # the trial is then as it was saved when its callback is told
        )
        if then is not None:
            Checkpoints(trial, context, CallbackSet({}), is_trainer=True).restore(then, TrialState(0))
            trial.watch.restored = whole(trial)
        return trial.watch


def on_ranks(distributed: core.DistributedContext, *arguments: Any) -> dict[str, Any]:
    watch = train(distributed, *arguments)
    return {name: value for name, value in vars(watch).items() if name != "trial"}


def whole(trial: ShardedTrial) -> dict[str, Any]:
    """Weights and optimizer state as one process would have them. Collective."""
    moments = trial.optimizer.state_dict()["state"]
    return {
        **{name: _whole(value) for name, value in trial.model.state_dict().items()},
        **{f"{index} {name}": _whole(value) for index, each in moments.items() for name, value in each.items()},
    }


def _whole(value: Any) -> Any:
    return value.full_tensor() if isinstance(value, DTensor) else value.clone()
