"""The experiment config: its fields, and the rules that look across its sections."""

from collections.abc import Iterator
from typing import Any

from determined._json import JsonObject, JsonValue
from determined.config.engine_sections import task_fields
from determined.config.environment import BIND_MOUNTS, BindMount, Environment
from determined.config.log_policies import LOG_POLICIES, LogPolicy
from determined.config.resources import INT32_MAX, Resources
from determined.config.searcher import SEARCHER
from determined.config.sections import (
    Integrations,
    Optimizations,
    Pbs,
    Profiling,
    Reproducibility,
    RetentionPolicy,
    Watchdog,
)
from determined.config.storage import CHECKPOINT_STORAGE
from determined.schema.lists import FreeMap, ListOf, SetList
from determined.schema.node import Boolean, Integer, MustBeNull, Node, Report, Text, kind_of
from determined.schema.objects import Object
from determined.schema.quantities import Length
from determined.schema.quantity_nodes import LengthNode
from determined.schema.section import Section, field
from determined.search.generations import Generation, generation
from determined.search.hyperparameters import Hyperparameters, flatten
from determined.search.initial_points import point_problems
from determined.search.registry import find_sampler, find_searcher
from determined.search.searcher_config import SearcherConfig
from determined.storage.section import CheckpointStorage

# What a rewritten `entrypoint_script` leaves in the environment; such configs need no searcher metric.
ENTRYPOINT_SCRIPT_VARIABLE = "DET_ENTRYPOINT_SCRIPT"

DEFAULT_PREEMPTION_TIMEOUT = 3600


class Entrypoint(Node[str | list[str]]):
    """A shell command or an argument list; the high layer's replaces the low one's."""

    kind, shown = "string or list", True

    def check(self, value: object, at: str, report: Report) -> None:
        if isinstance(value, str):
            return None if value.strip() else report.add(at, "must not be empty")
        if not isinstance(value, list):
            return report.add(at, f"must be a string or a list of strings, not {kind_of(value)}")
        ListOf(Text(), nonempty=True).check(value, at, report)

    def json_schema(self) -> JsonObject:
        return {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]}


class _Labels(SetList[str]):
    """A set of words; also written as a mapping of words to true."""

    def canonical(self, value: JsonValue) -> JsonValue:
        if isinstance(value, dict):
            return [label for label, is_set in value.items() if is_set]
        if not isinstance(value, list):
            return value
        return [label for index, label in enumerate(value) if label not in value[:index]]

    def json_schema(self) -> JsonObject:
        return {"anyOf": [super().json_schema(), {"type": "object", "deprecated": True}]}


class _Period(LengthNode):
    """A length with a unit; the bare numbers of the first generation count steps, which the shims rewrite."""

    def __init__(self) -> None:
        super().__init__(unitless=False, low=0)

    def json_schema(self) -> JsonObject:
        return {"anyOf": [super().json_schema(), {"type": "integer", "minimum": 0, "deprecated": True}]}


class _Version(Node[int]):
    def check(self, value: object, at: str, report: Report) -> None:
        if value != 0 or isinstance(value, bool):
            report.add(at, f"invalid version {value!r}; only 0 exists")

    def json_schema(self) -> JsonObject:
        return {"const": 0}


class _Experiment(Object[Any]):
    """Cross-section rules read data that may be wrong in places, so that all violations come at once."""

    def check(self, value: object, at: str, report: Report) -> None:
        super().check(value, at, report)
        if not isinstance(value, dict):
            return
        rules = (_one_entrypoint,) + (_WHOLE_RULES * report.complete)
        for rule in rules:
            for where, reason in rule(value):
                report.add(f"{at}.{where}" if where else at, reason)


def _one_entrypoint(value: JsonObject) -> Iterator[tuple[str, str]]:
    script, layer = value.get("entrypoint_script"), value.get("launch_layer")
    if script is not None and value.get("entrypoint") is not None:
        yield "", "give either `entrypoint` or `entrypoint_script`, not both"
    if layer is not None and script is None:
        yield "", "`launch_layer` needs an `entrypoint_script`; or write both into `entrypoint`"


def _metric_present(value: JsonObject) -> Iterator[tuple[str, str]]:
    searcher = value.get("searcher")
    if isinstance(searcher, dict) and searcher.get("metric") is None and not from_entrypoint_script(value):
        yield "searcher", "`metric` is a required property"


def _space_suits_searcher(value: JsonObject) -> Iterator[tuple[str, str]]:
    searcher, hparams = value.get("searcher"), value.get("hyperparameters")
    declared = find_searcher(searcher.get("name")) if isinstance(searcher, dict) else None
    if declared is not None and isinstance(hparams, dict):
        yield from declared.space_problems(hparams)


def _initial_points(value: JsonObject) -> Iterator[tuple[str, str]]:
    searcher = value.get("searcher")
    if isinstance(searcher, dict):
        yield from point_problems(searcher.get("initial_points"), value.get("hyperparameters"))


def _space_suits_sampler(value: JsonObject) -> Iterator[tuple[str, str]]:
    searcher, hparams = value.get("searcher"), value.get("hyperparameters")
    sampler = find_sampler(searcher.get("sampler")) if isinstance(searcher, dict) else None
    if sampler is not None and isinstance(hparams, dict):
        yield from sampler.space_problems(flatten(hparams))


def _workspace_and_project(value: JsonObject) -> Iterator[tuple[str, str]]:
    if bool(value.get("workspace")) != bool(value.get("project")):
        yield "", "`workspace` and `project` must both be given, or neither"


_WHOLE_RULES = (
    _metric_present,
    _space_suits_searcher,
    _initial_points,
    _space_suits_sampler,
    _workspace_and_project,
)


