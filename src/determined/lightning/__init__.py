"""Lightning's own Trainer on a cluster: metrics, exact pauses, checkpoints and search, by callbacks and a logger.

Works with `lightning` and with `pytorch_lightning`; neither is imported before one of these names is used.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from determined.lightning._checkpoint import DeterminedCheckpoint
    from determined.lightning._context import LightningContext, init
    from determined.lightning._logger import DeterminedLogger
    from determined.lightning._preemption import DeterminedPreemption
    from determined.lightning._search import DeterminedSearch

_HOMES = {
    "DeterminedCheckpoint": "_checkpoint",
    "DeterminedLogger": "_logger",
    "DeterminedPreemption": "_preemption",
    "DeterminedSearch": "_search",
    "LightningContext": "_context",
    "init": "_context",
}

__all__ = [
    "DeterminedCheckpoint",
    "DeterminedLogger",
    "DeterminedPreemption",
    "DeterminedSearch",
    "LightningContext",
    "init",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # Before our own modules, which import torch plainly: where there is no Lightning, this names the extra.
    importlib.import_module(f"{__name__}._flavour").flavours()
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
