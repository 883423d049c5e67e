"""The schema of an experiment config, and the rules that look across its sections."""

from collections.abc import Iterator
from typing import Any

from determined.config.environment import BIND_MOUNTS, ENVIRONMENT
from determined.config.hyperparameters import Hyperparameters, flatten, missing_counts
from determined.config.initial_points import point_problems
from determined.config.log_policies import LOG_POLICIES
from determined.config.node import Boolean, FreeMap, Integer, ListOf, MustBeNull, Node, Report, SetList, Text
from determined.config.objects import Field, Object
from determined.config.resources import INT32_MAX, RESOURCES
from determined.config.searcher import SEARCHER, LengthNode
from determined.config.sections import (
    INTEGRATIONS,
    OPTIMIZATIONS,
    PBS,
    PROFILING,
    REPRODUCIBILITY,
    RETENTION_POLICY,
    SLURM,
    WATCHDOG,
)
from determined.config.storage import CHECKPOINT_STORAGE
from determined.config.text import kind_of

# What a rewritten `entrypoint_script` leaves in the environment; such configs need no searcher metric.
ENTRYPOINT_SCRIPT_VARIABLE = "DET_ENTRYPOINT_SCRIPT"

DEFAULT_PREEMPTION_TIMEOUT = 3600


class Entrypoint(Node):
    """A shell command or an argument list; the high layer's replaces the low one's."""

    def check(self, value: Any, at: str, report: Report) -> None:
        if isinstance(value, str):
            return None if value.strip() else report.add(at, "must not be empty")
        if not isinstance(value, list):
            return report.add(at, f"must be a string or a list of strings, not {kind_of(value)}")
        ListOf(Text(), nonempty=True).check(value, at, report)


class _Version(Node):
    def check(self, value: Any, at: str, report: Report) -> None:
        if value != 0 or isinstance(value, bool):
            report.add(at, f"invalid version {value!r}; only 0 exists")


class _Experiment(Object):
    """Cross-section rules read data that may be wrong in places, so that all violations come at once."""

    def check(self, value: Any, at: str, report: Report) -> None:
        super().check(value, at, report)
        if not isinstance(value, dict):
            return
        rules = (_one_entrypoint,) + (_WHOLE_RULES * report.complete)
        for rule in rules:
            for where, reason in rule(value):
                report.add(f"{at}.{where}" if where else at, reason)


def _one_entrypoint(value: dict[str, Any]) -> Iterator[tuple[str, str]]:
    script, layer = value.get("entrypoint_script"), value.get("launch_layer")
    if script is not None and value.get("entrypoint") is not None:
        yield "", "give either `entrypoint` or `entrypoint_script`, not both"
    if layer is not None and script is None:
        yield "", "`launch_layer` needs an `entrypoint_script`; or write both into `entrypoint`"


def _metric_present(value: dict[str, Any]) -> Iterator[tuple[str, str]]:
    searcher = value.get("searcher")
    if isinstance(searcher, dict) and searcher.get("metric") is None and not from_entrypoint_script(value):
        yield "searcher", "`metric` is a required property"


def _grid_counts(value: dict[str, Any]) -> Iterator[tuple[str, str]]:
    searcher, hparams = value.get("searcher"), value.get("hyperparameters")
    if isinstance(searcher, dict) and searcher.get("name") == "grid" and isinstance(hparams, dict):
        for name, hparam in hparams.items():
            yield from missing_counts(hparam, f"hyperparameters.{name}")


def _initial_points(value: dict[str, Any]) -> Iterator[tuple[str, str]]:
    searcher = value.get("searcher")
    if isinstance(searcher, dict):
        yield from point_problems(searcher.get("initial_points"), value.get("hyperparameters"))


