"""Bodies of webhooks, to the byte: receivers written for upstream parse and compare them."""

import json
from typing import Any

import msgspec
import pytest

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
from determined.master.lifecycle.webhook_payload import DEFAULT, SLACK, Envelope, payload

EXPERIMENT = ExperimentFacts(
    id=7, state="COMPLETED", name="mnist", duration=3725, resource_pool="gpu", slots_per_trial=2,
    workspace="Lab", workspace_id=3, project="Vision", project_id=9,
)  # fmt: skip
ENVELOPE = Envelope("e-1", 1_700_000_000)
LINKED = Envelope("e-1", 1_700_000_000, "https://det.example/")


def of_state(state: str) -> Event:
    facts = msgspec.structs.replace(EXPERIMENT, state=state)
    return Event(STATE_CHANGE, {"state": state}, experiment=facts)


def slack(event: Event, envelope: Envelope = ENVELOPE) -> Any:
    return json.loads(payload(SLACK, event, envelope))


def test_a_state_change_has_these_bytes() -> None:
    assert payload(DEFAULT, of_state("COMPLETED"), ENVELOPE) == (
        b'{"event_id":"e-1","event_type":"EXPERIMENT_STATE_CHANGE","timestamp":1700000000,'
        b'"condition":{"state":"COMPLETED"},"event_data":{"experiment":{"id":7,"state":"COMPLETED","name":"mnist",'
        b'"duration":3725,"resource_pool":"gpu","slots_per_trial":2,"workspace":"Lab","project":"Vision"}}}'
    )


def test_a_log_line_has_these_bytes() -> None:
    event = Event(TASK_LOG, {"regex": "oo+m"}, trial_id=4, task_log=LogFacts("7.abc", "node-1", "it went ooom"))
    assert payload(DEFAULT, event, ENVELOPE) == (
        b'{"event_id":"e-1","event_type":"TASK_LOG","timestamp":1700000000,"condition":{"regex":"oo+m"},'
        b'"event_data":{"task_log":{"task_id":"7.abc","node_name":"node-1","triggering_log":"it went ooom"}}}'
    )


def test_an_alert_carries_the_experiment_its_trial_and_what_was_said() -> None:
    alert = AlertFacts("loss is NaN", "batch 7", "DEBUG")
    event = Event(CUSTOM, {"state": "ACTIVE"}, experiment=EXPERIMENT, trial_id=11, alert=alert)
    body = json.loads(payload(DEFAULT, event, ENVELOPE))
    assert list(body["event_data"]) == ["experiment", "custom_data"]
    assert (
        list(body["event_data"]["experiment"])[-1] == "trial_id" and body["event_data"]["experiment"]["trial_id"] == 11
    )
    assert body["event_data"]["custom_data"] == {"title": "loss is NaN", "description": "batch 7", "level": "DEBUG"}
    assert body["condition"] == {"state": "ACTIVE"}
    first = slack(event)["blocks"][0]
    assert [one["text"] for one in first["fields"]] == [
        "*Level*: DEBUG", "*Title*: loss is NaN", "*Description*: batch 7",
    ]  # fmt: skip
    assert slack(event)["attachments"][0]["blocks"][0]["fields"][-1]["text"] == "*Trial ID*: 11"


def test_a_metric_says_which_value_met_which_condition() -> None:
    condition = {"metric": "loss", "group": "validation", "operator": "<", "value": 0.1}
    facts = MetricFacts(11, "validation", "loss", 0.05, 100)
    event = Event(METRIC, condition, experiment=EXPERIMENT, trial_id=11, metric=facts)
    body = json.loads(payload(DEFAULT, event, ENVELOPE))
    assert body["condition"] == condition
    assert body["event_data"]["metric"] == {
        "trial_id": 11, "group": "validation", "name": "loss", "value": 0.05, "steps_completed": 100,
    }  # fmt: skip
    first = slack(event)["blocks"][0]
    assert first["text"]["text"] == "Trial 11 of your experiment has reported loss = 0.05"
    assert first["fields"][0]["text"] == "*Condition*: loss &lt; 0.1"


@pytest.mark.parametrize(
    ("state", "sentence", "color", "mark", "status"),
    [
        ("COMPLETED", "Your experiment completed successfully 🎉", "#13B670", "✅ ", "Completed"),
        ("ERROR", "Your experiment has stopped with errors", "#DD5040", "❌ ", "Errored"),
        ("CANCELED", "The status of your experiment is CANCELED", "#009bde", "", "CANCELED"),
    ],
)
def test_slack_is_told_a_state(state: str, sentence: str, color: str, mark: str, status: str) -> None:
    body = slack(of_state(state))
    assert body["blocks"] == [{"type": "section", "text": {"type": "plain_text", "text": sentence}}]
    (attachment,) = body["attachments"]
    (block,) = attachment["blocks"]
    assert (attachment["color"], block["text"]) == (color, {"type": "mrkdwn", "text": f"{mark}mnist (#7)"})
    assert [field["text"] for field in block["fields"]] == [
        f"*Status*: {status}", "*Duration*: 1h 2min", "*Workspace*: Lab", "*Project*: Vision",
    ]  # fmt: skip


