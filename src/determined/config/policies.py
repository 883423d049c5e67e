"""Config policies: limits an administrator sets on what may be asked for."""

from dataclasses import dataclass
from typing import Any

from determined.config.layers import checked
from determined.config.node import Integer
from determined.config.objects import Field, Object
from determined.config.resources import PRIORITY_RANGE
from determined.errors import FailedPrecondition, InvalidArgument


@dataclass(frozen=True, slots=True)
class Constraints:
    """None is no limit. `priority_limit` is the best (smallest) priority anybody may ask for."""

    max_slots: int | None = None
    priority_limit: int | None = None


def parse_constraints(workspace: dict[str, Any] | None, cluster: dict[str, Any] | None) -> Constraints:
    """The workspace's limits, overwritten by the cluster's."""
    merged = CONSTRAINTS.merge(CONSTRAINTS.strip(cluster or {}), CONSTRAINTS.strip(workspace or {}))
    filled = checked(CONSTRAINTS, merged, "invalid constraints")
    return Constraints(filled["resources"]["max_slots"], filled["priority_limit"])


def check_constraints(limits: Constraints, *, slots: int, max_slots: int | None, priority: int | None) -> None:
    """Refuse what exceeds the limits.

    Raises:
        InvalidArgument: naming the value and the limit.
    """
    if limits.max_slots is not None:
        for what, asked in (("slots", slots), ("max_slots", max_slots)):
            if asked is not None and asked > limits.max_slots:
                raise InvalidArgument(
                    f"requested resources.{what} [{asked}] exceeds limit set by admin [{limits.max_slots}]"
                )
    if limits.priority_limit is not None and priority is not None and priority < limits.priority_limit:
        raise InvalidArgument(f"requested priority [{priority}] exceeds limit set by admin [{limits.priority_limit}]")


def check_not_pinned(invariants: list[dict[str, Any]], path: str, value: Any) -> None:
    """Refuse a later change of a value that a policy fixes; the last invariant wins.

    Raises:
        FailedPrecondition: naming the fixed value.
    """
    for invariant in reversed(invariants):
        pinned: Any = invariant
        for key in path.split("."):
            pinned = pinned.get(key) if isinstance(pinned, dict) else None
        if pinned is None:
            continue
        if pinned != value:
            raise FailedPrecondition(f"{path}={pinned} is enforced as an invariant config policy; ask an administrator")
        return


CONSTRAINTS = Object(
    {
        "resources": Field(Object({"max_slots": Field(Integer(low=0), default=None)}), default={}),
        "priority_limit": Field(Integer(*PRIORITY_RANGE), default=None),
    }
)
