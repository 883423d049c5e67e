"""Generic API: a handful of calls for any training script (`context = det.generic.init()`), built on Core API."""

from determined.core import DistributedContext, EarlyExitReason
from determined.generic._checkpoint import Checkpointing, LatestCheckpoint
from determined.generic._context import Context
from determined.generic._init import init
from determined.generic._search import SearcherOp, Unit
from determined.generic._training import Training

__all__ = [
    "Checkpointing",
    "Context",
    "DistributedContext",
    "EarlyExitReason",
    "LatestCheckpoint",
    "SearcherOp",
    "Training",
    "Unit",
    "init",
]
