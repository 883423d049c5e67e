"""Log policies: shipped lines that match, and what follows (docs/architecture/task_environment.md). Uses RE2."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any

import re2
from sqlalchemy import Connection

from determined.config.log_policies import LogPolicy
from determined.constants import CONFIG_LINE_PREFIX
from determined.master.db.queries import log as log_queries
from determined.master.db.queries import log_policy as queries
from determined.master.db.queries.log_policy import Hit
from determined.master.db.queries.report import Target
from determined.wire.report import Exit, LogLine

logger = logging.getLogger(__name__)

CANCEL_RETRIES, EXCLUDE_NODE = "cancel_retries", "exclude_node"
_REPEATS = "?*+{"  # after `.*` these belong to it


@dataclass(frozen=True, slots=True)
class Policy:
    """`line` decides about one line; `batch` finds out fast whether any line of a joined batch may match."""

    name: str | None
    pattern: str
    action: str | None
    line: Any
    batch: Any | None


@dataclass(frozen=True, slots=True)
class Match:
    index: int  # of the last line that matches
    policy: Policy
    text: str  # of the first line that matches


def apply(conn: Connection, now: datetime, target: Target, lines: Sequence[LogLine]) -> None:
    """Label the trial, remember hits, say in the task log that a node is avoided from now on."""
    if target.trial_id is None or target.experiment_id is None:
        return
    policies = compile_policies(queries.configured(conn, target.experiment_id))
    # the runner's own lines hold the config, cut in pieces, and with it every pattern
    matches = find(policies, [line.text for line in lines if line.source == "task"])
    _label(conn, target.trial_id, matches)
    for match in matches:
        _remember(conn, now, target, match)


def apply_exit(conn: Connection, now: datetime, target: Target, exit: Exit) -> None:
    """Label the trial with what its runner has recognised, unless a policy names it otherwise or switches it off."""
    if not exit.label or target.trial_id is None or target.experiment_id is None:
        return
    configured = queries.configured(conn, target.experiment_id)
    matches = find(compile_policies(configured), exit.message.splitlines())
    for match in matches:
        _remember(conn, now, target, match)
    if not _label(conn, target.trial_id, matches) and not _is_off(configured, exit.label):
        queries.label(conn, target.trial_id, exit.label)


def find(policies: Sequence[Policy], texts: Sequence[str]) -> list[Match]:
    """Return one match per policy that fits any line. The line in which the task prints its config is not looked at."""
    joined = "\n".join(texts).encode()
    hits = (_match(policy, joined, texts) for policy in policies)
    return [match for match in hits if match is not None]


def _label(conn: Connection, trial_id: int, matches: Sequence[Match]) -> bool:
    """Label the trial with the policy that matches last; return False when none of those that match has a name."""
    named = [m for m in matches if m.policy.name is not None]
    if named:
        queries.label(conn, trial_id, str(max(named, key=lambda m: m.index).policy.name))
    return bool(named)


def _is_off(configured: Sequence[LogPolicy], label: str) -> bool:
    """Return whether the policy, by its name alone, switches that label off."""
    return any(policy.name == label and policy.pattern is None for policy in configured)


def compile_policies(configured: Sequence[LogPolicy]) -> tuple[Policy, ...]:
    keys = tuple((policy.name, policy.pattern, policy.action) for policy in configured)
    return _compiled(keys)


@lru_cache(maxsize=256)
def _compiled(keys: tuple[tuple[str | None, str | None, str | None], ...]) -> tuple[Policy, ...]:
    return tuple(
        policy
        for name, pattern, action in keys
        if pattern is not None and (policy := _compile(name, pattern, action)) is not None
    )


def _compile(name: str | None, pattern: str, action: str | None) -> Policy | None:
    line = _re2(pattern)
    if line is None:
        # the config was checked at submit: only a newer master's looser check could leave one
        logger.warning("log policy %r: RE2 refuses pattern %r; the policy is off", name, pattern)
        return None
    joinable = "\\A" not in pattern and "\\z" not in pattern and "(?" not in pattern
    batch = _re2(f"(?m){_core(pattern)}") if joinable else None
    return Policy(name, pattern, action, line, batch)


def _core(pattern: str) -> str:
    """Return the pattern without `.*` at both ends: that only lets it match more, and RE2 can look for literal text."""
    if pattern.startswith(".*") and pattern[2:3] not in (*_REPEATS, ""):
        pattern = pattern[2:]
    if pattern.endswith(".*") and not pattern.endswith("\\.*") and len(pattern) > 2:
        pattern = pattern[:-2]
    return pattern


def _re2(pattern: str) -> Any | None:
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern.encode(), options)
    except re2.error:
        return None


def _match(policy: Policy, joined: bytes, texts: Sequence[str]) -> Match | None:
    if policy.batch is not None and policy.batch.search(joined) is None:
        return None
    hits = [
        i
        for i, text in enumerate(texts)
        if not text.startswith(CONFIG_LINE_PREFIX) and policy.line.search(text.encode())
    ]
    return Match(hits[-1], policy, texts[hits[0]]) if hits else None


def _remember(conn: Connection, now: datetime, target: Target, match: Match) -> None:
    action, pattern = match.policy.action, match.policy.pattern
    if action == CANCEL_RETRIES:
        queries.record(conn, Hit(target.task_id, action, "", pattern, match.text))
    if action != EXCLUDE_NODE:
        return
    if queries.record(conn, Hit(target.task_id, action, target.node_id, pattern, match.text)):
        text = f"(log '{match.text}' matched regex {pattern}) therefore will not schedule on {target.node_id}"
        log_queries.append_master_line(conn, now, target.task_id, text, allocation_id=target.allocation_id)
