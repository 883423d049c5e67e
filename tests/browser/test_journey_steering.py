"""Journeys: a job is paused and goes on where it was; a job waits and the page says for what."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from ground import submit
from playwright.sync_api import Locator, Page, expect

from cluster import Client, eventually

pytestmark = pytest.mark.browser
SLOTS = 1  # of the master: what has it makes others wait

COUNTING = """\
import pathlib, time
from determined import core, get_cluster_info
latest, step = get_cluster_info().latest_checkpoint, 0
with core.init() as ctx:
    if latest:
        with ctx.checkpoint.restore_path(latest) as path:
            step = int((path / "step").read_text())
        print(f"going on after step {step}")
    while not ctx.preempt.should_preempt():
        step += 1
        ctx.train.report_training_metrics(steps_completed=step, metrics={"loss": 1 / step})
        time.sleep(0.1)
    with ctx.checkpoint.store_path({"steps_completed": step}) as (path, _):
        (path / "step").write_text(str(step))
"""


@pytest.fixture
def counting(client: Client, tmp_path: Path) -> Iterator[int]:
    """A job on the only slot that counts until it is told to stop."""
    made = submit(client, tmp_path / "counting", COUNTING, name="counting")
    client.wait_state(made, "RUNNING")
    yield made
    client.post(f"/api/v1/experiments/{made}/kill")
    client.wait_state(made, "CANCELED")


def test_a_job_is_paused_gives_its_slots_back_and_goes_on_where_it_was(
    signed_in: Page, client: Client, counting: int
) -> None:
    trial = eventually(lambda: client.trials(counting))[0]["id"]
    eventually(lambda: client.metrics(trial, "training"))
    signed_in.goto(f"/det/experiments/{counting}")
    signed_in.get_by_role("button", name="Pause", exact=True).click()
    expect(signed_in.get_by_text(f"Paused: experiment {counting}", exact=True)).to_be_visible()
    expect(_pill(signed_in, "Paused")).to_be_visible()
    eventually(lambda: _used_slots(client) == 0, 30, lambda: f"{_used_slots(client)} slots are still in use")
    paused_at = client.metrics(trial, "training")[-1]["totalBatches"]
    signed_in.get_by_role("button", name="Activate", exact=True).click()
    expect(_pill(signed_in, "Running")).to_be_visible()
    eventually(lambda: client.metrics(trial, "training")[-1]["totalBatches"] > paused_at)
    steps = [report["totalBatches"] for report in client.metrics(trial, "training")]
    assert steps == list(range(1, len(steps) + 1)), "a pause loses no step and repeats none"
    signed_in.get_by_role("link", name=re.compile("^Logs")).click()
    expect(signed_in.get_by_text(f"going on after step {paused_at}")).to_be_visible()


def test_a_waiting_job_says_what_it_waits_for(signed_in: Page, client: Client, counting: int, tmp_path: Path) -> None:
    waiting = submit(client, tmp_path / "patient", COUNTING, name="patient")
    try:
        signed_in.goto("/det/dashboard")
        signed_in.get_by_role("region", name="Running now").get_by_role("link", name=re.compile("^patient")).click()
        reason = signed_in.locator("p").filter(has_text="Queued:")
        words = "waits for 1 free slot in pool 'default': 0 of 1 free"
        expect(reason).to_contain_text(words)
        reason.get_by_role("link", name="See the queue of default").click()
        row = signed_in.get_by_role("row").filter(has_text="patient")
        expect(row).to_contain_text("Queued")
        expect(row).to_contain_text(words)
        client.post(f"/api/v1/experiments/{counting}/kill")
        expect(row).to_contain_text("Running")
    finally:
        client.post(f"/api/v1/experiments/{waiting}/kill")
        client.wait_state(waiting, "CANCELED")


def _pill(page: Page, word: str) -> Locator:
    return page.get_by_role("main").get_by_text(re.compile(rf"{word}$")).first


def _used_slots(client: Client) -> int:
    pools = client.get("/api/v1/resource-pools")["resourcePools"]
    return sum(int(pool["slotsUsed"]) for pool in pools)
