"""Experiments as the wire shows them, loaded page by page with a fixed number of queries."""

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection

from determined._json import JsonObject
from determined.config import dump_yaml, mask_secrets, parse_yaml
from determined.errors import InvalidConfig, NotFound
from determined.master.db.queries import experiment_list
from determined.master.db.queries.experiment_list import ListedExperiment, TrialTotals
from determined.master.lifecycle.states import displayed_state
from determined.wire.codec import plain, rfc3339, rfc3339_or_none
from determined.wire.experiment import Experiment, ExperimentState


def one(conn: Connection, now: datetime, experiment_id: int) -> Experiment:
    """Return everything about one experiment. Raises NotFound."""
    experiments = load(conn, now, [experiment_id], with_best=True)
    if not experiments:
        raise NotFound(f"experiment {experiment_id} not found")
    experiments[0].trial_ids = experiment_list.trial_ids(conn, experiment_id)
    return experiments[0]


def load(conn: Connection, now: datetime, ids: Sequence[int], *, with_best: bool) -> list[Experiment]:
    rows = experiment_list.load(conn, ids)
    totals = experiment_list.totals(conn, ids)
    active = [row.id for row in rows if row.state == "ACTIVE"]
    allocations = experiment_list.furthest_allocations(conn, active)
    best = experiment_list.best_trials(conn, ids) if with_best else {}
    return [
        _experiment(row, now, totals.get(row.id, TrialTotals()), allocations.get(row.id), best.get(row.id))
        for row in rows
    ]


def shown_state(state: str, allocation: str | None, *, unmanaged: bool) -> str:
    """Return the state to show: nobody schedules an unmanaged run, so it runs while it is active."""
    if unmanaged and state == "ACTIVE":
        return "RUNNING"
    return displayed_state(state, allocation)


def masked(config: JsonObject) -> JsonObject:
    return plain(mask_secrets(config))  # type: ignore[no-any-return]


def masked_text(config: str) -> str:
    """Return the config as it was written; one with secrets is written anew with masks, for its owner too.

    A fork sends the masks back, and `config_secrets` puts the secrets in again.
    """
    changed = _masked_texts.get(config)
    return config if changed is None else changed


class _MaskedTexts:
    """Configs with their secrets masked, None for those without: parsing YAML is slow.

    Bounded by the number of configs and by the length of what is kept of them.
    """

    _CONFIGS, _CHARACTERS = 1024, 16 * 1024 * 1024

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[bytes, str | None] = OrderedDict()
        self._characters = 0

    def get(self, config: str) -> str | None:
        key = hashlib.sha256(config.encode(errors="replace")).digest()
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        changed = _changed_by_masking(config)
        with self._lock:
            self._keep(key, changed)
        return changed

    def _keep(self, key: bytes, changed: str | None) -> None:
        if key in self._kept:
            return
        self._kept[key] = changed
        self._characters += len(changed or "")
        while len(self._kept) > self._CONFIGS or self._characters > self._CHARACTERS:
            self._characters -= len(self._kept.popitem(last=False)[1] or "")


_masked_texts = _MaskedTexts()


def _changed_by_masking(config: str) -> str | None:
    try:
        given = parse_yaml(config)
    except InvalidConfig:
        return ""  # nobody can tell what is secret in it
    shown = mask_secrets(given)
    return None if shown == given else dump_yaml(shown)


def _experiment(
    row: ListedExperiment, now: datetime, totals: TrialTotals, allocation: str | None, best: tuple[int, float] | None
) -> Experiment:
    config = masked(row.config)
    return Experiment(
        id=row.id,
        name=row.name,
        description=row.description,
        notes=row.notes,
        labels=row.labels,
        archived=row.archived,
        state=ExperimentState("STATE_" + shown_state(row.state, allocation, unmanaged=row.unmanaged)),
        config=config,
        original_config=masked_text(row.original_config),
        hyperparameters=config.get("hyperparameters"),
        job_id=row.job_id,
        num_trials=totals.trials,
        checkpoint_count=totals.checkpoints,
        checkpoint_size=str(totals.checkpoint_size),
        model_definition_size=row.model_definition_size,
        project_id=row.project_id,
        project_name=row.project_name,
        project_owner_id=row.project_owner_id,
        parent_archived=row.project_archived or row.workspace_archived,
        workspace_id=row.workspace_id,
        workspace_name=row.workspace_name,
        # Not by the typed config: that takes 5 µs more, and a list has thousands of rows.
        searcher_type=(row.config.get("searcher") or {}).get("name") or "",
        searcher_metric=row.searcher_metric,
        template=row.template,
        start_time=rfc3339(row.start_time),
        end_time=rfc3339_or_none(row.end_time),
        error=row.error,
        duration=int(((row.end_time or now) - row.start_time).total_seconds()),
        user_id=row.owner_id,
        username=row.username,
        display_name=row.display_name,
        forked_from=row.parent_id,
        progress=row.progress,
        resource_pool=row.pool,
        best_trial_id=best[0] if best else None,
        best_trial_searcher_metric=best[1] if best else None,
        unmanaged=row.unmanaged,
        external_experiment_id=row.external_id,
        pachyderm_integration=(config.get("integrations") or {}).get("pachyderm"),
    )
