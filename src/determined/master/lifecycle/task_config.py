"""Typed config of a submitted task, by its kind."""

from determined._json import JsonObject
from determined.config.job import GenericTaskConfig, JobConfig
from determined.config.task_kinds import GENERIC, TaskKind


def config_class(kind: TaskKind) -> type[JobConfig] | type[GenericTaskConfig]:
    return GenericTaskConfig if kind is GENERIC else JobConfig


def config_of(kind: TaskKind, stored: JsonObject) -> JobConfig | GenericTaskConfig:
    """Load a stored config."""
    return config_class(kind).load(stored)
