"""The note of what a trial has imported, as its reader trusts it: not at all."""

import msgspec
import pytest

from determined.rundir.preload import MAX_MODULES, PreloadList, decode, is_name


def note(*modules: object) -> bytes:
    return msgspec.json.encode({"modules": list(modules), "variables": {}, "changed": []})


def test_note_is_read() -> None:
    assert decode(note("torch", "torch.nn")) == PreloadList(["torch", "torch.nn"], {}, [])


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b"[]",
        note(),
        note(1),
        note("a b"),
        note("../x"),
        note(""),
        note("a."),
        note("x" * 200),
        note("é"),
        b'{"modules":["a\xff"],"variables":{},"changed":[]}',
        b'{"modules":["a"],"variables":{},"changed":[],"more":' + b"[" * 500_000,
    ],
)
def test_anything_else_is_no_list(text: bytes) -> None:
    assert decode(text) is None


def test_endless_list_is_no_list() -> None:
    assert decode(note(*["x"] * (MAX_MODULES + 1))) is None


def test_names_are_dotted_identifiers() -> None:
    assert is_name("a.b_1.C")
    assert not is_name("a..b")


def test_module_is_left_out_with_all_that_lies_in_it() -> None:
    preload = PreloadList(["torch", "torch.nn", "torchvision", "numpy"], {"A": "1"}, [])
    assert preload.without({"torch"}) == PreloadList(["torchvision", "numpy"], {"A": "1"}, [])
