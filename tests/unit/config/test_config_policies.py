"""Limits and invariants that administrators set."""

import pytest

from determined.config.policies import (
    Constraints,
    ResourceLimits,
    check_constraints,
    check_not_pinned,
    parse_constraints,
)
from determined.errors import FailedPrecondition, InvalidArgument, InvalidConfig

LIMITS = Constraints(resources=ResourceLimits(max_slots=4), priority_limit=10)


def test_the_clusters_limits_overwrite_the_workspaces() -> None:
    limits = parse_constraints({"resources": {"max_slots": 4}, "priority_limit": 10}, {"resources": {"max_slots": 8}})
    assert limits == Constraints(resources=ResourceLimits(max_slots=8), priority_limit=10)
    assert parse_constraints(None, None) == Constraints()
    with pytest.raises(InvalidConfig, match="did you mean `priority_limit`"):
        parse_constraints({"priority_limt": 1}, None)


def test_requests_within_limits_pass() -> None:
    check_constraints(LIMITS, slots=4, max_slots=None, priority=10)
    check_constraints(Constraints(), slots=400, max_slots=400, priority=1)


@pytest.mark.parametrize(
    ("slots", "max_slots", "priority", "message"),
    [
        (5, None, 50, r"resources.slots \[5\] exceeds limit set by admin \[4\]"),
        (1, 5, 50, r"resources.max_slots \[5\] exceeds limit set by admin \[4\]"),
        (1, None, 9, r"requested priority \[9\] exceeds limit"),
    ],
)
def test_requests_beyond_limits_are_refused(slots: int, max_slots: int | None, priority: int, message: str) -> None:
    with pytest.raises(InvalidArgument, match=message):
        check_constraints(LIMITS, slots=slots, max_slots=max_slots, priority=priority)


def test_a_pinned_value_cannot_be_changed_later() -> None:
    invariants = [{"resources": {"priority": 5, "weight": 2}}, {"resources": {"priority": 6}}]
    check_not_pinned(invariants, "resources.priority", 6)
    check_not_pinned(invariants, "resources.max_slots", 3)
    with pytest.raises(FailedPrecondition, match=r"resources.priority=6 is enforced as an invariant config policy"):
        check_not_pinned(invariants, "resources.priority", 5)
    with pytest.raises(FailedPrecondition, match="weight=2"):
        check_not_pinned(invariants, "resources.weight", 1)