def test_slack_gets_links_where_the_address_of_the_page_is_known() -> None:
    block = slack(of_state("COMPLETED"), LINKED)["attachments"][0]["blocks"][0]
    assert block["text"]["text"] == "✅ <https://det.example/det/experiments/7/overview | mnist (#7)>"
    assert block["fields"][2]["text"] == "*Workspace*: <https://det.example/det/workspaces/3/projects | Lab>"
    assert block["fields"][3]["text"] == "*Project*: <https://det.example/det/projects/9 | Vision>"


def test_slack_is_told_of_a_log_line_with_where_to_read_on() -> None:
    log = LogFacts("7.abc", "node-1", "a <!channel> & b")
    event = Event(TASK_LOG, {"regex": "a.*"}, experiment=EXPERIMENT, trial_id=4, task_log=log)
    text = slack(event, LINKED)["blocks"][0]["text"]["text"]
    for part in ("`7`", "`4`", "`node-1`", "a &lt;!channel&gt; &amp; b", "This log matched the regex", "a.*"):
        assert part in text, part
    assert "https://det.example/det/experiments/7/trials/4/logs" in text
    task = Event(TASK_LOG, {"regex": "a.*"}, task_log=log)
    assert "det/tasks/7.abc/logs" in slack(task)["blocks"][0]["text"]["text"]


def test_names_cannot_call_everybody_in_slack() -> None:
    facts = msgspec.structs.replace(EXPERIMENT, name="<!everyone>", workspace="<@U1>")
    text = payload(SLACK, Event(STATE_CHANGE, {"state": "ERROR"}, experiment=facts), ENVELOPE).decode()
    assert "<!" not in text and "<@" not in text and "&lt;!everyone&gt;" in text


def test_a_test_event_says_so() -> None:
    event = Event(STATE_CHANGE, {}, is_test=True)
    assert json.loads(payload(DEFAULT, event, ENVELOPE))["event_data"] == {"data": "test"}
    assert slack(event)["blocks"][0]["text"]["text"] == "test"


def test_an_event_comes_back_from_its_row_the_same() -> None:
    metric = MetricFacts(1, "g", "m", "NaN", 3)
    event = Event(METRIC, {"value": 1.0}, experiment=EXPERIMENT, trial_id=1, metric=metric)
    again = Event.from_row(json.loads(json.dumps(event.to_row())))
    assert again == event
    assert payload(DEFAULT, again, ENVELOPE) == payload(DEFAULT, event, ENVELOPE)


def texts_of(message: Any) -> list[str]:
    """Return all texts of a message for Slack, wherever they stand."""
    if isinstance(message, dict):
        own = [message["text"]] if isinstance(message.get("text"), str) else []
        return own + [text for value in message.values() for text in texts_of(value)]
    return [text for each in message for text in texts_of(each)] if isinstance(message, list) else []


def test_no_text_for_slack_is_longer_than_slack_takes() -> None:
    """Slack refuses the whole message else, and nobody would hear of the event."""
    long = "<&>" * 4000
    facts = msgspec.structs.replace(EXPERIMENT, name=long)
    events = [
        Event(TASK_LOG, {"regex": "<" * 1000}, trial_id=4, task_log=LogFacts("7.abc", "node", long[:4000])),
        Event(CUSTOM, {}, experiment=facts, trial_id=4, alert=AlertFacts(long[:1000], long[:10_000], "INFO")),
        Event(
            METRIC, {"operator": "<", "value": 1}, experiment=facts, metric=MetricFacts(4, "<" * 500, "<" * 500, 1.0, 3)
        ),
    ]
    for event in events:
        texts = texts_of(slack(event, LINKED))
        assert max(map(len, texts)) <= 3000
        assert not any(text.endswith(("&", "&l", "&lt", "&am")) for text in texts)
        assert any("…" in text for text in texts)
        fields = [field["text"] for part in slack(event, LINKED)["blocks"] for field in part.get("fields", [])]
        assert max(map(len, fields), default=0) <= 2000


def test_a_log_line_cannot_end_its_block() -> None:
    event = Event(TASK_LOG, {"regex": "x"}, task_log=LogFacts("7.abc", "node", "a ```*bold* <!here> b"))
    (text,) = texts_of(slack(event))
    assert text.count("```") == 4
    assert "&lt;!here&gt;" in text
