"""Plain data that a scheduler gets and returns."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from determined.config.resources import DEFAULT_PRIORITY

Placement = tuple[tuple[str, int], ...]  # (node id, slots there); slots is 0 for a zero-slot request


class FittingPolicy(StrEnum):
    BEST = "best"  # fill nodes up
    WORST = "worst"  # spread over nodes


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of one pool's scheduler. `pool` is only for the sentences people read."""

    pool: str = "default"
    preemption: bool = False
    fitting: FittingPolicy = FittingPolicy.BEST
    allow_heterogeneous: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Allocation that wants slots (placement None) or holds them.

    `leaving`: it holds slots but was told to end, so its slots will be free soon and it is not preempted.
    """

    allocation_id: str
    job_id: str
    slots: int
    preemptible: bool
    single_node: bool = False
    priority: int = DEFAULT_PRIORITY
    weight: float = 1.0
    max_slots: int | None = None
    position: float = 0.0
    job_submitted: datetime
    requested_at: datetime
    excluded_nodes: frozenset[str] = frozenset()
    placement: Placement | None = None
    leaving: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeView:
    """Node as the pool's scheduler may use it. Disabled: nothing. Draining: what runs stays, nothing is free."""

    id: str
    total_slots: int
    free_slots: int
    max_aux: int = 100
    used_aux: int = 0
    enabled: bool = True
    draining: bool = False


@dataclass(frozen=True, slots=True)
class Decision:
    """Decision of a scheduler.

    `reasons`: for each request that stays queued, a sentence that says what it waits for.
    """

    start: list[tuple[str, list[tuple[str, int]]]] = field(default_factory=list)
    preempt: list[str] = field(default_factory=list)
    reasons: dict[str, str] = field(default_factory=dict)
