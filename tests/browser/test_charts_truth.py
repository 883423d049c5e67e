"""Journeys: a chart of more points than pixels tells its true extremes, what is not finite, and gives every point."""

import csv
from pathlib import Path

import pytest
from ground import submit
from playwright.sync_api import Locator, Page, expect

from cluster import Client

pytestmark = pytest.mark.browser

POINTS = 4000
SPIKE, NOT_A_NUMBER = 1717, 2223
REPORTING = f"""\
from determined import core
with core.init() as ctx:
    for step in range(1, {POINTS} + 1):
        value = 42.5 if step == {SPIKE} else float("nan") if step == {NOT_A_NUMBER} else 1 + step / 10**6
        ctx.train.report_training_metrics(steps_completed=step, metrics={{"loss": value}})
    ctx.train.report_validation_metrics(steps_completed={POINTS}, metrics={{"x": 1.0}})
"""


@pytest.fixture
def experiment(client: Client, tmp_path: Path) -> int:
    made = submit(client, tmp_path / "exp", REPORTING, name="many points")
    client.wait_state(made, "COMPLETED")
    return made


def test_a_chart_in_buckets_tells_the_truth(signed_in: Page, experiment: int, tmp_path: Path) -> None:
    signed_in.goto(f"/det/experiments/{experiment}/metrics")
    chart = signed_in.get_by_role("figure", name="loss", exact=True)
    expect(chart).to_contain_text("In buckets")
    expect(chart.locator("p.visually-hidden").first).to_contain_text("highest 42.5 near batches 17")
    expect(chart).to_contain_text("1 point NaN or infinite")
    expect(_last(chart)).to_have_text("1.004")
    signed_in.screenshot(path=tmp_path / "buckets.png")
    signed_in.get_by_role("button", name="loss: chart menu").click()
    with signed_in.expect_download() as saved:
        signed_in.get_by_role("menuitem", name="Download CSV of all points").click()
    rows = list(csv.DictReader(saved.value.path().read_text().splitlines()))
    assert [int(row["batches"]) for row in rows] == list(range(1, POINTS + 1))
    assert rows[SPIKE - 1]["value"] == "42.5"
    assert rows[NOT_A_NUMBER - 1]["value"] == "nan"


def test_the_legend_tells_the_reported_value_beside_the_smoothed_one(signed_in: Page, experiment: int) -> None:
    signed_in.goto(f"/det/experiments/{experiment}/metrics?smooth=0.9")
    chart = signed_in.get_by_role("figure", name="loss", exact=True)
    expect(_last(chart)).to_contain_text("1.004 (smoothed 1.")


def _last(chart: Locator) -> Locator:
    return chart.locator("[data-value]").first
