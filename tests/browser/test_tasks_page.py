"""Tasks in the browser: found by every filter, started from forms, followed, opened, shared and killed."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ground import assert_accessible, sign_in, submit
from playwright.sync_api import BrowserContext, Locator, Page, expect

from cluster import Client, Cluster, clean_environment, eventually

pytestmark = pytest.mark.browser
SLOTS = 2
STORING = """\
from determined import core
with core.init() as ctx:
    ctx.train.report_validation_metrics(steps_completed=1, metrics={"x": 0.5})
    with ctx.checkpoint.store_path({"steps_completed": 1}) as (path, _):
        (path / "weights").write_text("w")
"""
SLEEPING = """\
import time
from determined import core
with core.init() as ctx:
    while not ctx.preempt.should_preempt():
        time.sleep(0.1)
"""


def command(client: Client, program: str, **config: Any) -> str:
    body = {"config": {"entrypoint": [program], "resources": {"slots": 0}, **config}}
    made: str = client.post("/api/v1/commands", body)["command"]["id"]
    return made


def task(client: Client, task_id: str) -> dict[str, Any]:
    [found] = client.get(f"/api/v1/tasks/search?taskIds={task_id}")["tasks"]
    return dict(found)


def row(page: Page, name: str) -> Locator:
    return page.get_by_role("row").filter(has=page.get_by_role("link", name=name, exact=True))


def current_task(page: Page) -> str:
    """The id in the address of a task's page, once it is there."""
    expect(page).to_have_url(re.compile(r"/det/tasks/[0-9a-f-]{36}"))
    return page.url.rpartition("/tasks/")[2].partition("/")[0]


@pytest.fixture(autouse=True)
def nothing_left(site: Cluster) -> Iterator[None]:
    """No test leaves a task that runs to the next."""
    yield
    client = Client(site.url, "admin")
    for found in client.get("/api/v1/tasks/search?limit=-1")["tasks"]:
        noun = found["taskType"].removeprefix("TASK_TYPE_").lower()
        if not found["endTime"] and noun in ("command", "notebook", "shell", "tensorboard"):
            client.post(f"/api/v1/{noun}s/{found['taskId']}/kill")


def test_tasks_are_narrowed_by_filters_that_the_address_keeps(
    signed_in: Page, client: Client, site: Cluster, context: BrowserContext
) -> None:
    command(client, "sleep 600", description="sleeper")
    ended = command(client, "exit 3", description="failing one")
    command(Client(site.url, "admin"), "sleep 600", description="of the administrator")
    eventually(lambda: task(client, ended)["endTime"])
    signed_in.goto("/det/tasks")
    expect(row(signed_in, "sleeper")).to_contain_text("Running")
    expect(row(signed_in, "failing one")).to_contain_text("Failed")
    expect(row(signed_in, "of the administrator")).to_have_count(0)
    assert_accessible(signed_in)
    signed_in.get_by_role("switch", name="All users").click()
    expect(row(signed_in, "of the administrator")).to_be_visible()
    signed_in.get_by_label("User", exact=True).select_option(label="admin")
    expect(row(signed_in, "sleeper")).to_have_count(0)
    signed_in.get_by_label("User", exact=True).select_option(label="every user")
    signed_in.get_by_label("State", exact=True).select_option(label="ended")
    expect(row(signed_in, "sleeper")).to_have_count(0)
    expect(row(signed_in, "failing one")).to_be_visible()
    signed_in.get_by_label(re.compile("Find a task")).fill("FAILING default")
    expect(signed_in).to_have_url(re.compile(r"all=1.*state=ended|state=ended.*all=1"))
    again = context.new_page()
    again.goto(signed_in.url)
    expect(again.get_by_role("row")).to_have_count(2)
    expect(row(again, "failing one")).to_be_visible()
    again.get_by_label("Kind", exact=True).select_option(label="Shell")
    again.get_by_role("button", name="Show all").click()
    expect(row(again, "sleeper")).to_be_visible()


