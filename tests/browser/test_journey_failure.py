"""Journey: somebody signs in, finds a failing trial from Home and from the table, and the line that explains it."""

import re

import pytest
from ground import submit
from playwright.sync_api import Page, expect

from cluster import Client, Cluster

pytestmark = pytest.mark.browser

CRASHING = """\
for step in range(400):
    print(f"step {step}: nothing unusual")
raise FileNotFoundError("no such dataset: /data/cats")
"""
ONE_FAILS = """\
from determined import core, get_cluster_info
lr = get_cluster_info().trial.hparams["lr"]
print(f"training with {lr}")
if lr == 3:
    raise OverflowError("the loss is infinite at lr 3")
with core.init() as ctx:
    ctx.train.report_validation_metrics(steps_completed=10, metrics={"x": lr})
"""


@pytest.fixture(scope="module")
def crashed(site: Cluster, tmp_path_factory: pytest.TempPathFactory) -> int:
    client = Client(site.url)
    made = submit(client, tmp_path_factory.mktemp("crashed"), CRASHING, name="cats without data")
    client.wait_state(made, "ERROR")
    return made


@pytest.fixture(scope="module")
def search(site: Cluster, tmp_path_factory: pytest.TempPathFactory) -> int:
    """Three trials of which one fails: the experiment as a whole completes."""
    client = Client(site.url)
    made = submit(
        client,
        tmp_path_factory.mktemp("search"),
        ONE_FAILS,
        name="three learning rates",
        hyperparameters={"lr": {"type": "categorical", "vals": [1, 2, 3]}},
        searcher={"name": "grid", "metric": "x", "smaller_is_better": True, "max_length": {"batches": 10}},
    )
    client.wait_state(made, "COMPLETED", "ERROR")
    return made


def test_home_leads_from_signing_in_to_the_line_that_explains_a_failure(page: Page, crashed: int) -> None:
    page.goto("/")
    page.get_by_label(re.compile("user", re.I)).first.fill("determined")
    page.get_by_role("button", name=re.compile("sign in", re.I)).click()
    attention = page.get_by_role("region", name="Needs attention")
    failure = attention.get_by_role("listitem").filter(has_text="cats without data")
    expect(failure).to_contain_text("FileNotFoundError: no such dataset: /data/cats")
    failure.get_by_role("link", name=re.compile(r"^Log of trial \d+, line \d+$")).click()
    expect(page).to_have_url(re.compile(rf"/det/experiments/{crashed}/trials/\d+/logs#L\d+$"))
    line = page.locator("[data-current]")
    expect(line).to_contain_text("FileNotFoundError: no such dataset: /data/cats")
    expect(line).to_be_in_viewport()
    expect(page.get_by_text("step 399: nothing unusual")).to_be_in_viewport()


def test_home_shows_the_failed_trial_of_a_search_that_did_not_fail(
    signed_in: Page, client: Client, search: int
) -> None:
    failed = next(trial["id"] for trial in client.trials(search) if trial["state"] == "STATE_ERROR")
    signed_in.goto("/det/dashboard")
    attention = signed_in.get_by_role("region", name="Needs attention")
    failure = attention.get_by_role("listitem").filter(has_text=f"Trial {failed} of three learning rates")
    expect(failure).to_contain_text("OverflowError: the loss is infinite at lr 3")
    failure.get_by_role("link", name=re.compile(rf"^Log of trial {failed}, line \d+$")).click()
    expect(signed_in.locator("[data-current]")).to_contain_text("OverflowError: the loss is infinite at lr 3")


def test_the_table_finds_the_one_trial_that_failed_and_its_reason(signed_in: Page, client: Client, search: int) -> None:
    failed = next(trial["id"] for trial in client.trials(search) if trial["state"] == "STATE_ERROR")
    signed_in.goto("/det/dashboard")
    signed_in.get_by_role("navigation", name="Main").get_by_role("link", name="Experiments").click()
    table = signed_in.get_by_role("grid", name="Trials")
    expect(table.get_by_role("row").filter(has_text="three learning rates")).to_have_count(3)
    signed_in.get_by_role("combobox", name="Query").fill('state == ERROR and experimentName ~ "learning rates"')
    expect(signed_in.get_by_text("1 trial", exact=True)).to_be_visible()
    row = table.get_by_role("row").filter(has_text="three learning rates")
    expect(row).to_have_count(1)
    expect(row).to_contain_text("Error")
    row.get_by_role("link", name=str(failed), exact=True).click()
    why = signed_in.get_by_role("region", name="Why it failed")
    expect(why).to_contain_text("OverflowError: the loss is infinite at lr 3")
    why.get_by_role("link", name=re.compile("^See it in the log")).click()
    expect(signed_in).to_have_url(re.compile(rf"/trials/{failed}/logs#L\d+$"))
    expect(signed_in.locator("[data-current]")).to_contain_text("OverflowError: the loss is infinite at lr 3")
    signed_in.go_back()
    signed_in.go_back()
    expect(row).to_have_count(1)
