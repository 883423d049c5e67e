"""Rows of registered models."""

from datetime import datetime

from sqlalchemy import Connection, Select, delete, insert, select, update

from determined.master.db import fetch
from determined.master.db.rows.models import Model, ModelValues
from determined.master.db.schema import model_alias_changes, model_aliases, model_versions, models, users, workspaces
from determined.master.db.statements import AnySelect


class ModelDetail(Model, frozen=True):
    """A model with the names of its owner and its workspace."""

    username: str
    workspace_name: str


def get(conn: Connection, model_id: int) -> ModelDetail | None:
    return fetch.row(conn, detailed().where(models.c.id == model_id), ModelDetail)


def by_name(conn: Connection, name: str) -> ModelDetail | None:
    return fetch.row(conn, detailed().where(models.c.name == name), ModelDetail)


def create(conn: Connection, now: datetime, values: ModelValues) -> int:
    row: ModelValues = {**values, "created_at": now, "updated_at": now}
    return conn.execute(insert(models).values(**row).returning(models.c.id)).scalar_one()


def change(conn: Connection, now: datetime, model_id: int, values: ModelValues) -> None:
    """Write what changed, and when."""
    conn.execute(update(models).where(models.c.id == model_id).values(**values, updated_at=now))


def next_version(conn: Connection, now: datetime, model_id: int) -> int:
    """Count one version more and return its number, which no other version has had."""
    counted = {"last_version": models.c.last_version + 1, "num_versions": models.c.num_versions + 1, "updated_at": now}
    statement = update(models).where(models.c.id == model_id).values(counted)
    return conn.execute(statement.returning(models.c.last_version)).scalar_one()


def count_down(conn: Connection, now: datetime, model_id: int) -> None:
    """Count one version less; its number is not given again."""
    counted = {"num_versions": models.c.num_versions - 1, "updated_at": now}
    conn.execute(update(models).where(models.c.id == model_id).values(counted))


def remove(conn: Connection, model_id: int) -> None:
    """Delete a model with its versions, aliases and their history. Checkpoints stay."""
    for table in (model_alias_changes, model_aliases, model_versions):
        conn.execute(delete(table).where(table.c.model_id == model_id))
    conn.execute(delete(models).where(models.c.id == model_id))


def names_in_workspace(conn: Connection, workspace_id: int, limit: int) -> list[str]:
    """List some of the models that keep a workspace from being deleted."""
    query = select(models.c.name).where(models.c.workspace_id == workspace_id).order_by(models.c.id).limit(limit)
    return list(conn.execute(query).scalars())


def detailed() -> AnySelect:
    return joined(select(models, users.c.username, workspaces.c.name.label("workspace_name")))


def joined(query: Select[*tuple[object, ...]]) -> AnySelect:
    """Add the owner and the workspace, which filters and orders of lists read."""
    return (
        query.select_from(models)
        .join(users, users.c.id == models.c.user_id)
        .join(workspaces, workspaces.c.id == models.c.workspace_id)
    )