def test_a_command_is_started_from_a_form_and_its_log_follows(signed_in: Page, client: Client) -> None:
    signed_in.goto("/det/tasks")
    signed_in.get_by_role("button", name="New", exact=True).click()
    signed_in.get_by_role("menuitem", name="Command").click()
    start = signed_in.get_by_role("button", name="Start", exact=True)
    expect(start).to_be_disabled()
    signed_in.get_by_role("textbox", name="Command").fill("echo hello $WHO; sleep 600")
    signed_in.get_by_label("Slots", exact=True).fill("99")
    expect(signed_in.get_by_text("slots=99 on a single node exceeds")).to_be_visible()
    signed_in.get_by_label("Slots", exact=True).fill("0")
    signed_in.get_by_label("Environment variables").fill("WHO=you there")
    signed_in.get_by_label("Description").fill("greeting, twice")
    expect(signed_in.get_by_text("Starts now.")).to_be_visible()
    assert_accessible(signed_in)
    start.click()
    made = current_task(signed_in)
    expect(signed_in.get_by_role("heading", level=1)).to_have_text("greeting, twice")
    expect(signed_in.get_by_text("hello you there", exact=True)).to_be_visible()
    signed_in.get_by_role("link", name="Configuration").click()
    expect(signed_in.get_by_text("greeting, twice").last).to_be_visible()
    assert task(client, made)["slots"] == 0


@pytest.mark.parametrize("description", ["yes", "first, second"])  # a comma cannot go by --config
def test_the_shown_command_line_makes_the_same_task(
    signed_in: Page, client: Client, site: Cluster, tmp_path: Path, description: str
) -> None:
    signed_in.goto("/det/tasks/new/command")
    signed_in.get_by_role("textbox", name="Command").fill("echo 'a b' \"$X\"")
    signed_in.get_by_label("Slots", exact=True).fill("0")
    signed_in.get_by_label("Environment variables").fill("A=1, 2\nB=it's")
    signed_in.get_by_label("Description").fill(description)
    shown = signed_in.locator("main code").inner_text()
    signed_in.get_by_role("button", name="Start", exact=True).click()
    by_form = current_task(signed_in)
    path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    env = clean_environment(DET_MASTER=site.url, HOME=str(tmp_path), PATH=path, NO_COLOR="1")
    detached = shown.replace("det command run", "det command run --detach", 1)
    done = subprocess.run(["bash", "-c", detached], capture_output=True, text=True, env=env, timeout=180, check=False)
    assert done.returncode == 0, f"{detached}\n{done.stderr}"
    by_line = done.stdout.split()[0]
    configs = [client.get(f"/api/v1/commands/{made}")["config"] for made in (by_form, by_line)]
    assert configs[0] == configs[1]
    assert configs[0]["description"] == description


def test_one_task_is_killed_and_then_several(signed_in: Page, client: Client) -> None:
    made = {name: command(client, "sleep 600", description=name) for name in ("one", "two", "three")}
    signed_in.goto("/det/tasks?state=live")
    row(signed_in, "one").get_by_role("button", name="Actions of one").click()
    signed_in.get_by_role("menuitem", name="Kill…").click()
    signed_in.get_by_role("alertdialog").get_by_role("button", name="Kill").click()
    expect(row(signed_in, "one")).to_have_count(0)
    for name in ("two", "three"):
        row(signed_in, name).get_by_label(f"Select {name}").check()
    signed_in.get_by_role("button", name="Kill 2 tasks…").click()
    dialog = signed_in.get_by_role("alertdialog")
    dialog.get_by_label("Type 2 to confirm").fill("2")
    dialog.get_by_role("button", name="Kill", exact=True).click()
    expect(signed_in.get_by_text("Killed 2 tasks")).to_be_visible()
    expect(row(signed_in, "two")).to_have_count(0)
    for task_id in made.values():
        eventually(lambda task_id=task_id: task(client, task_id)["endTime"])


