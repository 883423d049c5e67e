"""Test details of journeys: the cause of a failed experiment, a profiler that follows new data, a table view that
follows its user, a browser signed in by a private file.
"""

import json
import re
from pathlib import Path
from urllib.parse import parse_qs, urlparse

import pytest
from ground import WIDE, assert_accessible, assert_fits, darken, sign_in, submit
from playwright.sync_api import Browser, BrowserContext, Page, Request, Route, expect

from cluster import Client, Cluster
from determined.cli import private_link

pytestmark = pytest.mark.browser

# the search compares `loss` over `epochs`; this reports neither, under a name that no line can hold
MISSED = f"""\
from determined import core
with core.init() as ctx:
    ctx.train.report_validation_metrics(steps_completed=1, metrics={{"{"accuracy" * 40}": 0.5}})
"""
SEARCH = {"name": "async_halving", "metric": "loss", "time_metric": "epochs", "max_time": 9, "num_rungs": 2}
PASSWORD = "A long password 1"


def test_an_error_of_the_experiment_itself_is_told_first_and_can_be_copied(
    signed_in: Page, context: BrowserContext, client: Client, tmp_path: Path
) -> None:
    searcher = {**SEARCH, "divisor": 3, "max_trials": 1}
    made = submit(client, tmp_path / "missed", MISSED, searcher=searcher, name="a search without its metric")
    client.wait_state(made, "ERROR")
    error = client.get(f"/api/v1/experiments/{made}")["experiment"]["error"]
    assert "searcher.metric 'loss'" in error
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    with signed_in.expect_response(re.compile("/api/v1/tasks/")):
        signed_in.goto(f"/det/experiments/{made}")
    why = signed_in.get_by_role("region", name="Why the experiment failed")
    expect(why.locator("pre")).to_have_text(error)
    why.get_by_role("button", name="Copy the error").click()
    expect(why.get_by_role("button", name="Copied")).to_be_visible()
    assert signed_in.evaluate("navigator.clipboard.readText()") == error
    assert_accessible(signed_in)
    # its trial was ended by that and does not say so again
    expect(signed_in.get_by_role("region", name="Why it failed")).to_have_count(0)
    darken(signed_in)
    assert_accessible(signed_in, "color-contrast")
    assert_fits(signed_in, 320, 640)
    expect(why.get_by_role("link", name="fork")).to_have_attribute(
        "href", f"/det/experiments/new?from={made}&mode=fork"
    )
    signed_in.goto("/det/dashboard")
    expect(signed_in.get_by_role("region", name="Needs attention")).to_contain_text("searcher.metric 'loss'")


def test_a_run_outside_of_the_cluster_has_no_pool_slots_and_restarts(signed_in: Page, client: Client) -> None:
    trial = _unmanaged_trial(client)
    signed_in.goto(f"/det/experiments/{client.get(f'/api/v1/trials/{trial}')['trial']['experimentId']}")
    expect(signed_in.get_by_text("outside of the cluster")).to_be_visible()
    expect(signed_in.get_by_text("Log retention")).to_be_visible()
    for name in ("Pool", "Slots", "Restarts", "Restarts allowed"):
        expect(signed_in.get_by_text(name, exact=True)).to_have_count(0)
    expect(signed_in.get_by_text("Nothing yet", exact=True)).to_be_visible()
    client.call("PATCH", f"/api/v1/trials/{trial}", {"trialId": trial, "state": "STATE_COMPLETED"})
    expect(signed_in.get_by_text("The trial ended without any of these.")).to_be_visible()


def test_a_profiler_that_is_open_asks_only_for_what_is_new(signed_in: Page, client: Client) -> None:
    trial = _unmanaged_trial(client)
    _sample(client, trial, 1.0, 2.0, 3.0)
    asked: list[str] = []
    signed_in.on("request", lambda request: _note_profiler(request, asked))
    signed_in.clock.install()
    signed_in.goto(f"/det/trials/{trial}/profiler")
    chart = signed_in.get_by_role("figure", name="cpu_util_simple")
    expect(chart.locator("p.visually-hidden")).to_contain_text("last 3")
    _sample(client, trial, 4.0, at=3)
    signed_in.clock.run_for(10_000)
    expect(chart.locator("p.visually-hidden")).to_contain_text("last 4")
    assert asked[0] == "-1"
    assert set(asked[1:]) == {"2"}
    chart.get_by_role("button", name="cpu_util_simple: chart menu").click()
    signed_in.get_by_role("menuitem", name="View as table").click()
    expect(chart.locator("tbody tr")).to_have_count(4)


