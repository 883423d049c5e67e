"""Choice of the checkpoints of a listing, and of the best; shared by experiments and trials."""

from collections.abc import Callable, Iterable

from determined.sdk.checkpoint import Checkpoint
from determined.sdk.enums import CheckpointSortBy, OrderBy
from determined.wire import checkpoint as wire
from determined.wire.base import OrderBy as WireOrderBy

ListCheckpoints = Callable[..., list[Checkpoint]]


def sorting(sort_by: str | CheckpointSortBy | None, order_by: OrderBy | None) -> wire.ListCheckpoints:
    """Make the parameters of a checkpoint listing.

    Raises:
        AssertionError: only one of the two is given.
        ValueError: `sort_by` is neither a metric name nor a CheckpointSortBy.
    """
    assert (sort_by is None) == (order_by is None), "give sort_by and order_by together, or neither"
    params = wire.ListCheckpoints(states=[wire.CheckpointState.COMPLETED])
    if sort_by is None or order_by is None:
        params.sort_by_attr = wire.SortBy.SEARCHER_METRIC
        return params
    params.order_by = WireOrderBy(order_by.value)
    if isinstance(sort_by, CheckpointSortBy):
        params.sort_by_attr = wire.SortBy(sort_by.value)
        return params
    if isinstance(sort_by, str):
        params.sort_by_metric = sort_by
        return params
    raise ValueError(f"sort_by must be a metric name or a CheckpointSortBy, got {type(sort_by).__name__}")


def best(listing: ListCheckpoints, sort_by: str | None, smaller_is_better: bool | None) -> list[Checkpoint]:
    """Sort best first, by the searcher's metric or by `sort_by`.

    Raises:
        AssertionError: only one of the two is given, or there is no checkpoint.
    """
    assert (sort_by is None) == (smaller_is_better is None), "give sort_by and smaller_is_better together, or neither"
    order = None if sort_by is None else OrderBy.ASC if smaller_is_better else OrderBy.DESC
    checkpoints = listing(sort_by=sort_by, order_by=order)
    assert checkpoints, "there is no completed checkpoint"
    return checkpoints


def first_of_each_trial(checkpoints: Iterable[Checkpoint]) -> list[Checkpoint]:
    """Return the first of each trial, in order."""
    kept: dict[int | None, Checkpoint] = {}
    for each in checkpoints:
        kept.setdefault(each.training.trial_id if each.training else None, each)
    return list(kept.values())
