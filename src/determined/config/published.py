"""The configs whose JSON schema is published, for editors that complete and check files as they are written."""

from importlib import import_module

from determined._json import JsonObject
from determined.config import task_kinds

# By name, so that nobody waits for the declarations of configs that were not asked for.
KINDS = {
    **{kind.job.name.lower(): kind.config for kind in task_kinds.KINDS.values() if kind.config},
    "master": "master.config.file.MasterFile",
    "agent": "config.agent.AgentConfig",
    "policy": "config.policies.ConfigPolicies",
}


def json_schema(kind: str) -> JsonObject:
    """Return the JSON schema (draft 2020-12) of a kind of config. Another layer may set required keys, so none is."""
    module, _, name = KINDS[kind].rpartition(".")
    section = getattr(import_module(f"determined.{module}"), name)
    known = section.schema.json_schema()
    known.pop("required", None)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"Determined {kind} config",
        "description": (section.__doc__ or "").partition("\n")[0],
        **known,
    }
