"""Charts: how soon they are painted, that none of them hides a step, that two loads draw the same."""

import hashlib
from collections.abc import Iterator

from playwright.sync_api import Browser, Page

import machine
from webui_browser import Counters, probed, settle, took, visitor
from webui_row import Row, at_most

CURVES = [f"curve_{n:02}" for n in range(24)]
TOGETHER, WITH_ALL, SPIKE_TRIAL = 50, 10, 100
SPIKE = 97.25
_AXIS = 0.12  # the numbers beside the axis have coloured edges
_ONE = f"compare?trials=1-{TOGETHER}&metrics=curve_00"
_MANY = f"compare?trials=1-{WITH_ALL}&metrics=curve"
_LONG = f"experiments/1/trials/{SPIKE_TRIAL}/metrics?filter=spiked"


def spike_step(points: int) -> int:
    return points * 3 // 7


def painting(browser: Browser, url: str, turns: int) -> Iterator[Row]:
    """From the press of the tab to the last stroke on the screen, with the data in the page's cache."""
    yield _painted(browser, url, _ONE, turns, f"chart of {TOGETHER} series of 1,500 buckets, click to painted", 200)
    yield _painted(browser, url, _MANY, turns, f"{len(CURVES)} charts of {WITH_ALL} series, click to painted", 700)


def truth(browser: Browser, url: str, points: int) -> Iterator[Row]:
    what = f"a spike of one step in {points:,} points"
    place = spike_step(points)
    with visitor(browser, url) as context:
        page = context.new_page()
        page.goto(f"/det/{_LONG}")
        settle(page, "canvas")
        columns = [one for one in probed(page, "colouredColumns(0.15, 0.5)") if one > _AXIS]
        told = f"{len(columns)} columns of pixels, at {columns[0]:.3f} of the width" if columns else "not there"
        yield Row(f"{what} is drawn", "at its place", told, None, _is_one_place(columns, place / points))
        page.goto(f"/det/{_LONG}&zoom={place - 20}..{place + 20}")
        settle(page, "canvas")
        is_exact = _table_has(page, place)
        yield Row(f"{what}, zoomed in", f"step {place:,} reads {SPIKE}", str(is_exact), None, is_exact)
    for address in (_ONE, _LONG):
        same = len({_pixels(browser, url, address) for _ in range(2)}) == 1
        yield Row(f"two loads of {address.split('?')[0]}", "the same pixels", str(same), None, same)


def _painted(browser: Browser, url: str, address: str, turns: int, what: str, limit: float) -> Row:
    found, cpu = [], []
    with visitor(browser, url) as context:
        page = context.new_page()
        counters = Counters(page)
        page.goto(f"/det/{address}")
        settle(page, "canvas")
        tabs = page.get_by_role("navigation", name="Parts of the comparison")
        for _ in range(turns):
            tabs.get_by_role("link", name="Metrics").click()
            page.locator("canvas").first.wait_for(state="detached")
            page.wait_for_timeout(300)
            before = counters.cpu_ms()
            page.evaluate("probe.armPaint()")
            tabs.get_by_role("link", name="Charts").click()
            found.append(took(page))
            cpu.append(counters.cpu_ms() - before)
    return at_most(what, limit, found, "ms", machine.median(cpu))


def _is_one_place(columns: list[float], share: float) -> bool:
    """A few pixels wide, and about where the step is: the axis takes some room at the left."""
    return bool(columns) and columns[-1] - columns[0] < 0.02 and abs(columns[0] - share) < 0.08


def _table_has(page: Page, step: int) -> bool:
    page.get_by_role("button", name="chart menu").first.click()
    page.get_by_role("menuitem", name="View as table").click()
    rows = page.get_by_role("row").filter(has_text=str(SPIKE))
    rows.first.wait_for()
    return any(f"{step:,}" in text or str(step) in text for text in rows.all_inner_texts())


def _pixels(browser: Browser, url: str, address: str) -> str:
    with visitor(browser, url) as context:
        page = context.new_page()
        page.goto(f"/det/{address}")
        settle(page, "canvas")
        return hashlib.sha256(probed(page, "pixels()").encode()).hexdigest()
