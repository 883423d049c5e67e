"""Studies and trials as a storage of Optuna has them."""

from dataclasses import dataclass, field
from datetime import UTC, datetime

from determined._json import JsonObject


@dataclass(slots=True)
class StoredTrial:
    """Trial of a study. `params`: the internal number and the distribution (JSON) of each parameter."""

    id: int
    number: int
    state: str  # RUNNING, WAITING, COMPLETE, PRUNED or FAIL
    started_at: datetime | None = None
    ended_at: datetime | None = None
    params: dict[str, tuple[float, str]] = field(default_factory=dict)
    values: list[float] = field(default_factory=list)
    intermediate_values: dict[int, float] = field(default_factory=dict)
    user_attrs: JsonObject = field(default_factory=dict)
    system_attrs: JsonObject = field(default_factory=dict)


@dataclass(slots=True)
class StoredStudy:
    """Study with its trials in the order of their numbers. `damage` names what could not be read."""

    id: int
    name: str
    directions: list[str]  # MINIMIZE, MAXIMIZE or NOT_SET, one for each objective
    trials: list[StoredTrial] = field(default_factory=list)
    user_attrs: JsonObject = field(default_factory=dict)
    damage: list[str] = field(default_factory=list)


def utc(moment: object) -> datetime | None:
    """Return a moment with its zone; None for what is none. Optuna writes UTC without one, before 5.0 local time."""
    try:
        aware = datetime.fromisoformat(moment) if isinstance(moment, str) else moment
        if not isinstance(aware, datetime):
            return None
        return aware.replace(tzinfo=UTC) if aware.tzinfo is None else aware.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
