"""Rows of aliases of model versions, and of the history of their changes."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, delete, func, insert, select

from determined.master.db import fetch
from determined.master.db.dialects import upsert
from determined.master.db.queries.batching import batches
from determined.master.db.rows.models import (
    ModelAlias,
    ModelAliasChange,
    ModelAliasChangeValues,
    ModelAliasValues,
)
from determined.master.db.schema import model_alias_changes, model_aliases, users
from determined.master.db.statements import AnySelect
from determined.wire.base import OrderBy
from determined.wire.model_alias import ListModelAliasHistory


class AliasDetail(ModelAlias, frozen=True):
    """An alias with the name of whoever set it."""

    username: str


class AliasChangeDetail(ModelAliasChange, frozen=True):
    """A change with the name of whoever made it."""

    username: str


def get(conn: Connection, model_id: int, alias: str) -> AliasDetail | None:
    c = model_aliases.c
    return fetch.row(conn, _detailed().where(c.model_id == model_id, c.alias == alias), AliasDetail)


def list_all(conn: Connection, model_id: int) -> list[AliasDetail]:
    """List the aliases of a model by name."""
    c = model_aliases.c
    return fetch.rows(conn, _detailed().where(c.model_id == model_id).order_by(c.alias), AliasDetail)


def of_models(conn: Connection, model_ids: Sequence[int]) -> dict[int, dict[str, int]]:
    """Return the version of each alias, by model; models without one are left out."""
    c = model_aliases.c
    aliases_by_model: dict[int, dict[str, int]] = {}
    for some in batches(list(dict.fromkeys(model_ids))):
        query = select(c.model_id, c.alias, c.version).where(c.model_id.in_(some)).order_by(c.model_id, c.alias)
        for model_id, alias, version in conn.execute(query):
            aliases_by_model.setdefault(model_id, {})[alias] = version
    return aliases_by_model


def put(conn: Connection, now: datetime, values: ModelAliasValues, previous: int | None) -> None:
    """Point an alias to a version and note the change."""
    row: ModelAliasValues = {**values, "set_at": now}
    upsert(conn, model_aliases, row, ["model_id", "alias"])
    change: ModelAliasChangeValues = {
        "model_id": values["model_id"],
        "alias": values["alias"],
        "version": values["version"],
        "previous_version": previous,
        "user_id": values["user_id"],
        "changed_at": now,
    }
    conn.execute(insert(model_alias_changes), change)


def remove(conn: Connection, now: datetime, alias: ModelAlias, user_id: int) -> None:
    """Remove an alias and note who did."""
    c = model_aliases.c
    conn.execute(delete(model_aliases).where(c.model_id == alias.model_id, c.alias == alias.alias))
    change: ModelAliasChangeValues = {
        "model_id": alias.model_id,
        "alias": alias.alias,
        "version": None,
        "previous_version": alias.version,
        "user_id": user_id,
        "changed_at": now,
    }
    conn.execute(insert(model_alias_changes), change)


def count_changes(conn: Connection, model_id: int, params: ListModelAliasHistory) -> int:
    query = select(func.count()).select_from(model_alias_changes).where(*_conditions(model_id, params))
    return conn.execute(query).scalar_one()


def changes(
    conn: Connection, model_id: int, params: ListModelAliasHistory, *, limit: int | None = None, offset: int = 0
) -> list[AliasChangeDetail]:
    """List changes in the order of time. `limit` and `offset` are rows, not those of `params`."""
    c = model_alias_changes.c
    order = c.id.desc() if params.order_by is OrderBy.DESC else c.id.asc()
    query = (
        select(model_alias_changes, users.c.username)
        .join(users, users.c.id == c.user_id)
        .where(*_conditions(model_id, params))
        .order_by(order)
        .offset(offset)
    )
    return fetch.rows(conn, query.limit(limit) if limit is not None else query, AliasChangeDetail)


def _conditions(model_id: int, params: ListModelAliasHistory) -> list[ColumnElement[bool]]:
    c = model_alias_changes.c
    own = [c.model_id == model_id]
    return own if params.alias is None else [*own, c.alias == params.alias]


def _detailed() -> AnySelect:
    return select(model_aliases, users.c.username).join(users, users.c.id == model_aliases.c.user_id)
