"""Core API: metrics, checkpoints, preemption, search and distribution for any training script (`det.core.init`)."""

from determined.core._checkpoint import CheckpointContext
from determined.core._checkpoint_background import BackgroundSave
from determined.core._context import Context
from determined.core._distributed import DistributedContext
from determined.core._experimental import ExperimentalCoreContext
from determined.core._init import init
from determined.core._modes import (
    DownloadMode,
    EarlyExitReason,
    PreemptMode,
    SearcherMode,
    TensorboardMode,
    Unit,
)
from determined.core._offcluster import (
    DummyCheckpointContext,
    DummyDistributedContext,
    DummyExperimentalCoreContext,
    DummyPreemptContext,
    DummyProfilerContext,
    DummySearcherContext,
    DummySearcherOperation,
    DummyTrainContext,
)
from determined.core._preempt import PreemptContext
from determined.core._profiler import ProfilerContext
from determined.core._searcher import SearcherContext, SearcherContextMissing, SearcherOperation
from determined.core._train import TrainContext

__all__ = [
    "BackgroundSave",
    "CheckpointContext",
    "Context",
    "DistributedContext",
    "DownloadMode",
    "DummyCheckpointContext",
    "DummyDistributedContext",
    "DummyExperimentalCoreContext",
    "DummyPreemptContext",
    "DummyProfilerContext",
    "DummySearcherContext",
    "DummySearcherOperation",
    "DummyTrainContext",
    "EarlyExitReason",
    "ExperimentalCoreContext",
    "PreemptContext",
    "PreemptMode",
    "ProfilerContext",
    "SearcherContext",
    "SearcherContextMissing",
    "SearcherMode",
    "SearcherOperation",
    "TensorboardMode",
    "TrainContext",
    "Unit",
    "init",
]
