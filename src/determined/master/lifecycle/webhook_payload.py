"""Bodies of webhook requests, of type DEFAULT and SLACK: the bytes that receivers of upstream's webhooks expect. Pure.

The same event gives the same bytes in every attempt; `event_id` and `timestamp` are those of the event.
"""

from dataclasses import dataclass

import msgspec

from determined._json import JsonObject
from determined.master.lifecycle.webhook_event import Event, ExperimentFacts

DEFAULT, SLACK = "DEFAULT", "SLACK"

_SPECIAL = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_MAX_FIELD, _MAX_LOG, _MAX_REGEX = 1900, 1500, 500  # characters; Slack takes 2000 in a field and 3000 in a section
_GREEN, _RED, _BLUE = "#13B670", "#DD5040", "#009bde"
_SENTENCES = {
    "COMPLETED": "Your experiment completed successfully 🎉",
    "ERROR": "Your experiment has stopped with errors",
}
_STATUSES = {"COMPLETED": "Completed", "ERROR": "Errored"}
_COLORS = {"COMPLETED": _GREEN, "ERROR": _RED}
_MARKS = {"COMPLETED": "✅ ", "ERROR": "❌ "}


@dataclass(frozen=True, slots=True)
class Envelope:
    """Identity and time of an event. `base_url`: address of the web page, for links; "" for none."""

    event_id: str
    timestamp: int
    base_url: str = ""


def payload(kind: str, event: Event, envelope: Envelope) -> bytes:
    """Return the body of a request to a webhook of type `kind`."""
    body = _slack(event, envelope.base_url) if kind == SLACK else _default(event, envelope)
    return msgspec.json.encode(body)


def _default(event: Event, envelope: Envelope) -> JsonObject:
    return {
        "event_id": envelope.event_id,
        "event_type": event.type,
        "timestamp": envelope.timestamp,
        "condition": event.condition,
        "event_data": _event_data(event),
    }


def _event_data(event: Event) -> JsonObject:
    if event.is_test:
        return {"data": "test"}
    if event.task_log is not None:
        return {"task_log": msgspec.to_builtins(event.task_log)}
    data: JsonObject = {}
    if event.experiment is not None:
        data["experiment"] = _experiment_data(event.experiment, event.trial_id)
    if event.metric is not None:
        facts = msgspec.to_builtins(event.metric)
        data["metric"] = {name: value for name, value in facts.items() if value is not None}
    if event.alert is not None:
        data["custom_data"] = msgspec.to_builtins(event.alert)
    return data


def _experiment_data(experiment: ExperimentFacts, trial_id: int | None) -> JsonObject:
    data: JsonObject = {
        "id": experiment.id,
        "state": experiment.state,
        "name": experiment.name,
        "duration": experiment.duration,
        "resource_pool": experiment.resource_pool,
        "slots_per_trial": experiment.slots_per_trial,
        "workspace": experiment.workspace,
        "project": experiment.project,
    }
    return {**data, "trial_id": trial_id} if trial_id else data


def _slack(event: Event, base_url: str) -> JsonObject:
    if event.is_test:
        return {"blocks": [{"type": "section", "text": _plain_text("test")}]}
    if event.task_log is not None:
        return {"blocks": [{"type": "section", "text": _markdown(_log_text(event, base_url))}]}
    if event.experiment is None:
        return {"blocks": []}
    first: JsonObject = {"type": "section", "text": _plain_text(_sentence(event, event.experiment))}
    fields = _details(event)
    if fields:
        first["fields"] = [_markdown(text) for text in fields]
    state = event.experiment.state
    attachment = {
        "color": _COLORS.get(state, _BLUE),
        "blocks": [_experiment_block(event.experiment, event.trial_id, base_url)],
    }
    return {"blocks": [first], "attachments": [attachment]}


