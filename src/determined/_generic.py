"""Upstream's `determined._generic` of 0.17.0 to 0.17.4: names that scripts of that time import."""

from determined.core import DistributedContext, EarlyExitReason
from determined.generic import SearcherOp, Training, Unit
from determined.generic.predecessor import Checkpointing, Context, Preemption, init
from determined.generic.predecessor import Searcher as AdvancedSearcher

__all__ = [
    "AdvancedSearcher",
    "Checkpointing",
    "Context",
    "DistributedContext",
    "EarlyExitReason",
    "Preemption",
    "SearcherOp",
    "Training",
    "Unit",
    "init",
]
