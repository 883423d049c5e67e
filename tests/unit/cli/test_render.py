"""Tables, CSV, JSON, YAML and the small words of the command line."""

import argparse
import csv
import io
import json
import re

import pytest

from determined.cli import render

HEADERS = ["ID", "Name", "On", "Tags"]
ROWS = [[1, "a", True, ["x"]], [20, "ünï", False, None]]


def _args(**formats: bool) -> argparse.Namespace:
    return argparse.Namespace(**{"json": False, "yaml": False, "csv": False, **formats})


def test_a_table_aligns_numbers_right_and_words_left(capsys: pytest.CaptureFixture[str]) -> None:
    render.rows(HEADERS, ROWS)
    assert capsys.readouterr().out.splitlines() == [
        " ID | Name | On    | Tags",
        "----+------+-------+-------",
        '  1 | a    | True  | ["x"]',
        " 20 | ünï  | False | N/A",
    ]


def test_an_empty_table_still_has_its_headers(capsys: pytest.CaptureFixture[str]) -> None:
    render.rows(HEADERS, [])
    assert capsys.readouterr().out.splitlines()[0] == " ID | Name | On | Tags"


def test_csv_has_the_headers_of_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    render.rows(HEADERS, ROWS, args=_args(csv=True))
    read = list(csv.reader(io.StringIO(capsys.readouterr().out)))
    assert read == [HEADERS, ["1", "a", "True", '["x"]'], ["20", "ünï", "False", "N/A"]]


def test_json_is_sorted_and_indented_by_two(capsys: pytest.CaptureFixture[str]) -> None:
    render.rows(["b", "a"], [[1, 2]], args=_args(json=True))
    out = capsys.readouterr().out
    assert json.loads(out) == [{"a": 2, "b": 1}]
    assert out.index('"a"') < out.index('"b"')
    assert '\n  {\n    "a": 2' in out


def test_json_of_a_listing_is_the_data_itself_where_given(capsys: pytest.CaptureFixture[str]) -> None:
    render.rows(["b"], [[1]], args=_args(json=True), data={"all": [1, 2]})
    assert json.loads(capsys.readouterr().out) == {"all": [1, 2]}


def test_numbers_that_json_has_not_are_words(capsys: pytest.CaptureFixture[str]) -> None:
    render.structured([float("nan"), float("inf"), {"low": float("-inf")}])

    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is not JSON")

    assert json.loads(capsys.readouterr().out, parse_constant=refuse) == ["NaN", "Infinity", {"low": "-Infinity"}]


def test_yaml_is_block_style(capsys: pytest.CaptureFixture[str]) -> None:
    render.structured({"b": [1], "a": {"c": "ü"}}, args=_args(yaml=True))
    assert capsys.readouterr().out == "a:\n  c: ü\nb:\n- 1\n"


def test_no_colour_reaches_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    render.fail("wrong")
    render.line("done", style="green")
    captured = capsys.readouterr()
    assert (captured.err, captured.out) == ("wrong\n", "done\n")


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_colour() -> None:
    out = _Terminal()
    render.line("wrong", style="red", file=out)
    assert out.getvalue() == "\x1b[31mwrong\x1b[0m\n"


@pytest.mark.parametrize(("value", "painted"), [("1", False), ("0", False), ("", True)])
def test_terminal_of_somebody_who_wants_no_colour_gets_none(
    monkeypatch: pytest.MonkeyPatch, value: str, painted: bool
) -> None:
    out = _Terminal()
    monkeypatch.setenv("NO_COLOR", value)
    monkeypatch.setattr("sys.stdout", out)
    render.line("done", style="green")
    render.log("\x1b[31mred\x1b[0m\n")
    assert ("\x1b" in out.getvalue()) is painted
    assert "done" in out.getvalue() and "red" in out.getvalue()


