"""Matches of log policies: hits per task, and the label on the trial."""

from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, insert, select, update

from determined.config.log_policies import LOG_POLICIES, LogPolicy
from determined.master.db import fetch
from determined.master.db.prepared import prepare
from determined.master.db.schema import experiments, log_policy_hits, trials

_CONFIGURED = prepare(
    select(experiments.c.config["log_policies"]).where(experiments.c.id == bindparam("experiment_id"))
)


@dataclass(frozen=True, slots=True)
class Hit:
    task_id: str
    action: str
    node_id: str  # blank unless the action is about a node
    pattern: str
    line: str


def configured(conn: Connection, experiment_id: int) -> tuple[LogPolicy, ...]:
    """Read the `log_policies` of an experiment's active config."""
    return LOG_POLICIES.load(fetch.scalar(conn, _CONFIGURED, {"experiment_id": experiment_id}) or [])


def record(conn: Connection, hit: Hit) -> bool:
    """Remember a hit; False when it was known already."""
    table = log_policy_hits.c
    known = select(table.id).where(
        table.task_id == hit.task_id,
        table.action == hit.action,
        table.node_id == hit.node_id,
        table.pattern == hit.pattern,
    )
    if conn.execute(known).first() is not None:
        return False
    conn.execute(
        insert(log_policy_hits).values(
            task_id=hit.task_id, action=hit.action, node_id=hit.node_id, pattern=hit.pattern, line=hit.line
        )
    )
    return True


def label(conn: Connection, trial_id: int, name: str) -> None:
    conn.execute(update(trials).where(trials.c.id == trial_id).values(log_policy_label=name))
