"""A real Chromium for benchmarks of the web page: pages with a probe in them, and what the browser itself counts."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, CDPSession, Page, ViewportSize, sync_playwright

PATIENCE_MS = 120_000
_PROBE = Path(__file__).with_name("webui_probe.js")
_WINDOW = ViewportSize(width=1440, height=900)
# An hour's worth of live updates in minutes: whatever the page puts off comes that much sooner.
_FASTER = """(() => {
    for (const name of ["setTimeout", "setInterval"]) {
        const plain = window[name].bind(window);
        window[name] = (run, ms = 0, ...words) => plain(run, ms / %d, ...words);
    }
})()"""

_IS_QUIET = """() => probe.requests === 0 && !document.querySelector('[aria-busy=true]')
    && ![...document.querySelectorAll('[role=status]')].some((one) => one.textContent.startsWith('Loading'))"""


@contextmanager
def chromium() -> Iterator[Browser]:
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        raise SystemExit("no Chromium here; as root: sh scripts/install_chromium.sh")
    options = ["--no-sandbox", "--disable-dev-shm-usage", "--force-color-profile=srgb"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=options)
        yield browser
        browser.close()


@contextmanager
def visitor(browser: Browser, url: str, *, faster: int = 1, signed_in: bool = True) -> Iterator[BrowserContext]:
    """Somebody with an empty cache; `faster` is how much quicker the page's timers run."""
    context = browser.new_context(base_url=url, viewport=_WINDOW, color_scheme="light")
    context.set_default_timeout(PATIENCE_MS)
    if faster > 1:
        context.add_init_script(_FASTER % faster)
    context.add_init_script(path=_PROBE)
    if signed_in:
        login = {"username": "admin", "password": ""}
        answer = context.request.post(f"{url}/api/v1/auth/login", data=login, headers={"Origin": url})
        assert answer.ok, answer.text()
    yield context
    context.close()


class Counters:
    """Counts of the browser about one page."""

    def __init__(self, page: Page) -> None:
        self._session: CDPSession = page.context.new_cdp_session(page)
        self._session.send("Performance.enable")

    def cpu_ms(self) -> float:
        """Processor time of the page's main thread: what remains true on a busy machine."""
        metrics = self._session.send("Performance.getMetrics")["metrics"]
        return 1000 * next(float(one["value"]) for one in metrics if one["name"] == "ThreadTime")

    def heap_mb(self) -> float:
        """Megabytes of JavaScript that are still reachable."""
        for _ in range(2):
            self._session.send("HeapProfiler.collectGarbage")
        return float(self._session.send("Runtime.getHeapUsage")["usedSize"]) / 1e6


def settle(page: Page, what: str) -> None:
    """Until the page shows `what` (a selector), no placeholder any more, and asks for nothing."""
    page.locator(what).first.wait_for()  # not wait_for_selector: its handle would keep the element for ever
    page.wait_for_function(_IS_QUIET)
    page.wait_for_timeout(500)
    page.wait_for_function(_IS_QUIET)


def took(page: Page) -> float:
    """Return what an armed probe has measured, in milliseconds."""
    page.wait_for_function("() => probe.took !== null")
    found: float = page.evaluate("probe.took")
    return found


def probed(page: Page, expression: str) -> Any:
    return page.evaluate(f"probe.{expression}")
