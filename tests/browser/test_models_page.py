"""The list of models: found, filtered, made, renamed, moved, archived, deleted; an alias that is moved."""

import re

import pytest
from ground import Watch, assert_accessible, sign_in
from models_ground import MODELS, counter, get, make_model
from playwright.sync_api import BrowserContext, Locator, Page, expect

from cluster import Client, Cluster

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
PASSWORD = "A long password 1"


@pytest.fixture(scope="module")
def model(site: Cluster, tmp_path_factory: pytest.TempPathFactory) -> int:
    return counter(Client(site.url), tmp_path_factory.mktemp("storing"))


@pytest.fixture(autouse=True)
def nothing_else(client: Client, model: int) -> None:
    for other in client.get(f"{MODELS}?limit=0")["models"]:
        if other["id"] != model:
            client.call("DELETE", f"{MODELS}/{other['id']}")


def test_a_model_is_found_opened_and_its_alias_moved(signed_in: Page, client: Client, model: int) -> None:
    signed_in.goto("/det/models")
    signed_in.get_by_label("Find a model").fill("COUNT")
    expect(_row(signed_in, "counter")).to_contain_text("production → 1")
    assert_accessible(signed_in)
    signed_in.get_by_role("link", name="counter").click()
    signed_in.get_by_role("button", name="Move alias", exact=True).click()
    expect(signed_in.get_by_text("counter:production is now version 2")).to_be_visible()
    assert get(client, model)["aliases"] == {"production": 2}
    assert_accessible(signed_in)
    signed_in.get_by_role("button", name="Remove alias production").click()
    expect(signed_in.get_by_text("Removed alias production; version 2 stays")).to_be_visible()
    signed_in.get_by_role("button", name="Undo").click()
    expect(signed_in.get_by_text("Undone: Removed alias")).to_be_visible()
    client.call("PUT", f"{MODELS}/{model}/aliases/production", {"version": 1})
    aliases = signed_in.get_by_role("table", name="Aliases now")
    expect(aliases.get_by_role("link", name="1", exact=True)).to_be_visible()  # told by the stream


def test_a_model_is_made_in_a_workspace_and_opens(signed_in: Page, client: Client, watch: Watch) -> None:
    watch.allow("status of 409")
    lab = client.post("/api/v1/workspaces", {"name": "lab"})["workspace"]["id"]
    signed_in.goto(f"/det/models?workspace={lab}")
    signed_in.get_by_role("button", name="New model").click()
    dialog = signed_in.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Create")).to_be_disabled()
    expect(dialog.get_by_label("Workspace")).to_have_value(str(lab))
    dialog.get_by_label("Name").fill("counter")
    dialog.get_by_label("Description").fill("Cuts organs")
    dialog.get_by_label("Labels").fill("vision, medical")
    assert_accessible(signed_in)
    dialog.get_by_label("Labels").press("Enter")
    expect(dialog.get_by_role("alert")).to_contain_text("model 'counter' exists already")
    dialog.get_by_label("Name").fill("segmenter")
    dialog.get_by_role("button", name="Create").click()
    expect(signed_in.get_by_role("heading", level=1, name="segmenter")).to_be_visible()
    expect(signed_in.get_by_text("No versions yet")).to_be_visible()
    made = get(client, int(signed_in.url.rpartition("/")[2]))
    assert (made["workspaceId"], made["description"], made["labels"]) == (lab, "Cuts organs", ["vision", "medical"])


def test_labels_and_archived_ones_are_filters_in_the_address(signed_in: Page, client: Client) -> None:
    make_model(client, "a", labels=["vision"])
    make_model(client, "b", labels=["speech"])
    make_model(client, "c", labels=["text"])
    old = make_model(client, "old", labels=["vision"])
    client.post(f"{MODELS}/{old}/archive")
    signed_in.goto("/det/models")
    labels = signed_in.get_by_label("Label", exact=True)
    labels.select_option("vision")
    expect(_links(signed_in)).to_have_text(["a"])
    labels.select_option("speech")
    expect(_links(signed_in)).to_have_text(["b", "a"])
    expect(signed_in).to_have_url(re.compile(r"labels=vision(%2C|,)speech"))
    signed_in.reload()
    expect(_links(signed_in)).to_have_text(["b", "a"])
    signed_in.get_by_role("button", name="Remove speech").click()
    signed_in.get_by_label("Show").select_option("archived")
    expect(_links(signed_in)).to_have_text(["old"])
    signed_in.get_by_label("Show").select_option("all")
    expect(_links(signed_in)).to_have_text(["old", "a"])
    assert_accessible(signed_in)


