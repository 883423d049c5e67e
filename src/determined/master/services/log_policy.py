"""Log policies: shipped lines that match, and what follows (docs/architecture/task_environment.md). Uses RE2."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from sqlalchemy import Connection

from determined.config.log_policies import LogPolicy
from determined.master.db.queries import log as log_queries
from determined.master.db.queries import log_policy as queries
from determined.master.db.queries.log_policy import Hit
from determined.master.db.queries.report import Target
from determined.master.lifecycle.log_match_budget import SHARED_BUDGET, BatchMatching
from determined.master.lifecycle.log_pattern import Batch, LogPattern, compile_pattern, matching_lines
from determined.wire.report import Exit, LogLine

logger = logging.getLogger(__name__)

CANCEL_RETRIES, EXCLUDE_NODE = "cancel_retries", "exclude_node"


@dataclass(frozen=True, slots=True)
class Policy:
    name: str | None
    pattern: LogPattern
    action: str | None


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
    matches = find(policies, [line.text for line in lines if line.source == "task"], _owner(target))
    _label(conn, target.trial_id, matches)
    for match in matches:
        _remember(conn, now, target, match)


def apply_exit(conn: Connection, now: datetime, target: Target, exit: Exit) -> None:
    """Label the trial with what its runner has recognised, unless a policy names it otherwise or switches it off."""
    if not exit.label or target.trial_id is None or target.experiment_id is None:
        return
    configured = queries.configured(conn, target.experiment_id)
    matches = find(compile_policies(configured), exit.message.splitlines(), _owner(target))
    for match in matches:
        _remember(conn, now, target, match)
    if not _label(conn, target.trial_id, matches) and not _is_off(configured, exit.label):
        queries.label(conn, target.trial_id, exit.label)


def find(policies: Sequence[Policy], texts: Sequence[str], owner: str = "") -> list[Match]:
    """Return one match per policy that fits any line. The line in which the task prints its config is not looked at.

    `owner`: whoever wrote the policies, for the time that the search may take.
    """
    if not policies or not texts:
        return []
    batch = Batch.of(texts)
    matching = SHARED_BUDGET.begin(owner, batch.size)
    hits = (_match(policy, batch, matching) for policy in policies)
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
    compiled = compile_pattern(pattern)
    if compiled is None:
        # the config was checked at submit: only a newer master's looser check could leave one
        logger.warning("log policy %r: RE2 refuses pattern %r; the policy is off", name, pattern)
        return None
    return Policy(name, compiled, action)


def _owner(target: Target) -> str:
    return f"log policies of experiment {target.experiment_id}"


def _match(policy: Policy, batch: Batch, matching: BatchMatching) -> Match | None:
    hits = matching_lines(policy.pattern, batch, matching)
    return Match(hits[-1], policy, batch.texts[hits[0]]) if hits else None


def _remember(conn: Connection, now: datetime, target: Target, match: Match) -> None:
    action, pattern = match.policy.action, match.policy.pattern.text
    if action == CANCEL_RETRIES:
        queries.record(conn, Hit(target.task_id, action, "", pattern, match.text))
    if action != EXCLUDE_NODE:
        return
    if queries.record(conn, Hit(target.task_id, action, target.node_id, pattern, match.text)):
        text = f"(log '{match.text}' matched regex {pattern}) therefore will not schedule on {target.node_id}"
        log_queries.append_master_line(conn, now, target.task_id, text, allocation_id=target.allocation_id)