def test_json_is_coloured_only_on_request_and_says_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    plain, coloured, piped = _Terminal(), _Terminal(), io.StringIO()
    data = {"name": "a [bold]b[/bold]", "number": 1, "long": "x" * 300}
    for out, wanted in ((plain, ""), (coloured, "1"), (piped, "1")):
        monkeypatch.setenv("DET_CLI_COLORIZE", wanted)
        monkeypatch.setattr("sys.stdout", out)
        render.structured(data)
    assert plain.getvalue() == piped.getvalue()
    assert "\x1b[" in coloured.getvalue()
    assert json.loads(re.sub(r"\x1b\[[0-9;]*m", "", coloured.getvalue())) == data


@pytest.mark.parametrize(
    ("state", "value", "text"),
    [
        ("STATE_RUNNING", None, "N/A"),
        ("STATE_RUNNING", 0.0, "N/A"),
        ("STATE_RUNNING", 0.5, "50.0%"),
        ("STATE_ERROR", 0.0, "0.0%"),
        ("STATE_COMPLETED", 1.0, "100.0%"),
        ("STATE_CANCELED", None, "N/A"),
    ],
)
def test_progress_of_nothing_is_not_told_as_zero_while_it_runs(state: str, value: float | None, text: str) -> None:
    assert render.progress_of(state, value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("2026-01-02T03:04:05Z", "2026-01-02 03:04:05+0000"),
        ("2026-01-02T03:04:05.123456789Z", "2026-01-02 03:04:05+0000"),
        ("2026-01-02T03:04:05+05:30", "2026-01-02 03:04:05+0530"),
        ("", "N/A"),
    ],
)
def test_time_is_shown_in_its_own_zone(value: str, text: str) -> None:
    assert render.time_of(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "N/A"),
        ("", ""),
        (0, "0"),
        (False, "False"),
        ([], "[]"),
        ({"b": 1, "a": "ü"}, '{"a": "ü", "b": 1}'),
        (1e-7, "1e-07"),
        (float("nan"), "nan"),
    ],
)
def test_value_in_a_cell_is_written_plainly(value: object, text: str) -> None:
    assert render.text_of(value) == text


@pytest.mark.parametrize(
    ("count", "text"), [(1024, "1.0KB"), (5 * 2**30, "5.0GB"), (2**40, "1.0TB"), (5000 * 2**40, "5000.0TB")]
)
def test_size_goes_up_to_terabytes(count: float, text: str) -> None:
    assert render.size_of(count) == text


def test_a_small_transfer_and_a_pipe_have_no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    with render.Progress("x", 10_000_000) as bar:
        assert not bar.shown
    monkeypatch.setattr("sys.stderr", _Terminal())
    with render.Progress("x", 10) as bar:
        assert not bar.shown


def test_a_large_transfer_on_a_terminal_has_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = _Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    with render.Progress("Sending files", 10_000_000) as bar:
        assert bar.shown
        bar.advance(5_000_000)
        bar.at(10_000_000)
    assert "Sending files" in terminal.getvalue()


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0B"), (1023, "1023B"), (1229, "1.2KB"), ("1048576", "1.0MB"), (None, "N/A")]
)
def test_sizes_are_short(count: int | str | None, text: str) -> None:
    assert render.size_of(count) == text


def test_times_percent_and_states_read_as_people_write_them() -> None:
    assert render.time_of("2026-01-02T03:04:05.678Z") == "2026-01-02 03:04:05+0000"
    assert render.time_of(None) == "N/A"
    assert render.percent(0.12) == "12.0%"
    assert render.state_of("STATE_PAUSED") == "PAUSED"


def test_without_a_terminal_a_question_means_no_and_names_the_flag(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    assert render.ask("Delete it?") is False
    assert "--yes" in capsys.readouterr().err


class _Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_bar_of_things_is_drawn_on_a_terminal_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with render.Steps("trials", 4) as steps:
        steps.advance()
    assert capsys.readouterr() == ("", "")
    screen = _Screen()
    monkeypatch.setattr("sys.stderr", screen)
    with render.Steps("trials", 4) as steps:
        steps.advance(0.5)
        steps.advance(1.5)
        steps._bar.refresh()
    assert "trials" in screen.getvalue()
    assert "2/4" in screen.getvalue()
