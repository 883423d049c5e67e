"""JavaScript that each kind of page loads, and its first visit: paint, shifts, first answers."""

import gzip
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Browser, Page

from webui_browser import Counters, probed, settle, visitor
from webui_row import Row, at_most

_ASSETS = Path(__file__).parents[1] / "webui" / "dist" / "assets"
_ROWS = '[role=grid] [data-row="0"] [data-column]'
_SMALL_KB, _ANY_KB = 200, 300
_EDITOR = ("CodeMirror", "markdownHtml")  # loaded after the page has been drawn, by those that need them
_SMALL = {"login", "dashboard"}
_PAGES = (
    "login",
    "dashboard",
    "projects/1/runs",
    "projects/1/charts",
    "compare?trials=1-5",
    "experiments/1/overview",
    "experiments/1/visualization",
    "experiments/1/trials/1/metrics",
    "experiments/1/trials/1/logs",
    "experiments/new",
    "clusters",
    "clusters/historical-usage",
    "tasks",
    "workspaces",
    "settings",
)


def scripts(browser: Browser, url: str) -> Iterator[Row]:
    """Return what a visitor with an empty cache has loaded when the page rests, as gzip would send it."""
    sizes = {address: _loaded_kb(browser, url, address) for address in _PAGES}
    for address in sorted(_SMALL):
        yield _size(f"JavaScript of {address}", _SMALL_KB, sizes.pop(address))
    largest = max(sizes, key=lambda address: sizes[address])
    yield _size(f"JavaScript of the largest of {len(sizes)} other pages ({largest})", _ANY_KB, sizes[largest])


def vitals(browser: Browser, url: str, turns: int) -> Iterator[Row]:
    """First visits, each with an empty cache."""
    visits = {"home": ("dashboard", "h1"), "project of all trials": ("projects/1/runs", _ROWS)}
    for name, (address, shown) in visits.items():
        seen = [_visit(browser, url, address, shown) for _ in range(turns)]
        lcp, cls, inp, cpu = zip(*seen, strict=True)
        yield at_most(f"LCP of {name}", 1500, lcp, "ms", sum(cpu) / turns)
        yield at_most(f"CLS of {name}", 0.02, cls, "")
        yield at_most(f"INP of {name}", 200, inp, "ms")


def _size(what: str, limit: int, kb: float) -> Row:
    return Row(what, f"≤ {limit} kB gz", f"{kb:.0f} kB", None, kb <= limit)


def _loaded_kb(browser: Browser, url: str, address: str) -> float:
    with visitor(browser, url, signed_in=address != "login") as context:
        page = context.new_page()
        page.goto(f"/det/{address}")
        settle(page, "h1")
        names = {path.rsplit("/", 1)[-1] for path in probed(page, "scripts()")}
    return sum(_gzipped(name) for name in names if not name.startswith(_EDITOR)) / 1000


def _gzipped(name: str) -> int:
    file = _ASSETS / name
    return len(gzip.compress(file.read_bytes(), 9)) if file.exists() else 0


def _visit(browser: Browser, url: str, address: str, shown: str) -> tuple[float, float, float, float]:
    with visitor(browser, url) as context:
        page = context.new_page()
        counters = Counters(page)
        page.goto(f"/det/{address}")
        settle(page, shown)
        lcp, cpu = probed(page, "lcp"), counters.cpu_ms()
        _interact(page)
        return lcp, probed(page, "cls"), probed(page, "inp"), cpu


def _interact(page: Page) -> None:
    """Do what people do first: the palette, a few letters in it; in a table a tick, a sort and a step by keyboard."""
    page.keyboard.press("Control+k")
    page.keyboard.type("exp", delay=50)
    page.wait_for_timeout(500)
    page.keyboard.press("Escape")
    if page.locator("[role=grid]").count():
        page.locator('[role=grid] [data-row="2"] input').click()
        page.locator('[role=grid] [data-row="3"] [data-column="2"]').click()
        for _ in range(5):
            page.keyboard.press("ArrowDown")
        page.locator('[role=columnheader][data-key="duration"]').click()
    page.wait_for_timeout(1000)
