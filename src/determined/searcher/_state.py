"""State of a search that the runner keeps, besides the state of the search method itself."""

from enum import Enum
from typing import Any
from uuid import UUID

from determined.wire.custom_search import ExitedReason as WireReason


class ExitedReason(Enum):
    """Reason why a trial ended before its last operation was complete."""

    ERRORED = "ERRORED"
    USER_CANCELED = "USER_CANCELED"
    INVALID_HP = "INVALID_HP"

    @classmethod
    def _from_wire(cls, reason: WireReason) -> "ExitedReason":
        if reason is WireReason.INVALID_HP:
            return cls.INVALID_HP
        return cls.ERRORED if reason is WireReason.UNSPECIFIED else cls.USER_CANCELED


class SearcherState:
    """Kept up to date by the runner, which passes it to every callback of the search method.

    Attributes:
        failures: trials that failed.
        trials_created, trials_closed: trials the master has made, and those that have ended.
        trial_progress: by trial, the units it has trained so far; trials with invalid hyperparameters are left out.
        last_event_id: the newest event whose operations are saved.
        experiment_id: the experiment; 0 before the first event.
        experiment_completed, experiment_failed: how it ended.
    """

    def __init__(self) -> None:
        self.failures: set[UUID] = set()
        self.trials_created: set[UUID] = set()
        self.trials_closed: set[UUID] = set()
        self.trial_progress: dict[UUID, float] = {}
        self.last_event_id = 0
        self.experiment_id = 0
        self.experiment_completed = False
        self.experiment_failed = False

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready, with camelCase keys."""
        return {
            "failures": sorted(map(str, self.failures)),
            "trialsCreated": sorted(map(str, self.trials_created)),
            "trialsClosed": sorted(map(str, self.trials_closed)),
            "trialProgress": {str(request_id): units for request_id, units in self.trial_progress.items()},
            "lastEventId": self.last_event_id,
            "experimentId": self.experiment_id,
            "experimentCompleted": self.experiment_completed,
            "experimentFailed": self.experiment_failed,
        }

    def from_dict(self, d: dict[str, Any]) -> None:
        """Become what `to_dict` was called on."""
        self.failures = set(map(UUID, d["failures"]))
        self.trials_created = set(map(UUID, d["trialsCreated"]))
        self.trials_closed = set(map(UUID, d["trialsClosed"]))
        self.trial_progress = {UUID(request_id): float(units) for request_id, units in d["trialProgress"].items()}
        self.last_event_id = int(d["lastEventId"])
        self.experiment_id = int(d["experimentId"])
        self.experiment_completed = bool(d["experimentCompleted"])
        self.experiment_failed = bool(d["experimentFailed"])