def test_the_last_look_is_the_users_in_whichever_browser_it_was_chosen(
    signed_in: Page, site: Cluster, client: Client, browser: Browser
) -> None:
    _unmanaged_trial(client)
    table, look = "/det/projects/1/runs", re.compile(r"sort=id")
    elsewhere = browser.new_context(base_url=site.url, viewport=WIDE)
    sign_in(elsewhere, site.url)
    other = elsewhere.new_page()
    _choose(signed_in, f"{table}?sort=-state")
    _choose(other, f"{table}?sort=id")
    elsewhere.close()
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    signed_in.route(re.compile("/HomePage-"), hold)  # one who is quick turns round before that page has come
    signed_in.get_by_role("link", name="Home").click()
    expect(signed_in).to_have_url(re.compile("/det/dashboard"))
    signed_in.get_by_role("link", name="Experiments", exact=True).click()
    expect(signed_in).to_have_url(look)
    assert held
    for route in held:
        route.continue_()

    signed_in.get_by_role("button", name="Account of determined").click()
    signed_in.get_by_role("menuitem", name="Sign out").click()
    user = {"username": "newcomer", "active": True, "admin": False}
    Client(site.url, "admin").post("/api/v1/users", {"user": user, "password": PASSWORD, "isHashed": False})
    _sign_in_at_the_form(signed_in, "newcomer", PASSWORD)
    signed_in.get_by_role("link", name="Experiments", exact=True).click()
    expect(signed_in.get_by_role("grid", name="Trials")).to_be_visible()
    assert "sort=" not in signed_in.url


def test_a_browser_that_is_handed_a_private_file_comes_up_signed_in(
    site: Cluster, client: Client, browser: Browser, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    context = browser.new_context()  # not under watch: its first page is a file
    page = context.new_page()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(private_link, "_EXPIRED_SECONDS", 0)
    monkeypatch.setattr("webbrowser.open", lambda url: page.goto(url) is not None)
    code = client.post("/api/v1/auth/link")["code"]
    assert private_link.open_browser(f"{site.url}/det/login?redirect=/det/tasks#code={code}")
    expect(page).to_have_url(f"{site.url}/det/tasks")
    expect(page.get_by_role("heading", level=1)).to_have_text("Tasks")
    context.close()


def _unmanaged_trial(client: Client) -> int:
    config = {"name": "elsewhere", "searcher": {"name": "single", "metric": "x"}}
    made = client.post("/api/v1/experiments", {"config": json.dumps(config), "unmanaged": True})["experiment"]["id"]
    body = {"experimentId": made, "hparams": {}, "unmanaged": True}
    trial: int = client.post("/api/v1/trials", body)["trial"]["id"]
    return trial


def _sample(client: Client, trial: int, *values: float, at: int = 0) -> None:
    labels = {"trialId": trial, "name": "cpu_util_simple", "agentId": "node0"}
    times = [f"2026-11-15T04:00:{at + i:02}Z" for i in range(len(values))]
    batch = {"values": values, "batches": [0] * len(values), "timestamps": times, "labels": labels}
    client.post("/api/v1/trials/profiler/metrics", {"batches": [batch]})


def _note_profiler(request: Request, asked: list[str]) -> None:
    parts = urlparse(request.url)
    if parts.path.endswith("/profiler/metrics"):
        asked += parse_qs(parts.query)["after"]


def _choose(page: Page, address: str) -> None:
    """Returns when the settings hold it."""
    with page.expect_response(lambda answer: answer.url.endswith("/users/setting") and answer.request.method == "POST"):
        page.goto(address)


def _sign_in_at_the_form(page: Page, username: str, password: str) -> None:
    page.get_by_label(re.compile("user", re.I)).first.fill(username)
    page.get_by_label(re.compile("^password", re.I)).first.fill(password)
    page.get_by_role("button", name=re.compile("sign in", re.I)).click()
