"""Writes docs/reference/configuration.md from the schemas of determined.config and the meanings beside this file."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from config_meanings import EXPERIMENT as EXPERIMENT_MEANINGS
from config_meanings import MASTER as MASTER_MEANINGS
from config_meanings import SEARCHER as SEARCHER_MEANINGS
from config_meanings import STORAGE as STORAGE_MEANINGS

from determined.config.experiment_schema import EXPERIMENT
from determined.config.master_schema import MASTER
from determined.config.node import Boolean, FreeMap, Integer, ListOf, MapOf, Node, Number, Text
from determined.config.objects import UNSET, Field, Object, Tagged
from determined.config.searcher import SEARCHER
from determined.config.storage import CHECKPOINT_STORAGE

TARGET = Path(__file__).parents[1] / "docs" / "reference" / "configuration.md"

Meanings = dict[str, str]

_OPENING = """\
# Configuration reference

Written by `scripts/make_config_reference.py` from the schemas the master itself checks with; do not edit.
[Experiment configuration](../configuration.md) explains how they are used, [Operating a cluster](../operating.md) the
master's. An unknown key is an error that names the nearest valid one. "required" may be met by any layer: your file,
the template, the master's defaults.
"""
# Sections whose meaning says it all: their keys are listed where they are used, or by what reads them.
_CLOSED = ("environment.registry_auth", "integrations.pachyderm", "integrations.webhooks", "optimizations")
_CLOSED_IN_MASTER = (
    *(f"task_container_defaults.{k}" for k in ("image", "registry_auth", "environment_variables", "devices",
      "bind_mounts", "slurm", "pbs", "log_policies", "kubernetes")),
    "resource_pools[].scheduler", "resource_pools[].task_container_defaults", "resource_pools[].provider",
    "security.ssh", "additional_resource_managers",
)  # fmt: skip
_KINDS: dict[type[Node], str] = {Boolean: "true or false", FreeMap: "mapping"}
_KINDS_BY_NAME = {
    "LengthNode": "length", "Entrypoint": "string or list", "Hyperparameters": "mapping", "PodSpec": "mapping",
    "_Size": "size", "Duration": "duration", "_MixedPrecision": "O0 to O3", "Node": "anything",
    "Requirements": "string or list",
}  # fmt: skip


def main() -> int:
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    TARGET.write_text(reference())
    return 0


def reference() -> str:
    """The whole file."""
    parts = [
        _OPENING,
        "## Experiment\n",
        _table(_rows(EXPERIMENT.fields, "", EXPERIMENT_MEANINGS, _CLOSED)),
        "A length is a bare number or exactly one of `{batches: n}`, `{records: n}`, `{epochs: n}`.\n",
        *_union("searcher", SEARCHER, SEARCHER_MEANINGS),
        *_union("checkpoint_storage", CHECKPOINT_STORAGE, STORAGE_MEANINGS),
        "## Master\n",
        _table(_rows(MASTER.fields, "", MASTER_MEANINGS, _CLOSED_IN_MASTER)),
    ]
    return "\n".join(parts)


def _union(section: str, union: Tagged, meanings: Meanings) -> Iterator[str]:
    yield f"## {section}\n"
    yield f"Every `{union.tag}` has:\n"
    yield _table(_rows(union.common, "", meanings, ()))
    for name, variant in union.variants.items():
        yield f"### {union.tag}: {name}\n"
        rows = list(_rows(variant.fields, "", meanings, ()))
        yield _table(rows) if rows else "Nothing more.\n"


def _table(rows: Iterator[str] | list[str]) -> str:
    return "\n".join(["| Key | Kind | Default | Meaning |", "|---|---|---|---|", *rows]) + "\n"


def _rows(fields: dict[str, Field], parent: str, meanings: Meanings, closed: tuple[str, ...]) -> Iterator[str]:
    for name, field in fields.items():
        path = f"{parent}{name}"
        if field.legacy:
            continue
        yield f"| `{path}` | {_kind(field.node)} | {_default(field)} | {_meaning(path, meanings)}{_effect(field)} |"
        if path not in closed:
            yield from _below(field.node, path, meanings, closed)


def _below(node: Node, path: str, meanings: Meanings, closed: tuple[str, ...]) -> Iterator[str]:
    if isinstance(node, ListOf) and isinstance(node.item, Object):
        yield from _rows(node.item.fields, f"{path}[].", meanings, closed)
    elif isinstance(node, Object):
        yield from _rows(node.fields, f"{path}.", meanings, closed)


def _effect(field: Field) -> str:
    """Say where a key has no effect; whoever sets it there is told so, once."""
    if field.honoured_by is None:
        return ""
    if not field.honoured_by:
        return " **No effect**: accepted with a remark."
    engines = " and ".join(f"[{name}](../{name}.md)" for name in field.honoured_by)
    return f" Only with the {engines} engine; elsewhere accepted with a remark."


def _meaning(path: str, meanings: Meanings) -> str:
    """Raises KeyError for a key nobody has described."""
    return meanings[path].replace("|", "\\|")


def _kind(node: Node) -> str:
    if isinstance(node, Text):
        return " or ".join(f"`{choice}`" for choice in node.choices) or "string"
    if isinstance(node, Integer | Number):
        return _range(node)
    if isinstance(node, ListOf):
        return "list" if isinstance(node.item, Object) else f"list of {_kind(node.item)}"
    if isinstance(node, MapOf):
        return f"names to {_kind(node.item)}"
    if isinstance(node, Object | Tagged):
        return "section"
    return _KINDS.get(type(node)) or _KINDS_BY_NAME[type(node).__name__]


def _range(node: Integer | Number) -> str:
    word = "integer" if isinstance(node, Integer) else "number"
    above = getattr(node, "above", None)
    if above is not None:
        return f"{word} above {above}"
    high = None if node.high in (2**31 - 1, 2**32 - 1, 32767) else node.high
    if node.low is not None and high is not None:
        return f"{word} {node.low} to {high}"
    return word if node.low is None else f"{word}, at least {node.low}"


def _default(field: Field) -> str:
    if field.required and field.default is UNSET:
        return "required"
    value: Any = None if field.default is UNSET else field.default
    if value is None or value in ({}, [], ""):
        return ""
    return f"`{json.dumps(value)}`"


if __name__ == "__main__":
    sys.exit(main())
