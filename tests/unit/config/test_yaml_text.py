"""YAML text to plain data."""

import pytest

from determined.config import dump_yaml, parse_yaml
from determined.constants import MAX_CONFIG_CHARS
from determined.errors import InvalidConfig
from determined.schema import text as text_module
from determined.schema.storable import MAX_DEPTH
from determined.schema.text import check_size, parse_yaml_value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: 1", 1),
        ("a: 1e-3", 0.001),
        ("a: 1E5", 100000.0),
        ("a: .5", 0.5),
        ("a: -.inf", float("-inf")),
        ("a: 2020-01-01", "2020-01-01"),
        ("a: 2020-01-01T10:00:00Z", "2020-01-01T10:00:00Z"),
        ("a: 12:30:45", "12:30:45"),
        ("a: 8080:80", "8080:80"),
        ("a: 010", 8),
        ("a: 0x1f", 31),
        ("a: 1_000", 1000),
        ("a: 08", "08"),
        ("a: yes", True),
        ("a: null", None),
        ("a: ~", None),
        ("a: '1'", "1"),
        ("a: [1, two]", [1, "two"]),
        ("a: {b: {}}", {"b": {}}),
        ("a: 0.38.1", "0.38.1"),
        ("a: e5", "e5"),
    ],
)
def test_scalars_read_as_people_mean_them(text: str, value: object) -> None:
    assert parse_yaml(text) == {"a": value}


def test_empty_text_and_comments_alone_are_an_empty_config() -> None:
    assert parse_yaml("") == parse_yaml("# nothing\n") == {}


def test_json_is_yaml_too() -> None:
    assert parse_yaml('{"a": {"b": [1, null, "x"]}}') == {"a": {"b": [1, None, "x"]}}


def test_keys_become_strings() -> None:
    assert parse_yaml("{1: a, true: b, null: c}") == {"1": "a", "true": "b", "null": "c"}


def test_merge_keys_and_aliases_are_written_out() -> None:
    text = "base: &b {x: 1, y: 2}\nmine: {<<: *b, y: 3}\n"
    assert parse_yaml(text) == {"base": {"x": 1, "y": 2}, "mine": {"x": 1, "y": 3}}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[1, 2]", "must be a mapping"),
        ("just text", "must be a mapping"),
        ("a: 1\nb: 2\na: 3", "`a` is given twice at line 3, column 1"),
        ("x: {b: 1, b: 2}", "`b` is given twice at line 1"),
        ("a: [1, 2", "line"),
        ("a:\n\tb: 1", "line 2"),
        ("a: !!python/object/apply:os.system [ls]", "could not determine a constructor"),
        ("a: &x [*x]", "contains itself"),
        ("? [1, 2]\n: x", "key must be a scalar"),
        ("a: 1\n---\nb: 2", "document"),
        ("a: \x01", "not valid YAML"),
        ("a: " + "9" * 5000, "not valid YAML"),
        ("a: !!int x", "not valid YAML"),
    ],
)
def test_text_that_is_no_config_is_refused_with_its_place(text: str, words: str) -> None:
    with pytest.raises(InvalidConfig, match=words.replace("[", r"\[")):
        parse_yaml(text)


@pytest.mark.parametrize("text", ["[" * 200_000, "{a: " * 50_000, "- " * 50_000, "? " * 50_000])
def test_nesting_without_end_is_refused_not_a_crash(text: str) -> None:
    with pytest.raises(InvalidConfig, match=rf"deeper than {MAX_DEPTH} levels"):
        parse_yaml(text)


def test_alias_bomb_is_refused_before_it_is_written_out() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 10)]
    with pytest.raises(InvalidConfig, match=r"more than 30000 keys and values.* once its aliases are written out"):
        parse_yaml("\n".join(lines))


@pytest.mark.parametrize("text", ["a: [" + "0," * 100_000 + "0]", "".join(f"k{n}: {n}\n" for n in range(20_000))])
def test_a_large_config_is_refused_before_a_tree_is_built(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_module, "_compose", lambda _: pytest.fail("a tree was built"))
    with pytest.raises(InvalidConfig, match=r"more than 30000 keys and values; .* \(reached at line \d+\)"):
        parse_yaml(text)


def test_a_long_text_is_refused_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_module, "_check_events", lambda _: pytest.fail("it was read"))
    with pytest.raises(InvalidConfig, match="has 524289 characters; at most 524288 are taken"):
        parse_yaml("#" * (MAX_CONFIG_CHARS + 1))


def test_data_that_is_no_text_has_the_same_limit() -> None:
    check_size({"a": [0] * 29_000})
    with pytest.raises(InvalidConfig, match="more than 30000 keys and values"):
        check_size({"a": [[0] * 1000] * 31})


def test_dump_reads_back_in_the_same_order() -> None:
    value = {"b": 1, "a": {"z": [1, "ü"], "y": None}}
    assert list(parse_yaml_value(dump_yaml(value))) == ["b", "a"]
    assert parse_yaml(dump_yaml(value)) == value
