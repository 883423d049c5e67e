"""Upstream's things that are not imported yet, as JSON objects: config policies."""

from determined._json import JsonObject
from determined.master.importing.notes import Rule
from determined.master.importing.sources.upstream import rules
from determined.master.importing.sources.upstream.source import Source

COUNTED: tuple[tuple[Rule, str, str], ...] = (
    (
        rules.POLICIES,
        "policy of",
        "SELECT workload_type::text || COALESCE(' in workspace ' || workspace_id, '') FROM task_config_policies",
    ),
)
POLICIES = "SELECT to_jsonb(p) FROM task_config_policies p ORDER BY p.workspace_id NULLS FIRST, p.workload_type::text"


def names(source: Source, query: str) -> list[str]:
    return [str(name) for (name,) in source.tuples(query)]


def objects(source: Source, query: str) -> list[JsonObject]:
    return [value for (value,) in source.tuples(query)]
