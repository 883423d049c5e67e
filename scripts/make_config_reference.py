"""Writes docs/reference/configuration.md from the declarations of determined.config."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

from determined.config.agent import AgentConfig
from determined.config.engine_sections import engine_sections
from determined.config.experiment_schema import EXPERIMENT
from determined.config.job import GenericTaskConfig, JobConfig
from determined.config.policies import ConfigPolicies
from determined.config.searcher import SEARCHER
from determined.config.storage import CHECKPOINT_STORAGE
from determined.engines import registry
from determined.engines.resource_manager import ResourceManager
from determined.master.config.file import MasterFile
from determined.schema.lists import ListOf
from determined.schema.node import Node
from determined.schema.objects import UNSET, Field, Object, Tagged
from determined.schema.section import Section

TARGET = Path(__file__).parents[1] / "docs" / "reference" / "configuration.md"

_OPENING = """\
# Configuration reference

Written by `scripts/make_config_reference.py` from the schemas the master itself checks with; do not edit.
[Experiment configuration](../configuration.md) explains how they are used, [Operating a cluster](../operating.md) the
master's. An unknown key is an error that names the nearest valid one. "required" may be met by any layer: your file,
the template, the master's defaults.
"""
# Sections whose meaning says it all: their keys are listed where they are used, or by what reads them.
_CLOSED = ("environment.registry_auth", "integrations.pachyderm", "optimizations")
_CLOSED_IN_MASTER = (
    *(f"task_container_defaults.{k}" for k in ("image", "registry_auth", "environment_variables", "devices",
      "bind_mounts", "pbs", "log_policies", "kubernetes", *engine_sections())),
    "resource_pools[].scheduler", "resource_pools[].task_container_defaults", "resource_pools[].provider",
    "security.ssh", "additional_resource_managers",
)  # fmt: skip


def main() -> int:
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    TARGET.write_text(reference())
    return 0


def reference() -> str:
    """The whole file."""
    parts = [
        _OPENING,
        "## Experiment\n",
        _table(_rows(EXPERIMENT.fields, "", _CLOSED)),
        "A length is a bare number or exactly one of `{batches: n}`, `{records: n}`, `{epochs: n}`.\n",
        *_union("searcher", SEARCHER),
        *_union("checkpoint_storage", CHECKPOINT_STORAGE),
        "## Tasks\n",
        "Commands, notebooks, shells and TensorBoards. Sections that experiments have too are described there.\n",
        _table(_rows(JobConfig.schema.fields, "", _shared_sections(JobConfig))),
        "### Generic tasks\n",
        "What they have otherwise:\n",
        _table(_rows(_own_fields(GenericTaskConfig, JobConfig), "", _shared_sections(GenericTaskConfig))),
        "## Master\n",
        _table(_rows(MasterFile.schema.fields, "", _CLOSED_IN_MASTER)),
        *_engines(),
        "## Agent\n",
        "Checked by editors (`det config schema agent`). Not implemented yet: nothing reads it.\n",
        _table(_rows(AgentConfig.schema.fields, "", ())),
        "## Config policies\n",
        "Checked by editors (`det config schema policy`). Not implemented yet: nothing reads them.\n",
        _table(_rows(ConfigPolicies.schema.fields, "", ())),
    ]
    return "\n".join(parts)


def _shared_sections(config: type[Section]) -> tuple[str, ...]:
    """Name the sections that experiments have in the same form."""
    nodes = {name: known.node for name, known in EXPERIMENT.fields.items()}
    return tuple(name for name, known in config.schema.fields.items() if nodes.get(name) is known.node)


def _own_fields(config: type[Section], other: type[Section]) -> dict[str, Field]:
    shared = other.schema.fields
    return {name: known for name, known in config.schema.fields.items() if shared.get(name) is not known}


def _union(section: str, union: Tagged[object]) -> Iterator[str]:
    yield f"## {section}\n"
    yield f"Every `{union.tag}` has:\n"
    yield _table(_rows(union.common, "", ()))
    for name in union.variants:
        yield f"### {union.tag}: {name}\n"
        rows = list(_rows(union.own_fields(name), "", ()))
        yield _table(rows) if rows else "Nothing more.\n"


def _engines() -> Iterator[str]:
    """Yield the keys that each engine adds to `resource_manager`."""
    shared = ResourceManager.schema.fields
    for kind, section in registry.managers().items():
        yield f"### resource_manager of type {kind}\n"
        own = {name: field for name, field in section.schema.fields.items() if name not in shared}
        rows = list(_rows(own, "", ()))
        yield _table(rows) if rows else "Nothing more.\n"


def _table(rows: Iterator[str] | list[str]) -> str:
    return "\n".join(["| Key | Kind | Default | Meaning |", "|---|---|---|---|", *rows]) + "\n"


def _rows(fields: dict[str, Field], parent: str, closed: tuple[str, ...]) -> Iterator[str]:
    for name, field in fields.items():
        path = f"{parent}{name}"
        if field.legacy:
            continue
        yield f"| `{path}` | {field.node.kind} | {_default(field)} | {_meaning(path, field)} |"
        if path not in closed:
            yield from _below(field.node, path, closed)


def _below(node: Node[object], path: str, closed: tuple[str, ...]) -> Iterator[str]:
    if isinstance(node, ListOf) and isinstance(node.item, Object):
        yield from _rows(node.item.fields, f"{path}[].", closed)
    elif isinstance(node, Object):
        yield from _rows(node.fields, f"{path}.", closed)


def _effect(field: Field) -> str:
    """Say where a key has no effect; whoever sets it there is told so, once."""
    if field.engines is None:
        return ""
    if not field.engines:
        return " **No effect**: accepted with a remark."
    kinds = registry.traits().kinds_of(field.engines)
    engines = " and ".join(f"[{kind}](../{registry.manager(kind).page})" for kind in kinds)
    return f" Only with the {engines} engine; elsewhere accepted with a remark."


def _meaning(path: str, field: Field) -> str:
    """Raise ValueError for a key that nobody has described."""
    if not field.meaning:
        raise ValueError(f"{path} has no meaning: say in its declaration what it is for")
    since = f" Since {field.since}." if field.since else ""
    return field.meaning.replace("|", "\\|") + _effect(field) + since


def _default(field: Field) -> str:
    if field.required and field.default is UNSET:
        return "required"
    if not field.fill or (
        field.default in (UNSET, None, {}, [], "") and field.default is not False and field.default != 0
    ):
        return ""
    return f"`{json.dumps(field.default)}`"


if __name__ == "__main__":
    sys.exit(main())