def _sentence(event: Event, experiment: ExperimentFacts) -> str:
    metric = event.metric
    if metric is None:
        return _SENTENCES.get(experiment.state, f"The status of your experiment is {experiment.state}")
    if metric.silent_seconds is not None:
        return f"Trial {metric.trial_id} of your experiment has reported no metrics for {metric.silent_seconds} s"
    return f"Trial {metric.trial_id} of your experiment has reported {metric.name} = {metric.value}"


def _details(event: Event) -> list[str]:
    if event.alert is not None:
        alert = event.alert
        texts = [("Level", alert.level), ("Title", alert.title), ("Description", alert.description)]
        return [f"*{name}*: {_escaped(text, _MAX_FIELD)}" for name, text in texts]
    metric = event.metric
    if metric is None or metric.name is None:
        return []
    wanted = f"{metric.name} {event.condition.get('operator')} {event.condition.get('value')}"
    texts = [("Condition", wanted), ("Group", metric.group or ""), ("Steps", str(metric.steps_completed))]
    return [f"*{name}*: {_escaped(text, _MAX_FIELD)}" for name, text in texts]


def _experiment_block(experiment: ExperimentFacts, trial_id: int | None, base_url: str) -> JsonObject:
    title = _link(base_url, f"det/experiments/{experiment.id}/overview", f"{experiment.name} (#{experiment.id})")
    minutes = experiment.duration // 60
    workspace = _link(base_url, f"det/workspaces/{experiment.workspace_id}/projects", experiment.workspace)
    project = _link(base_url, f"det/projects/{experiment.project_id}", experiment.project)
    fields = [
        f"*Status*: {_STATUSES.get(experiment.state, experiment.state)}",
        f"*Duration*: {minutes // 60}h {minutes % 60}min",
        f"*Workspace*: {workspace}",
        f"*Project*: {project}",
        *([f"*Trial ID*: {trial_id}"] if trial_id else []),
    ]
    return {
        "type": "section",
        "text": _markdown(_MARKS.get(experiment.state, "") + title),
        "fields": [_markdown(text) for text in fields],
    }


def _log_text(event: Event, base_url: str) -> str:
    log = event.task_log
    assert log is not None
    if event.experiment is not None:
        who = f"Experiment ID: `{event.experiment.id}`, Trial ID: `{event.trial_id}`"
        path = f"det/experiments/{event.experiment.id}/trials/{event.trial_id}/logs"
    else:
        who, path = f"Task ID: `{_escaped(log.task_id)}`", f"det/tasks/{log.task_id}/logs"
    where = f"<{base_url.rstrip('/')}/{path} | Read the log>" if base_url else f"Read the log at {path}"
    return (
        f"{who}, on node `{_escaped(log.node_name)}`, has written\n"
        f"```{_block(log.triggering_log, _MAX_LOG)}```\n"
        "This log matched the regex\n"
        f"```{_block(str(event.condition.get('regex', '')), _MAX_REGEX)}```\n"
        f"{where}"
    )


def _link(base_url: str, path: str, text: str) -> str:
    return f"<{base_url.rstrip('/')}/{path} | {_escaped(text)}>" if base_url else _escaped(text)


def _plain_text(text: str) -> JsonObject:
    return {"type": "plain_text", "text": text}


def _markdown(text: str) -> JsonObject:
    return {"type": "mrkdwn", "text": text}


def _block(text: str, longest: int) -> str:
    """Return a text for between three backquotes, which it must not end."""
    return _escaped(text.replace("```", "'''"), longest)


def _escaped(text: str, longest: int = 500) -> str:
    """Write the three characters that mean something to Slack: a name such as `<!channel>` would call everybody.

    `longest`: characters of the result. Slack refuses a message of which one text is too long, as a whole.
    """
    written = [_SPECIAL.get(char, char) for char in text[:longest]]
    if len(text) <= longest and sum(map(len, written)) <= longest:
        return "".join(written)
    left = longest - 1
    for n, char in enumerate(written):
        left -= len(char)
        if left < 0:
            return "".join(written[:n]) + "…"
    return "".join(written) + "…"
