"""Pages of experiments that came from stores which MLflow, W&B, TensorBoard and Optuna themselves have written.

Each test leaves pictures of what it has seen, in both themes, in its tmp_path.
"""

import csv
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from ground import assert_accessible, darken
from imported_stores import bring_in, experiment
from playwright.sync_api import Page, expect

from cluster import Client, Cluster

pytestmark = pytest.mark.browser


@dataclass(frozen=True)
class Seen:
    """Contents of the pages of an experiment of one trial, or of one trial of a search.

    Attributes:
        hparams: by name, as the page writes them.
        chart: title of a chart of the trial.
        points: how many points it has by group.
    """

    kind: str
    name: str
    hparams: dict[str, str]
    chart: str
    points: dict[str, int]
    log: str | None = None
    facts: tuple[str, ...] = ()
    trials: dict[str, int] = field(default_factory=dict)  # of a search: how many by state


STORED = [
    Seen(
        "mlflow",
        "baseline",
        {"augment": "true", "layers": "3", "lr": "0.01", "optimizer": "adam"},
        "loss",
        {"training": 7, "validation": 5},
        facts=("Best val/loss (lowest)", "0.3"),
    ),
    Seen(
        "wandb",
        "run one",
        {"lr": "0.1", "model.depth": "3", "sizes": "[1,2]"},
        "loss",
        {"training": 5},
        log="one has ended",
        facts=("Best val/acc (highest)", "0.75", "small"),
    ),
    Seen(
        "tensorboard",
        "sweep",
        {"lr": "0.01", "opt": "sgd"},
        "loss",
        {"training": 4, "validation": 4},
        facts=("Best val/loss (lowest)", "0.005", "2 done, 0 active, 0 failed"),
        trials={"Completed": 2},
    ),
    Seen(
        "optuna",
        "vision/lr",
        {"layers": "3", "lr": "0.00046568", "optimizer": "adam"},
        "intermediate_value",
        {"validation": 3},
        facts=("Best value (lowest)", "0.00961", "3 done, 0 active, 1 failed"),
        trials={"Completed": 3, "Error": 1, "Canceled": 1},
    ),
]


@pytest.fixture(scope="module", autouse=True)
def imported(site: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    bring_in(site, tmp_path_factory.mktemp("home"))
    yield


@pytest.fixture(params=STORED, ids=[one.kind for one in STORED])
def seen(request: pytest.FixtureRequest) -> Seen:
    stored: Seen = request.param
    return stored


@pytest.fixture
def place(client: Client, seen: Seen) -> str:
    """Address of the experiment, or of the first trial of the search."""
    found = experiment(client, seen.kind, seen.name)
    first = min(trial["id"] for trial in client.trials(found["id"]))
    return f"/det/experiments/{found['id']}" + (f"/trials/{first}" if seen.trials else "")


def test_the_overview_has_name_state_and_results(signed_in: Page, client: Client, seen: Seen, tmp_path: Path) -> None:
    signed_in.goto(f"/det/experiments/{experiment(client, seen.kind, seen.name)['id']}")
    expect(signed_in.get_by_role("heading", level=1)).to_contain_text(seen.name)
    header = signed_in.locator("main")
    for words in ("Completed", "outside of the cluster", *seen.facts):
        expect(header).to_contain_text(words)
    for state, count in seen.trials.items():
        table = signed_in.get_by_role("table", name="best trials")
        expect(table.get_by_role("row").filter(has_text=state)).to_have_count(count)
    take_pictures(signed_in, tmp_path / "overview")


def test_the_hyperparameters_are_those_of_the_tracker(signed_in: Page, place: str, seen: Seen, tmp_path: Path) -> None:
    signed_in.goto(f"{place}/hyperparameters")
    for name, value in seen.hparams.items():
        row = signed_in.get_by_role("row").filter(has=signed_in.get_by_text(name, exact=True))
        expect(row).to_contain_text(value)
    take_pictures(signed_in, tmp_path / "hyperparameters")


def test_a_chart_has_every_point(signed_in: Page, place: str, seen: Seen, tmp_path: Path) -> None:
    signed_in.goto(f"{place}/metrics")
    chart = signed_in.get_by_role("figure", name=seen.chart, exact=True)
    expect(chart.locator("canvas").first).to_be_visible()
    signed_in.get_by_role("button", name=f"{seen.chart}: chart menu").click()
    with signed_in.expect_download() as saved:
        signed_in.get_by_role("menuitem", name="Download CSV", exact=True).click()
    rows = list(csv.DictReader(saved.value.path().read_text().splitlines()))
    assert Counter(row["series"] for row in rows) == seen.points
    take_pictures(signed_in, tmp_path / "metrics")


def test_the_log_has_what_the_tracker_kept(signed_in: Page, place: str, seen: Seen, tmp_path: Path) -> None:
    signed_in.goto(f"{place}/logs")
    if seen.log is None:
        expect(signed_in.get_by_text("No log lines", exact=True)).to_be_visible()
    else:
        expect(signed_in.get_by_role("region", name="Log lines")).to_contain_text(seen.log)
    expect(signed_in.get_by_text("The log is complete.")).to_be_visible()
    take_pictures(signed_in, tmp_path / "logs")


def test_what_a_store_does_not_have_is_not_promised(signed_in: Page, client: Client) -> None:
    found = experiment(client, "mlflow", "failed")["id"]
    signed_in.goto(f"/det/experiments/{found}/metrics")
    expect(signed_in.get_by_text("The trial ended without any.")).to_be_visible()
    signed_in.goto(f"/det/experiments/{found}/checkpoints")
    expect(signed_in.get_by_text("None was stored, or all were deleted.")).to_be_visible()
    signed_in.goto(f"/det/experiments/{found}/code")
    expect(signed_in.get_by_text("No code was stored.")).to_be_visible()
    expect(signed_in.get_by_role("button", name="Download the code")).to_have_count(0)


def test_the_failed_trial_of_a_search_is_named(signed_in: Page, client: Client) -> None:
    found = experiment(client, "optuna", "vision/lr")["id"]
    [failed] = [trial["id"] for trial in client.trials(found) if trial["state"] == "STATE_ERROR"]
    signed_in.goto(f"/det/experiments/{found}/overview")
    why = signed_in.get_by_role("region", name="Why it failed")
    expect(why.get_by_role("heading")).to_contain_text(f"Trial {failed}: Failed")


def take_pictures(page: Page, path: Path) -> None:
    """In both themes, with axe's findings in both."""
    assert_accessible(page)
    page.screenshot(path=path.with_suffix(".light.png"))
    darken(page)
    assert_accessible(page, "color-contrast")
    page.screenshot(path=path.with_suffix(".dark.png"))
