"""Searches over HTTP: previews and extensions."""

from determined._json import JsonObject
from determined.api.session import Session
from determined.wire.experiment import Experiment
from determined.wire.search import (
    EXTEND_EXPERIMENT,
    PREVIEW_HP_SEARCH,
    ExtendExperimentRequest,
    PreviewHPSearchRequest,
    SearchSummary,
)


def preview(session: Session, config: JsonObject) -> SearchSummary:
    """Say what the search of a config would cost."""
    return session.call(PREVIEW_HP_SEARCH, PreviewHPSearchRequest(config=config, seed=0)).summary


def extend(session: Session, experiment_id: int, trials: int) -> Experiment:
    """Let a running or completed search run `trials` more."""
    request = ExtendExperimentRequest(trials=trials)
    return session.call(EXTEND_EXPERIMENT, request, experiment_id=experiment_id).experiment
