"""Events for webhooks: found and queued in the transaction that causes them (background/webhooks.py sends them)."""

import logging
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection

from determined._json import JsonObject
from determined.config.sections import Integrations, WebhookChoice
from determined.master.db.queries import trial_access
from determined.master.db.queries import webhook as webhooks
from determined.master.db.queries import webhook_delivery as deliveries
from determined.master.db.queries import webhook_source as sources
from determined.master.db.queries.webhook import ArmedTrigger
from determined.master.db.queries.webhook_source import ExperimentSource, SilentTrial
from determined.master.db.rows.webhooks import WebhookDeliveryValues
from determined.master.lifecycle import webhook_queue_capacity, webhook_triggers
from determined.master.lifecycle.log_match_budget import SHARED_BUDGET
from determined.master.lifecycle.log_pattern import Batch, matching_lines
from determined.master.lifecycle.webhook_condition import Threshold
from determined.master.lifecycle.webhook_event import (
    CUSTOM,
    METRIC,
    STATE_CHANGE,
    TASK_LOG,
    AlertFacts,
    Event,
    ExperimentFacts,
    LogFacts,
    MetricFacts,
)
from determined.wire.codec import float_to_wire
from determined.wire.report import LogLine, MetricReport

logger = logging.getLogger(__name__)

TOPIC = "webhooks"
MAX_WAITING = 10_000  # deliveries of one webhook; more alerts are refused, other events are dropped
_MAX_LOG = 4000  # characters of a line in an event
_WORKSPACE, _SPECIFIC = "WORKSPACE", "SPECIFIC"
_PRINTED_CONFIG = '"log_policies":'
_SILENT_AT_ONCE = 100
_VARIANTS = {digit: "89ab"[int(digit, 16) % 4] for digit in "0123456789abcdef"}  # the two bits that each UUID has


@dataclass(frozen=True, slots=True)
class Silence:
    """Trigger that waits for trials that report nothing for so long."""

    seconds: float
    id: int


@dataclass(frozen=True, slots=True)
class FullQueue:
    """A webhook that takes no more events, and how many alerts were dropped for it."""

    webhook_id: int
    dropped: int

    def __str__(self) -> str:
        return (
            f"{MAX_WAITING} deliveries wait for webhook {self.webhook_id};"
            f" see: det webhook deliveries {self.webhook_id}"
        )


def state_changed(
    conn: Connection, now: datetime, experiment_id: int, state: str, unmanaged_trial_id: int | None = None
) -> None:
    """Queue events of an experiment that has just got this state.

    `unmanaged_trial_id`: the trial by which it changed. One whose signs of life come and go would else be told of each
    time: a trigger fires once for it until it reports metrics or is started anew (`run_continued`).
    """
    triggers = webhook_triggers.current(conn)
    source = sources.experiment(conn, experiment_id) if triggers.any_of(lambda some: state in some.by_state) else None
    if source is None:
        return
    trigger_ids = [i for some in triggers.of(source.workspace_id) for i in some.by_state.get(state, ())]
    if unmanaged_trial_id is not None:
        trigger_ids = webhooks.unfired(conn, trigger_ids, trial_id=unmanaged_trial_id)
    chosen = _choose(webhooks.armed(conn, trigger_ids, source.workspace_id), _choice(source.config))
    if unmanaged_trial_id is not None:
        for trigger in chosen:
            webhooks.fire_once(conn, trigger.trigger_id, trial_id=unmanaged_trial_id)
    event = Event(STATE_CHANGE, {"state": state}, experiment=_facts(source))
    _queue(conn, now, ((trigger, event) for trigger in {trigger.id: trigger for trigger in chosen}.values()))


def logs_written(conn: Connection, now: datetime, task_id: str, node: str, lines: Sequence[LogLine]) -> None:
    """Search new lines of a task and queue one event for each trigger that matches for the first time."""
    triggers = webhook_triggers.current(conn)
    if not triggers.any_of(lambda some: some.logs):
        return
    workspace_id = sources.workspace_of_task(conn, task_id)
    log_triggers = [trigger for some in triggers.of(workspace_id) for trigger in some.logs]
    if not log_triggers:
        return
    texts = [line.text for line in lines if line.source == "task" and _PRINTED_CONFIG not in line.text]
    batch = Batch.of(texts)
    matching = SHARED_BUDGET.begin(f"webhooks of workspace {workspace_id}", batch.size)
    for trigger in log_triggers:
        hits = matching_lines(trigger.pattern, batch, matching)
        if hits:
            _log_matched(conn, now, trigger.trigger_ids, LogFacts(task_id, node, texts[hits[0]][:_MAX_LOG]))


