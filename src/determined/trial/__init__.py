"""What all trial APIs share: the class users derive from, the context they get, and the config it shows them."""

from determined.trial._batch_sizes import BatchSizes
from determined.trial._context import TrialContext, local_core_context
from determined.trial._environment import EnvContext
from determined.trial._experiment_config import ExperimentConfig
from determined.trial._scalar_writer import ScalarWriter
from determined.trial._trial import LegacyTrial, Trial

__all__ = [
    "BatchSizes",
    "EnvContext",
    "ExperimentConfig",
    "LegacyTrial",
    "ScalarWriter",
    "Trial",
    "TrialContext",
    "local_core_context",
]
