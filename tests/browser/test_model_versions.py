"""Versions of a model held against one another, and the picture of where a version comes from and who uses it."""

import re
from pathlib import Path

import pytest
from ground import assert_accessible, assert_fits, submit
from models_ground import counter, get_version, make_model, register, train
from playwright.sync_api import Page, expect

from cluster import Client, Cluster

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
USING = """\
from determined import core
from determined.experimental import client
with core.init() as ctx:
    ctx.experimental.report_task_using_model_version(client.get_model("counter").get_version({number}))
"""
DATA = {"data": {"path": "/data/digits"}, "name": "count"}


@pytest.fixture(scope="module")
def model(site: Cluster, tmp_path_factory: pytest.TempPathFactory) -> int:
    """Versions 1 and 2 are of one trial, version 3 of another."""
    client = Client(site.url)
    made = counter(client, tmp_path_factory.mktemp("storing"), **DATA)
    _, uuids = train(client, tmp_path_factory.mktemp("again"))
    register(client, made, uuids[:1])
    return made


def test_chosen_versions_are_compared_against_the_first_and_the_choice_is_an_address(
    signed_in: Page, model: int
) -> None:
    signed_in.goto(f"/det/models/{model}")
    compare = signed_in.get_by_role("button", name="Compare", exact=True)
    expect(compare).to_be_disabled()
    signed_in.get_by_role("checkbox", name="Compare version 1").check()
    signed_in.get_by_role("checkbox", name="Compare version 2").check()
    expect(signed_in).to_have_url(re.compile(r"sel=1-2$"))
    signed_in.get_by_role("button", name="Compare 2 versions").click()
    expect(signed_in).to_have_url(re.compile(rf"/det/models/{model}/compare\?versions=1-2$"))
    table = signed_in.get_by_role("table", name="Metrics, exact, against version 1")
    rows = table.get_by_role("row")
    expect(rows.nth(1)).to_have_text(re.compile(r"validation x\s*differs\s*0\.5\s*0\.25\s*\u22120\.25 \(\u221250 %\)"))
    expect(rows.nth(2)).to_have_text(re.compile(r"validation same\s*3\s*3\s*±0"))
    expect(signed_in.get_by_role("link", name="Charts of trial")).to_have_count(2)
    assert_accessible(signed_in)
    signed_in.get_by_label("Against", exact=True).select_option("Version 2")
    expect(signed_in.get_by_text("+0.25 (+100 %)")).to_be_visible()
    signed_in.reload()
    expect(signed_in.get_by_text("+0.25 (+100 %)")).to_be_visible()
    assert_fits(signed_in, 390, 800)


def test_versions_are_added_and_taken_away_and_lead_to_the_comparison_of_their_trials(
    signed_in: Page, client: Client, model: int
) -> None:
    signed_in.goto(f"/det/models/{model}/versions/2")
    signed_in.get_by_role("button", name="Actions", exact=True).click()
    signed_in.get_by_role("menuitem", name="Compare with other versions").click()
    expect(signed_in.get_by_text("Choose at least two versions")).to_be_visible()
    signed_in.get_by_label("Add a version").select_option("Version 1")
    signed_in.get_by_label("Add a version").select_option("Version 3")
    expect(signed_in).to_have_url(re.compile(r"versions=1-3$"))
    signed_in.get_by_role("button", name="Remove version 2 from the comparison").click()
    expect(signed_in).to_have_url(re.compile(r"versions=1(%2C|,)3$"))
    signed_in.get_by_role("link", name="Compare their 2 trials").click()
    trials = [get_version(client, model, number)["checkpoint"]["training"]["trialId"] for number in (1, 3)]
    expect(signed_in).to_have_url(re.compile(rf"/det/compare\?trials={trials[0]}(-|%2C|,){trials[1]}&base={trials[0]}"))
    expect(signed_in.get_by_role("heading", level=1, name="Compare 2 trials")).to_be_visible()


def test_versions_are_chosen_and_compared_by_keyboard(signed_in: Page, model: int) -> None:
    signed_in.goto(f"/det/models/{model}")
    for number in (1, 3):
        signed_in.get_by_role("checkbox", name=f"Compare version {number}").focus()
        signed_in.keyboard.press("Space")
    expect(signed_in.get_by_role("button", name="Compare 2 versions")).to_be_enabled()
    signed_in.get_by_role("heading", level=1).click()
    signed_in.keyboard.press("c")
    expect(signed_in).to_have_url(re.compile(r"/compare\?versions=1(%2C|,)3$"))


def test_the_lineage_leads_from_the_data_to_the_trials_that_use_the_version(
    signed_in: Page, client: Client, model: int, tmp_path: Path
) -> None:
    version = get_version(client, model, 2)
    uuid = version["checkpoint"]["uuid"]
    experiment, trial = (version["checkpoint"]["training"][key] for key in ("experimentId", "trialId"))
    user = _use(client, tmp_path, 2)
    register(client, make_model(client, "twin"), [uuid])
    signed_in.goto(f"/det/models/{model}/versions/2")
    picture = signed_in.get_by_role("list", name="Lineage")
    expect(picture.get_by_role("link", name=f"Trial {user}")).to_contain_text("inference")
    expect(picture.get_by_role("link")).to_have_text(
        [
            re.compile(r"^Data of the configuration\s*path: /data/digits$"),
            re.compile(rf"^Experiment {experiment}\s*count$"),
            re.compile(rf"^{uuid[:8]}\s*of trial {trial}\s*after 2 batches$"),
            re.compile(rf"^Trial {user}"),
        ]
    )
    expect(picture).to_contain_text("counter version 2")
    expect(signed_in.get_by_role("link", name="twin version 1")).to_be_visible()
    signed_in.get_by_text("As a list").click()
    expect(signed_in.get_by_role("definition").filter(has_text=f"Trial {user}")).to_be_visible()
    assert_accessible(signed_in)
    assert_fits(signed_in, 390, 800)
    assert_accessible(signed_in)
    picture.get_by_role("link", name="Data of the configuration").focus()
    for _ in range(2):
        signed_in.keyboard.press("Tab")
    signed_in.keyboard.press("Enter")
    expect(signed_in).to_have_url(
        re.compile(rf"/experiments/{experiment}/trials/{trial}/checkpoints\?checkpoint={uuid}$")
    )
    expect(signed_in.get_by_role("dialog").get_by_text("weights.txt")).to_be_visible()


def test_a_version_without_uses_says_so_and_a_use_appears_by_itself(
    signed_in: Page, client: Client, model: int, tmp_path: Path
) -> None:
    signed_in.goto(f"/det/models/{model}/versions/1")
    expect(signed_in.get_by_text("No trial has said that it uses this version.")).to_be_visible()
    user = _use(client, tmp_path, 1)
    expect(signed_in.get_by_role("list", name="Lineage").get_by_role("link", name=f"Trial {user}")).to_be_visible()
    assert_accessible(signed_in)


def _use(client: Client, directory: Path, number: int) -> int:
    """A trial that says that it uses a version."""
    experiment = submit(client, directory / "use", USING.format(number=number))
    client.wait_state(experiment, "COMPLETED")
    trial: int = client.trials(experiment)[0]["id"]
    return trial
