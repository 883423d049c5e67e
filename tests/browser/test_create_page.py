"""Experiments made in the browser: forked, continued both ways, searched, written from nothing, taken from a folder."""

import re
from pathlib import Path

import pytest
from ground import assert_accessible, submit
from playwright.sync_api import Locator, Page, expect

from cluster import Client, Cluster

pytestmark = pytest.mark.browser

# Trains up to the length of its operation from wherever its checkpoint says.
TRAINING = """\
import json, determined as det
from determined import core
info = det.get_cluster_info()
lr = info.trial.hparams["lr"]
with core.init() as ctx:
    n = 0
    if info.latest_checkpoint:
        with ctx.checkpoint.restore_path(info.latest_checkpoint) as path:
            state = json.loads((path / "state.json").read_text())
            n = state["n"] if state["trial"] == info.trial.trial_id else 0
    for op in ctx.searcher.operations():
        while n < op.length:
            n += 1
            ctx.train.report_training_metrics(steps_completed=n, metrics={"loss": lr / n})
        ctx.train.report_validation_metrics(steps_completed=n, metrics={"x": lr / n})
        with ctx.checkpoint.store_path({"steps_completed": n}) as (path, _):
            (path / "state.json").write_text(json.dumps({"n": n, "trial": info.trial.trial_id}))
        op.report_completed(lr / n)
"""
FIT = {"searcher": {"name": "single", "metric": "x", "max_length": {"batches": 10}}, "hyperparameters": {"lr": 0.1}}


@pytest.fixture(scope="module")
def parent(site: Cluster, tmp_path_factory: pytest.TempPathFactory) -> int:
    """An ended experiment of one trial that trained 10 batches. It is never changed."""
    return _ended_parent(Client(site.url), tmp_path_factory.mktemp("parent"))


def test_a_fork_runs_with_the_changed_hyperparameter(signed_in: Page, client: Client, parent: int) -> None:
    signed_in.goto(f"/det/experiments/new?from={parent}&mode=fork")
    signed_in.get_by_label("Value of lr").fill("0.5")
    expect(_editor(signed_in)).to_contain_text("lr: 0.5")
    signed_in.get_by_role("tab", name="Changes").click()
    expect(signed_in.get_by_text("removed: ").filter(has_text="removed").first).to_be_attached()
    expect(signed_in.get_by_role("region", name=re.compile("2 lines added, 2 lines removed"))).to_be_visible()
    made = _launch(signed_in, "Launch")
    client.wait_state(made, "COMPLETED")
    experiment = client.get(f"/api/v1/experiments/{made}")["experiment"]
    assert experiment["forkedFrom"] == parent and experiment["name"].endswith("(fork)")
    assert client.trials(made)[0]["hparams"] == {"lr": 0.5}


def test_form_and_text_stay_in_step_both_ways_and_comments_survive(signed_in: Page) -> None:
    signed_in.goto("/det/experiments/new")
    expect(signed_in.get_by_label("Slots per trial")).to_have_value("1")
    _type_at_end(signed_in, "description: words  # my note\nmax_restarts_: 1\n")
    expect(_editor(signed_in)).to_contain_text("additional property `max_restarts_` not allowed")
    expect(signed_in.get_by_role("button", name="Launch", exact=True)).to_be_disabled()
    _type_at_end(signed_in, "", *["Backspace"] * len("max_restarts_: 1\n"))
    expect(signed_in.get_by_text("Creates 1 trial of 1 slot.")).to_be_visible()
    signed_in.get_by_label("Slots per trial").fill("2")
    signed_in.get_by_label("Name", exact=True).fill("renamed")
    expect(_editor(signed_in)).to_contain_text("slots_per_trial: 2")
    expect(_editor(signed_in)).to_contain_text("name: renamed")
    expect(_editor(signed_in)).to_contain_text("# my note")
    expect(signed_in.get_by_text("Creates 1 trial of 2 slots.")).to_be_visible()
    assert_accessible(signed_in)


def test_what_the_cluster_can_never_run_is_told_before_it_is_sent(signed_in: Page) -> None:
    signed_in.goto("/det/experiments/new")
    signed_in.get_by_label("Slots per trial").fill("64")
    expect(_editor(signed_in)).to_contain_text("slots_per_trial: 64")
    expect(signed_in.get_by_text(re.compile(r"Line \d+: resources.slots_per_trial: "))).to_be_visible()
    expect(signed_in.get_by_role("button", name="Launch", exact=True)).to_be_disabled()


def test_continuing_trains_the_same_trial_further(signed_in: Page, client: Client, tmp_path: Path) -> None:
    own = _ended_parent(client, tmp_path)
    signed_in.goto(f"/det/experiments/new?from={own}&mode=continue")
    expect(signed_in.get_by_role("radio", name=re.compile("Train this trial further"))).to_be_checked()
    signed_in.get_by_label("Training length", exact=True).fill("30")
    expect(signed_in.get_by_text(re.compile("has trained 10 batches and goes on to 30 batches"))).to_be_visible()
    assert _launch(signed_in, "Continue") == own
    client.wait_state(own, "COMPLETED")
    [trial] = client.trials(own)
    assert trial["totalBatchesProcessed"] == 30


def test_continuing_as_a_new_experiment_begins_with_the_checkpoint(
    signed_in: Page, client: Client, parent: int
) -> None:
    signed_in.goto(f"/det/experiments/new?from={parent}&mode=continue")
    signed_in.get_by_role("radio", name=re.compile("Start a new experiment")).check()
    [source] = client.trials(parent)
    expect(_editor(signed_in)).to_contain_text(f"source_trial_id: {source['id']}")
    made = _launch(signed_in, "Launch")
    client.wait_state(made, "COMPLETED")
    [trial] = client.trials(made)
    assert trial["warmStartCheckpointUuid"] and trial["id"] != source["id"]


