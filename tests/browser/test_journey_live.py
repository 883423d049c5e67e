"""Journeys: a reported point is drawn at once; a master that dies under an open page costs no point, doubles none."""

import json
import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from ground import Watch, submit
from playwright.sync_api import Locator, Page, expect

from cluster import Client, Cluster, eventually

pytestmark = pytest.mark.browser

# reports a point for each file `go-N`, and says when it was reported; ends with the file `end`
ON_CALL = """\
import pathlib, time
from determined import core
place = pathlib.Path({place!r})
with core.init() as ctx:
    step = 0
    while not (place / "end").exists():
        if (place / f"go-{{step + 1}}").exists():
            step += 1
            (place / f"at-{{step}}").write_text(str(time.time()))
            ctx.train.report_training_metrics(steps_completed=step, metrics={{"loss": step % 7 + 0.5}})
        time.sleep(0.002)
"""
# goes no further than half of its way before the file `away` says that the master is gone
STEADY = """\
import pathlib, time
from determined import core
place = pathlib.Path({place!r})
with core.init() as ctx:
    for step in range(1, 91):
        ctx.train.report_training_metrics(steps_completed=step, metrics={{"loss": step / 100}})
        (place / "step").write_text(str(step))
        time.sleep(0.1)
        while step == 45 and not any((place / word).exists() for word in ("away", "end")):
            time.sleep(0.05)
    while not (place / "end").exists():
        time.sleep(0.05)
"""
LAST_STEP = 90
# The time at which the pixels of the chart first differ from those at the call: a frame that was painted, not a value
# that was received.
WATCH_CANVAS = """() => {
    const canvas = document.querySelector("figure canvas");
    const pixels = () => {
        const seen = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
        let sum = 0;
        for (let i = 0; i < seen.length; i += 4) sum = (sum * 31 + seen[i] + 3 * seen[i + 1] + 7 * seen[i + 3]) | 0;
        return sum;
    };
    const before = pixels();
    window.drawnAt = null;
    const look = () => {
        if (pixels() !== before) window.drawnAt = Date.now() / 1000;
        else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
}"""


@dataclass(frozen=True, slots=True)
class Job:
    experiment: int
    place: Path


@pytest.fixture
def place(tmp_path: Path) -> Path:
    made = tmp_path / "signals"
    made.mkdir()
    return made


@pytest.fixture
def on_call(client: Client, place: Path, tmp_path: Path) -> Iterator[Job]:
    yield from _job(client, place, tmp_path / "on-call", ON_CALL)


@pytest.fixture
def steady(client: Client, place: Path, tmp_path: Path) -> Iterator[Job]:
    yield from _job(client, place, tmp_path / "steady", STEADY)


def test_a_reported_point_is_drawn_by_itself(signed_in: Page, watch: Watch, on_call: Job) -> None:
    watch.allow("Multiple readback operations")  # this test reads the canvas in every frame
    for step in (1, 2):
        _call(on_call.place, step)
    signed_in.goto(f"/det/experiments/{on_call.experiment}/metrics")
    expect(_summary(signed_in)).to_contain_text("at batches 2", timeout=60_000)
    expect(_connection(signed_in, "Live")).to_be_visible()
    delays = [_delay(signed_in, on_call.place, step) for step in range(3, 12)]
    shown = ", ".join(f"{delay:.2f}" for delay in delays)
    print(f"reported to painted: median {statistics.median(delays):.2f} s of {shown}")
    assert _steps(signed_in) == list(range(1, 12))


def test_a_master_killed_under_an_open_page_costs_no_point_and_doubles_none(
    signed_in: Page, watch: Watch, site: Cluster, client: Client, steady: Job
) -> None:
    watch.allow("ERR_CONNECTION|WebSocket|ERR_EMPTY_RESPONSE|ERR_INCOMPLETE|net::|Failed to load resource")
    signed_in.goto(f"/det/experiments/{steady.experiment}/metrics")
    expect(_summary(signed_in)).to_contain_text("last", timeout=60_000)
    expect(_connection(signed_in, "Live")).to_be_visible()
    signed_in.evaluate("window.isSamePage = true")
    eventually(lambda: _reported(steady.place) >= 15, 60)
    site.kill()
    killed_at = _reported(steady.place)
    (steady.place / "away").touch()
    expect(_connection(signed_in, "Reconnecting")).to_be_visible()
    eventually(lambda: _reported(steady.place) > killed_at + 5, 60)
    site.start()
    expect(_connection(signed_in, "Live")).to_be_visible(timeout=60_000)
    expect(_summary(signed_in)).to_contain_text(f"at batches {LAST_STEP}.", timeout=60_000)
    assert killed_at < LAST_STEP, "the master was away while points were reported"
    assert signed_in.evaluate("window.isSamePage") is True
    assert _steps(signed_in) == list(range(1, LAST_STEP + 1))
    series = _series(client, steady.experiment)  # the page reads new points alone: this is the whole
    assert series["x"] == list(range(1, LAST_STEP + 1))
    assert set(series["count"]) == {1}
    assert signed_in.get_by_role("alert").filter(has_text="does not answer").count() == 0


def _job(client: Client, place: Path, directory: Path, script: str) -> Iterator[Job]:
    made = submit(client, directory, script.format(place=str(place)), name=directory.name)
    client.wait_state(made, "RUNNING")
    yield Job(made, place)
    (place / "end").touch()
    client.wait_state(made, "COMPLETED")


def _call(place: Path, step: int) -> None:
    (place / f"go-{step}").touch()


def _reported(place: Path) -> int:
    step = place / "step"
    return int(step.read_text() or 0) if step.exists() else 0


def _delay(page: Page, place: Path, step: int) -> float:
    """Seconds from the report of the point to the frame that shows it."""
    page.evaluate(WATCH_CANVAS)
    page.wait_for_timeout(600)  # nothing may move by itself, and the pace of repaints starts anew
    assert page.evaluate("window.drawnAt") is None, "the chart changed without a new point"
    _call(place, step)
    drawn: float = eventually(lambda: page.evaluate("window.drawnAt"), 30)
    return drawn - float((place / f"at-{step}").read_text())


def _connection(page: Page, word: str) -> Locator:
    return page.get_by_role("banner").get_by_text(word, exact=True)


def _summary(page: Page) -> Locator:
    """The words of the chart: first, lowest, highest and last value."""
    return page.locator("figure p.visually-hidden").first


def _steps(page: Page) -> list[int]:
    """The points of the chart as its table shows them."""
    page.get_by_role("button", name="loss: chart menu").click()
    page.get_by_role("menuitem", name="View as table").click()
    rows = page.locator("figure table tbody tr")
    expect(rows.first).to_be_visible()
    return [int(text) for text in rows.locator(":scope > :first-child").all_inner_texts()]


def _series(client: Client, experiment: int) -> dict[str, Any]:
    trial_id = client.trials(experiment)[0]["id"]
    query = f"trialIds={trial_id}&metricIds=training.loss&sampling=bucket&maxDatapoints=1500"
    (trial,) = client.get(f"/api/v1/trials/time-series?{query}")["trials"]
    (series,) = trial["metrics"]
    assert series["name"] == "loss", json.dumps(series)
    found: dict[str, Any] = series
    return found
