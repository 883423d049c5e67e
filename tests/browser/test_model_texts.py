"""Texts of models and versions: labels, notes and metadata, also when two write at once; archived models; deleting."""

import re

import pytest
from ground import Watch, assert_accessible, sign_in
from models_ground import MODELS, counter, get, get_version
from playwright.sync_api import BrowserContext, Page, expect

from cluster import Client, Cluster

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
PASSWORD = "A long password 1"


@pytest.fixture(scope="module")
def made(site: Cluster, tmp_path_factory: pytest.TempPathFactory) -> int:
    return counter(Client(site.url), tmp_path_factory.mktemp("storing"))


@pytest.fixture
def model(client: Client, made: int) -> int:
    """Return the model as it was made, whatever an earlier test changed."""
    client.post(f"{MODELS}/{made}/unarchive")
    clean = {"notes": "", "metadata": {}, "labels": ["demo"]}
    client.call("PATCH", f"{MODELS}/{made}", clean)
    client.call("PATCH", f"{MODELS}/{made}/versions/1", {**clean, "name": "", "comment": ""})
    return made


def test_labels_of_a_model_and_of_a_version_are_added_and_taken_off(
    signed_in: Page, client: Client, model: int
) -> None:
    for path in (f"{MODELS}/{model}", f"{MODELS}/{model}/versions/1"):
        signed_in.goto(path.replace("/api/v1", "/det"))
        signed_in.get_by_role("button", name="Add a label").click()
        signed_in.get_by_label("New label").fill("baseline")
        signed_in.get_by_label("New label").press("Enter")
        signed_in.get_by_role("button", name="Remove demo").click()
        expect(signed_in.get_by_role("group", name="Labels")).to_have_text("baseline")
    assert get(client, model)["labels"] == get_version(client, model, 1)["labels"] == ["baseline"]


@pytest.mark.parametrize("of", ["", "/versions/1"])
def test_notes_are_written_and_shown_as_markdown(signed_in: Page, client: Client, model: int, of: str) -> None:
    signed_in.goto(f"/det/models/{model}{of}")
    signed_in.get_by_role("button", name="Write notes").click()
    signed_in.get_by_label("Notes (Markdown)").fill("A **bold** word")
    assert_accessible(signed_in)
    signed_in.get_by_role("button", name="Save").click()
    expect(signed_in.locator("strong", has_text="bold")).to_be_visible()
    shown = get_version(client, model, 1) if of else get(client, model)
    assert shown["notes"] == "A **bold** word"


def test_notes_that_somebody_else_saved_meanwhile_are_not_lost(
    signed_in: Page, client: Client, model: int, watch: Watch
) -> None:
    watch.allow("status of 409")
    signed_in.goto(f"/det/models/{model}")
    signed_in.get_by_role("button", name="Write notes").click()
    signed_in.get_by_label("Notes (Markdown)").fill("mine")
    client.call("PATCH", f"{MODELS}/{model}", {"notes": "theirs"})
    signed_in.get_by_role("button", name="Save").click()
    expect(signed_in.get_by_text("Somebody else saved these notes while you wrote.")).to_be_visible()
    assert get(client, model)["notes"] == "theirs"
    signed_in.get_by_role("button", name="Edit both together").click()
    signed_in.get_by_role("button", name="Save").click()
    expect(signed_in.get_by_role("button", name="Edit notes")).to_be_visible()
    assert get(client, model)["notes"] == "theirs\nmine"


def test_metadata_are_edited_as_json_and_what_is_no_json_is_not_saved(
    signed_in: Page, client: Client, model: int
) -> None:
    for path in (f"{MODELS}/{model}", f"{MODELS}/{model}/versions/1"):
        signed_in.goto(path.replace("/api/v1", "/det"))
        signed_in.get_by_role("button", name="Edit metadata").click()
        text = signed_in.get_by_label("Metadata (JSON)")
        save = signed_in.get_by_role("button", name="Save")
        text.fill("{broken")
        expect(signed_in.get_by_role("alert").filter(has_text="This is not JSON")).to_be_visible()
        expect(save).to_be_disabled()
        assert_accessible(signed_in)
        text.fill('{"dataset": {"version": 3}}')
        save.click()
        expect(signed_in.get_by_role("button", name="Edit metadata")).to_be_visible()
        expect(signed_in.get_by_text('"version": 3')).to_be_visible()
    assert get(client, model)["metadata"] == get_version(client, model, 1)["metadata"] == {"dataset": {"version": 3}}


def test_metadata_that_somebody_else_saved_meanwhile_are_not_lost(signed_in: Page, client: Client, model: int) -> None:
    signed_in.goto(f"/det/models/{model}")
    signed_in.get_by_role("button", name="Edit metadata").click()
    signed_in.get_by_label("Metadata (JSON)").fill('{"mine": 1}')
    client.call("PATCH", f"{MODELS}/{model}", {"metadata": {"theirs": 2}})
    signed_in.get_by_role("button", name="Save").click()
    expect(signed_in.get_by_text("Somebody else saved this metadata while you wrote.")).to_be_visible()
    assert get(client, model)["metadata"] == {"theirs": 2}
    signed_in.get_by_role("button", name="Save mine over theirs").click()
    expect(signed_in.get_by_role("button", name="Edit metadata")).to_be_visible()
    assert get(client, model)["metadata"] == {"mine": 1}


