"""Templates in the browser: written and checked as one types, changed, renamed, moved, removed, chosen in forms."""

import re
from urllib.parse import quote

import pytest
from ground import Watch, assert_accessible
from playwright.sync_api import Locator, Page, expect

from cluster import Client

pytestmark = pytest.mark.browser
PATH = "/api/v1/templates"


def put(client: Client, name: str, config: object, **more: object) -> None:
    client.call("PUT", f"{PATH}/{quote(name, safe='')}", {"config": config, **more})


def names(client: Client) -> list[str]:
    return [one["name"] for one in client.get(PATH)["templates"]]


@pytest.fixture(autouse=True)
def no_templates(client: Client) -> None:
    for name in names(client):
        client.call("DELETE", f"{PATH}/{quote(name, safe='')}")


def test_a_template_is_written_checked_as_one_types_and_saved(signed_in: Page, client: Client) -> None:
    signed_in.goto("/det/templates")
    expect(signed_in.get_by_text("No templates yet")).to_be_visible()
    signed_in.get_by_role("button", name="New template").click()
    expect(signed_in.get_by_text("Nothing is wrong with it")).to_be_visible()
    create = signed_in.get_by_role("button", name="Create")
    expect(create).to_be_disabled()
    _write(signed_in, "resources:\n  priority: 500\nserchr: 1\n")
    expect(_editor(signed_in)).to_contain_text("did you mean `searcher`?")
    expect(signed_in.get_by_text(re.compile("Line 2: resources.priority: "))).to_be_visible()
    assert_accessible(signed_in)
    _write(signed_in, "resources:\n  priority: [5\n")
    signed_in.get_by_role("textbox", name="Name").fill("gpu & co")
    expect(signed_in.get_by_text("1 problem to mend")).to_be_visible()
    expect(create).to_be_disabled()
    _write(signed_in, "resources:\n  priority: 5\nidle_timeout: 1h\n")
    expect(signed_in.get_by_text("idle_timeout: only for tasks")).to_be_visible()
    create.click()
    expect(signed_in.get_by_role("heading", level=1, name="gpu & co")).to_be_visible()
    assert client.get(f"{PATH}/gpu%20%26%20co")["template"]["config"] == {
        "resources": {"priority": 5},
        "idle_timeout": "1h",
    }


def test_a_name_that_is_taken_is_refused_beside_the_field(signed_in: Page, client: Client, watch: Watch) -> None:
    watch.allow("status of 409")
    put(client, "taken", {})
    signed_in.goto("/det/templates/create")
    signed_in.get_by_role("textbox", name="Name").fill("taken")
    signed_in.get_by_role("button", name="Create").click()
    expect(signed_in.get_by_role("alert").filter(has_text="already a template 'taken'")).to_be_visible()


def test_an_edit_keeps_the_secrets_behind_the_masks(signed_in: Page, client: Client) -> None:
    put(client, "s", {"data": {"secrets": {"key": "hush"}}, "max_restarts": 1})
    signed_in.goto("/det/templates/edit?name=s")
    expect(_editor(signed_in)).to_contain_text("********")
    expect(signed_in.get_by_role("button", name="Saved")).to_be_disabled()
    _write(signed_in, "data:\n  secrets:\n    key: '********'\nmax_restarts: 3\n")
    signed_in.get_by_role("button", name="Save", exact=True).click()
    expect(signed_in.get_by_role("button", name="Saved")).to_be_visible()
    shown = client.get(f"{PATH}/s")["template"]["config"]
    assert shown == {"data": {"secrets": {"key": "********"}}, "max_restarts": 3}
    assert_accessible(signed_in)


