"""Journeys: an open live trial asks only for what is new, all charts together; a hidden tab asks for nothing."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from ground import submit
from playwright.sync_api import Locator, Page, Request, expect

from cluster import Client, eventually

pytestmark = pytest.mark.browser

# ten reports a second, of two groups, until the file `end`
REPORTING = """\
import pathlib, time
from determined import core
place = pathlib.Path({place!r})
with core.init() as ctx:
    step = 0
    while not (place / "end").exists():
        step += 1
        ctx.train.report_training_metrics(steps_completed=step, metrics={{"loss": 1 / step, "acc": step, "lr": 0.1}})
        if step % 5 == 0:
            ctx.train.report_validation_metrics(steps_completed=step, metrics={{"x": 1 / step}})
        (place / "step").write_text(str(step))
        time.sleep(0.1)
"""
HIDE = """(hidden) => {
    Object.defineProperty(document, "hidden", {configurable: true, get: () => hidden});
    Object.defineProperty(document, "visibilityState", {configurable: true, get: () => hidden ? "hidden" : "visible"});
    document.dispatchEvent(new Event("visibilitychange", {bubbles: true}));
}"""


@dataclass(frozen=True, slots=True)
class Job:
    experiment: int
    place: Path

    def step(self) -> int:
        written = self.place / "step"
        return int(written.read_text() or 0) if written.exists() else 0

    def pass_by(self, page: Page, steps: int) -> None:
        """Until so many more were reported, while the page does what it does."""
        goal = self.step() + steps
        eventually(lambda: page.wait_for_timeout(50) or self.step() >= goal)


@pytest.fixture
def job(client: Client, tmp_path: Path) -> Iterator[Job]:
    place = tmp_path / "signals"
    place.mkdir()
    made = submit(client, tmp_path / "job", REPORTING.format(place=str(place)), name="live")
    client.wait_state(made, "RUNNING")
    yield Job(made, place)
    (place / "end").touch()
    client.wait_state(made, "COMPLETED")


def test_an_open_live_trial_asks_for_new_points_alone_and_for_all_charts_at_once(signed_in: Page, job: Job) -> None:
    signed_in.goto(f"/det/experiments/{job.experiment}/metrics")
    expect(_summary(signed_in, "acc")).to_contain_text("last", timeout=60_000)
    expect(_summary(signed_in, "x")).to_contain_text("last", timeout=60_000)
    job.pass_by(signed_in, 10)
    asked = _requests(signed_in)
    before = job.step()
    job.pass_by(signed_in, 40)
    steps = job.step() - before
    series = [parse_qs(urlsplit(one.url).query) for one in asked if "time-series" in one.url]
    assert series, "the charts follow"
    assert all("since" in query for query in series), "nothing that is held is asked for again"
    assert max(len(query["metricIds"]) for query in series) == 4, "all charts ask together"
    print(f"{len(asked)} requests while {steps} steps were reported: {sorted({urlsplit(r.url).path for r in asked})}")
    assert len(asked) < steps, "events come faster than anybody looks: not each of them is followed"
    reached = job.step()
    eventually(lambda: signed_in.wait_for_timeout(50) or _last_batch(signed_in, "acc") >= reached)


def test_a_hidden_tab_asks_for_nothing_and_catches_up_when_it_is_seen(signed_in: Page, job: Job) -> None:
    signed_in.goto(f"/det/experiments/{job.experiment}/overview")
    expect(_summary(signed_in, "loss")).to_contain_text("last", timeout=60_000)
    signed_in.evaluate(HIDE, True)
    job.pass_by(signed_in, 5)  # what was under way has come
    asked = _requests(signed_in)
    job.pass_by(signed_in, 40)
    assert [one.url for one in asked] == []
    reached = job.step()
    signed_in.evaluate(HIDE, False)
    eventually(lambda: signed_in.wait_for_timeout(50) or _last_batch(signed_in, "loss") >= reached)


def _requests(page: Page) -> list[Request]:
    """Fills as the page asks."""
    asked: list[Request] = []
    page.on("request", lambda one: asked.append(one) if "/api/v1/" in one.url else None)
    return asked


def _summary(page: Page, title: str) -> Locator:
    return page.get_by_role("figure", name=title, exact=True).locator("p.visually-hidden").first


def _last_batch(page: Page, title: str) -> int:
    words = _summary(page, title).inner_text()
    return int(words.rsplit("at batches ", 1)[1].rstrip(".").replace(",", ""))
