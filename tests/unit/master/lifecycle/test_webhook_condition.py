"""Conditions of triggers: accepted in one form, refused in words, met by numbers alone."""

import math
from typing import Any

import pytest

from determined.errors import InvalidArgument
from determined.master.lifecycle.webhook_condition import checked, silence_of, threshold_of
from determined.master.lifecycle.webhook_event import CUSTOM, METRIC, STATE_CHANGE, TASK_LOG


@pytest.mark.parametrize(
    ("kind", "given", "stored"),
    [
        (STATE_CHANGE, {"state": "COMPLETED"}, {"state": "COMPLETED"}),
        (STATE_CHANGE, {"state": "STATE_ERROR"}, {"state": "ERROR"}),
        (TASK_LOG, {"regex": "a.*b"}, {"regex": "a.*b"}),
        (CUSTOM, None, {}),
        (
            METRIC,
            {"metric": "loss", "operator": "<", "value": 1},
            {"metric": "loss", "group": "validation", "operator": "<", "value": 1.0},
        ),
        (METRIC, {"no_report_for": "30m"}, {"no_report_for": "30m"}),
    ],
)
def test_conditions_are_stored_in_one_form(kind: str, given: Any, stored: Any) -> None:
    assert checked(kind, given) == stored


@pytest.mark.parametrize(
    ("kind", "given", "words"),
    [
        (STATE_CHANGE, {}, "COMPLETED"),
        (STATE_CHANGE, {"state": "completed"}, "COMPLETED"),
        (STATE_CHANGE, {"state": 3}, "COMPLETED"),
        (TASK_LOG, {}, "regex"),
        (TASK_LOG, {"regex": ""}, "regex"),
        (TASK_LOG, {"regex": "a", "more": 1}, "exactly"),
        (TASK_LOG, {"regex": "("}, "invalid regex"),
        (TASK_LOG, {"regex": "(?=lookahead)"}, "RE2"),
        (TASK_LOG, {"regex": "a" * 1001}, "1000"),
        (TASK_LOG, {"regex": r"\pL{200}N"}, "fewer repetitions"),
        (CUSTOM, {"x": 1}, "leave it out"),
        (METRIC, {}, "no_report_for"),
        (METRIC, {"metric": "", "operator": "<", "value": 1}, "takes"),
        (METRIC, {"metric": "m", "operator": "=<", "value": 1}, "operator"),
        (METRIC, {"metric": "m", "operator": "<", "value": "1"}, "number"),
        (METRIC, {"metric": "m", "operator": "<", "value": True}, "number"),
        (METRIC, {"metric": "m", "operator": "<", "value": math.inf}, "finite"),
        (METRIC, {"metric": "m", "operator": "<", "value": math.nan}, "finite"),
        (METRIC, {"metric": "m", "operator": "<", "value": 10**400}, "finite"),
        (METRIC, {"metric": "m", "operator": "<", "value": 1, "group": 5}, "takes"),
        (METRIC, {"metric": "m", "operator": [], "value": 1}, "operator"),
        (METRIC, {"no_report_for": 30}, "30m"),
        (METRIC, {"no_report_for": "1s"}, "10s"),
        (METRIC, {"no_report_for": "soon"}, "duration"),
        (METRIC, {"no_report_for": "-30m"}, "10s"),
        ("UNSPECIFIED", {}, "unknown"),
    ],
)
def test_what_is_refused_names_what_to_write(kind: str, given: Any, words: str) -> None:
    with pytest.raises(InvalidArgument, match=words):
        checked(kind, given)


@pytest.mark.parametrize(
    ("operator", "value", "met"),
    [
        ("<", 0.05, True), ("<", 0.1, False), ("<=", 0.1, True), (">", 0.2, True), (">=", 0.1, True), ("==", 0.1, True),
        ("!=", 0.2, True), ("<", math.nan, False), (">", math.nan, False), (">", math.inf, True), ("<", True, False),
        ("<", "0.05", False), ("<", None, False), ("<", [0.01], False), ("<", 0, True),
    ],
)  # fmt: skip
def test_only_numbers_meet_a_threshold(operator: str, value: Any, met: bool) -> None:
    threshold = threshold_of(checked(METRIC, {"metric": "m", "operator": operator, "value": 0.1}))
    assert threshold is not None
    assert threshold.is_met(value) is met


def test_silence_is_counted_in_seconds() -> None:
    stored = checked(METRIC, {"no_report_for": "1h30m"})
    assert (silence_of(stored), threshold_of(stored)) == (5400.0, None)
