"""Searches over HTTP: previews and extensions."""

from typing import Any

from determined.api.session import Session
from determined.wire.experiment import Experiment
from determined.wire.search import ExtendExperimentResponse, PreviewHPSearchResponse, SearchSummary


def preview(session: Session, config: dict[str, Any]) -> SearchSummary:
    """What the search of a config would cost."""
    body = {"config": config, "seed": 0}
    return session.post_as("/api/v1/preview-hp-search", body, PreviewHPSearchResponse).summary


def extend(session: Session, experiment_id: int, trials: int) -> Experiment:
    """Let a running or completed search run `trials` more."""
    path = f"/api/v1/experiments/{experiment_id}/extend"
    return session.post_as(path, {"trials": trials}, ExtendExperimentResponse).experiment