def test_the_list_follows_what_others_do(signed_in: Page, client: Client) -> None:
    signed_in.goto("/det/tasks")
    expect(signed_in.get_by_role("heading", level=1)).to_have_text("Tasks")
    made = command(client, "sleep 600", description="started elsewhere")
    expect(row(signed_in, "started elsewhere")).to_contain_text("Running")
    client.post(f"/api/v1/commands/{made}/kill")
    expect(row(signed_in, "started elsewhere")).to_contain_text("Ended")


def test_a_task_of_somebody_else_can_be_read_and_not_killed(signed_in: Page, site: Cluster) -> None:
    command(Client(site.url, "admin"), "sleep 600", description="not yours")
    signed_in.goto("/det/tasks?all=1")
    expect(row(signed_in, "not yours").get_by_label("Select not yours")).to_be_disabled()
    row(signed_in, "not yours").get_by_role("link", name="not yours", exact=True).click()
    signed_in.get_by_role("button", name="Actions", exact=True).click()
    expect(signed_in.get_by_role("menuitem", name="Kill…")).to_be_disabled()


def test_an_experiment_is_opened_in_tensorboard(
    signed_in: Page, client: Client, context: BrowserContext, tmp_path: Path
) -> None:
    made = submit(client, tmp_path)
    client.wait_state(made, "COMPLETED")
    signed_in.goto(f"/det/experiments/{made}")
    signed_in.get_by_role("button", name="Actions", exact=True).click()
    signed_in.get_by_role("menuitem", name="Open in TensorBoard").click()
    board = current_task(signed_in)
    assert task(client, board)["experimentIds"] == [made]
    expect(signed_in.get_by_role("link", name=f"experiment {made}")).to_be_visible()
    opener = signed_in.get_by_role("link", name="Open", exact=True)
    expect(opener).to_be_visible(timeout=120_000)
    assert opener.get_attribute("href") == f"/proxy/{board}/"
    assert opener.get_attribute("target") == "_blank"


def test_chosen_trials_are_opened_in_tensorboard(signed_in: Page, client: Client, tmp_path: Path) -> None:
    trials = []
    for name in ("a", "b"):
        made = submit(client, tmp_path / name)
        client.wait_state(made, "COMPLETED")
        trials.append(client.trials(made)[0]["id"])
    ranges = ",".join(map(str, trials))
    signed_in.goto(f"/det/projects/1/runs?sel={ranges}")
    signed_in.get_by_role("toolbar").get_by_role("button", name="More").click()
    signed_in.get_by_role("menuitem", name="Open in TensorBoard").click()
    assert task(client, current_task(signed_in))["trialIds"] == trials


def test_a_notebook_is_started_on_a_checkpoint(signed_in: Page, client: Client, tmp_path: Path) -> None:
    made = submit(client, tmp_path, STORING)
    client.wait_state(made, "COMPLETED")
    [checkpoint] = client.get(f"/api/v1/experiments/{made}/checkpoints")["checkpoints"]
    signed_in.goto(f"/det/experiments/{made}/checkpoints")
    signed_in.get_by_role("button", name=f"Open a notebook on checkpoint {checkpoint['uuid']}").click()
    expect(signed_in.get_by_role("link", name=f"experiment {made}")).to_be_visible()
    expect(signed_in.get_by_text(f"det notebook start --checkpoint {checkpoint['uuid']}")).to_be_visible()
    signed_in.get_by_label("Slots", exact=True).fill("0")
    signed_in.get_by_role("button", name="Start", exact=True).click()
    notebook = current_task(signed_in)
    assert task(client, notebook)["taskType"] == "TASK_TYPE_NOTEBOOK"
    assert client.get(f"/api/v1/tasks/{notebook}/context_directory")["b64Tgz"]
    expect(signed_in.get_by_role("button", name="Open", exact=True)).to_be_disabled()
    expect(signed_in.get_by_text(re.compile("The notebook is .*; it can be opened when it answers"))).to_be_visible()


