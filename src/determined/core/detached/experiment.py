"""Request for an unmanaged experiment and its trial, and the config that is sent for them. Pure."""

import secrets
from dataclasses import dataclass
from pathlib import Path

from determined._json import JsonObject
from determined.storage import registry
from determined.storage.factory import as_config

NO_METRIC = "unmanaged"  # the searcher metric of an experiment that names none


@dataclass(frozen=True, slots=True)
class ExperimentRequest:
    """Experiment and trial to be made, or, by their external ids, taken up again."""

    name: str | None = None
    hparams: JsonObject | None = None
    data: JsonObject | None = None
    description: str | None = None
    labels: list[str] | None = None
    workspace: str | None = None
    project: str | None = None
    searcher: JsonObject | None = None
    external_experiment_id: str | None = None
    external_trial_id: str | None = None
    integrations: JsonObject | None = None


def check(request: ExperimentRequest) -> None:
    """Raise ValueError for external ids that name nothing."""
    if request.external_trial_id and not request.external_experiment_id:
        raise ValueError(
            f"external_trial_id={request.external_trial_id!r} names a trial of an experiment; give the experiment's "
            "external_experiment_id too"
        )


def experiment_config(request: ExperimentRequest, storage: JsonObject) -> JsonObject:
    """Return the config of the experiment."""
    given = {
        "name": request.name or f"unmanaged-{secrets.token_hex(4)}",
        "data": request.data,
        "description": request.description,
        "labels": request.labels,
        "searcher": request.searcher or {"name": "single", "metric": NO_METRIC},
        "workspace": request.workspace,
        "project": request.project,
        "checkpoint_storage": storage,
        "integrations": request.integrations,
    }
    return {key: value for key, value in given.items() if value is not None}


def storage_section(given: str | JsonObject | None, default: Path) -> JsonObject:
    """Return the `checkpoint_storage` section for a path, an address, a section, or nothing.

    Raises:
        ValueError: an address of another kind.
    """
    section = as_config(str(default) if given is None else given)
    store = registry.section(section.get("type"))
    place = section.get(store.path_key)
    if store.is_in_container and place and not Path(place).is_absolute():
        section[store.path_key] = str(Path.cwd() / place)  # the next run may begin elsewhere
    return section
