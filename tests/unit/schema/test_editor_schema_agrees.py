"""JSON schema for editors and the check of the master say the same of a value, field by field."""

import json
import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from determined.config.published import KINDS
from determined.schema.lists import ListOf, MapOf
from determined.schema.node import Node, Report, Text, nullable
from determined.schema.objects import Object, Tagged
from determined.schema.quantity_nodes import Duration, Size

VALUES: list[Any] = [
    None, True, False, 0, 1, -1, 3, 100, 70_000, 2**40, 0.5, -0.5, "", "x", "5s", "4g", "/a:/b", "/abs", "best", "O1",
    [], ["x"], ["A=1"], [1], [None], [[]], [{}], ["/a:/b:rw"], {}, {"a": 1}, {"a": "x"}, {"a": True},
    {"batches": 1}, {"batches": 0}, {"batches": 1, "epochs": 1}, {"epochs": "x"}, {"cpu": "x"}, {"gpu": ["A=1"]},
    {"type": "cancel_retries"}, {"a": {"type": "int", "minval": 1, "maxval": 2, "count": None}},
    {"a": {"type": "double", "minval": 1}}, {"a": {"type": "const", "val": None}},
    {"a": {"type": "categorical", "vals": []}},
    {"a": {"b": {"c": [1]}}},
]  # fmt: skip


def section(kind: str) -> Any:
    module, _, name = KINDS[kind].rpartition(".")
    return getattr(import_module(f"determined.{module}"), name)


@cache
def nodes() -> dict[str, Node[Any]]:
    """List every node below the published configs, by one path that leads to it."""
    found: dict[int, tuple[str, Node[Any]]] = {}
    for kind in KINDS:
        for path, node in _below(section(kind).schema, kind):
            found.setdefault(id(node), (path, node))
    return dict(found.values())


def _below(node: Node[Any], at: str) -> Iterator[tuple[str, Node[Any]]]:
    yield at, node
    if isinstance(node, ListOf | MapOf):
        yield from _below(node.item, f"{at}[]")
    objects = {"": node} if isinstance(node, Object) else getattr(node, "variants", {})
    for name, variant in objects.items():
        for key, field in variant.fields.items():
            yield from _below(field.node, f"{at}.{name}{'.' if name else ''}{key}")


def violations(node: Node[Any], value: Any) -> list[str]:
    """List what the master says of a value that is there; null is "unset"."""
    if value is None:
        return []
    report = Report(complete=True)
    node.check(node.canonical(value), "at", report)
    return report.violations


def marked(node: Node[Any], values: list[Any]) -> list[bool]:
    """Tell of each value whether an editor would underline it."""
    validator = Draft202012Validator(nullable(node.json_schema()))
    return [not validator.is_valid(value) for value in values]


def candidates(node: Node[Any]) -> list[Any]:
    chosen = [{node.tag: name} for name in (*node.variants, "nobody", None)] if isinstance(node, Tagged) else []
    texts = list(node.choices) if isinstance(node, Text) else []
    return VALUES + chosen + texts


# Checked where it is laid over a config: an editor says more of it than the section itself.
PARTIAL = {"policy.invariant_config"}
EVERY = pytest.mark.parametrize("path", [path for path in nodes() if path not in PARTIAL])


@EVERY
def test_an_editor_never_marks_what_the_master_takes(path: str) -> None:
    node = nodes()[path]
    values = candidates(node)
    wrong = [v for v, bad in zip(values, marked(node, values), strict=True) if bad and not violations(node, v)]
    assert wrong == []


@EVERY
def test_an_editor_marks_wrong_types_ranges_words_and_keys(path: str) -> None:
    node = nodes()[path]
    values = candidates(node)
    passed = [v for v, bad in zip(values, marked(node, values), strict=True) if not bad and not _is_beyond(node, v)]
    assert [(v, said) for v in passed for said in violations(node, v) if _is_plain(said)] == []


def _is_plain(violation: str) -> bool:
    """Tell whether a violation is of the kinds that a JSON schema describes."""
    plain = r"^[^:]*: (must be (an? |one of|at least|at most|greater|true or)|additional property|`\w+` is a required)"
    return re.match(plain, violation) is not None


def _is_beyond(node: Node[Any], value: Any) -> bool:
    """Tell whether a schema cannot know: units in a text; a union whose kind another layer may name."""
    in_text = isinstance(node, Size | Duration) and isinstance(value, str)
    return in_text or (isinstance(node, Tagged) and (not isinstance(value, dict) or value.get(node.tag) is None))


BOTH_TAKE: list[tuple[str, dict[str, Any]]] = [
    ("experiment", {"environment": {"ports": {"web": 80, "gone": None}}}),
    ("experiment", {"environment": {"image": {"gpu": "g", "cuda": None}}}),
    ("experiment", {"resources": {"devices": ["/a:/b", {"host_path": "/c", "container_path": "/d", "mode": None}]}}),
    ("experiment", {"searcher": None, "hyperparameters": {"x": None, "g": {"y": {"type": "const", "val": [1]}}}}),
    ("experiment", {"log_policies": [{"name": "a", "pattern": None, "action": {"type": "exclude_node"}}]}),
    ("experiment", {"min_validation_period": 3, "batches_per_step": 2, "labels": {"a": True}}),
    ("experiment", {"entrypoint_script": "x.py", "launch_layer": None, "version": 0, "internal": None}),
    ("master", {"resource_pools": [{"pool_name": "a", "max_cpu_containers_per_agent": 3}]}),
    ("master", {"resource_manager": {"type": "agent", "default_cpu_resource_pool": "default"}}),
    ("master", {"db": "postgresql://h", "root": "/x", "telemetry": {"anything": 1}, "scim": {"enabled": True}}),
    ("master", {"task_container_defaults": {"image": "x", "environment_variables": {"gpu": ["A=1"]}}}),
    ("agent", {"master_host": "m", "fluent": {"image": "x"}, "agent_reconnect_backoff": "5s"}),
    ("notebook", {"resources": {"is_single_node": None, "shm_size": "4g"}, "idle_timeout": "1h"}),
    ("policy", {"constraints": {"resources": {"max_slots": 3}, "priority_limit": None}}),
]


@pytest.mark.parametrize(("kind", "config"), BOTH_TAKE, ids=[f"{k} {json.dumps(c)[:60]}" for k, c in BOTH_TAKE])
def test_short_forms_and_keys_of_older_releases_are_taken_by_both(kind: str, config: dict[str, Any]) -> None:
    from determined.config.published import json_schema
    from determined.config.shims import canonicalize

    report = Report(complete=False)
    canonical = canonicalize(config) if kind == "experiment" else section(kind).canonical(config)
    section(kind).schema.check(canonical, "<config>", report)
    assert report.violations == []
    assert [error.message for error in Draft202012Validator(json_schema(kind)).iter_errors(config)] == []


def test_every_kind_of_config_is_walked() -> None:
    paths = list(nodes())
    assert len(paths) > 250
    assert {path.partition(".")[0] for path in paths} >= {"experiment", "master", "agent", "policy"}
