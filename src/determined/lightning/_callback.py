"""Base of the callbacks of this package: they come before all others, in an order of their own."""

from typing import TYPE_CHECKING
from weakref import WeakSet

from determined import core
from determined.errors import InvalidExperimentException
from determined.lightning import _flavour

if TYPE_CHECKING:
    from lightning.pytorch import LightningModule, Trainer

CHECKPOINT, SEARCH, PREEMPTION, OTHERS, LAST = range(5)
_in_trainers: WeakSet[core.Context] = WeakSet()


class DeterminedCallback(*_flavour.bases("callbacks.Callback")):  # type: ignore[misc]
    """Callback whose hook runs before all others at a batch, so that a checkpoint of that moment lacks and doubles
    nothing."""

    _place = OTHERS

    def __init__(self, core_context: core.Context) -> None:
        super().__init__()
        self._core = core_context

    @property
    def _is_chief(self) -> bool:
        return bool(self._core.distributed.rank == 0)

    def setup(self, trainer: "Trainer", pl_module: "LightningModule", stage: str) -> None:
        _in_trainers.add(self._core)
        check_ranks(trainer.world_size, self._core.distributed.size)
        for each in trainer.loggers:
            if hasattr(each, "follow"):
                each.follow(trainer)
        # A new list: the one in use is being gone through.
        trainer.callbacks = sorted(trainer.callbacks, key=lambda callback: getattr(callback, "_place", OTHERS))


def is_in_a_trainer(core_context: core.Context) -> bool:
    """Return whether any Trainer has begun with a callback of this context."""
    return core_context in _in_trainers


def check_ranks(theirs: int, ours: int) -> None:
    """Raise InvalidExperimentException where a Trainer would start ranks that the context does not know."""
    if theirs != ours:
        raise InvalidExperimentException(
            f"the Trainer has {theirs} rank(s), and the context {ours}; start one process for each by `python3 -m "
            "determined.launch.lightning` (off cluster: torchrun), and leave devices and num_nodes to "
            "context.trainer_kwargs()"
        )
