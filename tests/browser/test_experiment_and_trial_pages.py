"""The pages of experiments and trials: why a trial failed, its log, its charts, what a search found, steering."""

import re
from pathlib import Path

import pytest
from ground import submit
from playwright.sync_api import Page, expect

from cluster import Client, Cluster

pytestmark = pytest.mark.browser
WAIT_MS = 30_000

LOUD = """\
import logging
from determined import LOG_FORMAT
logging.basicConfig(level=logging.INFO, format=LOG_FORMAT)
print("<script>window.stolen = 1</script> <img src=x onerror='window.stolen = 1'>")
print("\\x1b[31mred words\\x1b[0m and \\x1b]8;;javascript:alert(1)\\x07a link\\x1b]8;;\\x07")
for i in range(1500):
    print(f"line number {i}")
logging.warning("a warning to find")
raise ValueError("the loss became negative")
"""
SEARCHED = """\
from determined import core, get_cluster_info
lr = get_cluster_info().trial.hparams["lr"]
with core.init() as ctx:
    for step in range(1, 51):
        ctx.train.report_training_metrics(steps_completed=step, metrics={"loss": lr * step, "grad/norm": step})
    ctx.train.report_validation_metrics(steps_completed=50, metrics={"x": lr, "size": 1 / lr})
    with ctx.checkpoint.store_path({"steps_completed": 50}) as (path, _):
        (path / "weights.bin").write_bytes(b"12345678")
"""
LONG = """\
import time
from determined import core
with core.init() as ctx:
    for step in range(1, 100_000):
        ctx.train.report_training_metrics(steps_completed=step, metrics={"loss": 1 / step})
        time.sleep(0.1)
        if ctx.preempt.should_preempt():
            break
"""


@pytest.fixture(scope="module")
def failed(site: Cluster, tmp_path_factory: pytest.TempPathFactory) -> int:
    client = Client(site.url)
    made = submit(client, tmp_path_factory.mktemp("loud"), LOUD, max_restarts=0)
    client.wait_state(made, "ERROR")
    return made


@pytest.fixture(scope="module")
def search(site: Cluster, tmp_path_factory: pytest.TempPathFactory) -> int:
    client = Client(site.url)
    made = submit(
        client,
        tmp_path_factory.mktemp("searched"),
        SEARCHED,
        name="a search",
        hyperparameters={"lr": {"type": "categorical", "vals": [1, 2, 3, 4]}},
        searcher={"name": "grid", "metric": "x", "smaller_is_better": True},
    )
    client.wait_state(made, "COMPLETED")
    return made


@pytest.fixture
def running(client: Client, tmp_path: Path) -> int:
    made = submit(client, tmp_path / "long", LONG)
    client.wait_state(made, "RUNNING")
    return made


def test_a_failed_trial_leads_to_the_log_line_that_explains_it(signed_in: Page, failed: int) -> None:
    signed_in.goto(f"/det/experiments/{failed}")
    why = signed_in.get_by_role("region", name="Why it failed")
    expect(why).to_contain_text("exit code 1", timeout=WAIT_MS)
    expect(why).to_contain_text("ValueError: the loss became negative", timeout=WAIT_MS)
    why.get_by_role("link", name=re.compile("See it in the log")).click()
    expect(signed_in).to_have_url(re.compile(r"/logs#L\d+$"), timeout=WAIT_MS)
    expect(signed_in.locator("[data-current]")).to_contain_text("ValueError: the loss became negative", timeout=WAIT_MS)


def test_what_a_task_prints_is_shown_and_does_nothing(signed_in: Page, failed: int) -> None:
    signed_in.goto(f"/det/experiments/{failed}/logs?find=script")
    signed_in.get_by_role("button", name="Next", exact=True).click()
    lines = signed_in.get_by_role("region", name="Log lines")
    expect(lines.get_by_text("<script>window.stolen", exact=False)).to_be_visible(timeout=WAIT_MS)
    expect(lines.get_by_text("red words", exact=True)).to_be_visible(timeout=WAIT_MS)
    assert lines.get_by_role("link", name="a link").count() == 0
    assert signed_in.evaluate("window.stolen") is None


