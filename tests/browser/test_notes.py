"""Journeys: notes that two people write at once lose nothing, and a draft outlives a reload."""

from pathlib import Path

import pytest
from ground import Watch, submit
from playwright.sync_api import Page, expect

from cluster import Client

pytestmark = pytest.mark.browser


@pytest.fixture
def experiment(client: Client, tmp_path: Path) -> int:
    made = submit(client, tmp_path / "exp", name="noted")
    client.wait_state(made, "COMPLETED")
    return made


def test_a_colleagues_edit_is_not_overwritten_and_the_author_chooses(
    signed_in: Page, watch: Watch, client: Client, experiment: int, tmp_path: Path
) -> None:
    watch.allow("status of 409")
    signed_in.goto(f"/det/experiments/{experiment}/notes")
    signed_in.get_by_role("button", name="Write notes").click()
    field = signed_in.get_by_label("Notes (Markdown)")
    field.fill("what I saw")
    client.call("PATCH", f"/api/v1/experiments/{experiment}", {"notes": "what my colleague saw"})
    signed_in.get_by_role("button", name="Save", exact=True).click()
    conflict = signed_in.get_by_role("alert").filter(has_text="Somebody else saved these notes while you wrote")
    expect(conflict).to_be_visible()
    expect(conflict).to_contain_text("what my colleague saw")
    signed_in.screenshot(path=tmp_path / "conflict.png")
    assert _notes(client, experiment) == "what my colleague saw"
    conflict.get_by_role("button", name="Edit both together").click()
    expect(field).to_have_value("what my colleague saw\nwhat I saw")
    signed_in.get_by_role("button", name="Save", exact=True).click()
    expect(field).to_have_count(0)
    assert _notes(client, experiment) == "what my colleague saw\nwhat I saw"


def test_a_draft_outlives_a_reload_until_it_is_saved_or_discarded(signed_in: Page, experiment: int) -> None:
    signed_in.goto(f"/det/experiments/{experiment}/notes")
    signed_in.get_by_role("button", name="Write notes").click()
    field = signed_in.get_by_label("Notes (Markdown)")
    field.fill("half a sentence")
    signed_in.reload()
    expect(field).to_have_value("half a sentence")
    signed_in.get_by_role("button", name="Discard").click()
    signed_in.reload()
    expect(signed_in.get_by_role("button", name="Write notes")).to_be_visible()


def test_pages_of_a_project_that_others_write_are_kept(signed_in: Page, watch: Watch, client: Client) -> None:
    watch.allow("status of 409")
    path = "/api/v1/projects/1/notes"
    pages = [{"name": "one", "contents": "1"}, {"name": "two", "contents": "2"}]
    client.call("PUT", path, {"projectId": 1, "notes": pages})
    signed_in.goto("/det/projects/1/notes")
    signed_in.get_by_role("button", name="Edit", exact=True).click()
    signed_in.get_by_label("Text (Markdown)").fill("mine")
    client.call("PUT", path, {"projectId": 1, "notes": [pages[0], {"name": "two", "contents": "theirs"}]})
    signed_in.get_by_role("button", name="Save", exact=True).click()
    expect(signed_in.get_by_label("Text (Markdown)")).to_have_count(0)
    kept = client.get("/api/v1/projects/1")["project"]["notes"]
    assert kept == [{"name": "one", "contents": "mine"}, {"name": "two", "contents": "theirs"}]


def _notes(client: Client, experiment: int) -> str:
    found: str = client.get(f"/api/v1/experiments/{experiment}")["experiment"]["notes"]
    return found
