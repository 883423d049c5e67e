"""The mean of arrays over all ranks, by core's links between them: for frameworks without an exchange of their own."""

from collections.abc import Sequence
from typing import Any

from determined import core

Array = Any  # numpy's, which this package does not import


def mean_over_ranks(
    distributed: core.DistributedContext, arrays: Sequence[Array], *, compress: bool = False
) -> list[Array]:
    """The mean of each array over all ranks, everywhere, in the array's own type, on all ranks together.

    The chief adds up what all ranks send it, in the order of ranks, so that a run can be repeated exactly.

    Args:
        distributed: the ranks.
        arrays: numpy's; as many, and in the same order, on every rank.
        compress: whether single precision travels to the chief as half precision.
    """
    everybody = distributed.gather([_packed(array) if compress else array for array in arrays])
    means = None if everybody is None else [_mean(parts) for parts in zip(*everybody, strict=True)]
    return [mean.astype(array.dtype) for mean, array in zip(distributed.broadcast(means), arrays, strict=True)]


def _packed(array: Array) -> Array:
    return array.astype("float16") if array.dtype == "float32" else array


def _mean(parts: Sequence[Array]) -> Array:
    return sum(map(_wide, parts)) / len(parts)


def _wide(part: Array) -> Array:
    """Sums of half precision would lose digits, or overflow."""
    return part.astype("float32") if part.dtype.itemsize < 4 else part
