"""Where checkpoints lie, each distinct storage once: checkpoints name it by id and keep it when a config changes."""

from typing import Any

import msgspec
from sqlalchemy import Connection, insert, select

from determined.master.db.dialects import upsert
from determined.master.db.schema import experiments, storage_backends, trial_storages, trials


def ensure(conn: Connection, config: dict[str, Any]) -> int:
    """The id of this storage, made on first use. How many checkpoints to keep is no part of where they lie."""
    found = _find(conn, config)
    if found is not None:
        return found
    row = {"key": _key(config), "config": _place(config)}
    made: int = conn.execute(insert(storage_backends).values(row).returning(storage_backends.c.id)).scalar_one()
    return made


def get(conn: Connection, storage_id: int) -> dict[str, Any] | None:
    """Its config; None where there is no such storage."""
    query = select(storage_backends.c.config).where(storage_backends.c.id == storage_id)
    found: dict[str, Any] | None = conn.execute(query).scalar()
    return found


def allow(conn: Connection, trial_id: int, storage_id: int) -> None:
    """From now on this trial may save there."""
    row = {"trial_id": trial_id, "storage_id": storage_id}
    upsert(conn, trial_storages, row, ["trial_id", "storage_id"])


def is_allowed(conn: Connection, trial_id: int, storage_id: int) -> bool:
    """Whether the trial saves there: it said so before, or its experiment's config does."""
    said = trial_storages.c.trial_id == trial_id, trial_storages.c.storage_id == storage_id
    if conn.execute(select(trial_storages.c.storage_id).where(*said)).first() is not None:
        return True
    storage = of_trial(conn, trial_id)
    return storage is not None and _find(conn, storage) == storage_id


def of_trial(conn: Connection, trial_id: int) -> dict[str, Any] | None:
    """The storage that the config of a trial's experiment names."""
    experiment = select(trials.c.experiment_id).where(trials.c.id == trial_id).scalar_subquery()
    config = conn.execute(select(experiments.c.config).where(experiments.c.id == experiment)).scalar_one()
    storage: dict[str, Any] | None = config.get("checkpoint_storage")
    return storage


def _find(conn: Connection, config: dict[str, Any]) -> int | None:
    found: int | None = conn.execute(
        select(storage_backends.c.id).where(storage_backends.c.key == _key(config))
    ).scalar()
    return found


def _key(config: dict[str, Any]) -> str:
    return msgspec.json.encode(_place(config), order="deterministic").decode()


def _place(config: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in config.items() if not k.startswith("save_") and v is not None}
