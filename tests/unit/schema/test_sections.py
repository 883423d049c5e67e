"""Sections: what follows from one declaration of fields."""

from collections.abc import Iterator
from typing import Any

import pytest

from determined.errors import InvalidConfig
from determined.schema.lists import ListOf, MapOf
from determined.schema.node import Anything, Integer, Node, Report, Text
from determined.schema.objects import Atomic, Field, Tagged
from determined.schema.section import Section, field


def _ordered(value: dict[str, Any]) -> Iterator[tuple[str, str]]:
    if value.get("low", 0) > value.get("high", 9):
        yield "low", f"low={value['low']} is above high"


def _named(value: dict[str, Any]) -> Iterator[tuple[str, str]]:
    if value.get("name") == "nobody":
        yield "", "`nobody` is no name"


class Base(Section, rules=(_ordered,)):
    low: int = field(Integer(), "The low end.", default=0)
    high: int = field(Integer(), "The high end.", default=9)


class Login(Section, node=Atomic):
    user: str | None = field(Text(), "Name.", default=None, fill=False)
    password: str | None = field(Text(), "Secret.", default=None, fill=False, secret=True)


class Thing(Base, complete_rules=(_named,), added={"ancient": Field(Node(), legacy=True)}):
    name: str = field(Text(), "The name.")
    tags: tuple[str, ...] = field(ListOf(Text()), "Words.", default=[])
    login: Login | None = field(Login, "Who.", default=None, fill=False)
    inner: Base = field(Base, "A range inside.", default={})
    free: Any = field(Anything(), "The user's own.", default=None, fill=False)
    optional_seed: int = field(Integer(), "Written by somebody else.", required=False)


def problems(raw: Any, *, complete: bool = True, kind: type[Section] = Thing) -> list[str]:
    report = Report(complete=complete)
    kind.schema.check(kind.canonical(raw), "<config>", report)
    return report.violations


def test_a_section_has_the_fields_and_the_rules_of_its_base() -> None:
    assert list(Thing.schema.fields)[:2] == ["low", "high"]
    assert problems({"name": "n", "low": 10}) == ["<config>.low: low=10 is above high"]
    assert problems({"name": "n", "inner": {"low": 5, "high": 4}}) == ["<config>.inner.low: low=5 is above high"]


def test_a_required_field_is_missed_only_where_nothing_else_can_bring_it() -> None:
    assert problems({}, complete=False) == []
    assert problems({}) == ["<config>: `name` is a required property"]
    assert problems({"name": None}) == ["<config>: `name` is a required property"]


def test_rules_wait_until_the_fields_themselves_are_sound() -> None:
    assert problems({"name": "nobody", "low": "x"}) == ["<config>.low: must be an integer, not a string"]
    assert problems({"name": "nobody"}) == ["<config>: `nobody` is no name"]
    assert problems({"name": "nobody"}, complete=False) == []


def _apart(value: dict[str, Any]) -> Iterator[tuple[str, str]]:
    if value["first"] == value["second"]:
        yield "", "first and second must differ"


class Pair(Section, rules=(_apart,)):
    first: int = field(Integer(), "One.")
    second: int = field(Integer(), "Another.")


def test_a_rule_may_count_on_required_fields() -> None:
    assert problems({"first": 1}, kind=Pair) == ["<config>: `second` is a required property"]
    assert problems({"first": 1, "second": 1}, kind=Pair) == ["<config>: first and second must differ"]


def test_unknown_keys_are_refused_with_the_nearest_known_one() -> None:
    assert problems({"name": "n", "tag": []}) == [
        "<config>: additional property `tag` not allowed; did you mean `tags`?"
    ]
    assert problems({"name": "n", "qqq": 1}) == ["<config>: additional property `qqq` not allowed"]
    assert problems({"name": "n", "password": 2}) == [
        "<config>: additional property `password` not allowed; it belongs under `login`"
    ]
    assert problems({"name": "n", "ancient": {"any": 1}}) == []
    assert "ancient" not in "".join(problems({"name": "n", "ancien": 1}))


def test_defaults_are_written_but_for_fields_that_stay_absent() -> None:
    assert Thing.fill({"name": "n"}) == {"low": 0, "high": 9, "name": "n", "tags": [], "inner": {"low": 0, "high": 9}}
    assert Thing.fill({"name": "n", "inner": {"low": 3}})["inner"] == {"low": 3, "high": 9}
    assert Thing.fill({"name": "n", "unknown": 1})["unknown"] == 1


def test_written_defaults_are_not_shared_between_configs() -> None:
    Thing.fill({"name": "n"})["tags"].append("x")
    assert Thing.fill({"name": "n"})["tags"] == []


def test_nulls_are_dropped_at_every_depth() -> None:
    raw = {"name": "n", "tags": None, "inner": {"low": None, "high": 3}, "free": {"kept": None}}
    assert Thing.canonical(raw) == {"name": "n", "inner": {"high": 3}, "free": {"kept": None}}


def test_an_atomic_section_is_replaced_whole() -> None:
    high, low = {"login": {"user": "a"}, "inner": {"low": 1}}, {"login": {"password": "p"}, "inner": {"high": 2}}
    assert Thing.merge(high, low) == {"login": {"user": "a"}, "inner": {"low": 1, "high": 2}}


