"""Experiment, job and agent configs as typed data: parsing, checks, merging, defaults, older generations.

Names are loaded on first use: the command line needs one or two of them and must start fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from determined.config.agent import AgentConfig, load_agent_config
    from determined.config.container_defaults import merge_task_container_defaults, overlay_container_defaults
    from determined.config.environment import BindMount, Environment, ProxyPort
    from determined.config.experiment import apply_defaults, check_complete, check_sane
    from determined.config.experiment_schema import ExperimentConfig
    from determined.config.log_policies import LogAction, LogPolicy
    from determined.config.masking import mask_secrets, masked_places, restore_secrets
    from determined.config.merging import merge
    from determined.config.names import random_name
    from determined.config.overrides import apply_overrides
    from determined.config.pipeline import Prepared, prepare
    from determined.config.resources import DeviceMount, Resources
    from determined.config.shims import canonicalize
    from determined.config.storage import parse_checkpoint_storage
    from determined.schema.quantities import Length, Unit, parse_duration, parse_size, to_batches
    from determined.schema.text import dump_yaml, parse_yaml
    from determined.search.generations import Generation, generation
    from determined.search.searcher_config import SearcherConfig
    from determined.storage.section import CheckpointStorage

__all__ = [
    "AgentConfig",
    "BindMount",
    "CheckpointStorage",
    "DeviceMount",
    "Environment",
    "ExperimentConfig",
    "Generation",
    "Length",
    "LogAction",
    "LogPolicy",
    "Prepared",
    "ProxyPort",
    "Resources",
    "SearcherConfig",
    "Unit",
    "apply_defaults",
    "apply_overrides",
    "canonicalize",
    "check_complete",
    "check_sane",
    "dump_yaml",
    "generation",
    "load_agent_config",
    "mask_secrets",
    "masked_places",
    "merge",
    "merge_task_container_defaults",
    "overlay_container_defaults",
    "parse_checkpoint_storage",
    "parse_duration",
    "parse_size",
    "parse_yaml",
    "prepare",
    "random_name",
    "restore_secrets",
    "to_batches",
]


def __getattr__(name: str) -> Any:
    for module, names in _HOMES.items():
        if name in names.split():
            return getattr(import_module(f"determined.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


_HOMES = {
    "config.agent": "AgentConfig load_agent_config",
    "config.container_defaults": "merge_task_container_defaults overlay_container_defaults",
    "config.environment": "BindMount Environment ProxyPort",
    "config.experiment": "apply_defaults check_complete check_sane",
    "config.experiment_schema": "ExperimentConfig",
    "config.log_policies": "LogAction LogPolicy",
    "config.masking": "mask_secrets masked_places restore_secrets",
    "config.merging": "merge",
    "config.names": "random_name",
    "config.overrides": "apply_overrides",
    "config.pipeline": "Prepared prepare",
    "schema.quantities": "Length Unit parse_duration parse_size to_batches",
    "config.resources": "DeviceMount Resources",
    "config.shims": "canonicalize",
    "config.storage": "parse_checkpoint_storage",
    "storage.section": "CheckpointStorage",
    "schema.text": "dump_yaml parse_yaml",
    "search.generations": "Generation generation",
    "search.searcher_config": "SearcherConfig",
}
