"""Counts of the rows there would be without each condition of a filter: which condition keeps rows away."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from sqlalchemy import ColumnElement, Connection

from determined.errors import InvalidArgument
from determined.master.context import MasterContext
from determined.master.db.queries import query_filter, run
from determined.master.db.queries.query_filter import Field, Filter, Group
from determined.master.services import project as projects
from determined.wire.project import ClauseCount, FilterCountsRequest, FilterCountsResponse, TableType

_MAX_CLAUSES = 64

Count = Callable[[Filter], int]


async def count(ctx: MasterContext, project_id: int, request: FilterCountsRequest) -> FilterCountsResponse:
    """Count runs, or experiments where the table is theirs."""
    parsed = query_filter.parse(request.filter)
    clauses = list(query_filter.clauses(parsed.group))
    if len(clauses) > _MAX_CLAUSES:
        raise InvalidArgument(
            f"the filter has {len(clauses)} conditions and groups; at most {_MAX_CLAUSES} are counted"
        )

    def read(conn: Connection) -> FilterCountsResponse:
        projects.existing(conn, project_id)
        counted = _counter(conn, project_id, of_run=request.table_type != TableType.EXPERIMENT)
        return FilterCountsResponse(
            total=counted(parsed),
            with_archived=None if parsed.show_archived else counted(replace(parsed, show_archived=True)),
            clauses=[_clause(path, node, parsed, counted) for path, node in clauses],
        )

    return await ctx.db.read(read)


def _counter(conn: Connection, project_id: int, *, of_run: bool) -> Count:
    conditions: Callable[[Filter, int], list[ColumnElement[bool]]]
    conditions = run.run_conditions if of_run else run.experiment_conditions
    total = run.count_runs if of_run else run.count_experiments
    return lambda parsed: total(conn, conditions(parsed, project_id))


def _clause(path: Sequence[int], node: Field | Group, parsed: Filter, counted: Count) -> ClauseCount:
    clause = ClauseCount(
        path=list(path), count=counted(replace(parsed, group=query_filter.without(parsed.group, path)))
    )
    if isinstance(node, Field):
        clause.column, clause.operator, clause.value = node.column, node.operator, node.value
    return clause
