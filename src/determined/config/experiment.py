"""An experiment config as typed, immutable data, and the checks that lead to it."""

from dataclasses import dataclass, field
from typing import Any

from determined.config.environment import (
    BindMount,
    Environment,
    parse_bind_mounts,
    parse_environment,
)
from determined.config.experiment_schema import EXPERIMENT
from determined.config.generations import Generation, generation
from determined.config.log_policies import LogPolicy, parse_log_policies
from determined.config.node import Report
from determined.config.quantities import Length
from determined.config.resources import Resources, parse_resources
from determined.config.searcher import Searcher, parse_searcher
from determined.config.sections import (
    Integrations,
    Optimizations,
    Pbs,
    Profiling,
    Reproducibility,
    RetentionPolicy,
    Slurm,
    Watchdog,
    parse_integrations,
    parse_pbs,
    parse_slurm,
)
from determined.config.shims import canonicalize
from determined.config.storable import find_unstorable
from determined.config.storage import CheckpointStorage, storage_from_active
from determined.errors import InvalidConfig

ROOT = "<config>"
INCOMPLETE = "invalid experiment configuration: config is invalid or incomplete"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentConfig:
    """The whole config after merging and defaults. `raw` is the active config it was read from, secrets included."""

    name: str
    description: str | None
    labels: tuple[str, ...]
    data: dict[str, Any] = field(repr=False)
    workspace: str
    project: str
    entrypoint: str | list[str] | None
    max_restarts: int
    log_policies: tuple[LogPolicy, ...]
    retention_policy: RetentionPolicy | None
    debug: bool
    perform_initial_validation: bool
    checkpoint_policy: str
    checkpoint_storage: CheckpointStorage
    hyperparameters: dict[str, Any]
    searcher: Searcher
    reproducibility: Reproducibility
    resources: Resources
    environment: Environment
    bind_mounts: tuple[BindMount, ...]
    profiling: Profiling
    integrations: Integrations | None
    preemption_timeout: int
    preflight: str
    watchdog: Watchdog
    slurm: Slurm
    pbs: Pbs
    optimizations: Optimizations
    scheduling_unit: int
    min_validation_period: Length
    min_checkpoint_period: Length
    records_per_epoch: int
    raw: dict[str, Any] = field(repr=False)

    @classmethod
    def from_active(cls, raw: dict[str, Any]) -> "ExperimentConfig":
        """Typed data from a stored active config; keys it predates get their defaults, nothing is checked again."""
        return _typed(fill_defaults(canonicalize(raw), seed=0, name=""), raw)

    @property
    def generation(self) -> Generation:
        return generation(self.raw)


def check_sane(raw: dict[str, Any], *, whole: bool = False) -> None:
    """Refuse what can be seen wrong in one layer: unknown keys, types, ranges. Missing fields may come from others.

    Args:
        whole: no other layer has a searcher or hyperparameters; what a faulty config lacks there is told with the rest.

    Raises:
        InvalidConfig: with every violation.
    """
    violations = find_violations(raw, complete=False)
    if violations and whole:
        own = {key: raw[key] for key in ("searcher", "hyperparameters") if raw.get(key) is not None}
        missing = [v for v in find_violations(own, complete=True) if v.startswith(f"{ROOT}.") and v not in violations]
        violations += missing
    if violations:
        raise InvalidConfig("invalid experiment configuration: config is invalid", violations)


def check_complete(raw: dict[str, Any]) -> ExperimentConfig:
    """Refuse what is missing or wrong after merging and defaults; answer the typed config.

    Raises:
        InvalidConfig: with every violation.
    """
    violations = find_violations(raw, complete=True)
    if violations:
        raise InvalidConfig(INCOMPLETE, violations)
    return ExperimentConfig.from_active(raw)


def apply_defaults(raw: dict[str, Any], *, seed: int, name: str) -> dict[str, Any]:
    """Write every default. `name` (three words) and `seed` are used where the config has none of its own."""
    return fill_defaults(canonicalize(raw), seed=seed, name=name)


def fill_defaults(canonical: dict[str, Any], *, seed: int, name: str) -> dict[str, Any]:
    """As `apply_defaults`, for data that is canonical already."""
    filled: dict[str, Any] = EXPERIMENT.fill(canonical)
    if filled.get("name") is None:
        filled["name"] = f"Experiment ({name})"
    reproducibility = filled["reproducibility"]
    if isinstance(reproducibility, dict) and reproducibility.get("experiment_seed") is None:
        filled["reproducibility"] = {**reproducibility, "experiment_seed": seed}
    return filled


def find_violations(raw: Any, *, complete: bool) -> list[str]:
    """Every violation of a raw config, as `<config>.path: reason`; `complete` also demands what must be there."""
    report = Report(complete=complete)
    canonical = canonicalize(raw) if isinstance(raw, dict) else raw
    # The shims multiply steps and sizes, so the canonical numbers must fit as well.
    for at, reason in list(find_unstorable(raw, ROOT)) or find_unstorable(canonical, ROOT):
        report.add(at, reason)
    EXPERIMENT.check(canonical, ROOT, report)
    return report.violations


def _typed(filled: dict[str, Any], raw: dict[str, Any]) -> ExperimentConfig:
    sections: dict[str, Any] = {
        "labels": tuple(filled["labels"]),
        "log_policies": parse_log_policies(filled["log_policies"]),
        "retention_policy": RetentionPolicy(**filled["retention_policy"]) if filled["retention_policy"] else None,
        "checkpoint_storage": storage_from_active(filled["checkpoint_storage"]),
        "searcher": parse_searcher(filled["searcher"]),
        "reproducibility": Reproducibility(**filled["reproducibility"]),
        "resources": parse_resources(filled["resources"]),
        "environment": parse_environment(filled["environment"]),
        "bind_mounts": parse_bind_mounts(filled["bind_mounts"]),
        "profiling": Profiling(**filled["profiling"]),
        "integrations": parse_integrations(filled["integrations"]),
        "watchdog": Watchdog(**filled["watchdog"]),
        "slurm": parse_slurm(filled["slurm"]),
        "pbs": parse_pbs(filled["pbs"]),
        "optimizations": Optimizations(**filled["optimizations"]),
        "min_validation_period": Length.parse(filled["min_validation_period"]),
        "min_checkpoint_period": Length.parse(filled["min_checkpoint_period"]),
    }
    plain = {key: filled[key] for key in _PLAIN}
    return ExperimentConfig(**plain, **sections, raw=raw)


_PLAIN = (
    "name", "description", "data", "workspace", "project", "entrypoint", "max_restarts", "debug",
    "perform_initial_validation", "checkpoint_policy", "hyperparameters", "preemption_timeout", "preflight",
    "scheduling_unit", "records_per_epoch",
)  # fmt: skip
