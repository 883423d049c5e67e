"""Runs in groups: every run that matches is counted, none is sampled."""

from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import Connection

from determined.errors import InvalidArgument
from determined.master.context import MasterContext
from determined.master.db.queries import query_filter, run, run_group
from determined.master.services.paging import page
from determined.master.services.run_statistics import Group, gather, ordered, statistics
from determined.wire.codec import plain
from determined.wire.run import ColumnStatistics, RunGroup, SearchRunsRequest, SearchRunsResponse

_DEFAULT_LIMIT = 100
_MAX_KEYS = 8
_MAX_NUMBERS = 64
_SHOWN_IDS = 1000
_DEFAULT_NUMBERS = ("searcherMetricsVal",)


async def search(ctx: MasterContext, request: SearchRunsRequest) -> SearchRunsResponse:
    """Return groups of the runs that match, ordered by key columns, by means of columns of numbers, or by `n`.

    A column of numbers that only `sort` names is summed up as well; another one that is no key has no order to give.
    """
    keys = list(dict.fromkeys(request.group_by))
    sort = query_filter.parse_sort(request.sort)
    numbers = _numbers(keys, request.group_metrics or _DEFAULT_NUMBERS, sort)
    if len(keys) > _MAX_KEYS or len(numbers) > _MAX_NUMBERS:
        raise InvalidArgument(f"groupBy takes at most {_MAX_KEYS} columns and groupMetrics {_MAX_NUMBERS}; name fewer")

    def read(conn: Connection) -> SearchRunsResponse:
        conditions = run.run_conditions(query_filter.parse(request.filter), request.project_id)
        groups = gather(run_group.values(conn, conditions, keys, numbers), len(numbers))
        shown, pagination = page(_sorted(groups, keys, numbers, sort), request.limit or _DEFAULT_LIMIT, request.offset)
        found = [_to_wire(group, keys, numbers) for group in shown]
        return SearchRunsResponse(runs=[], pagination=pagination, groups=found, exact=True)

    return await ctx.db.read(read)


def _numbers(keys: Sequence[str], asked: Sequence[str], sort: Sequence[tuple[str, bool]]) -> list[str]:
    by_sort = [name for name, _ in sort if name not in keys and name != "n" and run_group.is_number(name)]
    return list(dict.fromkeys([*asked, *by_sort]))


def _sorted(
    groups: list[Group], keys: Sequence[str], numbers: Sequence[str], sort: Sequence[tuple[str, bool]]
) -> list[Group]:
    by_name: dict[str, Callable[[Group], Any]] = {"n": lambda group: len(group.ids)}
    by_name |= {name: _mean(at) for at, name in enumerate(numbers)}
    by_name |= {name: _key(at) for at, name in enumerate(keys)}
    wanted = [(by_name[name], descending) for name, descending in sort if name in by_name]
    return ordered(groups, [*wanted, *((_key(at), False) for at in range(len(keys)))])


def _key(at: int) -> Callable[[Group], Any]:
    return lambda group: group.key[at]


def _mean(at: int) -> Callable[[Group], Any]:
    return lambda group: statistics(group.values[at]).mean


def _to_wire(group: Group, keys: Sequence[str], numbers: Sequence[str]) -> RunGroup:
    return RunGroup(
        key=dict(zip(keys, plain(group.key), strict=True)),
        n=len(group.ids),
        metrics={name: _statistics(group.values[at]) for at, name in enumerate(numbers)},
        run_ids=group.ids[:_SHOWN_IDS],
    )


def _statistics(values: Sequence[float]) -> ColumnStatistics:
    numbers = statistics(values)
    return ColumnStatistics(n=numbers.n, mean=numbers.mean, std=numbers.std, min=numbers.min, max=numbers.max)
