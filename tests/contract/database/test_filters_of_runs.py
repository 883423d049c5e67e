"""Filters and sorts of runs on both databases, against the same rows filtered and sorted in Python."""

import json
import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import product
from typing import Any

import pytest
from database_world import AWKWARD, NOW, World, after
from sqlalchemy import Connection

from determined.errors import InvalidArgument
from determined.master.db.queries import query_filter, run

NAMES = ["", "alpha", "Alpha", "Größe", "GRÖSSE", "50%_off", "50x off", "a\\b", '"quoted"', "学習 🚀", AWKWARD]
PARTS = ["", "a", "ALPHA", "größe", "%", "_", "\\", '"', "学", "🚀", "x off", "absent"]
LABELS = [[], ["red"], ["Red"], ["red", "blue"], ["red blue"], ['with "quotes"'], ["100%"], ["a\\b"], ["größe"]]
VALUES = [None, -1.5, 0.0, 0.5, 0.5, 2.0, float("inf")]
HPARAMS: list[Any] = [..., None, 3, 0.5, -7, "3", "text", "Text", True, False, [1, 2], 2**53]
TIMES = [None, NOW, after(0.000001), after(3600), after(-86_400)]
STATES = ["ACTIVE", "COMPLETED", "ERROR"]
ORDERED: dict[str, Callable[[Any, Any], bool]] = {
    "=": lambda a, b: bool(a == b),
    "<": lambda a, b: bool(a < b),
    "<=": lambda a, b: bool(a <= b),
    ">": lambda a, b: bool(a > b),
    ">=": lambda a, b: bool(a >= b),
}


@dataclass(frozen=True)
class Row:
    id: int
    name: str
    description: str | None
    labels: list[str]
    value: float | None
    restarts: int
    hparam: Any  # ...: it has none
    end: datetime | None
    external: str | None
    state: str
    archived: bool


@pytest.fixture
def rows(world: World) -> list[Row]:
    """Thirty runs, each of an experiment of its own; many values are shared, some are missing."""
    rng = random.Random(11)
    return [_insert(world, rng) for _ in range(30)]


def _insert(world: World, rng: random.Random) -> Row:
    name, labels = rng.choice(NAMES), rng.choice(LABELS)
    description = rng.choice([None, *NAMES])
    hparam = rng.choice(HPARAMS)
    row = Row(
        0, name, description, labels, rng.choice(VALUES), rng.randrange(3), hparam, rng.choice(TIMES),
        rng.choice([None, *NAMES]), rng.choice(STATES), rng.random() < 0.3,
    )  # fmt: skip
    experiment_id = world.experiment({"name": name, "description": description, "labels": labels})
    trial_id = world.trial(
        experiment_id,
        {
            "hparams": {} if hparam is ... else {"x": hparam},
            "best_validation_value": row.value,
            "restarts": row.restarts,
            "end_time": row.end,
            "external_id": row.external,
            "state": row.state,
            "archived": row.archived,
        },
    )
    return Row(trial_id, *(getattr(row, name) for name in list(Row.__dataclass_fields__)[1:]))


def of(column: str, operator: str, value: Any = None, kind: str = "") -> dict[str, Any]:
    return {"kind": "field", "columnName": column, "operator": operator, "value": value, "type": kind}


def find(
    conn: Connection, world: World, *children: Any, conjunction: str = "and", sort: str | None = None
) -> list[int]:
    group = {"kind": "group", "conjunction": conjunction, "children": list(children)}
    parsed = query_filter.parse(json.dumps({"filterGroup": group}))
    conditions = run.run_conditions(parsed, world.home)
    ids = run.find_runs(conn, conditions, sort, None, 0)
    assert run.count_runs(conn, conditions) == len(ids)
    return ids


def newest(rows: Iterable[Row]) -> list[int]:
    return sorted((row.id for row in rows), reverse=True)


TEXTS: dict[str, Callable[[Row], str | None]] = {
    "experimentName": lambda row: row.name,
    "experimentDescription": lambda row: row.description,
    "externalRunId": lambda row: row.external,
}
NUMBERS: dict[str, Callable[[Row], float | None]] = {
    "searcherMetricsVal": lambda row: row.value,
    "restarts": lambda row: row.restarts,
}


