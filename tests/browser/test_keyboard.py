"""The page by keyboard alone: the whole journey, where the focus is, and dialogs that keep it and give it back."""

import re
from typing import Any

import pytest
from addresses import settled
from ground import assert_accessible
from playwright.sync_api import Locator, Page, expect
from populated import WAITING, populate, submit_hostile

from cluster import Client, Cluster

pytestmark = pytest.mark.browser

MOST_STOPS = 150
# What shows that an element has the focus: an outline or ring of its own or, where a control is drawn by its frame,
# of an element around it: compared with the same after the focus has gone.
_RINGS = """(el) => {
    const rings = [];
    for (let at = el, up = 0; at && up < 6; at = at.parentElement, up++) {
        const { outlineStyle, outlineWidth, outlineColor, boxShadow, borderColor } = getComputedStyle(at);
        const outline = outlineStyle === "none" ? "" : `${outlineWidth} ${outlineColor}`;
        rings.push([outline, boxShadow, borderColor].join("|"));
    }
    return rings;
}"""
_STOP = f"""() => {{
    const el = document.activeElement;
    if (!el || el === document.body) return null;
    const rings = {_RINGS};
    const now = rings(el).join();
    const isOutlined = !rings(el)[0].startsWith("|");
    const box = el.getBoundingClientRect();
    const told = `${{el.tagName}} ${{el.getAttribute("aria-label") ?? el.textContent}}`.slice(0, 80);
    el.blur();
    const then = rings(el).join();
    el.focus({{preventScroll: true}});
    const isInSight = box.width > 0 && box.bottom > 0 && box.top < innerHeight;
    return {{ told, isMarked: isOutlined || now !== then, isInSight }};
}}"""


@pytest.fixture(scope="module")
def named(site: Cluster) -> dict[str, int]:
    return populate(site.url)


def test_the_whole_journey_needs_no_pointer(page: Page, client: Client, named: dict[str, int]) -> None:
    keys = page.keyboard
    page.goto("/det/login")
    expect(page.get_by_label("User")).to_be_focused()
    keys.type("determined")
    keys.press("Tab")
    keys.press("Enter")
    expect(page.get_by_role("heading", name="Home")).to_be_visible()

    _by_palette(page, f"e {named['r']}")
    expect(page).to_have_url(re.compile(rf"/experiments/{named['r']}\b"))
    _tab_to(page, page.get_by_role("button", name="Pause", exact=True))
    keys.press("Enter")
    client.wait_state(named["r"], "PAUSED")
    expect(page.get_by_role("button", name="Activate", exact=True)).to_be_visible()

    page.locator("main").focus()
    keys.press("l")
    expect(page).to_have_url(re.compile(r"/logs"))
    expect(page.get_by_role("link", name="Logs")).to_have_attribute("aria-current", "page")

    _by_palette(page, f"p {named['p']}")
    expect(page).to_have_url(re.compile(rf"/projects/{named['p']}\b"))
    expect(page.get_by_role("grid").get_by_role("row").nth(3)).to_be_visible()
    page.locator("main").focus()
    for key in ("j", "End", "Home", "x", "j", "j", "Space"):
        keys.press(key)
    expect(page.get_by_role("row", selected=True)).to_have_count(2)
    keys.press("c")
    expect(page).to_have_url(re.compile(r"/compare\?"))
    settled(page)


def test_single_keys_can_be_turned_off(signed_in: Page, named: dict[str, int]) -> None:
    signed_in.goto("/det/settings/shortcuts")
    switch = signed_in.get_by_role("switch", name="Shortcuts of a single key")
    _tab_to(signed_in, switch)
    signed_in.keyboard.press("Space")
    expect(switch).not_to_be_checked()
    signed_in.reload()
    expect(switch).not_to_be_checked()
    signed_in.keyboard.press("?")
    signed_in.keyboard.press("Control+k")
    expect(signed_in.get_by_role("dialog")).to_have_count(1)
    expect(signed_in.get_by_role("dialog", name="Command palette")).to_be_visible()
    signed_in.keyboard.press("Escape")
    with signed_in.expect_response(re.compile("/users/setting")):  # the choice is the user's: other tests have him too
        switch.click()


