"""What holds for every field of every config: a wrong value is named by its path, a secret is never shown."""

import json
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest

from determined.config import mask_secrets, restore_secrets
from determined.config.published import KINDS
from determined.config.shims import canonicalize
from determined.constants import MASKED
from determined.schema.lists import ListOf, MapOf
from determined.schema.node import Node, Report, Text
from determined.schema.objects import Field, Object, Tagged

# One of those that share a section: commands, notebooks, shells and TensorBoards are all jobs.
KINDS_OF_SECTIONS = sorted({where: kind for kind, where in KINDS.items()}.values())
EVERY = pytest.mark.parametrize("kind", KINDS_OF_SECTIONS)
WRONG: list[Any] = [5, -1, 1.5, True, "no such word", [], [5], {}, {"no_such_key": 5}]
Step = str | int
Found = tuple[tuple[Step, ...], Field, dict[Step, str]]
"""Path to a field, its declaration, and the tags of the unions on the way, by the length of the path to each."""


def section(kind: str) -> Any:
    module, _, name = KINDS[kind].rpartition(".")
    return getattr(import_module(f"determined.{module}"), name)


def fields_of(node: Node[Any], path: tuple[Step, ...] = (), tags: dict[Any, Any] | None = None) -> Iterator[Any]:
    """Find every field below a node: through sections, unions, lists and mappings."""
    tags = tags or {}
    if isinstance(node, ListOf):
        yield from fields_of(node.item, (*path, 0), tags)
    elif isinstance(node, MapOf):
        yield from fields_of(node.item, (*path, "some"), tags)
    variants = {None: node} if isinstance(node, Object) else node.variants if isinstance(node, Tagged) else {}
    for name, variant in variants.items():
        inside = {**tags, path: (node.tag, name)} if isinstance(node, Tagged) else tags
        for key, field in variant.fields.items():
            yield (*path, key), field, inside
            yield from fields_of(field.node, (*path, key), inside)


def config_with(path: tuple[Step, ...], value: Any, tags: dict[Any, Any]) -> dict[str, Any]:
    """Write a config that holds nothing but this value, and what chooses the variants around it."""
    for length in range(len(path), 0, -1):
        step, above = path[length - 1], path[: length - 1]
        if isinstance(step, int):
            value = [value]
        else:
            tag, name = tags.get(above, (None, None))
            value = {**({tag: name} if tag and tag != step else {}), step: value}
    config: dict[str, Any] = value
    return config


def written(path: tuple[Step, ...]) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)


def violations(kind: str, config: dict[str, Any]) -> list[str]:
    report = Report(complete=False)
    canonical = canonicalize(config) if kind == "experiment" else section(kind).canonical(config)
    section(kind).schema.check(canonical, "<config>", report)
    return report.violations


@EVERY
def test_a_wrong_value_is_reported_at_its_own_path(kind: str) -> None:
    refused = 0
    for path, _, tags in fields_of(section(kind).schema):
        for value in WRONG:
            for said in violations(kind, config_with(path, value, tags)):
                refused += 1
                place, colon, reason = said.partition(": ")
                assert colon and len(reason.split()) > 2, said
                around = "<config>" + written(path)
                inside = place.startswith(around) or around.startswith(place)
                assert inside or _is_spread_by_device(place, around), f"{said} for {value!r} at {around}"
    assert refused > 20


def _is_spread_by_device(place: str, around: str) -> bool:
    """Tell whether a value for all devices was written out by device: `image: 5` is `image.cpu: 5`."""
    return any(place.startswith(around.rpartition(".")[0] + f".{device}") for device in ("cpu", "cuda", "rocm"))


@EVERY
def test_a_message_about_a_type_says_what_was_given(kind: str) -> None:
    for path, _, tags in fields_of(section(kind).schema):
        for value, words in ((5, "an integer"), ([5], "a list"), ({"no_such_key": 5}, "a mapping")):
            for said in violations(kind, config_with(path, value, tags)):
                if said.startswith(f"<config>{written(path)}: must be a string, not "):
                    assert said.endswith((words, "the number 5; put the version in quotes")), said


def secrets(kind: str) -> list[Any]:
    return [(path, tags) for path, field, tags in fields_of(section(kind).schema) if field.secret]


@EVERY
def test_every_secret_field_is_masked_wherever_it_stands(kind: str) -> None:
    for path, tags in secrets(kind):
        shown = mask_secrets(config_with(path, "hush-hush", tags), section(kind))
        assert "hush" not in json.dumps(shown), path
        assert json.dumps(shown) == json.dumps(config_with(path, MASKED, tags)), "and nothing else is"


def test_the_configs_have_secrets_to_mask() -> None:
    assert len(secrets("experiment")) > 5 and len(secrets("master")) > 10


def test_a_secret_of_a_wrong_shape_is_masked_leaf_by_leaf() -> None:
    for path, tags in secrets("experiment"):
        wrong = config_with(path, {"a": ["hush", None], "b": 5}, tags)
        assert mask_secrets(wrong) == config_with(path, {"a": [MASKED, None], "b": MASKED}, tags)


def test_every_masked_secret_comes_back_from_the_config_that_was_shown() -> None:
    for path, tags in secrets("experiment"):
        known = config_with(path, "hush", tags)
        assert restore_secrets(mask_secrets(known), known) == known


@EVERY
def test_plain_text_fields_are_shown_as_they_are(kind: str) -> None:
    for path, field, tags in fields_of(section(kind).schema):
        if isinstance(field.node, Text) and not field.secret:
            config = config_with(path, "plain text", tags)
            assert mask_secrets(config, section(kind)) == config, path
