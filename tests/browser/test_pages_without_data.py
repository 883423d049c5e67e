"""Pages of a cluster in which nothing has happened yet, and of things that are not there: words instead of blanks."""

import re

import pytest
from addresses import settled
from ground import COLOURS, Watch, assert_accessible, assert_fits, darken
from playwright.sync_api import Page, Route, expect

pytestmark = pytest.mark.browser

# what is said on a page of a new cluster
EMPTY = {
    "dashboard": "det experiment create",
    "workspaces": "Uncategorized",
    "workspaces/1/projects": "Uncategorized",
    "projects/1/runs": "No trials yet",
    "projects/1/experiments": "No experiments yet",
    "projects/1/notes": "No notes yet",
    "projects/1/charts": "No trials yet",
    "projects/1/runs?q=id%20%3D%201": "No",
    "compare": "Pick at least two trials",
    "experiments/new": "New experiment",
    "clusters": "slot",
    "clusters/queue": "Nothing runs and nothing waits",
    "clusters/historical-usage": "No usage in this range",
    "tasks": "You have no tasks",
    "tasks?all=1": "No tasks yet",
    "tasks?kind=shell": "No task matches",
    "tasks/new/tensorboard?experiments=7": "experiment 7 not found",
    "webhooks": "No webhooks yet",
    "webhooks?q=zz": "No webhook matches",
    "settings/tokens": "No access tokens",
}
# what is said of something that is not there
ABSENT = {
    "experiments/999": "999",
    "experiments/999/trials/998": "998",
    "trials/998": "998",
    "projects/999/runs": "999",
    "workspaces/999": "999",
    "resourcepool/nowhere": "nowhere",
    "tasks/nothing": "There is no task nothing",
    "command/nothing/logs": "nothing",
    "wait/notebook/abc": "There is no task abc",
    "interactive/abc/notebook/name/1/http%3A%2F%2Fx": "There is no task abc",
    "tasks/new/notebook?checkpoint=nothing": "nothing",
    "compare?trials=997,998": "2 trials of the address cannot be found",
    "experiments/new?from=999": "999",
    "webhooks/999": "Webhook 999 not found",
}


@pytest.mark.parametrize("address", EMPTY)
def test_a_page_of_a_new_cluster_says_what_to_do(signed_in: Page, address: str) -> None:
    signed_in.goto(f"/det/{address}")
    _assert_told(signed_in, EMPTY[address])


@pytest.mark.parametrize("address", ABSENT)
def test_a_page_of_something_absent_says_so(signed_in: Page, watch: Watch, address: str) -> None:
    watch.allow("status of 404")
    signed_in.goto(f"/det/{address}")
    _assert_told(signed_in, ABSENT[address])


def test_a_part_of_the_page_that_a_newer_version_replaced_is_explained(signed_in: Page, watch: Watch) -> None:
    watch.allow("status of 404|MIME type|dynamically imported|module script|preload CSS")
    signed_in.route(re.compile(r"/assets/(TasksPage|tasks)-.*"), _gone)
    signed_in.goto("/det/tasks")
    expect(signed_in.get_by_role("button", name="Reload")).to_be_visible()
    assert_accessible(signed_in)


def _gone(route: Route) -> None:
    route.fulfill(status=404, content_type="application/json", body="{}")


def _assert_told(page: Page, words: str) -> None:
    settled(page)
    expect(page.get_by_role("main").get_by_text(re.compile(re.escape(words), re.I)).first).to_be_visible()
    assert_accessible(page)
    darken(page)
    assert_accessible(page, *COLOURS)
    assert_fits(page, 320, 640)
    assert_fits(page, 640, 400)