def test_loaded_values_have_their_types_and_their_defaults() -> None:
    thing = Thing.load({"name": "n", "tags": ["a"], "login": {"user": "u"}})
    assert (thing.name, thing.tags, thing.low, thing.inner, thing.free) == ("n", ("a",), 0, Base(), None)
    assert thing.login is not None and thing.login.user == "u" and thing.login.password is None
    assert thing.raw["login"] == {"user": "u"}


def test_sections_are_equal_by_value_and_never_to_another_kind() -> None:
    assert Thing(name="n") == Thing.load({"name": "n"}) != Thing(name="m")
    assert hash(Base(low=1)) == hash(Base.load({"low": 1}))
    assert Base() != Thing(name="n") and Base() != {"low": 0, "high": 9}


def test_a_section_cannot_be_changed_but_copied() -> None:
    thing = Thing.load({"name": "n", "low": 2})
    with pytest.raises(AttributeError, match=r"Thing.low cannot be set: configs are immutable, use replace\(\)"):
        thing.low = 3  # type: ignore[misc]
    copy = thing.replace(low=3)
    assert (copy.low, copy.name, thing.low, copy.raw) == (3, "n", 2, thing.raw)


def test_a_section_made_by_hand_needs_its_fields_and_takes_no_others() -> None:
    with pytest.raises(TypeError, match=r"Thing: missing \['name'\], unknown \['nme'\]"):
        Thing(nme="n")  # type: ignore[call-arg]
    with pytest.raises(AttributeError, match="Thing has no field 'nme'"):
        _ = Thing(name="n").nme  # type: ignore[attr-defined]


def test_the_text_of_a_section_has_no_secret_and_nothing_of_the_users_own() -> None:
    thing = Thing.load({"name": "n", "login": {"user": "u", "password": "hush"}, "free": "hush"})
    assert "hush" not in repr(thing) and "user='u'" in repr(thing) and "name='n'" in repr(thing)


def test_parsing_reports_every_violation_under_one_headline() -> None:
    with pytest.raises(InvalidConfig) as refused:
        Thing.parse({"tags": [1], "odd": 2}, "invalid thing")
    assert refused.value.message.splitlines() == [
        "invalid thing",
        "<config>.tags[0]: must be a string, not an integer",
        "<config>: `name` is a required property",
        "<config>: additional property `odd` not allowed",
    ]
    assert Thing.parse({"name": "n", "low": None}, "invalid thing").inner == Base()


class Shape(Section):
    type: str = field(Text(), "Which.")
    colour: str = field(Text(), "Common.", default="red")


class Round(Shape):
    radius: int = field(Integer(low=1), "How wide.", default=5)


class Square(Shape, extra=True):
    side: int = field(Integer(low=1), "How long.")


SHAPE = Tagged(Shape, tag="type", variants={"round": Round, "square": Square})
CLOSED = Tagged(Shape, tag="type", variants={"round": Round})


def shape_problems(raw: Any, *, complete: bool = True, node: Any = SHAPE) -> list[str]:
    report = Report(complete=complete)
    node.check(raw, "at", report)
    return report.violations


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (5, "at: not an object whose `type` is one of round, square"),
        ({"type": "oval"}, "at: not an object whose `type` is one of round, square (got 'oval')"),
        ({"type": ["round"]}, "at: not an object whose `type` is one of round, square (got ['round'])"),
        ({"colour": "red"}, "at: `type` is a required property"),
        ({"type": "square"}, "at: `side` is a required property"),
        ({"type": "round", "side": 3}, "at: additional property `side` not allowed with type `round`"),
        ({"type": "round", "radus": 3}, "at: additional property `radus` not allowed; did you mean `radius`?"),
        ({"type": "round", "radius": 0}, "at.radius: must be at least 1, not 0"),
    ],
)
def test_a_union_says_what_is_wrong_with_the_variant_that_was_chosen(raw: Any, message: str) -> None:
    assert shape_problems(raw) == [message]


def test_a_part_of_a_union_is_checked_without_knowing_the_variant() -> None:
    assert shape_problems({"radius": 0}, complete=False) == ["at.radius: must be at least 1, not 0"]
    assert shape_problems({"radus": 1}, complete=False, node=CLOSED)[0].endswith("did you mean `radius`?")
    assert shape_problems({"mine": 1}, complete=False) == [], "some variant takes any key"


def test_another_variant_keeps_the_common_fields_alone() -> None:
    low = {"type": "round", "radius": 3, "colour": "blue"}
    assert SHAPE.merge({"type": "square", "side": 1}, low) == {"type": "square", "side": 1, "colour": "blue"}
    assert SHAPE.merge({"radius": 4}, low) == {"type": "round", "radius": 4, "colour": "blue"}
    assert SHAPE.merge({"type": "round"}, low) == low


def test_a_union_fills_and_loads_the_variant_that_is_named() -> None:
    assert SHAPE.fill({"type": "round"}) == {"type": "round", "colour": "red", "radius": 5}
    assert SHAPE.fill({"colour": "blue"}) == {"colour": "blue"}, "nobody knows the defaults of an unnamed variant"
    assert SHAPE.load({"type": "square", "side": 2}) == Square(type="square", side=2)


def test_secrets_are_found_below_lists_mappings_and_unions() -> None:
    from determined.schema.secrets import secret_names

    class Holder(Section):
        logins: tuple[Login, ...] = field(ListOf(Login), "Several.", default=[])
        by_name: dict[str, Login] = field(MapOf(Login), "Named.", default={})

    assert secret_names(Holder.schema) == {"logins": frozenset({"password"}), "by_name": frozenset({"password"})}
