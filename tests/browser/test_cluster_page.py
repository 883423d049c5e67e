"""The cluster in the browser: slots, the queue with reasons, its order, agents, tasks, usage."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from ground import assert_accessible, sign_in, submit
from playwright.sync_api import BrowserContext, Page, expect

from cluster import Client, Cluster, eventually

pytestmark = pytest.mark.browser

SLEEPING = "import time\ntime.sleep(3600)\n"


@pytest.fixture
def jobs(site: Cluster, client: Client, tmp_path: Path) -> Iterator[dict[str, int]]:
    """Run one experiment on two of four slots, and queue two that need all four."""
    made = {"running": submit(client, tmp_path / "a", SLEEPING, name="runs", resources={"slots_per_trial": 2})}
    eventually(lambda: client.get("/api/v1/resource-pools")["resourcePools"][0]["slotsUsed"] == 2)
    for name in ("first", "second"):
        made[name] = submit(client, tmp_path / name, SLEEPING, name=name, resources={"slots_per_trial": 4})
    yield made
    for experiment in made.values():
        client.post(f"/api/v1/experiments/{experiment}/kill")
    for experiment in made.values():
        client.wait_state(experiment, "CANCELED")


def test_a_slot_says_for_whom_it_works_and_leads_there(signed_in: Page, jobs: dict[str, int]) -> None:
    signed_in.goto("/det/clusters")
    busy = signed_in.get_by_role(
        "link", name=re.compile(rf"Slot \d of .*: running Trial \d+ .Experiment {jobs['running']}")
    )
    expect(busy).to_have_count(2)
    expect(signed_in.get_by_text(re.compile("^·2 free$"))).to_be_visible()
    expect(signed_in.get_by_text("1 job running, 2 waiting").first).to_be_visible()
    assert_accessible(signed_in)
    busy.first.click()
    expect(signed_in).to_have_url(re.compile(rf"/det/experiments/{jobs['running']}/trials/\d+$"))


def test_a_waiting_job_says_why_and_can_overtake(signed_in: Page, client: Client, jobs: dict[str, int]) -> None:
    signed_in.goto("/det/clusters/queue")
    rows = signed_in.get_by_role("row")
    expect(rows.nth(1)).to_contain_text("runs")
    expect(rows.nth(2)).to_contain_text("first")
    expect(rows.nth(2)).to_contain_text(re.compile("waits for 4 free slots in pool 'default': 2 of 4 free"))
    assert_accessible(signed_in)
    signed_in.get_by_role("button", name="Actions of second").click()
    signed_in.get_by_role("menuitem", name="Move up").click()
    expect(rows.nth(2)).to_contain_text("second")
    signed_in.get_by_role("button", name="Undo").click()
    expect(rows.nth(2)).to_contain_text("first")
    signed_in.get_by_role("button", name="Lower the priority number of second").click()
    expect(rows.nth(1)).to_contain_text("second")
    queue = client.get("/api/v1/job-queues-v2")["jobs"]
    assert [job["full"]["name"] for job in queue if job["full"]["priority"] == 41] == ["second"]


def test_an_administrator_disables_and_enables_an_agent(
    context: BrowserContext, page: Page, site: Cluster, client: Client
) -> None:
    sign_in(context, site.url, "admin")
    page.goto("/det/clusters")
    page.get_by_role("button", name=re.compile("Actions of ")).click()
    page.get_by_role("menuitem", name="Disable after what runs has ended").click()
    expect(page.get_by_text("4 disabled")).to_be_visible()
    page.get_by_role("button", name=re.compile("Actions of ")).click()
    page.get_by_role("menuitem", name="Enable").click()
    expect(page.get_by_text(re.compile("^·4 free$"))).to_be_visible()
    assert client.get("/api/v1/agents")["agents"][0]["enabled"]


def test_tasks_are_found_read_and_killed(signed_in: Page, client: Client, jobs: dict[str, int]) -> None:
    signed_in.goto("/det/tasks?kind=trial")
    name = f"Trial {client.trials(jobs['running'])[0]['id']} (Experiment {jobs['running']})"
    row = signed_in.get_by_role("row").filter(has_text=name)
    expect(row).to_contain_text("Running")
    signed_in.get_by_label(re.compile("Find a task")).fill(name)
    expect(signed_in.get_by_role("row")).to_have_count(2)
    assert_accessible(signed_in)
    row.get_by_role("button", name=f"Actions of {name}").click()
    signed_in.get_by_role("menuitem", name="Kill…").click()
    signed_in.get_by_role("alertdialog").get_by_role("button", name="Kill").click()
    client.wait_state(jobs["running"], "CANCELED", "ERROR")
    expect(row).to_have_count(0)


def test_the_log_of_the_master_is_shown_to_administrators(page: Page, context: BrowserContext, site: Cluster) -> None:
    sign_in(context, site.url, "admin")
    page.goto("/det/clusters/logs")
    expect(page.get_by_text(re.compile("serving|listening|master", re.I)).last).to_be_visible()


def test_others_are_not_offered_the_log_of_the_master(signed_in: Page) -> None:
    signed_in.goto("/det/clusters")
    expect(signed_in.get_by_role("link", name="Queue").first).to_be_visible()
    expect(signed_in.get_by_role("link", name="Master log")).to_have_count(0)


def test_usage_is_summed_by_project_and_leaves_as_csv(signed_in: Page, jobs: dict[str, int]) -> None:
    signed_in.goto("/det/clusters/historical-usage?by=project")
    expect(signed_in.get_by_role("cell", name="Uncategorized/Uncategorized")).to_be_visible()
    with signed_in.expect_download() as saved:
        signed_in.get_by_role("button", name="CSV", exact=True).click()
    lines = Path(saved.value.path()).read_text().splitlines()
    assert lines[0] == "day,project,slot_hours" and lines[1].split(",")[1] == "Uncategorized/Uncategorized"
    assert_accessible(signed_in)
