"""A real master with the built page, and a real Chromium looking at it.

`site` (one master per file), `client` (its API), `page` (nobody is signed in), `signed_in` (the page of user
`determined`), `watch` (what the page did wrong so far). Each test fails on a console error, a violated policy or a
request to another origin; a failing one leaves a screenshot in its tmp_path.
"""

import importlib.util
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "e2e"))
sys.path.insert(0, str(Path(__file__).parent))

from ground import WIDE, Watch, chromium, sign_in
from hostility import listen_to_violations
from playwright.sync_api import Browser, BrowserContext, Page, expect
from populated import populate

from cluster import ROOT, Client, Cluster

PATIENCE_MS = 30_000  # a page that is slower than this on a loaded machine is broken
expect.set_options(timeout=PATIENCE_MS)


@pytest.fixture(scope="session")
def built_page() -> None:
    """Built once, unless webui/dist is newer than every source."""
    spec = importlib.util.spec_from_file_location("webui_build", ROOT / "webui" / "build.py")
    assert spec is not None
    assert spec.loader is not None
    build = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(build)
    build.ensure()


@pytest.fixture(scope="module")
def site(
    built_page: None, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Cluster]:
    """Start a cluster of four slots, or of as many as the file's SLOTS says, with its CONFIG."""
    slots, config = getattr(request.module, "SLOTS", 4), getattr(request.module, "CONFIG", None)
    running = Cluster(tmp_path_factory.mktemp("site"), slots=slots, config=config)
    running.start()
    yield running
    running.stop()
    running.end_runners()


@pytest.fixture
def client(site: Cluster) -> Client:
    return Client(site.url)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as running:
        yield running


@pytest.fixture
def watch(site: Cluster) -> Watch:
    return Watch(site.url)


@pytest.fixture
def context(site: Cluster, browser: Browser, watch: Watch) -> Iterator[BrowserContext]:
    made = browser.new_context(base_url=site.url, viewport=WIDE, color_scheme="light", reduced_motion="reduce")
    made.set_default_timeout(PATIENCE_MS)
    watch.over(made)
    yield made
    made.close()
    watch.assert_clean()


@pytest.fixture
def page(context: BrowserContext, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Page]:
    shown = context.new_page()
    yield shown
    if request.node.stash.get(_FAILED, False):
        shown.screenshot(path=tmp_path / "failure.png", full_page=True)
        print(f"what the browser showed: {tmp_path / 'failure.png'}")


@pytest.fixture
def signed_in(page: Page, context: BrowserContext, site: Cluster) -> Page:
    sign_in(context, site.url)
    return page


_FAILED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: Any) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.when == "call":
        item.stash[_FAILED] = report.failed
    return report


@pytest.fixture(scope="module")
def named(site: Cluster) -> dict[str, Any]:
    """Numbers and ids of what a cluster full of hostile words holds."""
    return populate(site.url)


@pytest.fixture
def guarded(context: BrowserContext, signed_in: Page) -> Page:
    """Signed in, and every breach of the policy is written down for `assert_inert`."""
    listen_to_violations(context)
    return signed_in
