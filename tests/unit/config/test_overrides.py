"""`--config key=value`."""

from typing import Any

import pytest

from determined.config import apply_overrides
from determined.errors import InvalidArgument, InvalidConfig


@pytest.mark.parametrize(
    ("raw", "override", "result"),
    [
        ({}, "a=1", {"a": 1}),
        ({}, "a.b.c=x", {"a": {"b": {"c": "x"}}}),
        ({"a": {"z": 1}}, "a.b=1e-3", {"a": {"z": 1, "b": 0.001}}),
        ({"a": None}, "a.b=true", {"a": {"b": True}}),
        ({"a": {"b": 5}}, "a.b.c=1", {"a": {"b": {"c": 1}}}),
        ({}, "a=1,two,3.5", {"a": [1, "two", 3.5]}),
        ({}, "a=[1, 2]", {"a": [1, 2]}),
        ({"a": {"x": 1}}, "a={y: 2}", {"a": {"x": 1, "y": 2}}),
        ({"a": 3}, "a={y: 2}", {"a": {"y": 2}}),
        ({}, "a=", {"a": None}),
        ({}, "a=b=c", {"a": "b=c"}),
        (
            {},
            "bind_mounts={host_path: /a, container_path: b}",
            {"bind_mounts": [{"host_path": "/a", "container_path": "b"}]},
        ),
        ({}, "bind_mounts=[]", {"bind_mounts": []}),
        ({"bind_mounts": [1]}, "bind_mounts=x", {"bind_mounts": ["x"]}),
        ({}, "entrypoint=python3 train.py", {"entrypoint": "python3 train.py"}),
    ],
)
def test_an_override_is_laid_over_the_file(raw: dict[str, Any], override: str, result: dict[str, Any]) -> None:
    before = repr(raw)
    assert apply_overrides(raw, [override]) == result
    assert repr(raw) == before


def test_later_overrides_win() -> None:
    assert apply_overrides({}, ["a.b=1", "a.c=2", "a.b=3"]) == {"a": {"b": 3, "c": 2}}


@pytest.mark.parametrize("text", ["a", "", "=1", "a..b=1", ".a=1"])
def test_text_that_is_no_override_is_refused(text: str) -> None:
    with pytest.raises(InvalidArgument, match="write key=value"):
        apply_overrides({}, [text])


def test_a_value_that_is_no_yaml_is_refused() -> None:
    with pytest.raises(InvalidConfig, match="not valid YAML"):
        apply_overrides({}, ["a=[1"])
