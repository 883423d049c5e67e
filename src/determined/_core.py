"""Upstream's `determined._core` of 0.17.5 to 0.17.13: names that scripts of that time import."""

from determined.core import DistributedContext, EarlyExitReason
from determined.generic import SearcherOp, Training, Unit
from determined.generic.predecessor import Checkpointing, Context, Preemption, Searcher, init

__all__ = [
    "Checkpointing",
    "Context",
    "DistributedContext",
    "EarlyExitReason",
    "Preemption",
    "Searcher",
    "SearcherOp",
    "Training",
    "Unit",
    "init",
]