def test_texts_are_searched_whatever_the_case_and_whatever_signs(
    conn: Connection, world: World, rows: list[Row]
) -> None:
    for (column, read), part in product(TEXTS.items(), PARTS):
        holding = newest(row for row in rows if part.lower() in (read(row) or "").lower())
        assert find(conn, world, of(column, "contains", part)) == holding, part
        rest = newest(row for row in rows if row.id not in holding)
        assert find(conn, world, of(column, "notContains", part)) == rest, "a missing text contains nothing"


def test_texts_are_compared_exactly_and_a_missing_one_equals_nothing(
    conn: Connection, world: World, rows: list[Row]
) -> None:
    for (column, read), name in product(TEXTS.items(), NAMES):
        same = newest(row for row in rows if read(row) == name)
        assert find(conn, world, of(column, "=", name)) == same
        assert find(conn, world, of(column, "!=", name)) == newest(row for row in rows if row.id not in same)
    for column, read in TEXTS.items():
        assert find(conn, world, of(column, "isEmpty")) == newest(row for row in rows if not read(row))
        assert find(conn, world, of(column, "notEmpty")) == newest(row for row in rows if read(row))


def test_numbers_are_compared_and_a_missing_one_fits_nothing(conn: Connection, world: World, rows: list[Row]) -> None:
    values = (-2, 0, 0.5, 1, 2.0, "0.5")
    for (column, read), (operator, compare), value in product(NUMBERS.items(), ORDERED.items(), values):
        fitting = newest(row for row in rows if (v := read(row)) is not None and compare(v, float(value)))
        assert find(conn, world, of(column, operator, value)) == fitting, (column, operator, value)


def test_a_number_that_differs_may_be_missing(conn: Connection, world: World, rows: list[Row]) -> None:
    assert find(conn, world, of("searcherMetricsVal", "!=", 0.5)) == newest(row for row in rows if row.value != 0.5)
    assert find(conn, world, of("searcherMetricsVal", "isEmpty")) == newest(row for row in rows if row.value is None)
    assert find(conn, world, of("searcherMetricsVal", "notEmpty")) == newest(
        row for row in rows if row.value is not None
    )


def test_times_are_compared_to_the_microsecond_in_any_zone(conn: Connection, world: World, rows: list[Row]) -> None:
    times = ("2026-11-15T04:00:00.123457Z", "2026-11-15T09:30:00.123457+05:30", "2026-11-15T04:00:00.123457")
    for (operator, compare), written in product(ORDERED.items(), times):
        fitting = newest(row for row in rows if row.end is not None and compare(row.end, NOW))
        assert find(conn, world, of("endTime", operator, written)) == fitting, (operator, written)


def test_labels_are_matched_whole_and_in_their_case(conn: Connection, world: World, rows: list[Row]) -> None:
    for label in ("red", "Red", "re", "blue", "red blue", 'with "quotes"', "100%", "a\\b", "größe", "GRÖSSE", "%"):
        holding = newest(row for row in rows if label in row.labels)
        assert find(conn, world, of("tags", "contains", label)) == holding, label
        rest = newest(row for row in rows if label not in row.labels)
        assert find(conn, world, of("tags", "notContains", label)) == rest, label
    assert find(conn, world, of("labels", "isEmpty")) == newest(row for row in rows if not row.labels)


def test_states_and_truths_are_taken_as_pages_write_them(conn: Connection, world: World, rows: list[Row]) -> None:
    for written in ("ERROR", "STATE_ERROR"):
        assert find(conn, world, of("state", "=", written)) == newest(row for row in rows if row.state == "ERROR")
    for written in (True, "true"):
        assert find(conn, world, of("archived", "=", written)) == newest(row for row in rows if row.archived)


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _text(value: Any) -> str | None:
    if value is ... or value is None:
        return None
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))


def test_hyperparameters_of_mixed_types_are_compared_as_what_they_are(
    conn: Connection, world: World, rows: list[Row]
) -> None:
    for value in (3, 0.5, -7, 2**53):
        for operator, compare in ORDERED.items():
            fitting = newest(r for r in rows if (n := _number(r.hparam)) is not None and compare(n, value))
            assert find(conn, world, of("hp.x", operator, value)) == fitting, (operator, value)
    for value, text in (("3", "3"), ("text", "text"), (True, "true"), (False, "false")):
        same = newest(row for row in rows if _text(row.hparam) == text)
        assert find(conn, world, of("hp.x", "=", value)) == same, value
        assert find(conn, world, of("hp.x", "!=", value)) == newest(row for row in rows if row.id not in same)
    assert find(conn, world, of("hp.x", "isEmpty")) == newest(row for row in rows if _text(row.hparam) is None)
    listed = newest(row for row in rows if "1,2" in (_text(row.hparam) or ""))
    assert find(conn, world, of("hp.x", "contains", "1,2")) == listed


