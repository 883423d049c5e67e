"""YAML as people and programs write it: odd scalars, tags, merges, line ends, and text that looks like a number."""

from types import SimpleNamespace
from typing import Any

import pytest

from determined.cli import render
from determined.errors import InvalidConfig
from determined.schema.text import MAX_NODES, check_size, dump_yaml, parse_yaml, parse_yaml_value
from determined.schema.yaml_lines import line_of, lines_of
from determined.sdk.determined import _config_text

SCALARS: list[tuple[str, Any]] = [
    ("", None), ("~", None), ("Null", None), ("nul", "nul"), ("on", True), ("Off", False), ("NO", False), ("y", "y"),
    ("+1", 1), ("-0x1f", -31), ("0b101", 5), ("0o17", "0o17"), ("1__0", 10), ("-0", 0), ("1.", 1.0), ("+.5", 0.5),
    ("1e3", 1000.0), ("1e+3", 1000.0), ("1.5E-3", 0.0015), (".e5", ".e5"), ("1e", "1e"), ("e1", "e1"),
    ("1e5.0", "1e5.0"),
    (".inf", float("inf")), ("+.INF", float("inf")), (".Nan", ".Nan"), ("inf", "inf"), ("1,000", "1,000"), ("=", "="),
    ("1:2", "1:2"), ("190:20:30", "190:20:30"), ("2026-01-02 03:04:05", "2026-01-02 03:04:05"), ("v1.0", "v1.0"),
    ("'yes'", "yes"), ('"\\u00f6"', "ö"), ("!!str 5", "5"), ("!!int '5'", 5), ("!!float 5", 5.0), ("!!null ''", None),
    ("|\n  two\n  lines\n", "two\nlines\n"), (">-\n  two\n  lines\n", "two lines"), ("a # b", "a"), ("a#b", "a#b"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "value"), SCALARS, ids=[repr(text) for text, _ in SCALARS])
def test_a_scalar_is_read_as_people_mean_it(text: str, value: Any) -> None:
    read = parse_yaml(f"a: {text}")["a"]
    assert read == value and type(read) is type(value)


WORDS = [
    "", "1", "1.5", "1e5", "12e4567", "1E5", "1.5e5", "1e+5", "-1e5", "0x1f", "0b1", "010", "08", "1_000", ".5", "1.",
    ".inf", "nan", "yes", "No", "on", "null", "~", "=", "<<", "2026-01-02", "12:30:45", "1:2", "- a", "a: b", "a #b",
    " lead", "trail ", "#x", "&a", "*a", "!x", "|", ">", "%", "@", "`", "{a}", "[a]", "'", '"', "a\nb", "a\n",
    "ö\u2028",
    "\t", "\U0001f600", "---", "...", "? x", "true", "0o17", "1__0", "+1", "-",
]  # fmt: skip


@pytest.mark.parametrize("word", WORDS, ids=repr)
def test_text_that_is_written_is_the_same_text_when_it_is_read(word: str) -> None:
    value = {"value": word, "list": [word], word or "empty": 1}
    assert parse_yaml(dump_yaml(value)) == value


