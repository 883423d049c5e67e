"""The configuration reference is true: something reads each key that has an effect, and nothing the others."""

import re
from collections.abc import Iterator
from pathlib import Path

from determined.config.experiment_schema import EXPERIMENT
from determined.master.config.file import MasterFile
from determined.schema.lists import ListOf
from determined.schema.node import Node
from determined.schema.objects import Field, Object, Tagged

MASTER = MasterFile.schema
SOURCE = Path(__file__).parents[2] / "src" / "determined"

# Read as a whole by something that does not spell their names, and where.
PASSED_ON = {
    "serveraddress": "registry_auth goes to Docker as it is",
    "email": "registry_auth goes to Docker as it is",
    "identitytoken": "registry_auth goes to Docker as it is",
    "registrytoken": "registry_auth goes to Docker as it is",
    "pachd": "integrations.pachyderm is shown as it is",
    "repo": "integrations.pachyderm is shown as it is",
    "branch": "integrations.pachyderm is shown as it is",
    "proxy_tcp": "below environment.proxy_ports",
    "default_service_id": "below environment.proxy_ports",
    "ssl_mode": "config/master.py makes the database URL of it",
    "ssl_root_cert": "config/master.py makes the database URL of it",
    "observability": "its one key is read",
    "additional_resource_managers": "config/master.py makes engines and pools of it",
}
# Read only to be shown or told: they change nothing.
SHOWN = {
    "feature_switches": "told to clients in GET /api/v1/master",
    "proxy_ports": "Docker publishes them; the proxy that they are for does not exist",
    "native_parallel": "ExperimentConfig.native_parallel_enabled() answers old trials",
    "begin_on_batch": "ExperimentConfig.profiling_interval() answers old trials",
    "end_after_batch": "ExperimentConfig.profiling_interval() answers old trials",
    "sync_timings": "ExperimentConfig.profiling_sync_timings() answers old trials",
}


def _keys(node: Node[object], used: bool = True) -> Iterator[tuple[str, Field, bool]]:
    """Every key of the schema, and whether it and all above it have an effect somewhere."""
    if isinstance(node, ListOf):
        yield from _keys(node.item, used)
    fields: dict[str, Field] = {}
    if isinstance(node, Object):
        fields = node.fields
    elif isinstance(node, Tagged):
        fields = {**node.common, **{k: f for variant in node.variants.values() for k, f in variant.fields.items()}}
    for name, field in fields.items():
        effective = used and field.engines != ()
        yield name, field, effective
        yield from _keys(field.node, effective)


def _readers() -> str:
    """All code that could read a config: not its schemas, not what travels, not stored migrations."""
    apart = ("config", "wire", "migrations")
    files = (path for path in SOURCE.rglob("*.py") if not set(apart) & set(path.relative_to(SOURCE).parts))
    return "\n".join(path.read_text() for path in files)


def test_something_reads_every_key_that_has_an_effect() -> None:
    code = _readers()
    effective = {
        name for schema in (EXPERIMENT, MASTER) for name, field, used in _keys(schema) if used and not field.legacy
    }
    unread = {name for name in effective - PASSED_ON.keys() if not re.search(rf"[.\"']{re.escape(name)}\b", code)}
    assert not unread, "mark them engines=() or read them"


def test_nothing_reads_a_key_that_is_said_to_have_no_effect() -> None:
    code = _readers()
    used = {name for schema in (EXPERIMENT, MASTER) for name, _, is_used in _keys(schema) if is_used}
    without = {name for schema in (EXPERIMENT, MASTER) for name, field, _ in _keys(schema) if field.engines == ()}
    config_reads = r"(?:config|settings|section|pool|manager|raw|policy)(?:\.|\[\"|\.get\(\"){name}\b"
    read = {name for name in without - used - SHOWN.keys() if re.search(config_reads.replace("{name}", name), code)}
    assert not read, "they have an effect: say on which engines"