def test_a_search_is_launched_from_a_single_trial(signed_in: Page, client: Client, parent: int) -> None:
    signed_in.goto(f"/det/experiments/new?from={parent}&mode=hpsearch")
    expect(signed_in.get_by_text(re.compile("No hyperparameter varies yet"))).to_be_visible()
    signed_in.get_by_label("Method").select_option("random")
    signed_in.get_by_label("Trials at most").fill("2")
    signed_in.get_by_label("Kind of lr").select_option("log")
    expect(signed_in.get_by_text(re.compile("Creates 2 trials of 1 slot each"))).to_be_visible()
    expect(signed_in.get_by_text(re.compile("No hyperparameter varies yet"))).to_have_count(0)
    made = _launch(signed_in, "Launch search")
    client.wait_state(made, "COMPLETED")
    rates = [trial["hparams"]["lr"] for trial in client.trials(made)]
    assert len(set(rates)) == 2 and all(0.01 <= rate <= 1 for rate in rates)


def test_an_experiment_is_written_in_the_browser_alone(signed_in: Page, client: Client) -> None:
    signed_in.goto("/det/experiments/new?view=files")
    signed_in.get_by_role("button", name="Start with a small example").click()
    expect(signed_in.get_by_role("textbox", name="train.py")).to_contain_text("report_validation_metrics")
    made = _launch(signed_in, "Launch")
    client.wait_state(made, "COMPLETED")
    assert client.trials(made)[0]["searcherMetricValue"] == pytest.approx(0, abs=1e-6)


def test_a_key_without_effect_here_is_named_before_and_after_the_launch(signed_in: Page, client: Client) -> None:
    remark = re.compile("environment.image: not used, tasks run as plain processes here; .* honour")
    signed_in.goto("/det/experiments/new?view=files")
    signed_in.get_by_role("button", name="Start with a small example").click()
    signed_in.get_by_role("tab", name="Configuration").click()
    expect(signed_in.get_by_text("Creates 1 trial of 1 slot.")).to_be_visible()
    expect(signed_in.get_by_text(remark)).to_have_count(0)
    _type_at_end(signed_in, "environment: {image: example/image}\n")
    expect(signed_in.get_by_text(remark)).to_be_visible()
    made = _launch(signed_in, "Launch")
    expect(signed_in.get_by_role("region", name="Notifications").get_by_text(remark)).to_be_visible()
    client.wait_state(made, "COMPLETED")
    assert any(remark.search(line) for line in client.log_lines(client.trials(made)[0]["id"]))


def test_a_folder_is_taken_without_what_detignore_names(signed_in: Page, client: Client, tmp_path: Path) -> None:
    folder = tmp_path / "code"
    (folder / "data").mkdir(parents=True)
    (folder / "pkg").mkdir()
    (folder / "data" / "big.bin").write_bytes(b"\0" * 1000)
    (folder / ".detignore").write_text("data/\n")
    (folder / "pkg" / "part.py").write_text("WORDS = 'from the folder'\n")
    (folder / "run.py").write_text("from pkg.part import WORDS\nprint(WORDS)\n")
    (folder / "const.yaml").write_text(
        "name: dropped\nentrypoint: python3 run.py\nmax_restarts: 0\nsearcher: {name: single, metric: x}\n"
    )
    signed_in.goto("/det/experiments/new?view=files")
    signed_in.get_by_label("Choose a folder…").set_input_files(folder)
    expect(signed_in.get_by_text(re.compile(r"3 files, .* 2 files left behind"))).to_be_visible()
    signed_in.get_by_role("button", name="Use const.yaml as the configuration").click()
    expect(signed_in.get_by_label("Name", exact=True)).to_have_value("dropped")
    made = _launch(signed_in, "Launch")
    client.wait_state(made, "COMPLETED")
    assert any("from the folder" in line for line in client.log_lines(client.trials(made)[0]["id"]))


def test_files_of_the_parent_are_changed_in_the_browser(signed_in: Page, client: Client, parent: int) -> None:
    signed_in.goto(f"/det/experiments/new?from={parent}&mode=fork&view=files")
    signed_in.get_by_role("button", name="Change its files here").click()
    code = signed_in.get_by_role("textbox", name="train.py")
    expect(code).to_contain_text("report_completed")
    code.press("Control+End")
    code.press_sequentially("print('changed in the browser')\n")
    made = _launch(signed_in, "Launch")
    client.wait_state(made, "COMPLETED")
    assert any("changed in the browser" in line for line in client.log_lines(client.trials(made)[0]["id"]))


def _ended_parent(client: Client, place: Path) -> int:
    made = submit(client, place, TRAINING, name="fit-a-line", **FIT)
    client.wait_state(made, "COMPLETED")
    return made


def _editor(page: Page) -> Locator:
    return page.get_by_role("textbox", name="Configuration")


def _type_at_end(page: Page, text: str, *keys: str) -> None:
    editor = _editor(page)
    editor.press("Control+End")
    editor.press_sequentially(text)
    for key in keys:
        editor.press(key)


def _launch(page: Page, verb: str) -> int:
    """Presses the button when the plan allows it; the id of the experiment whose page comes."""
    page.get_by_role("button", name=verb, exact=True).click()
    expect(page).to_have_url(re.compile(r"/det/experiments/\d+$"))
    return int(page.url.rsplit("/", 1)[1])
