"""Where checkpoints lie, each distinct storage once: checkpoints name it by id and keep it when a config changes."""

from typing import Any

import msgspec
from sqlalchemy import Connection, insert, select

from determined.master.db.schema import storage_backends


def ensure(conn: Connection, config: dict[str, Any]) -> int:
    """The id of this storage, made on first use. How many checkpoints to keep is no part of where they lie."""
    place = {k: v for k, v in config.items() if not k.startswith("save_") and v is not None}
    key = msgspec.json.encode(place, order="deterministic").decode()
    found: int | None = conn.execute(select(storage_backends.c.id).where(storage_backends.c.key == key)).scalar()
    if found is not None:
        return found
    made: int = conn.execute(
        insert(storage_backends).values(key=key, config=place).returning(storage_backends.c.id)
    ).scalar_one()
    return made