@pytest.mark.parametrize("word", ["12e4567", "1e5", "0x1f", "yes", "2026-01-02"])
def test_a_config_that_a_client_sends_or_prints_keeps_its_texts(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    config = {"hyperparameters": {"commit": word}, "labels": [word]}
    assert parse_yaml(_config_text(config)) == config
    render.structured(config, args=SimpleNamespace(yaml=True))
    assert parse_yaml(capsys.readouterr().out) == config


@pytest.mark.parametrize("number", [0, -1, 2**64, 1.0, -0.5, 1e-7, 1e22, 1e300, 5e-324, float("inf"), True, None])
def test_numbers_that_are_written_are_the_same_numbers_when_they_are_read(number: Any) -> None:
    read = parse_yaml(dump_yaml({"a": number}))["a"]
    assert read == number and type(read) is type(number)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("\ufeffa: 1", {"a": 1}),
        ("a: 1\r\nb:\r\n  - 2\r\n", {"a": 1, "b": [2]}),
        ("---\na: 1\n...\n", {"a": 1}),
        ("%YAML 1.1\n---\na: 1", {"a": 1}),
        ("{a: 1,}", {"a": 1}),
        ("ö: ü", {"ö": "ü"}),
        ("'': 1", {"": 1}),
        ("? a\n: 1", {"a": 1}),
        ("a:\n- 1\n- - 2", {"a": [1, [2]]}),
        ("x: &x {a: 1}\ny: {<<: [*x, {a: 2, b: 3}], c: 4}", {"x": {"a": 1}, "y": {"a": 1, "b": 3, "c": 4}}),
        ("x: &x {a: 1}\ny:\n  a: 2\n  <<: *x", {"x": {"a": 1}, "y": {"a": 2}}),
        ("y: {<<: {a: 1}, <<: {a: 2, b: 3}}", {"y": {"a": 2, "b": 3}}),
        ("x: &x [1]\ny: *x", {"x": [1], "y": [1]}),
    ],
)
def test_a_document_is_read_whatever_its_dress(text: str, value: Any) -> None:
    assert parse_yaml(text) == value


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1: a\n'1': b", "key `1` is given twice at line 2, column 1"),
        ("a:\n  - {x: 1,\n     x: 2}", "key `x` is given twice at line 3, column 6"),
        ("a: {<<: 5}", "expected a mapping or list of mappings for merging, but found scalar at line 1, column 9"),
        ("a: *nobody", "found undefined alias at line 1, column 4"),
        ("a: 'open", "found unexpected end of stream"),
        ("a: @x", "found character that cannot start any token at line 1, column 4"),
        ("a: b: c", "mapping values are not allowed in this context at line 1, column 5"),
        ("a: !mine x", "could not determine a constructor for the tag '!mine' at line 1, column 4"),
        ("a: !!float x", "could not convert string to float"),
        ("a: 0x_", "invalid literal for int"),
        ("{[a]: 1}", "a key must be a scalar at line 1, column 2"),
        ("- a\n- b", "the config must be a mapping of keys to values, not a list"),
        ("5", "the config must be a mapping of keys to values, not an integer"),
    ],
)
def test_a_document_that_cannot_be_read_says_why_and_where(text: str, words: str) -> None:
    with pytest.raises(InvalidConfig) as refused:
        parse_yaml(text)
    assert words in refused.value.message


def test_the_number_of_keys_and_values_has_a_border() -> None:
    fits = "[" + "0," * (MAX_NODES - 1) + "]"
    assert len(parse_yaml_value(fits) or []) == MAX_NODES - 1  # type: ignore[arg-type]
    with pytest.raises(InvalidConfig, match=rf"more than {MAX_NODES} keys and values"):
        parse_yaml_value("[" + "0," * MAX_NODES + "]")


def test_data_of_a_request_has_the_same_border() -> None:
    check_size([0] * MAX_NODES)
    check_size({str(n): n for n in range(MAX_NODES // 2)})
    for value in (
        [0] * (MAX_NODES + 1),
        {str(n): n for n in range(MAX_NODES // 2 + 1)},
        {"a": [{"b": [0] * MAX_NODES}]},
    ):
        with pytest.raises(InvalidConfig, match="put data into files of the model directory"):
            check_size(value)


def test_an_alias_stands_on_the_line_of_its_anchor() -> None:
    lines = lines_of("x: &x\n  a: 1\ny: *x\nz:\n  <<: *x\n  b: 2\n")
    assert (lines["x.a"], lines["y"], lines["z.b"]) == (2, 3, 6)
    assert line_of(lines, "y.a") == 3 and line_of(lines, "z.b[4].c") == 6


def test_keys_with_dots_and_brackets_have_a_line_all_the_same() -> None:
    lines = lines_of("a.b: 1\n'c[0]': {d: 2}\n")
    assert lines["a.b"] == 1 and line_of(lines, "c[0].d") == 2
