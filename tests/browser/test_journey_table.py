"""Journeys: two trials compared, a copied address shown to somebody else, and every match archived and taken back."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from ground import WIDE, sign_in, submit
from playwright.sync_api import Browser, Locator, Page, expect

from cluster import Client, Cluster

pytestmark = pytest.mark.browser

TRAINED = """\
from determined import core, get_cluster_info
hparams = get_cluster_info().trial.hparams
with core.init() as ctx:
    for step in range(1, 41):
        ctx.train.report_training_metrics(steps_completed=step, metrics={"loss": hparams["lr"] / step})
    ctx.train.report_validation_metrics(steps_completed=40, metrics={"x": hparams["lr"] * 2})
"""
MANY = 150  # more than the table reads at once


@pytest.fixture(scope="module")
def pair(site: Cluster, tmp_path_factory: pytest.TempPathFactory) -> dict[str, int]:
    """Trials of two experiments that differ in one hyperparameter."""
    client = Client(site.url)
    made = {
        name: submit(
            client,
            tmp_path_factory.mktemp(name),
            TRAINED,
            name=name,
            hyperparameters={"batch_size": 16, "lr": lr, "width": 8},
            reproducibility={"experiment_seed": 1},
        )
        for name, lr in (("slow", 0.25), ("fast", 0.5))
    }
    for experiment in made.values():
        client.wait_state(experiment, "COMPLETED")
    return {name: client.trials(experiment)[0]["id"] for name, experiment in made.items()}


@pytest.fixture(scope="module")
def crowd(site: Cluster) -> list[int]:
    """Ended trials that ran elsewhere, as many as no page holds."""
    client = Client(site.url)
    config = {"name": "a crowd", "searcher": {"name": "single", "metric": "x"}}
    made = client.post("/api/v1/experiments", {"config": json.dumps(config), "unmanaged": True})["experiment"]["id"]
    return [_ended_trial(client, made, number) for number in range(MANY)]


@pytest.fixture
def colleague(site: Cluster, browser: Browser) -> Iterator[Page]:
    """The page of somebody else."""
    user = {"username": "colleague", "active": True, "admin": False}
    password = "A long password 1"
    Client(site.url, "admin").post("/api/v1/users", {"user": user, "password": password, "isHashed": False})
    context = browser.new_context(base_url=site.url, viewport=WIDE, color_scheme="light", reduced_motion="reduce")
    sign_in(context, site.url, "colleague", password)
    yield context.new_page()
    context.close()


def test_two_trials_are_compared_and_what_differs_comes_first(signed_in: Page, pair: dict[str, int]) -> None:
    signed_in.goto("/det/projects/1/runs")
    table = signed_in.get_by_role("grid", name="Trials")
    for name in pair:
        _row(table, name).get_by_role("checkbox").click()
    signed_in.get_by_role("button", name="Compare", exact=True).click()
    expect(signed_in.get_by_role("heading", level=1)).to_have_text("Compare 2 trials")
    chart = signed_in.get_by_role("figure", name="training.loss")
    for name, trial in pair.items():
        expect(chart.get_by_role("button", name=f"{trial} {name}")).to_be_visible()
    expect(chart.locator("p.visually-hidden")).to_contain_text("slow: first 0.25 at batches 1")
    signed_in.get_by_label("Baseline").select_option(str(pair["slow"]))

    parts = signed_in.get_by_role("navigation", name="Parts of the comparison")
    parts.get_by_role("link", name="Hyperparameters").click()
    expect(signed_in.get_by_text("1 of 3 hyperparameters differs.")).to_be_visible()
    names = signed_in.get_by_role("table", name="Hyperparameters").get_by_role("rowheader")
    expect(names).to_have_text([re.compile("^lr differs$"), re.compile("^batch_size"), re.compile("^width")])

    parts.get_by_role("link", name="Metrics").click()
    exact = signed_in.get_by_role("table", name="Metrics, exact").get_by_role("row").filter(has_text="validation.x")
    expect(exact).to_contain_text("0.5")
    expect(exact).to_contain_text("+0.5 (+100 %)")

    parts.get_by_role("link", name="Configuration").click()
    diff = signed_in.get_by_role("region", name=re.compile(rf"^trial {pair['slow']} → trial {pair['fast']}"))
    expect(diff.get_by_role("row").filter(has_text="removed: ").filter(has_text="val: 0.25")).to_have_count(1)
    expect(diff.get_by_role("row").filter(has_text="added: ").filter(has_text="val: 0.5")).to_have_count(1)
    expect(diff).to_contain_text("2 lines added, 2 lines removed")  # name and lr


def test_a_copied_address_shows_somebody_else_the_same_rows_columns_order_and_zoom(
    signed_in: Page, colleague: Page, pair: dict[str, int]
) -> None:
    colleague.goto("/det/projects/1/runs?cols=id!,state&sort=id")
    expect(colleague.get_by_role("grid", name="Trials").get_by_role("row").nth(1)).to_be_visible()
    signed_in.goto("/det/projects/1/runs")
    signed_in.get_by_role("combobox", name="Query").fill("hp.width == 8")
    expect(signed_in.get_by_text("2 trials", exact=True)).to_be_visible()
    signed_in.get_by_role("button", name="Columns").click()
    dialog = signed_in.get_by_role("dialog", name="Columns")
    dialog.get_by_role("checkbox", name=re.compile("^Tags")).click()
    dialog.get_by_role("checkbox", name="Searcher", exact=True).click()
    signed_in.keyboard.press("Escape")
    table = signed_in.get_by_role("grid", name="Trials")
    table.get_by_role("columnheader", name=re.compile("^lr")).click()
    expect(table.get_by_role("columnheader", name=re.compile("^lr"))).to_have_attribute(
        "aria-sort", re.compile("ascending|descending")
    )
    signed_in.get_by_role("switch", name="Charts").click()
    chart = signed_in.get_by_role("figure", name="training.loss")
    chart.get_by_role("button", name="training.loss: chart menu").click()
    signed_in.get_by_role("menuitem", name="Zoom to…").click()
    chart.get_by_label("batches from").fill("10")
    chart.get_by_label("to", exact=True).fill("20")
    chart.get_by_role("button", name="Zoom", exact=True).click()
    expect(chart.get_by_role("button", name="Reset zoom")).to_be_visible()

    colleague.goto(signed_in.url)
    expect(
        colleague.get_by_role("figure", name="training.loss").get_by_role("button", name="Reset zoom")
    ).to_be_visible()
    mine, theirs = _shown(signed_in), _shown(colleague)
    assert len(mine["rows"]) == len(pair)
    assert mine == theirs
    assert _steps(colleague) == list(range(10, 21))


def test_every_match_is_archived_at_once_and_comes_back_by_undo(
    signed_in: Page, client: Client, pair: dict[str, int], crowd: list[int]
) -> None:
    signed_in.goto("/det/projects/1/runs")
    signed_in.get_by_role("combobox", name="Query").fill('experimentName == "a crowd"')
    expect(signed_in.get_by_text(f"{MANY} trials", exact=True)).to_be_visible()
    signed_in.get_by_role("checkbox", name="Select all that match").click()
    bar = signed_in.get_by_role("toolbar", name=f"Actions on {MANY} trials")
    expect(bar).to_contain_text(f"{MANY} selected")
    bar.get_by_role("button", name="Archive", exact=True).click()
    expect(signed_in.get_by_text(f"Archived {MANY} trials", exact=True)).to_be_visible()
    expect(signed_in.get_by_text("No trial matches")).to_be_visible()
    assert _archived(client) == set(crowd)
    signed_in.get_by_role("button", name="Undo").click()
    expect(signed_in.get_by_text(f"Undone: Archived {MANY} trials", exact=True)).to_be_visible()
    assert _archived(client) == set()
    expect(signed_in.get_by_text(f"{MANY} trials", exact=True)).to_be_visible()


def _ended_trial(client: Client, experiment: int, number: int) -> int:
    body = {"experimentId": experiment, "hparams": {"number": number}, "unmanaged": True}
    trial: int = client.post("/api/v1/trials", body)["trial"]["id"]
    client.call("PATCH", f"/api/v1/trials/{trial}", {"trialId": trial, "state": "STATE_COMPLETED"})
    return trial


def _row(table: Locator, name: str) -> Locator:
    return table.get_by_role("row").filter(has=table.page.get_by_role("link", name=name, exact=True))


def _shown(page: Page) -> dict[str, Any]:
    """Rows, columns, order, and the very pixels of the chart."""
    table = page.get_by_role("grid", name="Trials")
    figure = page.get_by_role("figure", name="training.loss")
    figure.scroll_into_view_if_needed()  # what is out of sight is not drawn
    chart = figure.locator("canvas")
    expect(chart).to_be_visible()
    return {
        "columns": table.get_by_role("columnheader").all_inner_texts(),
        "order": [head.get_attribute("aria-sort") for head in table.get_by_role("columnheader").all()],
        "rows": [_without_ages(row) for row in table.locator("[role=row][aria-selected]").all_inner_texts()],
        "pixels": chart.evaluate("canvas => canvas.toDataURL()"),
    }


def _without_ages(row: str) -> str:
    return re.sub(r"\d+ \w+\. ago|now", "", row)


def _steps(page: Page) -> list[int]:
    chart = page.get_by_role("figure", name="training.loss")
    chart.get_by_role("button", name="training.loss: chart menu").click()
    page.get_by_role("menuitem", name="View as table").click()
    rows = chart.locator("tbody tr")
    expect(rows.first).to_be_visible()
    return [int(text) for text in rows.locator(":scope > :first-child").all_inner_texts()]


def _archived(client: Client) -> set[int]:
    runs = client.post("/api/v1/runs", {"projectId": 1, "limit": 1000, "filter": '{"showArchived": true}'})["runs"]
    return {run["id"] for run in runs if run["archived"]}
