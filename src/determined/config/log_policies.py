"""log_policies: named patterns over task logs, their legacy forms, merging by name, and the two built-in ones."""

from collections.abc import Iterator
from enum import StrEnum

from determined._json import JsonObject, JsonValue
from determined.constants import GPU_OOM_LABEL
from determined.schema.lists import ListOf
from determined.schema.node import Choice, Report, Text
from determined.schema.section import Section, field

MAX_PATTERN_SIZE = 4000  # instructions of RE2: the time for a character of a log grows with them


class LogAction(StrEnum):
    CANCEL_RETRIES = "cancel_retries"
    EXCLUDE_NODE = "exclude_node"


DEFAULT_POLICIES: tuple[JsonObject, ...] = (
    {"name": GPU_OOM_LABEL, "pattern": ".*CUDA out of memory.*"},
    {"name": "ECC Error", "pattern": ".*uncorrectable ECC error encountered.*"},
)


def pattern_problem(pattern: str, max_memory: int | None = None) -> str | None:
    """Say why RE2, which runs users' patterns, refuses this one; `max_memory`: bytes that it may take."""
    import re2

    options = re2.Options()
    options.log_errors = False
    if max_memory is not None:
        options.max_mem = max_memory
    try:
        size = re2.compile(pattern, options).programsize
    except re2.error as error:
        reason = error.args[0] if error.args else error
        return f"`{pattern}` is not an RE2 pattern: {reason.decode() if isinstance(reason, bytes) else reason}"
    if size > MAX_PATTERN_SIZE:
        return (
            f"pattern too large: `{pattern[:100]}` compiles to {size} instructions; at most {MAX_PATTERN_SIZE} are run"
        )
    return None


def _named_or_whole(value: JsonObject) -> Iterator[tuple[str, str]]:
    if value.get("name") is None and (value.get("pattern") is None or value.get("action") is None):
        yield "", "needs a `name`, or (the older form) both `pattern` and `action`"


class _Action(Choice[LogAction]):
    """An action once was an object `{type: ...}`; now it is a word."""

    def canonical(self, value: JsonValue) -> JsonValue:
        return value["type"] if isinstance(value, dict) and set(value) == {"type"} else value

    def json_schema(self) -> JsonObject:
        word = super().json_schema()
        old = {"type": "object", "properties": {"type": word}, "required": ["type"], "additionalProperties": False}
        return {"anyOf": [word, {**old, "deprecated": True}]}


class LogPolicy(Section, rules=(_named_or_whole,)):
    """A policy without `pattern` is switched off; one without `action` only labels."""

    name: str | None = field(Text(), "The label.", default=None, fill=False)
    pattern: str | None = field(
        Text(problem=pattern_problem),
        "An RE2 pattern. A named policy without one is switched off.",
        default=None,
        fill=False,
    )
    action: LogAction | None = field(
        _Action(LogAction),
        "`cancel_retries`: no more restarts. `exclude_node`: restart on another node.",
        default=None,
        fill=False,
    )


class LogPolicies(ListOf[LogPolicy]):
    """Policies of the high layer, all of them, then the low ones that are new: by name, or by (action, pattern)."""

    def check(self, value: object, at: str, report: Report) -> None:
        super().check(value, at, report)
        names = [policy.get("name") for policy in value if isinstance(policy, dict)] if isinstance(value, list) else []
        for name in sorted({name for name in names if isinstance(name, str) and names.count(name) > 1}):
            report.add(at, f"the name `{name}` is given to more than one policy")

    def merge_lists(self, high: list[JsonValue], low: list[JsonValue]) -> list[JsonValue]:
        taken = [_identity(policy) for policy in high]
        return high + [policy for policy in low if _identity(policy) not in taken]

    def fill(self, value: JsonValue) -> JsonValue:
        if not isinstance(value, list):
            return value
        return self.merge_lists(value, [dict(policy) for policy in DEFAULT_POLICIES])


def _identity(policy: JsonValue) -> tuple[JsonValue, ...]:
    if not isinstance(policy, dict):
        return ("?", policy)
    name = policy.get("name")
    return ("named", name) if name is not None else ("legacy", policy.get("action"), policy.get("pattern"))


LOG_POLICIES = LogPolicies(LogPolicy)
