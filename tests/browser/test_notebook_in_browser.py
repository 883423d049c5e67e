"""JupyterLab and TensorBoard themselves in Chromium: started from our page, shown at an origin of their own, used.

The first run on a machine waits for the environments of both programs, which the node then keeps.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from ground import WIDE, Watch, sign_in, submit
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from cluster import Client, Cluster

pytestmark = pytest.mark.browser
SLOTS = 2
BUILT_MS = 600_000  # an environment that is built for the first time, over a slow line
STORING = """\
import torch
from determined import core
with core.init() as ctx:
    ctx.train.report_validation_metrics(steps_completed=1, metrics={"x": 0.5})
    with ctx.checkpoint.store_path({"steps_completed": 1}) as (path, _):
        torch.save({"answer": torch.tensor(42)}, path / "weights.pt")
"""
# The line is drawn by a worker, some frames later than what is around it.
IS_DRAWN = """(chart) => new Promise((done) => {
    const copy = new OffscreenCanvas(chart.width, chart.height).getContext("2d");
    const look = () => {
        copy.drawImage(chart, 0, 0);
        const pixels = copy.getImageData(0, 0, chart.width, chart.height).data;
        pixels.some((value) => value > 0) ? done() : requestAnimationFrame(look);
    };
    look();
})"""


@pytest.fixture
def context(site: Cluster, browser: Browser, watch: Watch) -> Iterator[BrowserContext]:
    """Signed in. JupyterLab's and TensorBoard's own complaints are theirs, but nothing asks a host outside of ours."""
    made = browser.new_context(base_url=site.url, viewport=WIDE, color_scheme="light", reduced_motion="reduce")
    made.set_default_timeout(60_000)
    sign_in(made, site.url)
    watch.over(made)
    watch.allow(r"\.localhost:|status of 404")  # TensorBoard asks for its fonts without its path prefix
    yield made
    made.close()
    port = urlsplit(site.url).port
    watch.foreign[:] = [url for url in watch.foreign if not re.match(rf"https?://[\w-]+\.localhost:{port}/", url)]
    watch.assert_clean()


@pytest.fixture(autouse=True)
def nothing_left(site: Cluster) -> Iterator[None]:
    """No test leaves a task that runs to the next."""
    yield
    client = Client(site.url, "admin")
    for noun in ("notebook", "tensorboard"):
        for found in client.get(f"/api/v1/{noun}s")[f"{noun}s"]:
            if found["state"] != "STATE_TERMINATED":
                client.post(f"/api/v1/{noun}s/{found['id']}/kill")


def test_a_cell_runs_in_a_notebook_that_was_started_from_the_page(page: Page, site: Cluster, tmp_path: Path) -> None:
    page.goto("/det/tasks/new/notebook")
    page.get_by_label("Slots", exact=True).fill("0")
    page.get_by_role("button", name="Start", exact=True).click()
    notebook, lab = opened(page)
    assert at_its_own_origin(lab, notebook, site)
    lab.locator(".jp-LauncherCard[data-category=Notebook]").first.click()
    expect(lab.get_by_text(re.compile(r"Python 3.* \| Idle"))).to_be_visible()
    lab.locator(".jp-Notebook .jp-CodeCell .cm-content").last.click()
    lab.keyboard.type("print(6*7)")
    lab.keyboard.press("Shift+Enter")
    expect(printed(lab)).to_have_text("42")
    expect(lab.get_by_text("official Jupyter news")).to_have_count(0)
    lab.screenshot(path=tmp_path / "notebook.png")


def test_the_first_cell_of_a_notebook_on_a_checkpoint_loads_it(
    page: Page, site: Cluster, client: Client, tmp_path: Path
) -> None:
    made = submit(client, tmp_path / "storing", STORING)
    client.wait_state(made, "COMPLETED")
    [checkpoint] = client.get(f"/api/v1/experiments/{made}/checkpoints")["checkpoints"]
    page.goto(f"/det/experiments/{made}/checkpoints")
    page.get_by_role("button", name=f"Open a notebook on checkpoint {checkpoint['uuid']}").click()
    page.get_by_label("Slots", exact=True).fill("0")
    page.get_by_role("button", name="Start", exact=True).click()
    _, lab = opened(page)
    lab.get_by_role("listitem", name=re.compile(f"checkpoint-{checkpoint['uuid'][:8]}")).dblclick()
    expect(lab.get_by_role("heading", name=f"Checkpoint {checkpoint['uuid']}")).to_be_visible()
    lab.locator(".jp-Notebook .jp-CodeCell .cm-content").first.click()
    lab.keyboard.press("Shift+Enter")
    expect(printed(lab)).to_have_text("dict")
    lab.keyboard.type('int(state["answer"])')
    lab.keyboard.press("Shift+Enter")
    expect(printed(lab)).to_have_text("42")
    lab.screenshot(path=tmp_path / "checkpoint.png")


def test_tensorboard_draws_the_scalars_of_an_experiment(
    page: Page, site: Cluster, client: Client, tmp_path: Path
) -> None:
    made = submit(client, tmp_path / "reporting")
    client.wait_state(made, "COMPLETED")
    [trial] = client.trials(made)
    page.goto(f"/det/experiments/{made}")
    page.get_by_role("button", name="Actions", exact=True).click()
    page.get_by_role("menuitem", name="Open in TensorBoard").click()
    board, shown = opened(page)
    assert at_its_own_origin(shown, board, site)
    expect(shown.get_by_text(f"experiment/{made}/trial/{trial['id']}").first).to_be_visible()
    card = shown.locator("scalar-card").filter(has_text="loss")
    expect(card.get_by_role("table").or_(card.locator("tb-data-table"))).to_contain_text("0.05")
    card.locator("line-chart canvas").evaluate(IS_DRAWN)
    shown.screenshot(path=tmp_path / "tensorboard.png")


def opened(page: Page) -> tuple[str, Page]:
    """Wait until the task of this page can be opened, and open it; its id and the page of its program."""
    expect(page).to_have_url(re.compile(r"/det/tasks/[0-9a-f-]{36}"))
    task_id = page.url.rpartition("/tasks/")[2].partition("/")[0]
    opener = page.get_by_role("link", name="Open", exact=True)
    expect(opener).to_be_visible(timeout=BUILT_MS)
    with page.expect_popup() as popup:
        opener.click()
    return task_id, popup.value


def at_its_own_origin(page: Page, task_id: str, site: Cluster) -> bool:
    """Check that the program of a task is shown at the task's host, which knows no cookie of the master's."""
    page.wait_for_load_state()
    where, master = urlsplit(page.evaluate("location.href")), urlsplit(site.url)
    assert (where.hostname, where.port) == (f"{task_id}.localhost", master.port), where
    assert where.hostname != master.hostname and "ticket" not in where.query
    return True


def printed(lab: Page) -> Locator:
    """Return what the cell that ran last has printed or returned."""
    return lab.locator(".jp-Notebook .jp-OutputArea-output").last
