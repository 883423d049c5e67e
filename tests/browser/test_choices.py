"""Journeys: nothing ends at once, what is another's stays theirs, and choices go with the user."""

from pathlib import Path

import pytest
from ground import Watch, assert_accessible, sign_in, submit
from hostility import listen_to_violations
from playwright.sync_api import BrowserContext, Page, expect
from populated import WAITING

from cluster import Client, Cluster

pytestmark = pytest.mark.browser

RICH = """<!doctype html><meta charset="utf-8"><div style="color: red" class="x">
<b style="font-size: 40px">max_restarts: 3</b><script>window.stolen = 1</script></div>"""
UNDERLINED = """tabs => [...tabs.querySelectorAll("a")].map(tab => getComputedStyle(tab).borderBottomColor)"""


def test_stopping_asks_whether_to_save_a_checkpoint_first(signed_in: Page, client: Client, tmp_path: Path) -> None:
    made = submit(client, tmp_path / "exp", WAITING, name="to be stopped")
    client.wait_state(made, "RUNNING")
    signed_in.goto(f"/det/experiments/{made}/overview")
    stop = signed_in.get_by_role("button", name="Stop…")
    stop.click()
    dialog = signed_in.get_by_role("alertdialog", name=f"Stop experiment {made}?")
    expect(dialog.get_by_role("button", name="Stop now without one")).to_be_visible()
    signed_in.screenshot(path=tmp_path / "stop.png")
    dialog.get_by_role("button", name="Cancel").click()
    assert client.state(made) == "RUNNING"
    stop.click()
    dialog.get_by_role("button", name="Save a checkpoint, then stop").click()
    client.wait_state(made, "CANCELED")


def test_stopping_a_paused_experiment_offers_no_checkpoint(signed_in: Page, client: Client, tmp_path: Path) -> None:
    made = submit(client, tmp_path / "exp", WAITING, name="paused and stopped")
    client.wait_state(made, "RUNNING")
    client.call("POST", f"/api/v1/experiments/{made}/pause")
    client.wait_state(made, "PAUSED")
    signed_in.goto(f"/det/experiments/{made}/overview")
    signed_in.get_by_role("button", name="Stop…").click()
    dialog = signed_in.get_by_role("alertdialog", name=f"Stop experiment {made}?")
    expect(dialog.get_by_role("button", name="checkpoint")).to_have_count(0)
    dialog.get_by_role("button", name="Stop", exact=True).click()
    client.wait_state(made, "CANCELED")


def test_a_view_of_a_colleague_is_copied_and_not_overwritten(signed_in: Page, site: Cluster, client: Client) -> None:
    admin = Client(site.url, "admin")
    view = admin.post("/api/v1/projects/1/views", {"name": "theirs", "state": "sort=id"})["view"]["id"]
    signed_in.goto(f"/det/projects/1/runs?view={view}&sort=-id")
    expect(signed_in.get_by_role("button", name="Save as your own view")).to_be_visible()
    expect(signed_in.get_by_role("button", name="Update “theirs”")).to_have_count(0)
    expect(signed_in.get_by_role("button", name="View theirs")).to_have_count(0)
    signed_in.get_by_role("button", name="Save as your own view").click()
    signed_in.get_by_label("Name").fill("mine")
    signed_in.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(signed_in.get_by_role("link", name="mine", exact=True)).to_be_visible()
    views = {one["name"]: one["state"] for one in client.get("/api/v1/projects/1/views")["views"]}
    assert views["theirs"] == "sort=id" and "sort=-id" in views["mine"]


def test_the_theme_goes_with_the_user_and_not_with_the_browser(
    signed_in: Page, context: BrowserContext, site: Cluster
) -> None:
    signed_in.goto("/det/settings")
    with signed_in.expect_response("**/users/setting"):
        signed_in.get_by_label("Dark").check()
    signed_in.evaluate("localStorage.clear()")
    signed_in.goto("/det/dashboard")
    expect(signed_in.locator("html")).to_have_attribute("data-theme", "dark")
    answer = context.request.post(
        f"{site.url}/api/v1/auth/login", data={"username": "admin", "password": ""}, headers={"Origin": site.url}
    )
    assert answer.ok
    signed_in.goto("/det/dashboard")
    expect(signed_in.get_by_role("banner")).to_contain_text("admin")
    expect(signed_in.locator("html")).not_to_have_attribute("data-theme", "dark")