def test_archiving_takes_a_model_off_the_list_and_can_be_undone(signed_in: Page, model: int) -> None:
    signed_in.goto("/det/models")
    _act(signed_in, "counter", "Archive")
    expect(signed_in.get_by_text("No models in use")).to_be_visible()
    signed_in.get_by_role("button", name="Undo").click()
    expect(signed_in.get_by_role("link", name="counter")).to_be_visible()


def test_a_model_is_renamed_and_described_and_a_taken_name_is_refused_beside_the_field(
    signed_in: Page, client: Client, watch: Watch
) -> None:
    watch.allow("status of 409")
    made = make_model(client, "first")
    signed_in.goto("/det/models")
    _act(signed_in, "first", "Edit name and description")
    dialog = signed_in.get_by_role("dialog")
    dialog.get_by_label("Name").fill("counter")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_role("alert")).to_contain_text("exists already")
    dialog.get_by_label("Name").fill("second")
    dialog.get_by_label("Description").fill("Two\nlines")
    dialog.get_by_role("button", name="Save").click()
    expect(_row(signed_in, "second")).to_contain_text("Two")
    assert get(client, made)["description"] == "Two\nlines"


def test_a_model_is_moved_and_moved_back(signed_in: Page, client: Client) -> None:
    place = client.post("/api/v1/workspaces", {"name": "elsewhere"})["workspace"]["id"]
    made = make_model(client, "wanderer")
    signed_in.goto(f"/det/models/{made}")
    signed_in.get_by_role("button", name="Actions", exact=True).click()
    signed_in.get_by_role("menuitem", name="Move").click()
    dialog = signed_in.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Move")).to_be_disabled()
    dialog.get_by_label("Workspace").select_option("elsewhere")
    dialog.get_by_role("button", name="Move").click()
    main = signed_in.get_by_role("main")
    expect(main.get_by_role("link", name="elsewhere")).to_be_visible()
    assert get(client, made)["workspaceId"] == place
    signed_in.get_by_role("button", name="Undo").click()
    expect(main.get_by_role("link", name="Uncategorized")).to_be_visible()


def test_a_model_with_versions_is_deleted_when_their_number_is_typed(
    signed_in: Page, client: Client, model: int, watch: Watch
) -> None:
    watch.allow("status of 404")  # the page of the deleted model may be told before it is left
    doomed = make_model(client, "doomed")
    for version in client.get(f"{MODELS}/{model}/versions")["modelVersions"]:
        client.post(f"{MODELS}/{doomed}/versions", {"checkpointUuid": version["checkpoint"]["uuid"]})
    signed_in.goto(f"/det/models/{doomed}")
    signed_in.get_by_role("button", name="Actions", exact=True).click()
    signed_in.get_by_role("menuitem", name="Delete").click()
    asked = signed_in.get_by_role("alertdialog")
    expect(asked).to_contain_text("Delete model doomed with its 2 versions?")
    expect(asked.get_by_role("button", name="Delete")).to_be_disabled()
    asked.get_by_label("Type 2 to confirm").fill("2")
    asked.get_by_role("button", name="Delete").click()
    expect(signed_in).to_have_url(re.compile(r"/det/models$"))
    expect(signed_in.get_by_role("link", name="counter")).to_be_visible()
    expect(signed_in.get_by_role("link", name="doomed")).to_have_count(0)


def test_somebody_elses_model_can_be_changed_but_not_deleted(
    page: Page, context: BrowserContext, site: Cluster, model: int
) -> None:
    user = {"username": "ann", "active": True, "admin": False}
    Client(site.url, "admin").post("/api/v1/users", {"user": user, "password": PASSWORD, "isHashed": False})
    sign_in(context, site.url, "ann", PASSWORD)
    page.goto("/det/models")
    page.get_by_role("button", name="Actions on counter").click()
    remove = page.get_by_role("menuitem", name="Delete")
    expect(remove).to_be_disabled()
    expect(remove).to_contain_text("Only its owner, determined, and administrators may delete it.")
    expect(page.get_by_role("menuitem", name="Move")).to_be_enabled()
    assert_accessible(page)


def test_a_model_that_is_not_there_says_so(signed_in: Page, watch: Watch) -> None:
    watch.allow("status of 404")
    signed_in.goto("/det/models/999")
    expect(signed_in.get_by_text("not found").first).to_be_visible()


def _row(page: Page, name: str) -> Locator:
    return page.get_by_role("row").filter(has=page.get_by_role("link", name=name, exact=True))


def _links(page: Page) -> Locator:
    return page.get_by_role("table", name="Models").get_by_role("link")


def _act(page: Page, name: str, what: str) -> None:
    page.get_by_role("button", name=f"Actions on {name}").click()
    page.get_by_role("menuitem", name=what).click()