@pytest.mark.parametrize("address", [
    "dashboard", "workspaces/{w}", "projects/{p}/runs", "projects/{p}/charts", "compare?trials=1,3",
    "experiments/{e}", "experiments/{e}/trials", "experiments/{e}/visualization/hp-parallel-coordinates",
    "experiments/{s}/metrics", "experiments/{s}/logs", "experiments/{s}/code", "experiments/new", "clusters",
    "clusters/queue", "settings/account",
])  # fmt: skip
def test_the_focus_is_seen_at_every_stop_and_comes_out_again(
    signed_in: Page, named: dict[str, int], address: str
) -> None:
    signed_in.goto(f"/det/{address.format(**named)}")
    settled(signed_in)
    signed_in.locator("body").press("Home")
    stops = _walk(signed_in)
    assert len(stops) > 5
    unseen = [stop["told"] for stop in stops if not (stop["isMarked"] and stop["isInSight"])]
    assert not unseen, f"{address}: the focus is not to be seen on {unseen}"


def test_a_dialog_keeps_the_focus_and_gives_it_back(signed_in: Page, named: dict[str, int]) -> None:
    signed_in.goto(f"/det/workspaces/{named['w']}/projects")
    opener = signed_in.get_by_role("button", name="New project")
    _tab_to(signed_in, opener)
    signed_in.keyboard.press("Enter")
    _assert_trapped(signed_in, signed_in.get_by_role("dialog"))
    assert_accessible(signed_in)
    signed_in.keyboard.press("Escape")
    expect(signed_in.get_by_role("dialog")).to_have_count(0)
    expect(opener).to_be_focused()


def test_the_palette_and_the_list_of_shortcuts_give_the_focus_back(signed_in: Page, named: dict[str, int]) -> None:
    signed_in.goto("/det/dashboard")
    link = signed_in.get_by_role("main").get_by_role("link", name="Cluster").first
    link.focus()
    for key in ("Control+k", "?"):
        signed_in.keyboard.press(key)
        _assert_trapped(signed_in, signed_in.get_by_role("dialog"))
        assert_accessible(signed_in)
        signed_in.keyboard.press("Escape")
        expect(signed_in.get_by_role("dialog")).to_have_count(0)
        expect(link).to_be_focused()


def test_a_menu_leads_to_a_question_that_gives_the_focus_back(
    signed_in: Page, client: Client, named: dict[str, int]
) -> None:
    experiment = submit_hostile(client, named["p"], WAITING)
    client.wait_state(experiment, "RUNNING", "QUEUED")
    signed_in.goto(f"/det/experiments/{experiment}")
    expect(signed_in.get_by_role("button", name="Pause", exact=True)).to_be_visible()
    signed_in.keyboard.press(".")
    expect(signed_in.get_by_role("menu").locator(":focus")).to_have_count(1)
    assert_accessible(signed_in)
    signed_in.keyboard.type("kill")
    expect(signed_in.get_by_role("menuitem", name="Kill")).to_be_focused()
    signed_in.keyboard.press("Enter")
    question = signed_in.get_by_role("alertdialog")
    _assert_trapped(signed_in, question)
    assert_accessible(signed_in)
    signed_in.keyboard.press("Escape")
    expect(question).to_have_count(0)
    expect(signed_in.get_by_role("button", name="Actions")).to_be_focused()
    assert client.state(experiment) in ("RUNNING", "QUEUED", "STARTING", "PULLING")
    client.post(f"/api/v1/experiments/{experiment}/kill")
    client.wait_state(experiment, "CANCELED")


def _by_palette(page: Page, words: str) -> None:
    page.keyboard.press("Control+k")
    expect(page.get_by_role("combobox", name="Go to or do")).to_be_focused()
    page.keyboard.type(words)
    found = page.get_by_role("option").filter(has_text=re.compile(r"<script>"))
    expect(found.first).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_have_count(0)


def _tab_to(page: Page, target: Locator) -> None:
    expect(target).to_be_visible()
    for _ in range(MOST_STOPS):
        if target.evaluate("(el) => el === document.activeElement"):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab does not lead to {target}")


def _walk(page: Page) -> list[dict[str, Any]]:
    """Return every stop of Tab until it leaves the page."""
    stops: list[dict[str, Any]] = []
    for _ in range(MOST_STOPS):
        page.keyboard.press("Tab")
        stop = page.evaluate(_STOP)
        if stop is not None and not (stop["isMarked"] and stop["isInSight"]):
            page.wait_for_timeout(200)  # some marks are drawn a moment after the focus has come
            stop = page.evaluate(_STOP)
        if stop is None:
            return stops
        stops.append(stop)
    raise AssertionError(f"Tab does not leave the page again; last at {[stop['told'] for stop in stops[-5:]]}")


def _assert_trapped(page: Page, dialog: Locator) -> None:
    expect(dialog).to_be_visible()
    for key in ["Tab"] * 12 + ["Shift+Tab"] * 12:
        page.keyboard.press(key)
        assert dialog.evaluate("(el) => el.contains(document.activeElement)"), "the focus left the dialog"
