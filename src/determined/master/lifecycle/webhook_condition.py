"""Conditions of triggers: what is accepted, and whether a report meets one. Pure."""

import operator
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from determined._json import JsonObject
from determined.config.log_policies import pattern_problem
from determined.errors import InvalidArgument
from determined.master.lifecycle.states import State
from determined.master.lifecycle.webhook_event import CUSTOM, METRIC, STATE_CHANGE, TASK_LOG
from determined.schema.quantities import parse_duration

MAX_REGEX = 1000  # characters
MAX_REGEX_MEMORY = 256 * 1024  # bytes; larger patterns take 200 ms to compile, which stops the writer
MAX_METRIC_NAME = 500
_LARGEST = sys.float_info.max
_SHORTEST_SILENCE, _LONGEST_SILENCE = 10.0, 30 * 86400.0

_OPERATORS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
_METRIC_FORMS = (
    '{"metric": "validation_loss", "group": "validation", "operator": "<", "value": 0.1} or {"no_report_for": "30m"}'
)


@dataclass(frozen=True, slots=True)
class Threshold:
    group: str
    metric: str
    operator: str
    value: float

    def is_met(self, reported: object) -> bool:
        """Compare a reported value; what is no number meets nothing, and NaN meets only `!=`."""
        if isinstance(reported, bool) or not isinstance(reported, int | float):
            return False
        return _OPERATORS[self.operator](float(reported), self.value)


@contextmanager
def at_field(name: str) -> Iterator[None]:
    """Name a field in the details of an InvalidArgument that is raised inside; forms show the message there."""
    try:
        yield
    except InvalidArgument as error:
        inner = error.details.get("field")
        error.details["field"] = name if inner is None else f"{name}.{inner}"
        raise


def checked(kind: str, condition: JsonObject | None) -> JsonObject:
    """Return the condition of a trigger as it is stored.

    Raises:
        InvalidArgument: it names what is accepted and, in its details, the `field` of the condition.
    """
    check = _CHECKS.get(kind)
    if check is None:
        raise InvalidArgument(f"trigger type {kind!r} is unknown; use one of {', '.join(_CHECKS)}")
    return check(condition or {})


def threshold_of(condition: JsonObject) -> Threshold | None:
    """Return the threshold of a stored metric condition; None where it waits for silence."""
    if "no_report_for" in condition:
        return None
    return Threshold(condition["group"], condition["metric"], condition["operator"], float(condition["value"]))


def silence_of(condition: JsonObject) -> float:
    """Return the seconds of a stored `no_report_for`."""
    return parse_duration(condition["no_report_for"])


def _state_condition(given: JsonObject) -> JsonObject:
    state = given.get("state")
    name = state.removeprefix("STATE_") if isinstance(state, str) else ""
    if set(given) != {"state"} or name not in set(State):
        raise InvalidArgument(
            f'condition {_shown(given)}: write {{"state": NAME}} with one of {", ".join(State)}', field="state"
        )
    return {"state": name}


def _log_condition(given: JsonObject) -> JsonObject:
    regex = given.get("regex")
    if set(given) != {"regex"} or not isinstance(regex, str) or not regex:
        raise InvalidArgument(
            f'condition {_shown(given)}: a log trigger takes exactly {{"regex": PATTERN}}', field="regex"
        )
    if len(regex) > MAX_REGEX:
        raise InvalidArgument(f"the regex has {len(regex)} characters; at most {MAX_REGEX} are taken", field="regex")
    problem = pattern_problem(regex, MAX_REGEX_MEMORY)
    if problem is not None:
        hint = "; use fewer repetitions and character classes" if "too large" in problem else ""
        raise InvalidArgument(f"invalid regex: {problem}{hint}", field="regex")
    return {"regex": regex}


def _metric_condition(given: JsonObject) -> JsonObject:
    if set(given) == {"no_report_for"}:
        with at_field("no_report_for"):
            return {"no_report_for": _checked_silence(given["no_report_for"])}
    metric, group, sign, value = (given.get(key) for key in ("metric", "group", "operator", "value"))
    group = "validation" if group is None else group
    is_named = isinstance(metric, str) and 0 < len(metric) <= MAX_METRIC_NAME and isinstance(group, str)
    is_known = set(given) <= {"metric", "group", "operator", "value"}
    if not is_known or not is_named or not 0 < len(str(group)) <= MAX_METRIC_NAME:
        raise InvalidArgument(f"condition {_shown(given)}: a metric trigger takes {_METRIC_FORMS}", field="metric")
    if not isinstance(sign, str) or sign not in _OPERATORS:
        raise InvalidArgument(f"operator {_shown(sign)}: use one of {' '.join(_OPERATORS)}", field="operator")
    if isinstance(value, bool) or not isinstance(value, int | float) or not -_LARGEST <= value <= _LARGEST:
        raise InvalidArgument(
            f"value {_shown(value)} is no finite number; compare with one, such as 0.1", field="value"
        )
    return {"metric": metric, "group": group, "operator": sign, "value": float(value)}


def _custom_condition(given: JsonObject) -> JsonObject:
    if given:
        raise InvalidArgument(f"condition {_shown(given)}: a custom trigger takes none; leave it out")
    return {}


def _checked_silence(given: object) -> str:
    if not isinstance(given, str):
        raise InvalidArgument(f"no_report_for={_shown(given)}: write a duration such as 30m")
    seconds = parse_duration(given)
    if not _SHORTEST_SILENCE <= seconds <= _LONGEST_SILENCE:
        raise InvalidArgument(f"no_report_for={_shown(given)}: it must be between 10s and 720h")
    return given


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:200]}..."


_CHECKS: dict[str, Callable[[JsonObject], JsonObject]] = {
    STATE_CHANGE: _state_condition,
    METRIC: _metric_condition,
    TASK_LOG: _log_condition,
    CUSTOM: _custom_condition,
}
