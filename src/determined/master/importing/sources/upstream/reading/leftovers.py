"""Upstream's things that have no place here: how many there are, an example, and those that people make anew."""

from collections.abc import Iterator
from dataclasses import dataclass

from determined._json import JsonObject
from determined.master.importing.notes import Rule
from determined.master.importing.sources.upstream import rules
from determined.master.importing.sources.upstream.source import Source


@dataclass(frozen=True, slots=True)
class Leftover:
    """`counting` yields (number, example); it needs `column` of `table`, or None: any."""

    rule: Rule
    table: str
    column: str | None
    counting: str


def _rows(rule: Rule, table: str, column: str | None = None, condition: str = "true") -> Leftover:
    """Return a leftover whose example is its number of rows."""
    return Leftover(
        rule, table, column, f"SELECT count(*), count(*) || ' rows of {table}' FROM {table} WHERE {condition}"
    )


_OF_NO_TRIAL = "NOT EXISTS (SELECT FROM run_id_task_id x WHERE x.task_id = {task})"
COUNTED: tuple[Leftover, ...] = (
    Leftover(
        rules.OTHER_TASKS,
        "tasks",
        "task_type",
        f"""
        SELECT count(*), count(*) || ' of type ' || t.task_type FROM tasks t
        WHERE {_OF_NO_TRIAL.format(task="t.task_id")} GROUP BY t.task_type ORDER BY t.task_type
        """,
    ),
    Leftover(
        rules.OTHER_LOGS,
        "task_logs",
        "task_id",
        f"""
        SELECT sum(l.n)::bigint, sum(l.n) || ' of type ' || COALESCE(t.task_type::text, 'unknown')
        FROM (SELECT task_id, count(*) AS n FROM task_logs GROUP BY task_id) l
        LEFT JOIN tasks t ON t.task_id = l.task_id
        WHERE {_OF_NO_TRIAL.format(task="l.task_id")} GROUP BY t.task_type ORDER BY t.task_type
        """,
    ),
    Leftover(
        rules.NAMESPACES,
        "workspace_namespace_bindings",
        "namespace",
        """
        SELECT count(*), 'namespace ' || min(COALESCE(namespace, '')) FROM workspace_namespace_bindings
        """,
    ),
    Leftover(
        rules.POLICIES,
        "task_config_policies",
        "invariant_config",
        """
        SELECT 1, 'policy of ' || workload_type || COALESCE(' in workspace ' || workspace_id, '')
        FROM task_config_policies ORDER BY workspace_id NULLS FIRST, workload_type::text
        """,
    ),
    Leftover(
        rules.PROFILE_IMAGES,
        "user_profile_images",
        "user_id",
        """
        SELECT 1, 'user ' || u.username FROM user_profile_images i JOIN users u ON u.id = i.user_id ORDER BY u.id
        """,
    ),
    Leftover(
        rules.SEARCHES,
        "experiment_snapshots",
        "experiment_id",
        """
        SELECT 1, 'experiment ' || experiment_id FROM experiment_snapshots GROUP BY experiment_id ORDER BY experiment_id
        """,
    ),
    Leftover(
        rules.LOCAL_IDS,
        "runs",
        "local_id",
        "SELECT count(*), 'trial ' || min(id) || ' and others' FROM runs WHERE local_id IS NOT NULL",
    ),
    _rows(rules.PROFILING, "system_metrics"),
    _rows(rules.OLD_PROFILING, "trial_profiler_metrics"),
    _rows(rules.SESSIONS, "user_sessions", "token_type", "token_type::text <> 'ACCESS_TOKEN'"),
    _rows(rules.INVALID_BINDINGS, "rp_workspace_bindings", "valid", "NOT valid"),
    _rows(rules.HARDWARE, "allocation_resources"),
    _rows(rules.HARDWARE, "allocation_accelerators"),
    _rows(rules.INTERNALS, "resource_aggregates"),
    _rows(rules.INTERNALS, "agent_stats"),
    _rows(rules.INTERNALS, "task_stats"),
    _rows(rules.INTERNALS, "cluster_messages"),
    _rows(rules.INTERNALS, "oauth.clients"),
    _rows(rules.INTERNALS, "scim.users"),
)
POLICIES = "SELECT to_jsonb(p) FROM task_config_policies p ORDER BY p.workspace_id NULLS FIRST, p.workload_type::text"
NAMESPACES = """
SELECT to_jsonb(b) || jsonb_build_object('workspace', w.name)
FROM workspace_namespace_bindings b LEFT JOIN workspaces w ON w.id = b.workspace_id ORDER BY b.workspace_id
"""


def counts(source: Source, leftover: Leftover) -> Iterator[tuple[int, str]]:
    """Yield (number, example); nothing where the source has no such column, or its role may not see it."""
    if source.sees(leftover.table, leftover.column):
        yield from ((int(n), str(example)) for n, example in source.tuples(leftover.counting) if n)


def objects(source: Source, query: str) -> list[JsonObject]:
    return [value for (value,) in source.tuples(query)]
