"""The experiment a runner is to drive, submitted once however often the runner is started."""

from typing import Any

import yaml

from determined.api import experiment
from determined.sdk.determined import submission
from determined.search.registry import searcher_of
from determined.searcher._runner import Link
from determined.wire.experiment import CreateExperimentRequest


def submit(link: Link, external_id: str, request: CreateExperimentRequest) -> int:
    """Submit and return the id of the experiment; the master makes one for each `external_id`."""
    return link.insist(lambda s: experiment.put(s, external_id, request).id, "submitting the experiment")


def custom_submission(
    exp_config: dict[str, Any] | str, model_dir: str | None, includes: list[str] | None
) -> CreateExperimentRequest:
    """Return the submission. Raises ValueError unless the configuration leaves the search to its client."""
    request = submission(exp_config, model_dir, includes)
    parsed = yaml.safe_load(request.config or "")
    searcher = parsed.get("searcher") if isinstance(parsed, dict) else None
    name = searcher.get("name") if isinstance(searcher, dict) else None
    if name is None or not searcher_of({"searcher": searcher}).driven_by_user:
        raise ValueError(f"searcher.name is {name!r}; a search runner drives experiments with `searcher.name: custom`")
    return request