def metrics_reported(
    conn: Connection, now: datetime, trial_id: int, reports: Sequence[MetricReport], *, is_unmanaged: bool
) -> None:
    """Queue events of thresholds that these reports meet, once for each trial and trigger."""
    triggers = webhook_triggers.current(conn)
    if reports and is_unmanaged:
        run_continued(conn, trial_id)
    if reports and triggers.any_of(lambda some: some.silences):
        sources.set_report_times(conn, now, [trial_id])
    if not reports or not triggers.any_of(lambda some: some.thresholds):
        return
    places = triggers.of(sources.workspace_of_trial(conn, trial_id))
    for threshold, trigger_id in (pair for some in places for pair in some.thresholds):
        met = _first_met(threshold, reports)
        if met is not None:
            value = float_to_wire(float(met.metrics[threshold.metric]))
            facts = MetricFacts(trial_id, met.group, threshold.metric, value, met.steps)
            _trial_event(conn, now, trigger_id, facts)


def run_started(conn: Connection, now: datetime, trial_id: int) -> None:
    """Count the silence of an unmanaged trial from now on; that of a managed one begins with its allocation."""
    sources.set_report_times(conn, now, [trial_id])


def run_continued(conn: Connection, trial_id: int) -> None:
    """Let states of the experiment that an unmanaged trial has brought about before be told again."""
    if webhook_triggers.current(conn).any_of(lambda some: some.by_state):
        webhooks.forget_firings(conn, STATE_CHANGE, trial_id)


def silence_triggers(conn: Connection) -> list[Silence]:
    """List the triggers that wait for silent trials. Only the writer calls this; it asks the database for nothing."""
    places = webhook_triggers.current(conn).by_workspace.values()
    return [Silence(*pair) for some in places for pair in some.silences]


def met_silences(conn: Connection, now: datetime, triggers: Sequence[Silence]) -> list[Silence]:
    """Keep the triggers for which trials have fallen silent."""
    return [trigger for trigger in triggers if _silent_trials(conn, now, trigger, 1)]


def queue_silences(conn: Connection, now: datetime, triggers: Sequence[Silence]) -> bool:
    """Queue events of running trials that have reported nothing for as long as a trigger says; True when any."""
    queued = False
    for trigger in triggers:
        for trial in _silent_trials(conn, now, trigger, _SILENT_AT_ONCE):
            silent = int((now - trial.since).total_seconds())
            queued |= _trial_event(conn, now, trigger.id, MetricFacts(trial.trial_id, silent_seconds=silent))
    return queued


def _silent_trials(conn: Connection, now: datetime, trigger: Silence, limit: int) -> list[SilentTrial]:
    before = now - timedelta(seconds=trigger.seconds)
    armed = webhooks.armed_anywhere(conn, trigger.id)
    if armed is None or armed.created_at > before:  # it knows nothing of the time before it was there
        return []
    return sources.silent_trials(conn, trigger.id, armed.workspace_id, before, limit)


def alert(
    conn: Connection, now: datetime, experiment_id: int, trial_id: int | None, alerts: Sequence[AlertFacts]
) -> FullQueue | None:
    """Queue alerts of `core_context.alert()` for the webhooks that the experiment's config names.

    Return why the last of them are not queued: for none of the webhooks, so that each gets the same.
    """
    triggers = webhook_triggers.current(conn)
    source = sources.experiment(conn, experiment_id) if triggers.any_of(lambda some: some.custom) else None
    if source is None:
        return None
    trigger_ids = [i for some in triggers.of(source.workspace_id) for i in some.custom]
    choice = _choice(source.config)
    named = _choose(webhooks.armed(conn, trigger_ids, source.workspace_id), choice)
    once = {trigger.id: trigger for trigger in named if _is_named(trigger, choice)}
    if not once:
        return None
    free_places = webhook_queue_capacity.free_places(conn, dict.fromkeys(once, len(alerts)), MAX_WAITING)
    least = min(free_places, key=lambda webhook_id: free_places[webhook_id])
    accepted = alerts[: max(0, free_places[least])]
    state, facts = {"state": source.state}, _facts(source)
    events = [Event(CUSTOM, state, experiment=facts, trial_id=trial_id, alert=fact) for fact in accepted]
    _enqueue(conn, now, ((trigger.id, event) for event in events for trigger in once.values()))
    return FullQueue(least, len(alerts) - len(accepted)) if len(accepted) < len(alerts) else None


def _log_matched(conn: Connection, now: datetime, trigger_ids: Sequence[int], log: LogFacts) -> None:
    trigger_ids = webhooks.unfired(conn, trigger_ids, task_id=log.task_id)
    task = sources.task(conn, log.task_id) if trigger_ids else None
    if task is None:
        return
    source = None if task.experiment_id is None else sources.experiment(conn, task.experiment_id)
    workspace_id = task.workspace_id if source is None else source.workspace_id
    choice = None if source is None else _choice(source.config)
    experiment = None if source is None else _facts(source)
    for trigger in _choose(webhooks.armed(conn, trigger_ids, workspace_id), choice):
        if webhooks.fire_once(conn, trigger.trigger_id, task_id=log.task_id):
            event = Event(TASK_LOG, trigger.condition, experiment=experiment, trial_id=task.trial_id, task_log=log)
            _queue(conn, now, [(trigger, event)])


