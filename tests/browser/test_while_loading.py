"""Journeys: what has not been answered yet is not shown as a fact, neither of emptiness nor of anything else."""

import re
import threading
from pathlib import Path

import pytest
from ground import submit
from playwright.sync_api import Page, Route, expect
from populated import WAITING

from cluster import Client, eventually

pytestmark = pytest.mark.browser

FRAMES = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))"
# address, requests that stay unanswered, what must not be said meanwhile, what is said in the end
CASES = {
    "charts of a trial": ("experiments/{s}/metrics", r"/time-series", "No values yet", "last 0.05 at batches 20"),
    "search in a log": (
        "experiments/{s}/logs?find=script",
        r"/api/v1/.*/logs",
        r"\d+ matching|No log lines",
        "1 matching",
    ),
    "profiler": ("experiments/{s}/profiler", r"/api/v1/.*profiler", "profiler (was off|has reported)", "was off"),
    "trials of a project": ("projects/1/runs", r"/api/v1/runs$", "No trials|No trial matches", "a quick one"),
    "charts of a project": (
        "projects/1/charts",
        r"/api/v1/runs$",
        "first 0|reported no metrics|No trials",
        "The first",
    ),
    "jobs of the cluster": ("clusters", r"/job-queues", "0 jobs running", "1 job running, 0 waiting"),
    "tasks of the slots": ("clusters", r"/tasks$", "of another user", "1 job running, 0 waiting"),
    "what runs": ("dashboard", r"/api/v1/experiments\?", "Nothing of yours is running", "a long one"),
}


@pytest.fixture(scope="module")
def numbers() -> dict[str, int]:
    return {}


@pytest.fixture
def known(client: Client, tmp_path: Path, numbers: dict[str, int]) -> dict[str, int]:
    """s: an experiment that has ended, r: one that runs."""
    if not numbers:
        numbers["s"] = submit(client, tmp_path / "s", name="a quick one")
        numbers["r"] = submit(client, tmp_path / "r", WAITING, name="a long one")
        client.wait_state(numbers["s"], "COMPLETED")
        client.wait_state(numbers["r"], "RUNNING")
    return numbers


@pytest.mark.parametrize("case", CASES)
def test_what_is_still_loading_is_not_told_as_a_fact(signed_in: Page, known: dict[str, int], case: str) -> None:
    address, asked, untrue, true = CASES[case]
    held: list[Route] = []
    answering = threading.Event()
    signed_in.route(re.compile(asked), lambda route: route.continue_() if answering.is_set() else held.append(route))
    signed_in.goto(f"/det/{address.format(**known)}")
    eventually(lambda: signed_in.wait_for_timeout(50) or held)
    signed_in.evaluate(FRAMES)
    said = signed_in.get_by_role("main").inner_text()
    assert re.search(untrue, said) is None, said
    answering.set()
    for route in held:
        route.continue_()
    expect(signed_in.get_by_role("main")).to_contain_text(true)


def test_what_is_paused_is_not_listed_as_running(signed_in: Page, known: dict[str, int], client: Client) -> None:
    client.call("POST", f"/api/v1/experiments/{known['r']}/pause")
    client.wait_state(known["r"], "PAUSED")
    signed_in.goto("/det/dashboard")
    running = signed_in.get_by_role("region", name="Running now")
    expect(running).to_contain_text("Nothing of yours is running")
    expect(running.get_by_role("heading", name="Paused")).to_be_visible()
    expect(running).to_contain_text("a long one")
