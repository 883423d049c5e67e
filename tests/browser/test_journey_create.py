"""Journeys that begin at an ended experiment: train its trial further, fork it, search around it; all by pressing."""

import re
from pathlib import Path

import pytest
from ground import submit
from playwright.sync_api import Page, expect

from cluster import Client, Cluster

pytestmark = pytest.mark.browser

# trains up to the length it is given, from wherever its checkpoint says; only lr matters for how well
TRAINING = """\
import determined as det
info = det.get_cluster_info()
lr, dropout = info.trial.hparams["lr"], info.trial.hparams["dropout"]
with det.core.init() as ctx:
    step = 0
    if info.latest_checkpoint:
        with ctx.checkpoint.restore_path(info.latest_checkpoint) as path:
            step = int((path / "step").read_text())
        print(f"going on after step {step}")
    for op in ctx.searcher.operations():
        while step < op.length:
            step += 1
            ctx.train.report_training_metrics(steps_completed=step, metrics={"loss": lr / step})
        x = lr + 1e-6 * dropout
        ctx.train.report_validation_metrics(steps_completed=step, metrics={"x": x})
        with ctx.checkpoint.store_path({"steps_completed": step}) as (path, _):
            (path / "step").write_text(str(step))
        op.report_completed(x)
"""
TRIALS = 10


@pytest.fixture(scope="module")
def parent(site: Cluster, tmp_path_factory: pytest.TempPathFactory) -> int:
    """Never changed."""
    return _ended(Client(site.url), tmp_path_factory.mktemp("parent"))


def test_a_trial_is_trained_further(signed_in: Page, client: Client, tmp_path: Path) -> None:
    own = _ended(client, tmp_path)
    _act(signed_in, own, "Continue…")
    signed_in.get_by_label("Training length", exact=True).fill("25")
    expect(signed_in.get_by_text(re.compile("has trained 10 batches and goes on to 25 batches"))).to_be_visible()
    signed_in.get_by_role("button", name="Continue", exact=True).click()
    expect(signed_in).to_have_url(re.compile(rf"/det/experiments/{own}$"))
    chart = signed_in.get_by_role("figure", name="loss")
    expect(chart.locator("p.visually-hidden")).to_contain_text("last 0.004 at batches 25.", timeout=60_000)
    client.wait_state(own, "COMPLETED")
    [trial] = client.trials(own)
    steps = [report["totalBatches"] for report in client.metrics(trial["id"], "training")]
    assert steps == list(range(1, 26))
    signed_in.get_by_role("link", name=re.compile("^Logs")).click()
    expect(signed_in.get_by_text("going on after step 10")).to_be_visible()


def test_a_fork_runs_with_the_hyperparameter_that_was_changed(signed_in: Page, client: Client, parent: int) -> None:
    _act(signed_in, parent, "Fork…")
    signed_in.get_by_label("Value of lr").fill("0.5")
    signed_in.get_by_role("tab", name="Changes").click()
    expect(signed_in.get_by_role("row").filter(has_text="removed: ").filter(has_text="lr: 0.1")).to_have_count(1)
    expect(signed_in.get_by_role("row").filter(has_text="added: ").filter(has_text="lr: 0.5")).to_have_count(1)
    signed_in.get_by_role("button", name="Launch", exact=True).click()
    expect(signed_in).to_have_url(re.compile(r"/det/experiments/\d+$"))
    made = int(signed_in.url.rsplit("/", 1)[1])
    assert made != parent
    expect(signed_in.get_by_role("link", name=f"experiment {parent}", exact=True)).to_be_visible()
    client.wait_state(made, "COMPLETED")
    expect(signed_in.get_by_text(re.compile("Completed$")).first).to_be_visible()
    signed_in.get_by_role("link", name="Hyperparameters", exact=True).click()
    row = signed_in.get_by_role("row").filter(has_text=re.compile("^lr"))
    expect(row).to_contain_text("0.5")
    [trial] = client.trials(made)
    assert trial["hparams"] == {"lr": 0.5, "dropout": 0.5}


def test_a_search_is_launched_and_tells_which_hyperparameter_mattered(
    signed_in: Page, client: Client, parent: int
) -> None:
    _act(signed_in, parent, "Hyperparameter search…")
    signed_in.get_by_label("Method").select_option("random")
    signed_in.get_by_label("Trials at most").fill(str(TRIALS))
    for name in ("lr", "dropout"):
        signed_in.get_by_label(f"Kind of {name}").select_option("double")
        values = signed_in.get_by_role("group", name=name, exact=True)
        values.get_by_label("From", exact=True).fill("0.0")
        values.get_by_label("To", exact=True).fill("1.0")
    expect(signed_in.get_by_text(f"Creates {TRIALS} trials of 1 slot each.", exact=False)).to_be_visible()
    signed_in.get_by_role("button", name="Launch search", exact=True).click()
    expect(signed_in).to_have_url(re.compile(r"/det/experiments/\d+$"))
    made = int(signed_in.url.rsplit("/", 1)[1])
    expect(signed_in.get_by_text(f"{TRIALS} done, 0 active, 0 failed")).to_be_visible(timeout=120_000)
    client.wait_state(made, "COMPLETED")
    signed_in.get_by_role("link", name="Visualization").click()
    signed_in.get_by_role("link", name="Importance").click()
    figure = signed_in.get_by_role("figure", name="What mattered for x")
    expect(figure).to_contain_text(f"From {TRIALS} of {TRIALS} completed trials")
    expect(figure.get_by_role("listitem")).to_have_text([re.compile("^lr"), re.compile("^dropout")])


def _ended(client: Client, place: Path) -> int:
    made = submit(
        client,
        place,
        TRAINING,
        name="fit a line",
        hyperparameters={"lr": 0.1, "dropout": 0.5},
        reproducibility={"experiment_seed": 7},  # of a search around it too: ten trials of chance prove nothing
        searcher={"name": "single", "metric": "x", "max_length": {"batches": 10}},
    )
    client.wait_state(made, "COMPLETED")
    return made


def _act(page: Page, experiment: int, action: str) -> None:
    page.goto(f"/det/experiments/{experiment}")
    page.get_by_role("button", name="Actions").click()
    page.get_by_role("menuitem", name=action).click()