def test_a_template_is_found_renamed_moved_and_deleted(signed_in: Page, client: Client) -> None:
    lab = client.post("/api/v1/workspaces", {"name": "lab"})["workspace"]["id"]
    put(client, "alpha", {"labels": ["a"], "debug": True})
    put(client, "beta", {})
    signed_in.goto("/det/templates")
    expect(_row(signed_in, "alpha")).to_contain_text("labels, debug")
    signed_in.get_by_label("Find a template").fill("LPH")
    expect(_row(signed_in, "beta")).to_have_count(0)
    _act(signed_in, "alpha", "Rename")
    signed_in.get_by_role("dialog").get_by_label("Name").fill("alphabet")
    signed_in.get_by_role("dialog").get_by_role("button", name="Rename").click()
    expect(_row(signed_in, "alphabet")).to_be_visible()
    _act(signed_in, "alphabet", "Move")
    signed_in.get_by_role("dialog").get_by_label("Workspace").select_option("lab")
    signed_in.get_by_role("dialog").get_by_role("button", name="Move").click()
    expect(_row(signed_in, "alphabet")).to_contain_text("lab")
    signed_in.goto(f"/det/workspaces/{lab}/templates")
    expect(_row(signed_in, "alphabet")).to_be_visible()
    _act(signed_in, "alphabet", "Delete")
    signed_in.get_by_role("alertdialog").get_by_role("button", name="Delete").click()
    expect(signed_in.get_by_text("No template matches")).to_be_visible()
    assert names(client) == ["beta"]


def test_an_experiment_is_started_with_a_template_and_its_fork_keeps_it(signed_in: Page, client: Client) -> None:
    put(client, "shared", {"labels": ["shared"], "max_restarts": 4})
    signed_in.goto("/det/templates/edit?name=shared")
    signed_in.get_by_role("link", name="New experiment").click()
    expect(signed_in.get_by_role("combobox", name="Template")).to_have_value("shared")
    expect(signed_in.get_by_text("From template shared: labels.")).to_be_visible()
    signed_in.get_by_role("combobox", name="Template").select_option("")
    expect(signed_in.get_by_text("From template shared")).to_have_count(0)
    signed_in.get_by_role("combobox", name="Template").select_option("shared")
    expect(signed_in.get_by_text("From template shared: labels.")).to_be_visible()
    assert_accessible(signed_in)
    signed_in.get_by_role("button", name="Launch paused").click()
    expect(signed_in).to_have_url(re.compile(r"/det/experiments/\d+"))
    made = int(signed_in.url.rpartition("/experiments/")[2].partition("/")[0])
    experiment = client.get(f"/api/v1/experiments/{made}")["experiment"]
    assert (experiment["template"], experiment["labels"]) == ("shared", ["shared"])
    signed_in.goto(f"/det/experiments/new?from={made}&mode=fork")
    expect(signed_in.get_by_role("combobox", name="Template")).to_have_value("shared")


def test_a_task_is_started_with_a_template(signed_in: Page, client: Client) -> None:
    put(client, "env", {"environment": {"environment_variables": ["GREETING=hello"]}, "resources": {"slots": 99}})
    signed_in.goto("/det/tasks/new/command?template=env")
    signed_in.get_by_role("textbox", name="Command").fill("echo $GREETING")
    signed_in.get_by_label("Slots", exact=True).fill("0")
    expect(signed_in.get_by_text(re.compile("From template env: environment.environment_variables"))).to_be_visible()
    expect(signed_in.get_by_text("--template env")).to_be_visible()
    signed_in.get_by_role("button", name="Start", exact=True).click()
    expect(signed_in).to_have_url(re.compile(r"/det/tasks/[0-9a-f-]{36}"))
    expect(signed_in.get_by_text("hello", exact=True).first).to_be_visible()


def test_a_template_that_is_gone_says_so(signed_in: Page, watch: Watch) -> None:
    watch.allow("status of 404")
    signed_in.goto("/det/templates/edit?name=none")
    expect(signed_in.get_by_text("template 'none' not found")).to_be_visible()
    signed_in.goto("/det/experiments/new?template=none")
    expect(signed_in.get_by_text(re.compile("template: template 'none' not found"))).to_be_visible()
    expect(signed_in.get_by_role("button", name="Launch", exact=True)).to_be_disabled()


def _editor(page: Page) -> Locator:
    return page.get_by_role("textbox", name="Template")


def _write(page: Page, text: str) -> None:
    """Replace the text of the editor by typing."""
    _editor(page).click()
    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")
    page.keyboard.insert_text(text)


def _row(page: Page, name: str) -> Locator:
    return page.get_by_role("row").filter(has=page.get_by_role("link", name=name, exact=True))


def _act(page: Page, name: str, what: str) -> None:
    page.get_by_role("button", name=f"Actions on {name}").click()
    page.get_by_role("menuitem", name=what).click()