def test_a_search_in_a_log_counts_all_hits_steps_through_them_and_filters(signed_in: Page, failed: int) -> None:
    signed_in.goto(f"/det/experiments/{failed}/logs")
    signed_in.get_by_label("Find in the log").fill(r"line number \d*7$")
    signed_in.get_by_text("Regex").click()
    expect(signed_in.get_by_text("150 matching lines")).to_be_visible(timeout=WAIT_MS)
    signed_in.get_by_role("button", name="Next", exact=True).click()
    expect(signed_in.locator("[data-current]")).to_have_text(re.compile(r"line number 7$"), timeout=WAIT_MS)
    signed_in.get_by_text("Only matches").click()
    shown = signed_in.get_by_role("region", name="Log lines").locator("[data-level]")
    expect(shown.filter(has_text=re.compile("line number 17$"))).to_be_visible(timeout=WAIT_MS)
    assert shown.filter(has_text=re.compile("[^7]$")).count() == 0
    assert "find=" in signed_in.url
    assert "show=only" in signed_in.url
    signed_in.goto(f"/det/experiments/{failed}/logs?level=WARNING&source=task")
    lines = signed_in.get_by_role("region", name="Log lines")
    expect(lines.get_by_text("a warning to find", exact=False)).to_be_visible(timeout=WAIT_MS)
    assert lines.locator("[data-level]").count() == 1


def test_a_long_log_is_drawn_in_part_and_read_on_upwards(signed_in: Page, failed: int) -> None:
    signed_in.goto(f"/det/experiments/{failed}/logs")
    lines = signed_in.get_by_role("region", name="Log lines")
    expect(lines.get_by_text("ValueError", exact=False).first).to_be_visible(timeout=WAIT_MS)
    assert lines.locator("[data-level]").count() < 100
    lines.evaluate("box => { box.scrollTop = 0 }")
    expect(signed_in.get_by_text(re.compile(r"^Lines \d+ to"))).to_be_visible(timeout=WAIT_MS)
    for _ in range(6):
        lines.evaluate("box => { box.scrollTop = 0 }")
        signed_in.wait_for_timeout(150)
    expect(signed_in.get_by_text(re.compile(r"^Lines 1 to \d+$"))).to_be_visible(timeout=WAIT_MS)


def test_a_brush_filters_the_trials_and_stays_in_the_address(signed_in: Page, search: int) -> None:
    signed_in.goto(f"/det/experiments/{search}/visualization/hp-parallel-coordinates?brush=metric%20value:1..2")
    expect(signed_in.get_by_text("2 of 4 trials pass the brushes.")).to_be_visible(timeout=WAIT_MS)
    table = signed_in.get_by_role("table", name="Trials that pass")
    expect(table.get_by_role("row")).to_have_count(3, timeout=WAIT_MS)
    signed_in.get_by_role("button", name="Clear the brushes").click()
    expect(table.get_by_role("row")).to_have_count(5, timeout=WAIT_MS)
    assert "brush" not in signed_in.url


@pytest.mark.parametrize(
    "picture",
    ["learning-curve", "hp-scatter-plots", "hp-heat-map", "importance", "history", "timeline", "pareto?metrics=x,size"],
)
def test_every_picture_of_a_search_draws(signed_in: Page, search: int, picture: str) -> None:
    signed_in.goto(f"/det/experiments/{search}/visualization/{picture}")
    expect(signed_in.get_by_role("navigation", name="Pictures")).to_be_visible(timeout=WAIT_MS)
    expect(
        signed_in.locator("main figure, main canvas, main svg[role=img]")
        .first.or_(signed_in.get_by_text(re.compile("Too few hyperparameters|cannot be told")))
        .first
    ).to_be_visible(timeout=WAIT_MS)
    assert signed_in.locator("main").get_by_role("alert").count() == 0


