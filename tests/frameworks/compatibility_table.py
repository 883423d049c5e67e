"""The compatibility table of docs/frameworks.md: what it has to say by the rows, and what a run has seen."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from rows import JOURNEYS, Row, all_rows

PAGE = Path(__file__).parents[2] / "docs" / "frameworks.md"
BEGIN, END = "<!-- compatibility: begin -->", "<!-- compatibility: end -->"
FAILED, UNKNOWN = "**fails**", "not run"

_HEAD = ("framework", "version", "API", "example", "trains", "search", "pause", "2 slots", "off cluster")
_ABOUT = 4  # columns before the journeys


def promised(rows: list[Row]) -> list[list[str]]:
    """The lines of the table if everything goes as the rows say."""
    return [[*_about(row), *(_promise(row, journey) for journey in JOURNEYS)] for row in rows]


def written(page: str) -> list[list[str]]:
    """The lines that a page has."""
    between = page.partition(BEGIN)[2].partition(END)[0].strip().splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in between[2:]]


def with_table(page: str, lines: list[list[str]]) -> str:
    before, _, rest = page.partition(BEGIN)
    after = rest.partition(END)[2]
    head = [" | ".join(_HEAD), "|".join(["---"] * len(_HEAD))]
    text = "\n".join(f"| {line} |" for line in [head[0], *(" | ".join(line) for line in lines)])
    first, _, others = text.partition("\n")
    return f"{before}{BEGIN}\n{first}\n|{head[1]}|\n{others}\n{END}{after}"


class Writer:
    """Puts the outcomes of a run into the page; what did not run this time keeps what it says."""

    def __init__(self, page: Path = PAGE) -> None:
        self._page = page
        self._failed: dict[tuple[str, str], bool] = {}

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: "pytest.CallInfo[None]") -> Iterator[None]:
        outcome = yield
        case = getattr(item, "callspec", None)
        if call.when != "call" or case is None or "journey" not in case.params:
            return  # a master that does not start says nothing about a framework
        key = (case.params["row"].name, case.params["journey"])
        self._failed[key] = outcome.get_result().failed  # type: ignore[attr-defined]

    def pytest_sessionfinish(self) -> None:
        page = self._page.read_text()
        before = {tuple(line[:_ABOUT]): line[_ABOUT:] for line in written(page)}
        lines = [self._line(row, before.get(tuple(_about(row)))) for row in all_rows()]
        self._page.write_text(with_table(page, lines))

    def _line(self, row: Row, before: list[str] | None) -> list[str]:
        return [*_about(row), *(self._cell(row, n, before) for n in range(len(JOURNEYS)))]

    def _cell(self, row: Row, number: int, before: list[str] | None) -> str:
        failed = self._failed.get((row.name, JOURNEYS[number]))
        if failed is None:
            return before[number] if before else UNKNOWN
        return FAILED if failed else _promise(row, JOURNEYS[number])


def _about(row: Row) -> list[str]:
    link = f"[{row.example}](../examples/{row.example}/README.md)"
    return [row.framework, row.version, row.generation, link]


def _promise(row: Row, journey: str) -> str:
    obstacle = row.obstacle(journey)
    if obstacle is not None:
        return obstacle if obstacle == "no" or obstacle.startswith("as ") else f"no: {obstacle}"
    if journey == "pause" and isinstance(row.pause, float):
        return f"yes, to {row.pause:g}"
    return "yes"
