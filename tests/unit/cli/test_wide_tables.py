"""Tables with characters that a terminal draws in two columns, or in none."""

import csv
import io

import pytest
from recorded_master import Det, page, workspace
from small_master import SmallMaster

from determined.cli import render
from determined.cli.terminal import width


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("", 0),
        ("plain", 5),
        ("größe", 5),
        ("gro\u0308ße", 5),  # an accent of its own
        ("\u4f60\u597d", 4),
        ("ﾊﾛｰ", 3),  # half-width
        ("\uff21", 2),  # full-width
        ("\U0001f600!", 3),
        ("a\u200db", 2),
        ("\u20ac", 1),
    ],
)
def test_width_is_what_a_terminal_draws(text: str, columns: int) -> None:
    assert width(text) == columns


def _separators(line: str) -> list[int]:
    """Columns on the screen in which the lines between cells stand."""
    return [width(line[:at]) for at, character in enumerate(line) if character in "|+"]


def test_columns_stand_under_each_other_whatever_the_script(capsys: pytest.CaptureFixture[str]) -> None:
    names = ["plain", "\u673a\u5668\u5b66\u4e60", "gro\u0308ße", "\U0001f680 rocket", "\uff28\uff29"]
    render.table(["ID", "Name", "State"], [[number, name, "ok"] for number, name in enumerate(names)])
    lines = capsys.readouterr().out.splitlines()
    assert len({tuple(_separators(line)) for line in lines}) == 1, "\n".join(lines)


def test_rule_is_as_wide_as_the_widest_name(det: Det, master: SmallMaster) -> None:
    master.answers["GET", "/api/v1/workspaces"] = page("workspaces", workspace(1, "\u4f60" * 10), workspace(2, "b"))
    header, rule, first, second = det("w", "list").out.splitlines()
    assert "-+-" + "-" * 20 + "-+-" in rule
    assert _separators(header) == _separators(rule) == _separators(first) == _separators(second)


def test_csv_is_not_padded(det: Det, master: SmallMaster) -> None:
    name = "\u4f60, \u597d"
    master.answers["GET", "/api/v1/workspaces"] = page("workspaces", workspace(1, name))
    assert list(csv.reader(io.StringIO(det("w", "list", "--csv").out)))[1][1] == name


def test_long_cell_is_not_cut(capsys: pytest.CaptureFixture[str]) -> None:
    render.table(["Name"], [["x" * 500]])
    assert "x" * 500 in capsys.readouterr().out


def test_numbers_are_right_aligned_only_where_every_row_has_one(capsys: pytest.CaptureFixture[str]) -> None:
    render.table(["A", "B"], [[1, 1], [100, None], [20, 3]])
    rows = [line.split(" | ") for line in capsys.readouterr().out.splitlines()[2:]]
    assert [row[0] for row in rows] == ["   1", " 100", "  20"]
    assert [row[1] for row in rows] == ["1", "N/A", "3"]


def test_truth_is_a_word_and_not_a_number(capsys: pytest.CaptureFixture[str]) -> None:
    render.table(["On", "N"], [[True, 1], [False, 2]])
    assert [line.split(" | ")[0] for line in capsys.readouterr().out.splitlines()[2:]] == [" True ", " False"]
