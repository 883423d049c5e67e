"""The page has a line for every row, and each says what the last run of `make test-frameworks` saw."""

from pathlib import Path

import pytest
from compatibility_table import BEGIN, END, PAGE, UNKNOWN, Writer, promised, with_table, written

from rows import JOURNEYS, all_rows

ROOT = Path(__file__).parents[2]
pytest_plugins = ["pytester"]


def test_the_page_shows_every_row_as_it_was_seen() -> None:
    rows = all_rows()
    assert written(PAGE.read_text()) == promised(rows), "run: make test-frameworks"


def test_every_row_has_its_example() -> None:
    for row in all_rows():
        example = ROOT / "examples" / row.example
        names = ["README.md", row.config, row.search, *([row.distributed] if row.distributed else [])]
        missing = [name for name in names if not (example / name).is_file()]
        assert not missing, f"examples/{row.example} lacks {missing}"
        assert set(row.fast) <= set(JOURNEYS)


def test_every_framework_has_a_fast_row() -> None:
    rows = all_rows()
    assert {row.framework for row in rows} == {row.framework for row in rows if row.fast}


def test_a_run_writes_what_it_saw_and_keeps_the_rest(tmp_path: Path, pytester: pytest.Pytester) -> None:
    first, *_ = all_rows()
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}\n{END}\nafter\n")
    pytester.makepyfile(
        """
        import pytest
        from rows import all_rows

        @pytest.mark.parametrize("row", all_rows()[:1])
        @pytest.mark.parametrize("journey", ["train", "search"])
        def test_row(row, journey):
            assert journey == "train"
        """
    )
    pytester.inline_run("-p", "no:cacheprovider", plugins=[Writer(page)])
    line = written(page.read_text())[0]
    assert line[:3] == [first.framework, first.version, first.generation]
    assert line[4:] == ["yes", "**fails**", UNKNOWN, UNKNOWN, UNKNOWN]
    assert page.read_text().startswith("before\n") and page.read_text().endswith("\nafter\n")
    Writer(page).pytest_sessionfinish()
    assert written(page.read_text())[0] == line, "nothing ran, nothing changed"


def test_a_page_reads_back_as_it_was_written() -> None:
    lines = promised(all_rows())
    assert written(with_table(f"{BEGIN}{END}", lines)) == lines