def test_ones_own_password_is_changed_by_who_knows_the_old_one(
    page: Page, context: BrowserContext, site: Cluster, watch: Watch
) -> None:
    watch.allow("status of 40[03]")
    old, new = "The old password 1", "The new password 2"
    user = {"username": "changer", "active": True, "admin": False}
    Client(site.url, "admin").post("/api/v1/users", {"user": user, "password": old, "isHashed": False})
    sign_in(context, site.url, "changer", old)
    page.goto("/det/settings/account")
    form = page.get_by_role("form", name="Change the password")
    form.get_by_label("Old password").fill("a guess")
    form.get_by_label("New password", exact=True).fill(new)
    form.get_by_label("New password again").fill(new)
    form.get_by_role("button", name="Change the password").click()
    expect(form).to_contain_text("old password")
    assert_accessible(page)
    Client(site.url, "changer", old)
    form.get_by_label("Old password").fill(old)
    form.get_by_role("button", name="Change the password").click()
    expect(page.get_by_text("Changed the password")).to_be_visible()
    expect(form.get_by_label("Old password")).to_have_value("")
    Client(site.url, "changer", new)
    with pytest.raises(AssertionError, match="401"):
        Client(site.url, "changer", old)
    page.goto("/det/dashboard")
    expect(page.get_by_role("banner")).to_contain_text("changer")


def test_a_group_is_opened_and_left_again_without_losing_the_grouping(
    signed_in: Page, client: Client, tmp_path: Path
) -> None:
    made = submit(client, tmp_path / "exp", name="grouped", hyperparameters={"lr": 0.5})
    client.wait_state(made, "COMPLETED")
    signed_in.goto("/det/projects/1/runs?group=hp.lr")
    groups = signed_in.get_by_role("grid", name="Groups of trials")
    expect(groups).to_be_visible()
    groups.get_by_role("button", name="0.5").click()
    expect(signed_in.get_by_role("button", name="Back to the groups")).to_be_visible()
    expect(signed_in.get_by_role("grid").get_by_text("grouped").first).to_be_visible()
    signed_in.reload()
    signed_in.get_by_role("button", name="Back to the groups").click()
    expect(groups).to_be_visible()


def test_rich_text_pasted_into_a_new_experiment_breaks_no_policy(
    signed_in: Page, context: BrowserContext, site: Cluster
) -> None:
    """Copied as a reader does it: writing HTML to the clipboard by a script would itself be a breach."""
    listen_to_violations(context)
    context.route("**/rich.html", lambda route: route.fulfill(body=RICH, content_type="text/html"))
    source = context.new_page()
    source.goto(f"{site.url}/rich.html")
    source.keyboard.press("Control+A")
    source.keyboard.press("Control+C")
    source.close()
    signed_in.goto("/det/experiments/new")
    editor = signed_in.locator(".cm-content").first
    expect(editor).to_be_visible()
    editor.click()
    signed_in.keyboard.press("Control+End")
    signed_in.keyboard.press("Control+V")
    expect(editor).to_contain_text("max_restarts: 3")
    assert signed_in.evaluate("window.violations") == []


def test_forced_colours_underline_the_current_tab_alone(signed_in: Page, client: Client, tmp_path: Path) -> None:
    made = submit(client, tmp_path / "exp", name="plain")
    client.wait_state(made, "COMPLETED")
    signed_in.emulate_media(forced_colors="active")
    signed_in.goto(f"/det/experiments/{made}/overview")
    tabs = signed_in.get_by_role("navigation", name="Parts of the experiment")
    expect(tabs).to_be_visible()
    colours = tabs.evaluate(UNDERLINED)
    assert set(colours[1:]) == {"rgb(255, 255, 255)"}, "as the ground"
    assert colours[0] not in colours[1:]