def test_a_shell_has_a_terminal_in_the_page(
    signed_in: Page, client: Client, site: Cluster, context: BrowserContext
) -> None:
    signed_in.goto("/det/tasks/new/shell")
    signed_in.get_by_label("Slots", exact=True).fill("0")
    signed_in.get_by_role("button", name="Start", exact=True).click()
    shell = current_task(signed_in)
    expect(signed_in.get_by_text(f"det shell open {shell}")).to_be_visible()
    expect(signed_in.get_by_text("Connected.", exact=True)).to_be_visible(timeout=120_000)
    screen = signed_in.locator(".xterm-rows")
    signed_in.keyboard.type("echo $((6*7)) from $DET_TASK_ID; printf '\\033[38;2;200;0;0mcoloured\\033[0m\\n'\n")
    expect(screen).to_contain_text(f"42 from {shell}"[:20])
    assert_accessible(signed_in)
    signed_in.keyboard.press("F6")
    expect(signed_in.get_by_role("link", name="Terminal")).to_be_focused()
    signed_in.reload()
    expect(screen).to_contain_text("back in the terminal whose connection broke")
    expect(screen).to_contain_text("42 from")
    signed_in.keyboard.type("exit 3\n")
    expect(signed_in.get_by_text("The shell ended with status 3.")).to_be_visible()
    signed_in.get_by_role("button", name="Connect again").click()
    expect(signed_in.get_by_text("Connected.", exact=True)).to_be_visible()
    client.post(f"/api/v1/shells/{shell}/kill")
    expect(signed_in.get_by_role("link", name="Terminal")).to_have_count(0)


def test_a_shell_of_somebody_else_offers_no_terminal(
    page: Page, context: BrowserContext, client: Client, site: Cluster
) -> None:
    admin = Client(site.url, "admin")
    made = admin.post("/api/v1/shells", {"config": {"resources": {"slots": 0}}})["shell"]["id"]
    sign_in(context, site.url)
    page.goto(f"/det/tasks/{made}")
    expect(page.get_by_role("link", name="Log", exact=True)).to_be_visible()
    expect(page.get_by_role("link", name="Terminal")).to_have_count(0)


def test_a_running_trial_has_a_terminal_and_writes_its_stacks(signed_in: Page, client: Client, tmp_path: Path) -> None:
    made = submit(client, tmp_path, SLEEPING)
    client.wait_state(made, "RUNNING")
    signed_in.goto(f"/det/experiments/{made}")
    signed_in.get_by_role("button", name="Actions", exact=True).click()
    signed_in.get_by_role("menuitem", name="Open a terminal").click()
    expect(signed_in.get_by_text("Connected.", exact=True)).to_be_visible(timeout=120_000)
    signed_in.keyboard.type("echo experiment $DET_EXPERIMENT_ID; ls\n")
    expect(signed_in.locator(".xterm-rows")).to_contain_text(f"experiment {made}")
    expect(signed_in.locator(".xterm-rows")).to_contain_text("train.py")
    signed_in.goto(f"/det/experiments/{made}")
    signed_in.get_by_role("button", name="Actions", exact=True).click()
    signed_in.get_by_role("menuitem", name="Write all stacks to the log").click()
    expect(signed_in).to_have_url(re.compile("/logs$"))
    expect(signed_in.get_by_text(re.compile("stacks of all ranks follow")).first).to_be_visible()
    client.post(f"/api/v1/experiments/{made}/kill")
    client.wait_state(made, "CANCELED")


def test_a_notebook_is_shared_by_a_link_that_can_be_withdrawn(signed_in: Page, client: Client) -> None:
    body = {"config": {"resources": {"slots": 0}, "description": "ours"}}
    made = client.post("/api/v1/notebooks", body)["notebook"]["id"]
    signed_in.goto(f"/det/tasks/{made}")
    signed_in.get_by_role("button", name="Actions", exact=True).click()
    signed_in.get_by_role("menuitem", name="Share by a link…").click()
    dialog = signed_in.get_by_role("dialog", name="Share ours")
    dialog.get_by_role("button", name="Make a link").click()
    expect(dialog.locator("code")).to_contain_text(f"/proxy/{made}/?token=")
    assert_accessible(signed_in)
    dialog.get_by_role("button", name="Withdraw the link").click()
    expect(dialog.locator("code")).to_have_count(0)
