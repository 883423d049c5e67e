"""Requests of an open live trial to the master, how fast a sign-out empties other tabs, how fast a page comes back.

    python benchmarks/webui_live.py [seconds]

A real master, a real trial that reports ten times a second, a real Chromium. Prints one line per figure.
"""

import collections
import re
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "e2e"))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "browser"))

from ground import chromium, sign_in, submit
from playwright.sync_api import BrowserContext, Locator, Page, Request, expect

from cluster import Client, Cluster

REPORTS = """\
import pathlib, time
from determined import core
end = pathlib.Path({end!r})
with core.init() as ctx:
    step = 0
    while not end.exists():
        step += 1
        ctx.train.report_training_metrics(steps_completed=step, metrics={{"loss": 1 / step, "acc": 1, "lr": 0.1}})
        if step % 10 == 0:
            ctx.train.report_validation_metrics(steps_completed=step, metrics={{"x": 1 / step}})
        time.sleep(0.1)
"""
WAIT_MS = 120_000


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 20.0
    with tempfile.TemporaryDirectory() as name, chromium() as browser:
        directory = Path(name)
        site = Cluster(directory / "master", slots=2)
        site.start()
        try:
            context = browser.new_context(base_url=site.url, viewport={"width": 1280, "height": 800})
            context.set_default_timeout(WAIT_MS)
            sign_in(context, site.url)
            client = Client(site.url)
            made = submit(client, directory / "exp", REPORTS.format(end=str(directory / "end")), name="live")
            client.wait_state(made, "RUNNING")
            _measure(context, site, made, seconds)
            (directory / "end").touch()
            client.wait_state(made, "COMPLETED")
        finally:
            (directory / "end").touch()
            site.stop()
            site.end_runners()


def _measure(context: BrowserContext, site: Cluster, experiment: int, seconds: float) -> None:
    page = context.new_page()
    for tab in ("overview", "metrics"):
        page.goto(f"/det/experiments/{experiment}/{tab}")
        expect(page.locator("figure p.visually-hidden").first).to_contain_text("last", timeout=WAIT_MS)
        page.wait_for_timeout(3000)
        count, size, kinds = _traffic(page, seconds)
        most = ", ".join(f"{kind} {n / seconds:.1f}" for kind, n in kinds.most_common(6))
        print(
            f"{tab}: {count / seconds:.1f} requests/s, {size / seconds / 1000:.1f} kB/s of answers ({most})", flush=True
        )
    page.goto("/det/workspaces")  # a page that asks for nothing by itself
    expect(_pill(page, "Live")).to_be_visible(timeout=WAIT_MS)
    _away(page, site)
    _sign_out(context, page)


def _away(page: Page, site: Cluster) -> None:
    site.kill()
    killed = time.monotonic()
    expect(page.get_by_role("alert").filter(has_text="does not answer")).to_be_visible(timeout=WAIT_MS)
    print(f"banner {time.monotonic() - killed:.1f} s after the master died", flush=True)
    page.wait_for_timeout(40_000)
    site.start()
    back = time.monotonic()
    expect(_pill(page, "Live")).to_be_visible(timeout=WAIT_MS)
    print(f"live {time.monotonic() - back:.1f} s after the master was ready again (40 s away)", flush=True)


def _sign_out(context: BrowserContext, page: Page) -> None:
    other = context.new_page()
    other.goto("/det/dashboard")
    expect(_pill(other, "Live")).to_be_visible(timeout=WAIT_MS)
    out = time.monotonic()
    other.goto("/det/logout")
    expect(page.get_by_label("User", exact=True)).to_be_visible(timeout=WAIT_MS)
    print(f"idle tab shows the sign-in {time.monotonic() - out:.2f} s after the other tab went to /logout", flush=True)


def _traffic(page: Page, seconds: float) -> tuple[int, int, collections.Counter[str]]:
    kinds: collections.Counter[str] = collections.Counter()
    sizes: list[int] = []

    def seen(request: Request) -> None:
        url = urlsplit(request.url)
        kinds[re.sub(r"\d+", "N", url.path).removeprefix("/api/v1/")] += 1

    def answered(request: Request) -> None:
        sizes.append(request.sizes()["responseBodySize"])

    page.on("request", seen)
    page.on("requestfinished", answered)
    page.wait_for_timeout(seconds * 1000)
    page.remove_listener("request", seen)
    page.remove_listener("requestfinished", answered)
    return sum(kinds.values()), sum(sizes), kinds


def _pill(page: Page, word: str) -> Locator:
    return page.get_by_role("banner").get_by_text(word, exact=True)


if __name__ == "__main__":
    main()
