"""log_policies: named patterns over task logs, their legacy forms, merging by name, and the two built-in ones."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from determined.config.node import ListOf, Text
from determined.config.objects import Field, Object
from determined.constants import GPU_OOM_LABEL


class LogAction(StrEnum):
    CANCEL_RETRIES = "cancel_retries"
    EXCLUDE_NODE = "exclude_node"


@dataclass(frozen=True, slots=True)
class LogPolicy:
    """A policy without `pattern` is switched off; one without `action` only labels."""

    name: str | None = None
    pattern: str | None = None
    action: LogAction | None = None


DEFAULT_POLICIES = (
    {"name": GPU_OOM_LABEL, "pattern": ".*CUDA out of memory.*"},
    {"name": "ECC Error", "pattern": ".*uncorrectable ECC error encountered.*"},
)


def parse_log_policies(raw: list[dict[str, Any]]) -> tuple[LogPolicy, ...]:
    return tuple(
        LogPolicy(
            name=policy.get("name"),
            pattern=policy.get("pattern"),
            action=LogAction(policy["action"]) if policy.get("action") else None,
        )
        for policy in raw
    )


def canonical_log_policies(raw: Any) -> Any:
    """Actions once were objects `{type: ...}`; now they are words."""
    return [_canonical_policy(policy) for policy in raw] if isinstance(raw, list) else raw


def _canonical_policy(policy: Any) -> Any:
    action = policy.get("action") if isinstance(policy, dict) else None
    if not isinstance(action, dict) or set(action) != {"type"}:
        return policy
    return {**policy, "action": action["type"]}


def merge_log_policies(high: list[Any], low: list[Any]) -> list[Any]:
    """All of high, then the low ones that are new: by name, or by (action, pattern) where they have none."""
    taken = [_identity(policy) for policy in high]
    return high + [policy for policy in low if _identity(policy) not in taken]


def _identity(policy: Any) -> tuple[Any, ...]:
    if not isinstance(policy, dict):
        return ("?", policy)
    name = policy.get("name")
    return ("named", name) if name is not None else ("legacy", policy.get("action"), policy.get("pattern"))


def pattern_problem(pattern: str) -> str | None:
    """Why RE2, which runs users' patterns, refuses this one."""
    import re2

    options = re2.Options()
    options.log_errors = False
    try:
        re2.compile(pattern, options)
    except re2.error as error:
        reason = error.args[0] if error.args else error
        return f"`{pattern}` is not an RE2 pattern: {reason.decode() if isinstance(reason, bytes) else reason}"
    return None


def _named_or_whole(value: dict[str, Any]) -> Iterator[tuple[str, str]]:
    if value.get("name") is None and (value.get("pattern") is None or value.get("action") is None):
        yield "", "needs a `name`, or (the older form) both `pattern` and `action`"


class _LogPolicies(ListOf):
    def check(self, value: Any, at: str, report: Any) -> None:
        super().check(value, at, report)
        names = [policy.get("name") for policy in value if isinstance(policy, dict)] if isinstance(value, list) else []
        for name in sorted({name for name in names if isinstance(name, str) and names.count(name) > 1}):
            report.add(at, f"the name `{name}` is given to more than one policy")

    def merge(self, high: Any, low: Any) -> Any:
        if not isinstance(high, list) or not isinstance(low, list):
            return low if high is None else high
        return merge_log_policies(high, low)

    def fill(self, value: Any) -> Any:
        if not isinstance(value, list):
            return value
        return merge_log_policies(value, [dict(policy) for policy in DEFAULT_POLICIES])


LOG_POLICIES = _LogPolicies(
    Object(
        {
            "name": Field(Text()),
            "pattern": Field(Text(problem=pattern_problem)),
            "action": Field(Text(choices=tuple(LogAction))),
        },
        rules=(_named_or_whole,),
    )
)
