"""Checkpoints registered from where they are listed: into a model that is found or made, and what stands in the way."""

import re
from pathlib import Path

import pytest
from ground import Watch, assert_accessible, assert_fits
from models_ground import MODELS, get_version, make_model, train
from playwright.sync_api import Locator, Page, expect

from cluster import Client, Cluster, eventually

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def trained(site: Cluster, tmp_path_factory: pytest.TempPathFactory) -> tuple[int, list[str]]:
    """An experiment, and its checkpoints by step."""
    return train(Client(site.url), tmp_path_factory.mktemp("storing"))


def test_a_checkpoint_of_an_experiment_becomes_a_version_of_a_model_found_by_name(
    signed_in: Page, client: Client, trained: tuple[int, list[str]]
) -> None:
    experiment, uuids = trained
    make_model(client, "other")
    model = make_model(client, "digits of the lab")
    signed_in.goto(f"/det/experiments/{experiment}/checkpoints")
    dialog = _open(signed_in, uuids[1])
    expect(dialog.get_by_role("button", name="Register")).to_be_disabled()
    _pick(signed_in, "THE L", "digits of the lab")
    dialog.get_by_label("Name of the version").fill("good")
    dialog.get_by_label("Comment").fill("of both steps")
    dialog.get_by_label("Labels of the version").fill("a, b")
    assert_accessible(signed_in)
    assert_fits(signed_in, 390, 800)
    dialog.get_by_role("button", name="Register").click()
    signed_in.get_by_role("link", name="version 1 of digits of the lab").click()
    expect(signed_in).to_have_url(re.compile(rf"/det/models/{model}/versions/1$"))
    version = get_version(client, model, 1)
    assert version["checkpoint"]["uuid"] == uuids[1]
    assert (version["name"], version["comment"], version["labels"]) == ("good", "of both steps", ["a", "b"])


def test_a_checkpoint_of_a_trial_becomes_the_first_version_of_a_new_model(
    signed_in: Page, client: Client, trained: tuple[int, list[str]], watch: Watch
) -> None:
    watch.allow("status of 409")
    experiment, uuids = trained
    make_model(client, "taken")
    trial = client.trials(experiment)[0]["id"]
    signed_in.goto(f"/det/experiments/{experiment}/trials/{trial}/checkpoints?checkpoint={uuids[0]}")
    expect(signed_in.get_by_role("dialog").get_by_text("weights.txt")).to_be_visible()
    signed_in.get_by_role("dialog").get_by_role("button", name="Register").click()
    dialog = signed_in.get_by_role("dialog", name=f"Register checkpoint {uuids[0][:8]}")
    dialog.get_by_text("Create a new model for it").click()
    dialog.get_by_label("Name", exact=True).fill("taken")
    dialog.get_by_role("button", name="Register").click()
    expect(dialog.get_by_role("alert")).to_contain_text("exists already")
    dialog.get_by_label("Name", exact=True).fill("made on the way")
    assert_accessible(signed_in)
    dialog.get_by_role("button", name="Register").click()
    expect(signed_in.get_by_role("link", name="version 1 of made on the way")).to_be_visible()
    signed_in.get_by_role("dialog").get_by_role("button", name="Close").last.click()
    expect(signed_in.get_by_role("list", name="Registered as")).to_contain_text("made on the way version 1")
    model = client.get(f"{MODELS}/made%20on%20the%20way")["model"]
    assert get_version(client, model["id"], 1)["checkpoint"]["uuid"] == uuids[0]


def test_a_model_archived_meanwhile_refuses_in_a_sentence(
    signed_in: Page, client: Client, trained: tuple[int, list[str]], watch: Watch
) -> None:
    watch.allow("status of 400")
    experiment, uuids = trained
    model = make_model(client, "closing")
    signed_in.goto(f"/det/experiments/{experiment}/checkpoints")
    dialog = _open(signed_in, uuids[0])
    _pick(signed_in, "closing", "closing")
    client.post(f"{MODELS}/{model}/archive")
    dialog.get_by_role("button", name="Register").click()
    expect(dialog.get_by_role("alert")).to_contain_text('model "closing" is archived and cannot register new versions')


def test_a_checkpoint_without_its_files_cannot_be_registered_and_says_why(
    signed_in: Page, client: Client, tmp_path: Path
) -> None:
    experiment, [uuid, _] = train(client, tmp_path)
    client.post("/api/v1/checkpoints/rm", {"checkpointUuids": [uuid], "checkpointGlobs": ["weights.txt"]})
    path = f"/api/v1/checkpoints/{uuid}"
    eventually(lambda: client.get(path)["checkpoint"]["state"] == "STATE_PARTIALLY_DELETED")
    signed_in.goto(f"/det/experiments/{experiment}/checkpoints?checkpoint={uuid}")
    dialog = signed_in.get_by_role("dialog")
    expect(dialog).to_contain_text("Its files are not all there (partially deleted)")
    expect(dialog.get_by_role("button", name="Register")).to_be_disabled()
    dialog.get_by_role("button", name="Close").click()
    row = signed_in.get_by_role("button", name=f"Register checkpoint {uuid} Its files are not all there")
    expect(row).to_be_disabled()


def _open(page: Page, uuid: str) -> Locator:
    page.get_by_role("button", name=f"Register checkpoint {uuid}").click()
    return page.get_by_role("dialog")


def _pick(page: Page, typed: str, name: str) -> None:
    """Find a model by a part of its name, with the keyboard."""
    page.get_by_role("combobox", name="Model").fill(typed)
    expect(page.get_by_role("listbox").get_by_role("option")).to_have_text([name])
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.get_by_role("combobox", name="Model")).to_have_value(name)