def _cmaes_axes(value: dict[str, Any]) -> Iterator[tuple[str, str]]:
    searcher, hparams = value.get("searcher"), value.get("hyperparameters")
    if not isinstance(searcher, dict) or searcher.get("sampler") != "cmaes" or not isinstance(hparams, dict):
        return
    kinds = {hparam.get("type") for hparam in flatten(hparams).values() if isinstance(hparam, dict)}
    if not kinds & {"int", "double", "log"}:
        yield "searcher.sampler", "cmaes needs a hyperparameter of type int, double or log; use tpe for categories"


def _workspace_and_project(value: dict[str, Any]) -> Iterator[tuple[str, str]]:
    if bool(value.get("workspace")) != bool(value.get("project")):
        yield "", "`workspace` and `project` must both be given, or neither"


_WHOLE_RULES = (_metric_present, _grid_counts, _initial_points, _cmaes_axes, _workspace_and_project)


def from_entrypoint_script(value: dict[str, Any]) -> bool:
    """Whether this canonical config was written with `entrypoint_script` (the first form of the Generic API)."""
    environment = value.get("environment")
    variables = environment.get("environment_variables") if isinstance(environment, dict) else None
    entries = variables.get("cpu") if isinstance(variables, dict) else None
    if not isinstance(entries, list):
        return False
    return any(isinstance(e, str) and e.startswith(f"{ENTRYPOINT_SCRIPT_VARIABLE}=") for e in entries)


_PERIOD = Field(LengthNode(unitless=False, low=0), default={"batches": 0})

EXPERIMENT = _Experiment(
    {
        "name": Field(Text(), required=True),
        "description": Field(Text(), default=None),
        "labels": Field(SetList(Text()), default=[]),
        "data": Field(FreeMap(), default={}),
        "workspace": Field(Text(), default=""),
        "project": Field(Text(), default=""),
        "entrypoint": Field(Entrypoint(), default=None),
        "max_restarts": Field(Integer(0, INT32_MAX), default=5),
        "log_policies": Field(LOG_POLICIES, default=[]),
        "retention_policy": Field(RETENTION_POLICY, default=None),
        "debug": Field(Boolean(), default=False),
        "perform_initial_validation": Field(Boolean(), default=False),
        "checkpoint_policy": Field(Text(choices=("best", "all", "none")), default="best"),
        "checkpoint_storage": Field(CHECKPOINT_STORAGE, required=True),
        "hyperparameters": Field(Hyperparameters(), default={}, required=True),
        "searcher": Field(SEARCHER, required=True),
        "reproducibility": Field(REPRODUCIBILITY, default={}),
        "resources": Field(RESOURCES, default={}),
        "environment": Field(ENVIRONMENT, default={}),
        "bind_mounts": Field(BIND_MOUNTS, default=[]),
        "profiling": Field(PROFILING, default={}),
        "integrations": Field(INTEGRATIONS, default=None),
        "preemption_timeout": Field(Integer(0, INT32_MAX), default=DEFAULT_PREEMPTION_TIMEOUT),
        "preflight": Field(Text(choices=("fail", "warn", "skip")), default="fail"),
        "watchdog": Field(WATCHDOG, default={}),
        "slurm": Field(SLURM, default={}, honoured_by=("slurm",)),
        "pbs": Field(PBS, default={}, honoured_by=()),
        "optimizations": Field(OPTIMIZATIONS, default={}),
        "scheduling_unit": Field(Integer(low=1), default=100),
        "min_validation_period": _PERIOD,
        "min_checkpoint_period": _PERIOD,
        "records_per_epoch": Field(Integer(low=0), default=0),
        "data_layer": Field(Node(), honoured_by=()),
        "security": Field(Node(), honoured_by=()),
        "tensorboard_storage": Field(CHECKPOINT_STORAGE, honoured_by=()),
        "internal": Field(MustBeNull(), legacy=True),
        "version": Field(_Version(), legacy=True),
        # Rewritten by the shims; seen here only where that was impossible.
        "batches_per_step": Field(Integer(low=1), legacy=True),
        "entrypoint_script": Field(Text(), legacy=True),
        "launch_layer": Field(Text(), legacy=True),
    }
)
