"""Rows of templates."""

from sqlalchemy import ColumnElement, Connection, delete, func, insert, select, update

from determined._json import JsonObject
from determined.master.db import fetch
from determined.master.db.queries.text_match import contains
from determined.master.db.rows.workspaces import Template, TemplateValues
from determined.master.db.schema import templates, users
from determined.wire.base import OrderBy
from determined.wire.template import ListTemplates

_DETAILS = select(templates, users.c.username).join(users, users.c.id == templates.c.user_id)


class TemplateDetail(Template, frozen=True):
    """A template with the name of its owner."""

    username: str


def get(conn: Connection, name: str) -> TemplateDetail | None:
    return fetch.row(conn, _DETAILS.where(templates.c.name == name), TemplateDetail)


def config_of(conn: Connection, name: str) -> JsonObject | None:
    return conn.execute(select(templates.c.config).where(templates.c.name == name)).scalar_one_or_none()


def list_names(conn: Connection) -> list[str]:
    return list(conn.execute(select(templates.c.name).order_by(templates.c.name)).scalars())


def count(conn: Connection, params: ListTemplates) -> int:
    return conn.execute(select(func.count()).select_from(templates).where(*_conditions(params))).scalar_one()


def find_page(conn: Connection, params: ListTemplates, *, limit: int, offset: int) -> list[TemplateDetail]:
    """List those that fit by name. `limit` and `offset` are rows, not those of `params`."""
    name = templates.c.name
    order = name.desc() if params.order_by is OrderBy.DESC else name.asc()
    query = _DETAILS.where(*_conditions(params)).order_by(order).limit(limit).offset(offset)
    return fetch.rows(conn, query, TemplateDetail)


def create(conn: Connection, values: TemplateValues) -> None:
    conn.execute(insert(templates).values(**values))


def change(conn: Connection, name: str, values: TemplateValues) -> None:
    conn.execute(update(templates).where(templates.c.name == name).values(**values))


def remove(conn: Connection, name: str) -> bool:
    """Delete a template; return whether there was one."""
    return conn.execute(delete(templates).where(templates.c.name == name)).rowcount > 0


def _conditions(params: ListTemplates) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if params.name:
        conditions.append(contains(templates.c.name, params.name))
    if params.workspace_ids:
        conditions.append(templates.c.workspace_id.in_(params.workspace_ids))
    return conditions
