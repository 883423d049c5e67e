"""Rows of storages, each distinct one once: checkpoints name it by id and keep it when a config changes."""

import msgspec
from sqlalchemy import Connection, insert, select

from determined._json import JsonObject
from determined.master.db.dialects import upsert
from determined.master.db.rows.checkpoints import StorageBackendValues, TrialStorageValues
from determined.master.db.schema import experiments, storage_backends, trial_storages, trials

_HOW = ("save_", "deduplicate")


def ensure(conn: Connection, config: JsonObject) -> int:
    """Return the id of this storage; insert it on first use. How checkpoints are kept is no part of it."""
    storage_id = _find(conn, config)
    if storage_id is not None:
        return storage_id
    row: StorageBackendValues = {"key": _key(config), "config": _place(config)}
    return conn.execute(insert(storage_backends).values(**row).returning(storage_backends.c.id)).scalar_one()


def get(conn: Connection, storage_id: int) -> JsonObject | None:
    """Return the config of a storage; None where there is no such storage."""
    return conn.execute(select(storage_backends.c.config).where(storage_backends.c.id == storage_id)).scalar()


def allow(conn: Connection, trial_id: int, storage_id: int) -> None:
    """Allow a trial to save in a storage."""
    row: TrialStorageValues = {"trial_id": trial_id, "storage_id": storage_id}
    upsert(conn, trial_storages, row, ["trial_id", "storage_id"])


def is_allowed(conn: Connection, trial_id: int, storage_id: int) -> bool:
    """Say if a trial saves there: it named the storage before, or its experiment's config does."""
    named = trial_storages.c.trial_id == trial_id, trial_storages.c.storage_id == storage_id
    if conn.execute(select(trial_storages.c.storage_id).where(*named)).first() is not None:
        return True
    storage = of_trial(conn, trial_id)
    return storage is not None and _find(conn, storage) == storage_id


def of_trial(conn: Connection, trial_id: int) -> JsonObject | None:
    """Return the storage that the config of a trial's experiment names."""
    experiment = select(trials.c.experiment_id).where(trials.c.id == trial_id).scalar_subquery()
    config = conn.execute(select(experiments.c.config).where(experiments.c.id == experiment)).scalar_one()
    storage: JsonObject | None = config.get("checkpoint_storage")
    return storage


def _find(conn: Connection, config: JsonObject) -> int | None:
    return conn.execute(select(storage_backends.c.id).where(storage_backends.c.key == _key(config))).scalar()


def _key(config: JsonObject) -> str:
    return msgspec.json.encode(_place(config), order="deterministic").decode()


def _place(config: JsonObject) -> JsonObject:
    return {k: v for k, v in config.items() if not k.startswith(_HOW) and v is not None}