def test_curves_are_coloured_by_a_hyperparameter_and_the_address_says_so(signed_in: Page, search: int) -> None:
    signed_in.goto(f"/det/experiments/{search}/visualization/learning-curve")
    figure = signed_in.locator("main figure").first
    expect(figure.locator("canvas").first).to_be_visible(timeout=WAIT_MS)
    swatches = "items => new Set(items.map(item => getComputedStyle(item).backgroundColor)).size"
    signed_in.get_by_label("Colour", exact=True).select_option("lr")
    expect(signed_in).to_have_url(re.compile(r"[?&]colour=lr"))
    key = signed_in.locator("main p").filter(has_text=re.compile(r"^lr\s*1\s*2\s*3\s*4$"))
    expect(key).to_be_visible()
    assert key.locator("[aria-hidden=true]").evaluate_all(swatches) == 4
    signed_in.reload()
    expect(key).to_be_visible(timeout=WAIT_MS)


def test_a_zoom_in_the_address_asks_for_that_range_and_neighbours_are_a_key_away(
    signed_in: Page, client: Client, search: int
) -> None:
    first, second, *_ = sorted(trial["id"] for trial in client.trials(search))
    asked: list[str] = []
    signed_in.on("request", lambda request: asked.append(request.url) if "time-series" in request.url else None)
    signed_in.goto(f"/det/experiments/{search}/trials/{first}/metrics?zoom=10..20")
    expect(signed_in.get_by_role("heading", name="grad")).to_be_visible(timeout=WAIT_MS)
    expect(signed_in.locator("figure canvas").first).to_be_visible(timeout=WAIT_MS)
    assert any("start=10" in url and "end=20" in url for url in asked)
    signed_in.keyboard.press("]")
    expect(signed_in).to_have_url(re.compile(rf"/trials/{second}/metrics"), timeout=WAIT_MS)


def test_checkpoints_show_their_files_and_code_shows_both_configurations(signed_in: Page, search: int) -> None:
    signed_in.goto(f"/det/experiments/{search}/checkpoints")
    signed_in.get_by_role("button", name=re.compile("^Files of checkpoint")).first.click()
    expect(signed_in.get_by_role("dialog").get_by_text("weights.bin")).to_be_visible(timeout=WAIT_MS)
    signed_in.keyboard.press("Escape")
    signed_in.goto(f"/det/experiments/{search}/code")
    expect(signed_in.get_by_text("smaller_is_better", exact=False).first).to_be_visible(timeout=WAIT_MS)
    signed_in.get_by_role("button", name="Effective configuration").click()
    expect(signed_in.get_by_text("checkpoint_storage", exact=False).first).to_be_visible(timeout=WAIT_MS)
    assert "file=config" in signed_in.url


def test_notes_are_formatted_and_inert(signed_in: Page, search: int) -> None:
    signed_in.goto(f"/det/experiments/{search}/notes")
    signed_in.get_by_role("button", name="Write notes").click()
    hostile = "# What we saw\n\n<script>window.stolen = 1</script>[x](javascript:alert(1)) <img src=x onerror=alert(1)>"
    signed_in.get_by_label("Notes (Markdown)").fill(hostile)
    signed_in.get_by_role("button", name="Save").click()
    expect(signed_in.get_by_role("heading", name="What we saw")).to_be_visible(timeout=WAIT_MS)
    assert signed_in.evaluate("window.stolen") is None
    assert signed_in.locator("main a[href^='javascript']").count() == 0


def test_pausing_is_undone_from_its_toast_and_killing_asks_first(signed_in: Page, client: Client, running: int) -> None:
    signed_in.goto(f"/det/experiments/{running}")
    signed_in.get_by_role("button", name="Pause", exact=True).click()
    expect(signed_in.get_by_role("button", name="Activate", exact=True)).to_be_visible(timeout=WAIT_MS)
    signed_in.get_by_role("button", name="Undo").click()
    expect(signed_in.get_by_role("button", name="Pause", exact=True)).to_be_visible(timeout=WAIT_MS)
    signed_in.get_by_role("button", name="Actions").click()
    signed_in.get_by_role("menuitem", name="Kill").click()
    signed_in.get_by_role("alertdialog").get_by_role("button", name="Kill").click()
    client.wait_state(running, "CANCELED")
    expect(signed_in.get_by_role("heading", level=1)).to_be_visible(timeout=WAIT_MS)
    expect(signed_in.get_by_text(re.compile("Canceled$")).first).to_be_visible(timeout=WAIT_MS)
