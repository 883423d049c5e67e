"""Words of others are shown as they were written, wherever they come from, and do nothing; in dialogs and lists too."""

import re

import pytest
from addresses import settled
from hostility import assert_inert
from playwright.sync_api import Locator, Page, expect
from populated import FILE, IMAGE, MARKUP

pytestmark = pytest.mark.browser

# where each kind of word is to be seen as it is: an address, and a piece of the page
SHOWN = {
    "message of the administrator": ("dashboard", "[aria-label='Message from the administrator']", MARKUP),
    "name of the reader": ("dashboard", "header:has(nav)", MARKUP),
    "name of an experiment": ("experiments/{e}", "h1", MARKUP),
    "label": ("experiments/{e}", "[role=group][aria-label=Labels]", MARKUP),
    "name of a workspace": ("workspaces", "main table", MARKUP),
    "name and description of a project": ("workspaces/{w}/projects", "main table", MARKUP),
    "name of a user": ("experiments/{q}", "main dl", IMAGE),
    "saved view": ("projects/{p}/runs", "main", MARKUP),
    "name of a metric": ("experiments/{s}/metrics", "main figure, main section", MARKUP),
    "hyperparameter": ("experiments/{s}/hyperparameters", "main table", MARKUP),
    "line of a log": ("experiments/{s}/logs", "[aria-label='Log lines']", MARKUP),
    "reason of a failure": ("experiments/{e}", "main", f"RuntimeError: {MARKUP}"),
    "name of a file": ("experiments/{s}/code", "main", FILE),
    "configuration": ("experiments/{s}/code", ".cm-content", MARKUP),
    "name of a page of notes": ("projects/{p}/notes", "main", MARKUP),
    "heading of notes": ("experiments/{s}/notes", "main", MARKUP),
    "name of a webhook": ("webhooks", "main table", MARKUP),
    "trigger of a webhook": ("webhooks/{h}", "main ul", MARKUP),
    "what a webhook sends": ("webhooks/{h}?delivery={d}", "[role=dialog] pre", MARKUP),
    "setting": ("settings/raw", "main pre", MARKUP),
}


@pytest.mark.parametrize("kind", SHOWN)
def test_the_words_stand_there_as_they_were_written(guarded: Page, named: dict[str, int], kind: str) -> None:
    address, place, words = SHOWN[kind]
    guarded.goto(f"/det/{address.format(**named)}")
    settled(guarded)
    expect(guarded.locator(place).filter(has_text=words).first).to_be_visible()
    assert_inert(guarded)


def test_a_hostile_file_is_read_and_not_run(guarded: Page, named: dict[str, int]) -> None:
    guarded.goto(f"/det/experiments/{named['s']}/code")
    for name in (FILE, "notes.html", "read.md"):
        guarded.get_by_role("main").get_by_text(name, exact=True).first.click()
        expect(guarded.locator(".cm-content").filter(has_text=MARKUP)).to_be_visible()
        assert_inert(guarded)


def test_a_checkpoint_with_hostile_files_and_metadata_is_shown(guarded: Page, named: dict[str, int]) -> None:
    guarded.goto(f"/det/experiments/{named['s']}/checkpoints")
    guarded.get_by_role("button", name=re.compile("^Files of checkpoint")).first.click()
    dialog = guarded.get_by_role("dialog")
    expect(dialog.get_by_text(FILE)).to_be_visible()
    expect(dialog.locator("pre").filter(has_text=MARKUP)).to_be_visible()
    assert_inert(guarded)


def test_the_palette_finds_hostile_names(guarded: Page, named: dict[str, int]) -> None:
    guarded.goto("/det/dashboard")
    settled(guarded)
    guarded.keyboard.press("Control+k")
    guarded.keyboard.type("<script")
    expect(_found(guarded)).to_be_visible()
    assert_inert(guarded)


def test_columns_filters_and_groups_of_hostile_names(guarded: Page, named: dict[str, int]) -> None:
    guarded.goto(f"/det/projects/{named['p']}/runs")
    guarded.get_by_role("button", name="Columns").click()
    columns = guarded.get_by_role("dialog")
    columns.get_by_role("searchbox").or_(columns.get_by_role("textbox")).first.fill("<script")
    expect(columns.get_by_text(MARKUP, exact=False).first).to_be_visible()
    assert_inert(guarded)


def test_acting_on_hostile_names_says_them_as_they_are(guarded: Page, named: dict[str, int]) -> None:
    guarded.goto(f"/det/workspaces/{named['w']}/projects")
    guarded.get_by_role("table").get_by_role("button", name=re.compile("^Actions on")).first.click()
    guarded.get_by_role("menuitem", name="Delete").click()
    expect(guarded.get_by_role("alertdialog").get_by_text(MARKUP, exact=False).first).to_be_visible()
    assert_inert(guarded)
    guarded.keyboard.press("Escape")
    guarded.get_by_role("table").get_by_role("button", name=re.compile("^Actions on")).first.click()
    guarded.get_by_role("menuitem", name="Archive").click()
    expect(guarded.get_by_role("button", name="Undo")).to_be_visible()
    assert_inert(guarded)
    guarded.get_by_role("button", name="Undo").click()
    expect(guarded.get_by_role("table").get_by_text("archived")).to_have_count(0)


def _found(page: Page) -> Locator:
    return page.get_by_role("option").filter(has_text=MARKUP).first
