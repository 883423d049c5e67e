"""Lists of models: filter, sort and page in SQL, then load the page."""

from collections.abc import Sequence

from sqlalchemy import BigInteger, ColumnElement, Connection, func, or_, select, type_coerce

from determined.master.db.queries.batching import batches, load_in_order
from determined.master.db.queries.label_use import most_used_first
from determined.master.db.queries.model import ModelDetail, detailed, joined
from determined.master.db.queries.text_match import contains, has_labels
from determined.master.db.schema import models, users, workspaces
from determined.master.db.statements import AnyColumn
from determined.wire.base import OrderBy
from determined.wire.model import GetModelsRequestSortBy as SortBy
from determined.wire.model import ListModels


def find(conn: Connection, params: ListModels, *, limit: int | None = None, offset: int = 0) -> list[int]:
    """List the ids of those that fit, in their order. `limit` and `offset` are rows, not those of `params`."""
    keys = (*_sort_keys(params.sort_by or SortBy.UNSPECIFIED), models.c.id)
    order = [key.desc() if params.order_by is OrderBy.DESC else key.asc() for key in keys]
    query = joined(select(models.c.id)).where(*conditions(params)).order_by(*order).offset(offset)
    return list(conn.execute(query.limit(limit) if limit is not None else query).scalars())


def count(conn: Connection, params: ListModels) -> int:
    query = joined(select(func.count())).where(*conditions(params))
    total: int = conn.execute(query).scalar_one()
    return total


def load(conn: Connection, ids: Sequence[int]) -> list[ModelDetail]:
    """Return models in the order of `ids`; ids without a row are left out."""
    return load_in_order(conn, detailed(), ModelDetail, models.c.id, ids)


def labels_by_popularity(conn: Connection, workspace_id: int | None) -> list[str]:
    """List labels, those of most models first, then by alphabet."""
    query = select(models.c.labels)
    if workspace_id is not None:
        query = query.where(models.c.workspace_id == workspace_id)
    return most_used_first(conn.execute(query).scalars())


def conditions(params: ListModels) -> list[ColumnElement[bool]]:
    """Return the where clause of a list; rights of the caller to see rows belong here as well."""
    column = models.c
    clauses: list[ColumnElement[bool]] = []
    if params.id is not None:
        clauses.append(column.id == params.id)
    if params.name:
        clauses.append(contains(column.name, params.name))
    if params.description:
        clauses.append(contains(column.description, params.description))
    if params.archived is not None:
        clauses.append(column.archived == params.archived)
    if params.labels:
        clauses.append(or_(*has_labels(column.labels, params.labels)))
    if params.users:
        clauses.append(_any_of(users.c.username, params.users))
    if params.user_ids:
        clauses.append(_any_of(column.user_id, params.user_ids))
    return clauses + _in_workspaces(params)


def _in_workspaces(params: ListModels) -> list[ColumnElement[bool]]:
    if params.workspace_ids:
        return [_any_of(models.c.workspace_id, params.workspace_ids)]
    if params.workspace_names:  # a name that nothing has matches nothing
        return [_any_of(workspaces.c.name, params.workspace_names)]
    return []


def _any_of(column: AnyColumn, values: Sequence[object]) -> ColumnElement[bool]:
    return or_(*(column.in_(some) for some in batches(values)))


def _sort_keys(sort: SortBy) -> tuple[AnyColumn, ...]:
    column = models.c
    keys: dict[SortBy, tuple[AnyColumn, ...]] = {
        SortBy.UNSPECIFIED: (),
        SortBy.NAME: (func.lower(column.name), column.name),
        SortBy.DESCRIPTION: (func.lower(column.description), column.description),
        SortBy.CREATION_TIME: (type_coerce(column.created_at, BigInteger),),
        SortBy.LAST_UPDATED_TIME: (type_coerce(column.updated_at, BigInteger),),
        SortBy.NUM_VERSIONS: (column.num_versions,),
        SortBy.WORKSPACE: (func.lower(workspaces.c.name), workspaces.c.name),
    }
    return keys[sort]