def test_integers_that_a_browser_would_change_are_left_to_python(signed_in: Page, client: Client, model: int) -> None:
    client.call("PATCH", f"{MODELS}/{model}", {"metadata": {"seed": 2**60 + 1}})
    signed_in.goto(f"/det/models/{model}")
    expect(signed_in.get_by_text("more digits than a browser keeps")).to_be_visible()
    expect(signed_in.get_by_role("button", name="Edit metadata")).to_be_disabled()


def test_an_archived_model_is_read_and_says_so_and_its_versions_can_be_described(
    signed_in: Page, client: Client, model: int
) -> None:
    client.post(f"{MODELS}/{model}/archive")
    signed_in.goto(f"/det/models/{model}")
    expect(signed_in.get_by_text("This model is archived: it takes no changes and no new versions.")).to_be_visible()
    for name in ("Write notes", "Edit metadata", "Remove alias production"):
        expect(signed_in.get_by_role("button", name=name)).to_be_disabled()
    for name in ("Add a label", "Move alias", "Describe it"):
        expect(signed_in.get_by_role("button", name=name, exact=True)).to_have_count(0)
    signed_in.get_by_role("button", name="Actions", exact=True).click()
    edit = signed_in.get_by_role("menuitem", name="Edit name and description")
    expect(edit).to_be_disabled()
    expect(edit).to_contain_text("It is archived. Unarchive it to change it.")
    assert_accessible(signed_in)
    signed_in.keyboard.press("Escape")
    signed_in.goto(f"/det/models/{model}/versions/1")
    expect(signed_in.get_by_text("Its model is archived")).to_be_visible()
    _edit_version(signed_in, "the first", "of them all")
    assert get_version(client, model, 1)["name"] == "the first"
    signed_in.goto(f"/det/models/{model}")
    signed_in.get_by_role("button", name="Unarchive").click()
    expect(signed_in.get_by_role("button", name="Write notes")).to_be_enabled()


def test_a_version_is_named_and_commented_and_the_name_can_be_taken_away(
    signed_in: Page, client: Client, model: int
) -> None:
    signed_in.goto(f"/det/models/{model}/versions/1")
    _edit_version(signed_in, "after one step", "half trained")
    expect(signed_in.get_by_text("half trained")).to_be_visible()
    signed_in.goto(f"/det/models/{model}")
    expect(signed_in.get_by_role("row").filter(has_text="after one step")).to_contain_text("half trained")
    signed_in.get_by_role("link", name="after one step").click()
    _edit_version(signed_in, "", "half trained")
    expect(signed_in.get_by_role("heading", level=1, name="Version 1")).to_be_visible()
    assert get_version(client, model, 1)["comment"] == "half trained"


def test_a_version_is_deleted_by_its_owners_only(
    page: Page, context: BrowserContext, site: Cluster, client: Client, model: int, watch: Watch
) -> None:
    watch.allow("status of 404")  # the page of the deleted version may be told before it is left
    uuid = get_version(client, model, 2)["checkpoint"]["uuid"]
    number = client.post(f"{MODELS}/{model}/versions", {"checkpointUuid": uuid})["modelVersion"]["version"]
    client.call("PUT", f"{MODELS}/{model}/aliases/doomed", {"version": number})
    user = {"username": "ann", "active": True, "admin": False}
    Client(site.url, "admin").post("/api/v1/users", {"user": user, "password": PASSWORD, "isHashed": False})
    sign_in(context, site.url, "ann", PASSWORD)
    page.goto(f"/det/models/{model}/versions/{number}")
    page.get_by_role("button", name="Actions", exact=True).click()
    expect(page.get_by_role("menuitem", name="Delete")).to_be_disabled()
    expect(page.get_by_role("menuitem", name="Delete")).to_contain_text("Only determined,")
    sign_in(context, site.url)
    page.reload()
    page.get_by_role("button", name="Actions", exact=True).click()
    page.get_by_role("menuitem", name="Delete").click()
    asked = page.get_by_role("alertdialog")
    expect(asked).to_contain_text("Its aliases go with it: doomed.")
    asked.get_by_role("button", name="Delete").click()
    expect(page).to_have_url(re.compile(rf"/det/models/{model}$"))
    expect(page.get_by_role("link", name="Version 2")).to_be_visible()
    expect(page.get_by_role("link", name=f"Version {number}")).to_have_count(0)


def _edit_version(page: Page, name: str, comment: str) -> None:
    page.get_by_role("button", name="Actions", exact=True).click()
    page.get_by_role("menuitem", name="Edit name and comment").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill(name)
    dialog.get_by_label("Comment").fill(comment)
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0)