def _present(rows: list[Row], read: Callable[[Row], Any], *, descending: bool) -> list[int]:
    """Ids by value, the newest first among equals; without a value last."""
    newest_first = sorted(rows, key=lambda row: -row.id)
    valued = [row for row in newest_first if read(row) is not None]
    return [row.id for row in sorted(valued, key=read, reverse=descending)] + [
        row.id for row in newest_first if read(row) is None
    ]


def test_ties_are_ordered_and_missing_values_are_last_both_ways(
    conn: Connection, world: World, rows: list[Row]
) -> None:
    for (column, read), direction in product([*TEXTS.items(), *NUMBERS.items()], ("asc", "desc")):
        found = find(conn, world, sort=f"{column}={direction}")
        assert found == _present(rows, read, descending=direction == "desc"), (column, direction)


def test_hyperparameters_sort_numbers_before_texts_before_nothing(
    conn: Connection, world: World, rows: list[Row]
) -> None:
    numbers = [row for row in rows if _number(row.hparam) is not None]
    texts = [row for row in rows if _number(row.hparam) is None]
    for direction in ("asc", "desc"):
        expected = _present(numbers, lambda row: _number(row.hparam), descending=direction == "desc")
        expected += _present(texts, lambda row: _text(row.hparam), descending=direction == "desc")
        assert find(conn, world, sort=f"hp.x={direction}") == expected


def test_pages_show_every_run_once(conn: Connection, world: World, rows: list[Row]) -> None:
    conditions = run.run_conditions(query_filter.parse(None), world.home)
    for sort in ("searcherMetricsVal=asc", "experimentName=desc", "hp.x=asc,restarts=desc", None):
        whole = run.find_runs(conn, conditions, sort, None, 0)
        for size in (7, 29):
            pages = [run.find_runs(conn, conditions, sort, size, start) for start in range(0, len(rows), size)]
            assert [one for page in pages for one in page] == whole, sort
        assert sorted(whole) == sorted(row.id for row in rows)


def _random_tree(rng: random.Random, depth: int) -> tuple[dict[str, Any], Callable[[Row], bool]]:
    """A filter, and what it means."""
    if depth == 0 or rng.random() < 0.3:
        return _random_field(rng)
    parts = [_random_tree(rng, depth - 1) for _ in range(rng.randrange(4))]
    either = rng.random() < 0.5
    node = {"kind": "group", "conjunction": "or" if either else "and", "children": [node for node, _ in parts]}
    tests = [test for _, test in parts]
    if not tests:
        return node, lambda _row: True
    return node, lambda row: (any if either else all)(test(row) for test in tests)


def _random_field(rng: random.Random) -> tuple[dict[str, Any], Callable[[Row], bool]]:
    if rng.random() < 0.5:
        column, part = rng.choice(list(TEXTS)), rng.choice(PARTS)
        read = TEXTS[column]
        return of(column, "contains", part), lambda row: part.lower() in (read(row) or "").lower()
    column, operator, value = rng.choice(list(NUMBERS)), rng.choice(list(ORDERED)), rng.choice([0, 0.5, 1, 2])
    number, compare = NUMBERS[column], ORDERED[operator]
    return of(column, operator, value), lambda row: (v := number(row)) is not None and compare(v, value)


def test_nested_groups_mean_what_their_words_say(conn: Connection, world: World, rows: list[Row]) -> None:
    rng = random.Random(23)
    for _ in range(40):
        node, keep = _random_tree(rng, 3)
        assert find(conn, world, node) == newest(filter(keep, rows)), node


@pytest.mark.parametrize(
    ("field", "said"),
    [
        (of("restarts", ">", "many"), "a number is needed"),
        (of("restarts", "=", None), "a number is needed"),
        (of("endTime", "<", "yesterday"), "an RFC 3339 time is needed"),
        (of("restarts", "~", 1), "is not one of ="),
        (of("nonsense", "=", 1), "cannot be searched; use one of"),
        ({"kind": "field"}, "with `columnName`"),
        ({"children": "x"}, "must be a list"),
        ({"children": [], "conjunction": "xor"}, "must be `and` or `or`"),
    ],
)
def test_a_filter_that_means_nothing_is_told(conn: Connection, world: World, field: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidArgument, match=said):
        find(conn, world, field)
