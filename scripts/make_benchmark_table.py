"""Write the table of benchmarks in README.md from benchmarks/results: our number, the best peer's, the floor's."""

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmark_lines import LINES, Cell, Line
from doc_table import replace_table

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
TARGET = ROOT / "README.md"

_HEAD = "| what | ours | best peer | floor | taken on |"
_NUMBER = re.compile(r"-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a result, and the heading above it."""

    heading: str
    header: list[str]
    rows: list[list[str]]


class MissingCell(LookupError):
    """A result lacks a cell that `benchmark_lines.py` names."""


def main() -> int:
    TARGET.write_text(reference())
    print(f"wrote {TARGET}")
    return 0


def reference() -> str:
    """Return README.md with a table that is up to date."""
    rows = [row(line, (RESULTS / f"{line.result}.md").read_text()) for line in LINES]
    return replace_table(TARGET.read_text(), "benchmarks", _HEAD, rows)


def row(line: Line, result: str) -> str:
    """Return the line of the table for what a result says."""
    peers = [(name, number(result, cell)) for name, cell in line.peers]
    best = line.best([value(one) for _, one in peers]) if peers else None
    peer = next((_named(name, one, line.unit) for name, one in peers if value(one) == best), "")
    floor = _named(line.floor[0], number(result, line.floor[1]), line.unit) if line.floor else ""
    link = f"[{line.what}](benchmarks/results/{line.result}.md)"
    cells = (link, _with_unit(number(result, line.ours), line.unit), peer, floor, date(result))
    return "|" + "|".join(f" {cell} " if cell else " " for cell in cells) + "|"


def number(result: str, cell: Cell) -> str:
    """Return the number of a cell as it is written. Raises MissingCell."""
    for table in tables(result):
        text = _text(table, cell)
        if text is not None and (match := _NUMBER.search(text.partition(cell.after)[2] if cell.after else text)):
            return match[0]
    raise MissingCell(f"no number in a row '{cell.row}...' under '{cell.column}...'; mend scripts/benchmark_lines.py")


def tables(result: str) -> Iterator[Table]:
    heading = ""
    for block in re.split(r"\n\s*\n", result):
        lines = block.strip().splitlines()
        if lines and lines[0].startswith("#"):
            heading = lines[0].lstrip("# ")
        if len(lines) > 2 and lines[0].startswith("|"):
            yield Table(heading, _cells(lines[0]), [_cells(line) for line in lines[2:]])


def date(result: str) -> str:
    """Return the day on which a result was taken, or nothing where it does not say."""
    taken = re.search(r"^Taken on (\d{4}-\d\d-\d\d)", result, re.MULTILINE)
    return taken[1] if taken else ""


def value(text: str) -> float:
    return float(text.replace(",", ""))


def _text(table: Table, cell: Cell) -> str | None:
    if not table.heading.startswith(cell.under):
        return None
    column = next((i for i, name in enumerate(table.header) if name.startswith(cell.column)), None)
    found = next((row for row in table.rows if row[0].startswith(cell.row)), None)
    return found[column] if found is not None and column is not None else None


def _cells(line: str) -> list[str]:
    return [cell.strip().strip("*") for cell in line.strip().strip("|").split("|")]


def _named(name: str, text: str, unit: str) -> str:
    return f"{name}: {_with_unit(text, unit)}"


def _with_unit(text: str, unit: str) -> str:
    return f"{text}{'' if unit.startswith('/') or not unit else ' '}{unit}"


if __name__ == "__main__":
    sys.exit(main())
