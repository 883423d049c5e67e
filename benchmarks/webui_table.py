"""The grid of all trials: frames while it scrolls, and the time from a click or a key to the rows it asks for."""

from collections.abc import Callable, Iterator, Sequence
from urllib.parse import quote

from playwright.sync_api import Browser, Page

import machine
from rows import HPARAMS, METRICS
from webui_browser import Counters, probed, settle, took, visitor
from webui_row import Row, at_most

_FRAMES, _PIXELS = 240, 120
_P95_MS, _LATE_MS, _LATE_SHARE = 34, 25, 0.12
_ROWS = '[role=grid] [data-row="0"] [data-column]'
_HAS_ROWS = f"document.querySelector('{_ROWS}')?.textContent"
_COUNT = "document.querySelector('[role=grid]').getAttribute('aria-rowcount')"
_COLUMNS = ["id!", "state", *(f"hp.{name}" for name in HPARAMS), *(f"{g}.{n}.last" for g, n in METRICS[:28])]


def scrolling(browser: Browser, url: str, turns: int) -> Iterator[Row]:
    """40 columns, every frame four rows on; the rows are read as they come into sight."""
    p95, late, cpu = [], [], []
    for _ in range(turns):
        with visitor(browser, url) as context:
            page = context.new_page()
            counters = Counters(page)
            page.goto(f"/det/projects/1/runs?cols={quote(','.join(_COLUMNS))}")
            settle(page, _ROWS)
            before = counters.cpu_ms()
            frames = probed(page, f"scroll('[role=grid]', {_PIXELS}, {_FRAMES})")
            cpu.append((counters.cpu_ms() - before) / _FRAMES)
            p95.append(machine.quantile(frames, 0.95))
            late.append(sum(one > _LATE_MS for one in frames) / _FRAMES)
    share = machine.median(late)
    what = f"grid of 40 columns scrolled {_PIXELS} px a frame"
    yield at_most(f"{what}, p95 of a frame", _P95_MS, p95, "ms", machine.median(cpu))
    text = f"{share:.0%} (worst of {turns}: {max(late):.0%})"
    yield Row(f"{what}, frames over {_LATE_MS} ms", f"< {_LATE_SHARE:.0%}", text, None, share < _LATE_SHARE)


def answers(browser: Browser, url: str, turns: int) -> Iterator[Row]:
    with visitor(browser, url) as context:
        page = context.new_page()
        page.goto("/det/projects/1/runs")
        settle(page, _ROWS)
        timer = _Timer(page)
        routes = [_back_and_forth(timer, page) for _ in range(turns)]
        yield _answer("route change to rows, cached", 100, routes)
        new, known = zip(*(_keys(timer, page, turn) for turn in range(turns)), strict=True)
        yield _answer("filter keystroke to rows, without the master's answer", 300, new)
        yield _answer("filter keystroke to rows, cached", 100, known)


class _Timer:
    """Times one press: wall and processor milliseconds until a condition shows."""

    def __init__(self, page: Page) -> None:
        self._page, self._counters = page, Counters(page)

    def time(self, condition: str, press: Callable[[], None]) -> tuple[float, float]:
        self._page.evaluate("(condition) => probe.arm(condition)", condition)
        before = self._counters.cpu_ms()
        press()
        return took(self._page), self._counters.cpu_ms() - before


def _answer(what: str, limit: float, times: Sequence[tuple[float, float]]) -> Row:
    return at_most(what, limit, [wall for wall, _ in times], "ms", machine.median([cpu for _, cpu in times]))


def _back_and_forth(timer: _Timer, page: Page) -> tuple[float, float]:
    """To the project's notes and back to its trials by their tabs."""
    tabs = page.get_by_role("navigation", name="Sections of the project")
    tabs.get_by_role("link", name="Notes").click()
    page.locator("[role=grid]").wait_for(state="detached")
    page.wait_for_timeout(300)
    found = timer.time(_HAS_ROWS, tabs.get_by_role("link", name="Trials").click)
    settle(page, _ROWS)
    return found


def _keys(timer: _Timer, page: Page, turn: int) -> tuple[tuple[float, float], tuple[float, float]]:
    """A digit more and a digit less: rows that must be asked for, without the wait for the answer, and rows known."""
    query = page.locator("[data-query]")
    query.fill(f"id > {turn + 1}")
    query.press("Enter")
    settle(page, _ROWS)
    wall, cpu = _keystroke(timer, page, "9")
    asked = wall - probed(page, "waited('/api/v1/runs')"), cpu
    settle(page, _ROWS)
    known = _keystroke(timer, page, "Backspace")
    settle(page, _ROWS)
    return asked, known


def _keystroke(timer: _Timer, page: Page, key: str) -> tuple[float, float]:
    rows = page.evaluate(_COUNT)
    return timer.time(f"{_COUNT} !== '{rows}' && {_HAS_ROWS}", lambda: page.keyboard.press(key))
