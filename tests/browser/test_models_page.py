"""Models in the browser: found, archived, opened; a version with its lineage; an alias that is moved."""

import pytest
from ground import Watch, assert_accessible, submit
from playwright.sync_api import Page, expect

from cluster import Client, Cluster

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
PATH = "/api/v1/models"
STORING = """\
from determined import core
with core.init() as ctx:
    for step in (1, 2):
        ctx.train.report_validation_metrics(steps_completed=step, metrics={"x": 0.5 / step})
        with ctx.checkpoint.store_path({"steps_completed": step}) as (path, _):
            (path / "weights.txt").write_text(str(step))
"""


@pytest.fixture(scope="module")
def model(site: Cluster, tmp_path_factory: pytest.TempPathFactory) -> int:
    """A model of two versions; `production` is the first."""
    client = Client(site.url)
    keep = {"checkpoint_storage": {"save_trial_latest": 2}}
    experiment = submit(client, tmp_path_factory.mktemp("storing"), STORING, **keep)
    client.wait_state(experiment, "COMPLETED")
    made: int = client.post(PATH, {"name": "counter", "description": "adds one"})["model"]["id"]
    for checkpoint in client.get(f"/api/v1/experiments/{experiment}/checkpoints")["checkpoints"]:
        client.post(f"{PATH}/{made}/versions", {"checkpointUuid": checkpoint["uuid"]})
    client.call("PUT", f"{PATH}/{made}/aliases/production", {"version": 1})
    return made


def test_a_model_is_found_opened_and_its_alias_moved(signed_in: Page, client: Client, model: int) -> None:
    signed_in.goto("/det/models")
    signed_in.get_by_label("Find a model").fill("COUNT")
    expect(signed_in.get_by_role("row").filter(has_text="counter")).to_contain_text("production → 1")
    assert_accessible(signed_in)
    signed_in.get_by_role("link", name="counter").click()
    signed_in.get_by_role("button", name="Move alias").click()
    expect(signed_in.get_by_text("counter:production is now version 2")).to_be_visible()
    assert client.get(f"{PATH}/{model}")["model"]["aliases"] == {"production": 2}
    assert_accessible(signed_in)


def test_a_version_shows_its_lineage_and_how_to_load_it(signed_in: Page, client: Client, model: int) -> None:
    signed_in.goto(f"/det/models/{model}/versions/2")
    version = client.get(f"{PATH}/{model}/versions/2")["modelVersion"]
    experiment = version["checkpoint"]["training"]["experimentId"]
    expect(signed_in.get_by_role("list", name="Lineage")).to_contain_text(f"Experiment {experiment}")
    expect(signed_in.get_by_text("model download counter:2 counter-2")).to_be_visible()
    expect(signed_in.get_by_text("weights.txt")).to_be_visible()
    assert_accessible(signed_in)


def test_archiving_takes_a_model_off_the_list_and_can_be_undone(signed_in: Page, model: int) -> None:
    signed_in.goto("/det/models")
    signed_in.get_by_role("button", name="Archive counter").click()
    expect(signed_in.get_by_text("No models in use")).to_be_visible()
    signed_in.get_by_role("button", name="Undo").click()
    expect(signed_in.get_by_role("link", name="counter")).to_be_visible()


def test_a_model_that_is_not_there_says_so(signed_in: Page, watch: Watch) -> None:
    watch.allow("status of 404")
    signed_in.goto("/det/models/999")
    expect(signed_in.get_by_text("not found").first).to_be_visible()
