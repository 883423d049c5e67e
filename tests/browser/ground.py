"""Set up browser tests: a Chromium, a watch for errors of the page, experiments to look at, axe."""

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request, sync_playwright

from cluster import ROOT, Client, write_experiment

AXE = ROOT / "webui" / "node_modules" / "axe-core" / "axe.min.js"
WIDE = {"width": 1280, "height": 800}
# Chromium reports every refused request, also the one by which a page finds out that nobody is signed in.
_HARMLESS = re.compile(r"Failed to load resource: the server responded with a status of 401")
COLOURS = ("color-contrast", "link-in-text-block")  # the rules that another theme can break
_RELEVANT = {"serious", "critical"}
# Left out: where react-aria puts what is being read out; it names elements that may have gone since, for seconds.
_RUN_AXE = """async (named) => {
    const where = {include: [["html"]], exclude: [["[data-live-announcer]"]]};
    const rules = named.length > 0 ? {runOnly: {type: "rule", values: named}} : {};
    return (await axe.run(where, {resultTypes: ["violations"], ...rules})).violations;
}"""
# the page has been told of its new size and has drawn two frames with it
_LAID_OUT = """(width) => innerWidth === width && new Promise((done) =>
    requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => done(true), 50))))"""

REPORTING = """\
from determined import core
with core.init() as ctx:
    for step in range(1, 21):
        ctx.train.report_training_metrics(steps_completed=step, metrics={"loss": 1 / step})
    ctx.train.report_validation_metrics(steps_completed=20, metrics={"x": 0.05})
    print("the last line of the script")
"""
FAILING = """\
print("about to fail")
raise RuntimeError("the reason of the failure")
"""


@contextmanager
def chromium() -> Iterator[Browser]:
    """Sync Playwright keeps an event loop on its thread: whoever opens this closes it before async tests run."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=_executable(),
            args=["--no-sandbox", "--disable-dev-shm-usage", "--force-color-profile=srgb"],
        )
        yield browser
        browser.close()


@dataclass
class Watch:
    """Collects what no page may do. `allow(pattern)`: this test provokes such a message."""

    origin: str
    problems: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)
    _allowed: list[re.Pattern[str]] = field(default_factory=lambda: [_HARMLESS])

    def over(self, context: BrowserContext) -> None:
        context.on("console", self._hear)
        context.on("weberror", lambda error: self._add(f"uncaught: {error.error}"))
        context.on("request", self._see)

    def allow(self, pattern: str) -> None:
        self._allowed.append(re.compile(pattern))

    def assert_clean(self) -> None:
        faults = [text for text in self.problems if not any(p.search(text) for p in self._allowed)]
        assert not faults, f"the page complained: {faults}"
        assert not self.foreign, f"requests left {self.origin}: {self.foreign}"

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self._add(f"{message.text} ({message.location.get('url', '')})")

    def _see(self, request: Request) -> None:
        if not request.url.startswith((f"{self.origin}/", "data:", "blob:")):
            self.foreign.append(request.url)

    def _add(self, text: str) -> None:
        self.problems.append(text)


def sign_in(context: BrowserContext, url: str, username: str = "determined", password: str = "") -> None:
    """The cookie, as the login form gets it."""
    answer = context.request.post(
        f"{url}/api/v1/auth/login", data={"username": username, "password": password}, headers={"Origin": url}
    )
    assert answer.ok, answer.text()


def assert_accessible(page: Page, *rules: str) -> None:
    """No serious or critical finding of axe on what the page shows now; `rules`: only by these of axe's."""
    page.evaluate(AXE.read_text() + "\n;0")
    found = page.evaluate(_RUN_AXE, list(rules))
    serious = [_told(finding) for finding in found if finding["impact"] in _RELEVANT]
    assert not serious, f"{page.url}:\n" + "\n".join(serious)


def darken(page: Page) -> None:
    """Emulate the system's dark theme, and wait until it is drawn."""
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(_LAID_OUT, arg=page.evaluate("innerWidth"))


def assert_fits(page: Page, width: int, height: int) -> None:
    """Nothing makes the page scroll sideways on a screen of this size."""
    page.set_viewport_size({"width": width, "height": height})
    page.wait_for_function(_LAID_OUT, arg=width)
    excess = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert excess <= 0, f"{page.url} is {excess} px too wide for a screen of {width}"


def submit(client: Client, directory: Path, script: str = REPORTING, **config: Any) -> int:
    """A real experiment; its id. `config` is laid over a `single` search of the metric `x`."""
    return client.submit(write_experiment(directory, script, config))


def _told(finding: dict[str, Any]) -> str:
    nodes = finding["nodes"]
    places = [" ".join(node["target"]) for node in nodes[:5]]
    return f"{finding['impact']} {finding['id']}: {finding['help']} at {places}: {nodes[0].get('failureSummary')}"


def _executable() -> str:
    named = os.environ.get("DET_TEST_CHROMIUM")
    found = named or next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        pytest.skip("no Chromium here; as root: sh scripts/install_chromium.sh, or name one in DET_TEST_CHROMIUM")
    return found
