"""Sizes that a pool can hold at all, so that an impossible request is refused with the size nearest to it."""

from collections import Counter
from collections.abc import Collection, Mapping

from determined.errors import InvalidArgument


def split(need: int, counts: Mapping[int, int], *, heterogeneous: bool) -> dict[int, int] | None:
    """Return how many whole idle nodes of which size hold `need` slots: {size: nodes}, or None.

    `counts`: idle nodes by size. Sizes are not mixed unless `heterogeneous`, and then greedily without backtracking.
    """
    sizes = sorted((size for size in counts if size > 0), reverse=True)
    for size in sizes:
        if need % size == 0 and counts[size] * size >= need:
            return {size: need // size}
    if not heterogeneous:
        return None
    chosen: dict[int, int] = {}
    for size in sizes:
        taken = min(counts[size], need // size)
        if not taken:
            return None
        chosen[size] = taken
        need -= taken * size
        if not need:
            return chosen
    return None


def is_feasible(slots: int, node_sizes: Collection[int], single_node: bool, *, heterogeneous: bool = False) -> bool:
    """Check whether `slots` fits the nodes when all of them are idle."""
    if slots <= max(node_sizes, default=0):
        return True
    return not single_node and split(slots, Counter(node_sizes), heterogeneous=heterogeneous) is not None


def nearest_feasible(slots: int, node_sizes: Collection[int], single_node: bool, *, heterogeneous: bool = False) -> int:
    """Return the feasible size closest to `slots`, the smaller of two equally close; 0 when the pool has no slots."""
    total = sum(node_sizes)

    def first(sizes: range) -> int | None:
        fits = (n for n in sizes if is_feasible(n, node_sizes, single_node, heterogeneous=heterogeneous))
        return next(fits, None)

    below = first(range(min(slots, total), 0, -1))
    above = first(range(slots + 1, total + 1))
    if below is None or (above is not None and above - slots < slots - below):
        return above or 0
    return below


def check(
    slots: int,
    node_sizes: Collection[int],
    single_node: bool,
    *,
    heterogeneous: bool = False,
    pool: str = "default",
    field: str = "slots_per_trial",
) -> None:
    """Raise `InvalidArgument`, naming the nearest feasible size, when a pool of such nodes can never hold `slots`."""
    if slots == 0 or is_feasible(slots, node_sizes, single_node, heterogeneous=heterogeneous):
        return
    nearest = nearest_feasible(slots, node_sizes, single_node, heterogeneous=heterogeneous)
    raise InvalidArgument(
        f"{field}={slots} {_why(slots, node_sizes, single_node, pool)}; {_advice(slots, nearest)}",
        nearest_feasible=nearest,
    )


def describe(node_sizes: Collection[int]) -> str:
    """Return `2 nodes of 4 slots, 1 node of 8 slots`."""
    by_size = sorted(Counter(node_sizes).items())
    return ", ".join(f"{n} node{'s' * (n > 1)} of {size} slot{'s' * (size != 1)}" for size, n in by_size)


def _why(slots: int, node_sizes: Collection[int], single_node: bool, pool: str) -> str:
    total, largest = sum(node_sizes), max(node_sizes, default=0)
    if not total:
        return f"cannot be placed: pool '{pool}' has no slots"
    if single_node:
        return f"on a single node exceeds the largest node of pool '{pool}' ({largest} slots)"
    if slots > total:
        return f"exceeds pool '{pool}' ({total} slot{'s' * (total != 1)})"
    return (
        f"does not fit pool '{pool}' ({describe(node_sizes)}):"
        " a request fits on one node or fills whole nodes of equal size"
    )


def _advice(slots: int, nearest: int) -> str:
    if not nearest:
        return "add a node or pick another pool"
    verb = "lower" if nearest < slots else "raise"
    return f"{verb} it to {nearest} or pick another pool"
