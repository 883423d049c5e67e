"""Upstream's things that are not imported yet, as JSON objects: models, templates, webhooks, config policies."""

from determined._json import JsonObject
from determined.master.importing.notes import Rule
from determined.master.importing.upstream import rules
from determined.master.importing.upstream.source import Source

COUNTED: tuple[tuple[Rule, str, str], ...] = (
    (rules.MODELS, "model", "SELECT name FROM models ORDER BY id"),
    (rules.TEMPLATES, "template", "SELECT name FROM templates ORDER BY name"),
    (rules.WEBHOOKS, "webhook", "SELECT id::text FROM webhooks ORDER BY id"),
    (
        rules.POLICIES,
        "policy of",
        "SELECT workload_type::text || COALESCE(' in workspace ' || workspace_id, '') FROM task_config_policies",
    ),
)
TEMPLATES = "SELECT to_jsonb(t) FROM templates t ORDER BY t.name"
POLICIES = "SELECT to_jsonb(p) FROM task_config_policies p ORDER BY p.workspace_id NULLS FIRST, p.workload_type::text"
MODELS = """
SELECT to_jsonb(m) || jsonb_build_object('versions', COALESCE(
  (SELECT jsonb_agg(to_jsonb(v) ORDER BY v.version) FROM model_versions v WHERE v.model_id = m.id), '[]'))
FROM models m ORDER BY m.id
"""
WEBHOOKS = """
SELECT to_jsonb(w) || jsonb_build_object('triggers', COALESCE(
  (SELECT jsonb_agg(to_jsonb(t) - 'webhook_id') FROM webhook_triggers t WHERE t.webhook_id = w.id), '[]'))
FROM webhooks w ORDER BY w.id
"""


def names(source: Source, query: str) -> list[str]:
    return [str(name) for (name,) in source.tuples(query)]


def objects(source: Source, query: str) -> list[JsonObject]:
    return [value for (value,) in source.tuples(query)]