def from_entrypoint_script(value: JsonObject) -> bool:
    """Tell whether this canonical config was written with `entrypoint_script`, the form of the Generic API."""
    environment = value.get("environment")
    variables = environment.get("environment_variables") if isinstance(environment, dict) else None
    entries = variables.get("cpu") if isinstance(variables, dict) else None
    if not isinstance(entries, list):
        return False
    return any(isinstance(e, str) and e.startswith(f"{ENTRYPOINT_SCRIPT_VARIABLE}=") for e in entries)


class ExperimentConfig(Section, node=_Experiment, added=task_fields()):
    """The whole config of an experiment after merging and defaults."""

    name: str = field(Text(), "Shown in lists. Default: three random words.")
    description: str | None = field(Text(), "Free text.", default=None)
    labels: tuple[str, ...] = field(_Labels(Text()), "Free words to filter by; layers add up.", default=[])
    data: JsonObject = field(FreeMap(), "Your own data, handed to the trial unchanged.", default={})
    workspace: str = field(Text(), "Name of an existing workspace; give `project` too.", default="")
    project: str = field(Text(), "Name of an existing project of `workspace`.", default="")
    entrypoint: str | list[str] | None = field(
        Entrypoint(),
        "The command that trains: a string for the shell, or a list of arguments. Required to run.",
        default=None,
    )
    max_restarts: int = field(
        Integer(0, INT32_MAX), "How often a failed trial is started again from its last checkpoint.", default=5
    )
    log_policies: tuple[LogPolicy, ...] = field(
        LOG_POLICIES,
        "Patterns over the log that label a trial or change what happens next. Merged by name.",
        default=[],
    )
    retention_policy: RetentionPolicy | None = field(
        RetentionPolicy, "How long logs are kept; else the master's policy.", default=None
    )
    debug: bool = field(Boolean(), "More detail in the task log.", default=False)
    perform_initial_validation: bool = field(
        Boolean(), "Validate before the first batch (training APIs).", default=False
    )
    checkpoint_policy: str = field(
        Text(choices=("best", "all", "none")),
        "After which validations a trial of the training APIs is saved: best so far, all, none.",
        default="best",
    )
    async_checkpointing: bool = field(
        Boolean(),
        "Whether trials of the training APIs train on while a checkpoint is stored. It needs memory for a copy.",
        default=True,
    )
    checkpoint_storage: CheckpointStorage = field(
        CHECKPOINT_STORAGE, "Where checkpoints go, and how many are kept. See below."
    )
    hyperparameters: JsonObject = field(Hyperparameters(), "Constants, ranges and groups. See below.", default={})
    searcher: SearcherConfig = field(SEARCHER, "How many trials run, with which hyperparameters. See below.")
    reproducibility: Reproducibility = field(Reproducibility, "Randomness.", default={})
    resources: Resources = field(Resources, "What each trial needs.", default={})
    environment: Environment = field(Environment, "What surrounds the training process.", default={})
    bind_mounts: tuple[BindMount, ...] = field(
        BIND_MOUNTS,
        "A relative `container_path` becomes a link in the working directory, one in `/tmp` is mounted.",
        default=[],
    )
    profiling: Profiling = field(
        Profiling,
        "System metrics of the training APIs' trials; Core API scripts call `core_context.profiler.on()`.",
        default={},
    )
    integrations: Integrations | None = field(Integrations, "Other systems.", default=None)
    preemption_timeout: int = field(
        Integer(0, INT32_MAX),
        "Seconds a preempted trial may take to save and leave before it is killed.",
        default=DEFAULT_PREEMPTION_TIMEOUT,
    )
    preflight: str = field(
        Text(choices=("fail", "warn", "skip")),
        "What a fault found before a start on several nodes does: `fail` it, `warn`, or `skip` the check.",
        default="fail",
        since="0.39",
    )
    watchdog: Watchdog = field(
        Watchdog, "What is done about a training that has fallen silent.", default={}, since="0.39"
    )
    pbs: Pbs = field(Pbs, "Settings of a PBS job.", default={}, engines=())
    optimizations: Optimizations = field(
        Optimizations, "Gradient aggregation, compression and mixed precision of the training APIs.", default={}
    )
    scheduling_unit: int = field(
        Integer(low=1),
        "After how many batches training metrics are reported (training APIs).",
        default=100,
        since="0.13",
    )
    min_validation_period: Length = field(
        _Period(), "Longest training between two validations (training APIs).", default={"batches": 0}
    )
    min_checkpoint_period: Length = field(
        _Period(), "Longest training between two checkpoints (training APIs).", default={"batches": 0}
    )
    records_per_epoch: int = field(
        Integer(low=0),
        "Needed where lengths are given in epochs and the data has no length of its own.",
        default=0,
        since="0.13",
    )
    data_layer: JsonValue = field(
        Node[Any](), "Data caches of the first releases.", default=None, fill=False, engines=()
    )
    security: JsonValue = field(Node[Any](), "Of the first releases.", default=None, fill=False, engines=())
    tensorboard_storage: CheckpointStorage | None = field(
        CHECKPOINT_STORAGE, "Events go to `checkpoint_storage`.", default=None, fill=False, engines=()
    )
    internal: None = field(MustBeNull(), "", default=None, fill=False, legacy=True)
    version: int | None = field(_Version(), "", default=None, fill=False, legacy=True)
    # Rewritten by the shims; seen here only where that was impossible.
    batches_per_step: int | None = field(Integer(low=1), "", default=None, fill=False, legacy=True)
    entrypoint_script: str | None = field(Text(), "", default=None, fill=False, legacy=True)
    launch_layer: str | None = field(Text(), "", default=None, fill=False, legacy=True)

    @property
    def generation(self) -> Generation:
        return generation(self.raw)


EXPERIMENT = ExperimentConfig.schema
