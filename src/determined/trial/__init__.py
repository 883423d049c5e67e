"""Parts that all trial APIs share: the class users derive from, its context and config, how long and in which order
training goes, and what a checkpoint says about its trial."""

from determined.trial._batch_sizes import BatchSizes
from determined.trial._checkpoint_origin import Origin, UserCode, metadata
from determined.trial._context import TrialContext, local_core_context
from determined.trial._counters import WORKLOADS_FILE, is_counters_file, read_counters, read_plain, read_plain_state
from determined.trial._environment import EnvContext
from determined.trial._experiment_config import ExperimentConfig
from determined.trial._followed_search import FollowedSearch, trial_config
from determined.trial._free_memory import FreeMemory, free_memory
from determined.trial._length import (
    WHERE_A_LENGTH_IS,
    Leg,
    OperationLeg,
    cluster_legs,
    late_length,
    one_leg,
    operation_legs,
    records_to_batches,
)
from determined.trial._mean_over_ranks import mean_over_ranks
from determined.trial._periods import Batch, Count, Epoch, TrainUnit, check_length, check_period
from determined.trial._practices import AttributeWatch
from determined.trial._scalar_writer import ScalarWriter
from determined.trial._searcher_metric import Goal
from determined.trial._stored_trial import StoredTrial, stored_class
from determined.trial._trial import LegacyTrial, Trial
from determined.trial._trial_info import trial_info
from determined.trial._workloads import Save, Train, Validate, Workload, Workloads

__all__ = [
    "WHERE_A_LENGTH_IS",
    "WORKLOADS_FILE",
    "AttributeWatch",
    "Batch",
    "BatchSizes",
    "Count",
    "EnvContext",
    "Epoch",
    "ExperimentConfig",
    "FollowedSearch",
    "FreeMemory",
    "Goal",
    "Leg",
    "LegacyTrial",
    "OperationLeg",
    "Origin",
    "Save",
    "ScalarWriter",
    "StoredTrial",
    "Train",
    "TrainUnit",
    "Trial",
    "TrialContext",
    "UserCode",
    "Validate",
    "Workload",
    "Workloads",
    "check_length",
    "check_period",
    "cluster_legs",
    "free_memory",
    "is_counters_file",
    "late_length",
    "local_core_context",
    "mean_over_ranks",
    "metadata",
    "one_leg",
    "operation_legs",
    "read_counters",
    "read_plain",
    "read_plain_state",
    "records_to_batches",
    "stored_class",
    "trial_config",
    "trial_info",
]