def _trial_event(conn: Connection, now: datetime, trigger_id: int, facts: MetricFacts) -> bool:
    """Queue the event of a trial once; True when it is queued.

    A trial whose config does not choose the webhook is noted as well: else each report, and each look for silent
    trials, would find it again, and 100 of them would hide all others.
    """
    if not webhooks.unfired(conn, [trigger_id], trial_id=facts.trial_id):
        return False
    experiment_id = trial_access.experiment_of_trial(conn, facts.trial_id)
    source = None if experiment_id is None else sources.experiment(conn, experiment_id)
    armed = [] if source is None else webhooks.armed(conn, [trigger_id], source.workspace_id)
    if source is None or not armed or not webhooks.fire_once(conn, trigger_id, trial_id=facts.trial_id):
        return False
    chosen = _choose(armed, _choice(source.config))
    experiment = _facts(source)
    events = [Event(METRIC, t.condition, experiment=experiment, trial_id=facts.trial_id, metric=facts) for t in chosen]
    _queue(conn, now, zip(chosen, events, strict=True))
    return bool(chosen)


def _first_met(threshold: Threshold, reports: Sequence[MetricReport]) -> MetricReport | None:
    for report in reports:
        if report.group == threshold.group and threshold.is_met(report.metrics.get(threshold.metric)):
            return report
    return None


def _choose(triggers: Iterable[ArmedTrigger], choice: WebhookChoice | None) -> list[ArmedTrigger]:
    """Keep the webhooks that an experiment wants; `choice` None: it says nothing, or it is no experiment."""
    if choice is not None and choice.exclude:
        return []
    return [trigger for trigger in triggers if trigger.mode == _WORKSPACE or _is_named(trigger, choice)]


def _is_named(trigger: ArmedTrigger, choice: WebhookChoice | None) -> bool:
    if choice is None:
        return False
    return trigger.id in choice.webhook_id or bool(trigger.name and trigger.name in choice.webhook_name)


def _choice(config: JsonObject) -> WebhookChoice | None:
    integrations = config.get("integrations")
    return Integrations.load(integrations).webhooks if isinstance(integrations, dict) else None


def _facts(source: ExperimentSource) -> ExperimentFacts:
    resources = source.config.get("resources") or {}
    duration = 0 if source.end_time is None else int((source.end_time - source.start_time).total_seconds())
    return ExperimentFacts(
        id=source.id,
        state=source.state,
        name=source.name,
        duration=max(0, duration),
        resource_pool=str(resources.get("resource_pool") or ""),
        slots_per_trial=int(resources.get("slots_per_trial") or 0),
        workspace=source.workspace,
        workspace_id=source.workspace_id,
        project=source.project,
        project_id=source.project_id,
    )


def _queue(conn: Connection, now: datetime, events: Iterable[tuple[ArmedTrigger, Event]]) -> None:
    """Queue one event for each of some webhooks, but for those whose queue is full."""
    chosen = {trigger.id: event for trigger, event in events}
    free_places = webhook_queue_capacity.free_places(conn, dict.fromkeys(chosen, 1), MAX_WAITING)
    for webhook_id in (webhook_id for webhook_id, free in free_places.items() if free <= 0):
        logger.warning("webhook %s: %s deliveries wait; its new events are dropped", webhook_id, MAX_WAITING)
    _enqueue(conn, now, ((webhook_id, event) for webhook_id, event in chosen.items() if free_places[webhook_id] > 0))


def _enqueue(conn: Connection, now: datetime, events: Iterable[tuple[int, Event]]) -> None:
    """Queue events by webhook; many webhooks may get the same one, which is then written down once."""
    rows: list[WebhookDeliveryValues] = []
    last: Event | None = None
    facts: JsonObject = {}
    pairs = list(events)
    for (webhook_id, event), event_id in zip(pairs, _event_ids(len(pairs)), strict=True):
        if event is not last:
            last, facts = event, event.to_row()
        rows.append({"webhook_id": webhook_id, "event_id": event_id, "event_type": event.type, "event": facts})
    deliveries.enqueue(conn, now, rows)
    webhook_queue_capacity.use(conn, [webhook_id for webhook_id, _ in pairs])


def _event_ids(count: int) -> Iterator[str]:
    """Return random UUIDs of version 4; uuid.uuid4 takes four times as long for each."""
    digits = os.urandom(16 * count).hex()
    for start in range(0, len(digits), 32):
        d = digits[start : start + 32]
        yield f"{d[:8]}-{d[8:12]}-4{d[13:16]}-{_VARIANTS[d[16]]}{d[17:20]}-{d[20:]}"
