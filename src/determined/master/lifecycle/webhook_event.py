"""Facts of one event for webhooks, as the queue stores them. Data only; webhook_payload.py writes the body."""

import msgspec

from determined._json import JsonObject

STATE_CHANGE = "EXPERIMENT_STATE_CHANGE"
METRIC = "METRIC_THRESHOLD_EXCEEDED"
TASK_LOG = "TASK_LOG"
CUSTOM = "CUSTOM"


class ExperimentFacts(msgspec.Struct, frozen=True):
    """An experiment at the time of the event; `duration` in seconds, 0 while it runs."""

    id: int
    state: str
    name: str
    duration: int
    resource_pool: str
    slots_per_trial: int
    workspace: str
    workspace_id: int
    project: str
    project_id: int


class LogFacts(msgspec.Struct, frozen=True):
    task_id: str
    node_name: str
    triggering_log: str


class AlertFacts(msgspec.Struct, frozen=True):
    title: str
    description: str
    level: str  # DEBUG, INFO, WARNING, ERROR


class MetricFacts(msgspec.Struct, frozen=True):
    """The value that met a threshold, or the silence of `no_report_for`."""

    trial_id: int
    group: str | None = None
    name: str | None = None
    value: float | str | None = None
    steps_completed: int | None = None
    silent_seconds: int | None = None


class Event(msgspec.Struct, frozen=True, omit_defaults=True):
    """`condition`: that of the trigger, as it was fulfilled. `trial_id`: where the event is one trial's."""

    type: str
    condition: JsonObject
    experiment: ExperimentFacts | None = None
    trial_id: int | None = None
    task_log: LogFacts | None = None
    alert: AlertFacts | None = None
    metric: MetricFacts | None = None
    is_test: bool = False

    def to_row(self) -> JsonObject:
        row: JsonObject = msgspec.to_builtins(self)
        return row

    @classmethod
    def from_row(cls, row: JsonObject) -> "Event":
        return msgspec.convert(row, cls)
