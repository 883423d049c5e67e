"""The table of benchmarks in README.md: which number of a result it takes, and what it does where there is none."""

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

SCRIPTS = Path(__file__).parents[3] / "scripts"
RESULT = """\
# Speed

Peers: two.

## Steps of 1 ms

| loop | us added | us added, p99 |
| --- | --- | --- |
| ours 1.0 | **4.5** (1 to 9) | 7 |
| slow | 1,200.5 | 9 |
| quick | -3 | 9 |

## Steps of 2 ms

| loop | us added |
| --- | --- |
| ours 1.0 | 40 |
| several | one 5, other 6, last 7 |

Taken on 2026-11-15 on 2 cores. Load average when it began: 1.4.
"""


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    monkeypatch.syspath_prepend(str(SCRIPTS))
    yield import_module("make_benchmark_table")
    for name in ("make_benchmark_table", "benchmark_lines", "doc_table"):
        sys.modules.pop(name, None)


def test_a_line_has_our_number_the_best_peer_the_floor_and_the_day(table: ModuleType) -> None:
    cell, line = table.Cell, table.Line
    peers = [("Slow", cell("slow", "us added")), ("Quick", cell("quick", "us added"))]
    one = line(
        "startup", "a step", "µs", cell("ours", "us added"), peers, ("the loop", cell("several", "us", "", "other"))
    )
    expected = "| [a step](benchmarks/results/startup.md) | 4.5 µs | Quick: -3 µs | the loop: 6 µs | 2026-11-15 |"
    assert table.row(one, RESULT) == expected


def test_the_best_peer_is_the_largest_where_more_is_better(table: ModuleType) -> None:
    cell = table.Cell
    peers = [("Slow", cell("slow", "us added")), ("Quick", cell("quick", "us added"))]
    one = table.Line("startup", "a step", "/s", cell("ours", "us added"), peers, best=max)
    assert table.row(one, RESULT).endswith("| 4.5/s | Slow: 1,200.5/s | | 2026-11-15 |")


def test_a_heading_chooses_among_tables_with_the_same_rows(table: ModuleType) -> None:
    assert table.number(RESULT, table.Cell("ours", "us added", under="Steps of 2")) == "40"


def test_a_result_without_the_row_or_the_column_is_an_error_that_names_them(table: ModuleType) -> None:
    for cell in (
        table.Cell("theirs", "us added"),
        table.Cell("ours", "seconds"),
        table.Cell("ours", "us", "Steps of 3"),
    ):
        with pytest.raises(table.MissingCell, match=rf"'{cell.row}\.\.\.' under '{cell.column}\.\.\.'"):
            table.number(RESULT, cell)


def test_a_result_that_names_no_day_has_none_in_the_table(table: ModuleType) -> None:
    assert table.date(RESULT.replace("Taken on 2026-11-15", "Taken on a machine")) == ""
