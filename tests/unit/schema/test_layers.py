"""File, environment and flags of a process, laid over one another."""

from typing import Any

import pytest

from determined.errors import InvalidConfig
from determined.schema.layers import checked, layered
from determined.schema.lists import FreeMap, ListOf
from determined.schema.node import Boolean, Integer, Text
from determined.schema.quantity_nodes import Duration
from determined.schema.section import Section, field


class Server(Section):
    port: int = field(Integer(low=0, high=65535), "Port.", default=80)
    name: str = field(Text(), "Name.", default="")


class Settings(Section):
    server: Server = field(Server, "Where.", default={})
    words: tuple[str, ...] = field(ListOf(Text()), "Words.", default=[])
    wait: float = field(Duration(), "How long.", default="5s")
    loud: bool = field(Boolean(), "Loud.", default=False)
    free: dict[str, Any] | None = field(FreeMap(), "Free.", default=None, fill=False)
    password: str | None = field(Text(), "Secret.", default=None, fill=False, secret=True)


def layers(file: dict[str, Any] | None = None, env: dict[str, str] | None = None, **flags: Any) -> dict[str, Any]:
    return layered(Settings, file, env or {}, flags)


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ({"DET_SERVER_PORT": "90"}, {"server": {"port": 90}}),
        ({"DET_SERVER_NAME": "0123"}, {"server": {"name": "0123"}}),
        ({"DET_SERVER_NAME": ""}, {"server": {"name": ""}}),
        ({"DET_SERVER_PORT": ""}, {}),
        ({"DET_PASSWORD": "null"}, {"password": "null"}),
        ({"DET_WORDS": "[a, b]"}, {"words": ["a", "b"]}),
        ({"DET_WAIT": "1m"}, {"wait": "1m"}),
        ({"DET_WAIT": "7"}, {"wait": 7}),
        ({"DET_LOUD": "true"}, {"loud": True}),
        ({"DET_FREE": "{a: 1}", "DET_SERVER": "x", "DET_PORT": "1", "det_loud": "true"}, {}),
    ],
)
def test_a_variable_sets_the_field_whose_path_it_names(env: dict[str, str], expected: dict[str, Any]) -> None:
    read = layers(env=env)
    read["server"] = {key: value for key, value in read.get("server", {}).items() if value is not None}
    assert {key: value for key, value in read.items() if value not in (None, {})} == expected


def test_flags_win_over_variables_over_the_file_field_by_field() -> None:
    file = {"server": {"port": 1, "name": "file"}, "words": ["file"], "loud": True}
    read = layers(file, {"DET_SERVER_PORT": "2", "DET_WORDS": "[env]"}, **{"server.port": 3, "loud": None})
    assert read == {"server": {"port": 3, "name": "file"}, "words": ["env"], "loud": True}


def test_a_flag_may_be_nested_or_dotted() -> None:
    assert layers(**{"server.port": 3, "server": {"name": "n"}}) == {"server": {"port": 3, "name": "n"}}
    assert layers(**{"free.a.b": 1}) == {"free": {"a": {"b": 1}}}


def test_nulls_in_the_file_leave_what_the_defaults_say() -> None:
    filled = checked(Settings, layers({"server": None, "words": None, "wait": None}), "invalid settings")
    assert filled == {"server": {"port": 80, "name": ""}, "words": [], "wait": "5s", "loud": False}


@pytest.mark.parametrize(
    ("variable", "text"),
    [("DET_WORDS", "[a,"), ("DET_SERVER_PORT", "{"), ("DET_LOUD", "a: b: c"), ("DET_WAIT", "\x01")],
)
def test_a_variable_that_is_no_yaml_is_named(variable: str, text: str) -> None:
    with pytest.raises(InvalidConfig, match=variable):
        layers(env={variable: text})


@pytest.mark.parametrize(
    ("env", "message"),
    [
        ({"DET_SERVER_PORT": "high"}, "<config>.server.port: must be an integer, not a string"),
        ({"DET_SERVER_PORT": "70000"}, "<config>.server.port: must be at most 65535, not 70000"),
        ({"DET_LOUD": "1"}, "<config>.loud: must be true or false, not an integer"),
        ({"DET_WORDS": "a"}, "<config>.words: must be a list, not a string"),
    ],
)
def test_a_variable_of_a_wrong_kind_is_refused_at_the_field(env: dict[str, str], message: str) -> None:
    with pytest.raises(InvalidConfig) as refused:
        checked(Settings, layers(env=env), "invalid settings")
    assert refused.value.violations == [message]


def test_the_file_itself_is_not_changed() -> None:
    file: dict[str, Any] = {"server": {"port": 1}, "free": {"a": {"b": 1}}}
    layers(file, {"DET_SERVER_PORT": "2"}, **{"free.a.b": 2})
    assert file == {"server": {"port": 1}, "free": {"a": {"b": 1}}}
