"""Searches on the wire: what one will cost, and letting one run longer."""

from typing import Any

import msgspec

from determined.wire.codec import Wire
from determined.wire.experiment import Experiment
from determined.wire.operation import Operation
from determined.wire.upstream import Ours, UpstreamOptional


class PreviewHPSearchRequest(Wire):
    """`config`: an experiment config, of which the searcher, the hyperparameters and the slots count."""

    config: dict[str, Any] = msgspec.field(default_factory=dict)
    seed: int | None = None


class SearchUnit(Wire):
    """Length to which a trial trains. `max_length`: to its end; `value` says where that is, if the config does."""

    max_length: bool
    name: str | None = None
    value: int | None = None


class TrialSummary(Wire):
    """`count` trials that end at `unit`, having validated at each of `lengths`."""

    count: int
    unit: SearchUnit
    lengths: Ours[list[int]] = msgspec.field(default_factory=list)


class SearchSummary(Wire):
    """`total_units`: an estimate of all training; None where trials alone know how long they train."""

    config: dict[str, Any]
    trials: list[TrialSummary] = msgspec.field(default_factory=list)
    total_trials: Ours[int] = 0
    total_units: Ours[int | None] = None
    slots_per_trial: Ours[int] = 1
    max_slots: Ours[int] = 1


class PreviewHPSearchResponse(Wire):
    summary: UpstreamOptional[SearchSummary]


class ExtendExperimentRequest(Wire):
    trials: int


class ExtendExperimentResponse(Wire):
    experiment: Experiment


PREVIEW_HP_SEARCH = Operation("POST", "/api/v1/preview-hp-search", PreviewHPSearchRequest, PreviewHPSearchResponse)
EXTEND_EXPERIMENT = Operation(
    "POST",
    "/api/v1/experiments/{experiment_id:int}/extend",
    ExtendExperimentRequest,
    ExtendExperimentResponse,
    ours=True,
)
