"""Dry runs: what a submission would be and do, without storing anything."""

from enum import StrEnum
from typing import Any

import msgspec

from determined.wire.base import ConfigText
from determined.wire.codec import Wire
from determined.wire.operation import Operation


class DryRunRequest(Wire):
    """`config`: YAML text as it would be submitted, or the same as an object."""

    config: ConfigText | dict[str, Any] | None = None
    project_id: int | None = None
    parent_id: int | None = None
    template: str | None = None
    unmanaged: bool | None = None


class Problem(Wire):
    """`path`: `searcher.max_trials`, `bind_mounts[0].host_path`, empty for the whole. `line` counts from 1."""

    path: str
    message: str
    line: int | None = None
    value: Any = None


class PlannedTrials(Wire):
    """Number of trials; None: only its own program knows. `exact` is false where a simulation counted them."""

    min: int | None
    max: int | None
    exact: bool


class PlannedUnits(Wire):
    """Units of all training together. `total` is None where trials alone know how long they train."""

    total: int | None
    name: str | None
    exact: bool


class Starts(StrEnum):
    NOW = "now"
    WAITS = "waits"


class DryRunResponse(Wire):
    """`text`: the config as YAML text. `submitted`: the same as an object. `config`: with everything filled in.

    `from_template`: paths of `config` that have what the template says.

    What follows from a sound config alone (`config`, `trials`, `starts`, ...) is None where there are problems.
    """

    text: str
    problems: list[Problem]
    warnings: list[str] = msgspec.field(default_factory=list)
    submitted: dict[str, Any] | None = None
    config: dict[str, Any] | None = None
    trials: PlannedTrials | None = None
    units: PlannedUnits | None = None
    slots_per_trial: int | None = None
    max_slots: int | None = None
    pool: str | None = None
    starts: Starts | None = None
    reason: str | None = None
    from_template: list[str] | None = None


DRY_RUN_EXPERIMENT = Operation("POST", "/api/v1/experiments/dry-run", DryRunRequest, DryRunResponse, ours=True)
