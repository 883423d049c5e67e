"""Pages of an experiment that came from a database of upstream's, and of the same one read back from a bundle of it."""

import csv
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from ground import assert_accessible, darken, sign_in
from playwright.sync_api import BrowserContext, Page, expect

from cluster import ROOT, Client, Cluster, det
from databases import postgres_server  # noqa: F401  a fixture

sys.path.insert(0, str(ROOT / "tests" / "integration" / "importing"))

import upstream_filler

pytestmark = pytest.mark.browser
POINTS = 200


@pytest.fixture(scope="module", params=["upstream", "bundle"])
def site(
    built_page: None,
    request: pytest.FixtureRequest,
    postgres_server: str,  # noqa: F811
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Cluster]:
    """Hold what was in the database; as a bundle it has been through another master."""
    home = tmp_path_factory.mktemp("home")
    running = import_upstream(postgres_server, tmp_path_factory.mktemp("first"), home)
    if request.param == "bundle":
        bundle = home / "bundle.tar"
        det(home, "experiment", "export", "1", "-o", str(bundle), master=running.url)
        stop(running)
        running = Cluster(tmp_path_factory.mktemp("second"))
        running.start()  # with the users of its config
        running.stop()
        det(home, "master", "import", "bundle", "--source", str(bundle), "--data-dir", str(running.directory))
        running.start()
    yield running
    stop(running)


def import_upstream(server: str, directory: Path, home: Path) -> Cluster:
    name = f"upstream_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(f"{server}/postgres", autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE {name}")
    upstream_filler.create(f"{server}/{name}")
    upstream_filler.fill(f"{server}/{name}", POINTS)
    made = Cluster(directory)
    place = ("--source", f"{server}/{name}", "--data-dir", str(directory))
    det(home, "master", "import", "upstream", *place)
    made.start()
    return made


def stop(running: Cluster) -> None:
    running.stop()
    running.end_runners()


def test_an_experiment_looks_as_it_did(
    page: Page, context: BrowserContext, site: Cluster, client: Client, tmp_path: Path
) -> None:
    sign_in(context, site.url)
    [found] = [one for one in client.get("/api/v1/experiments")["experiments"] if one["name"] == "mnist"]
    page.goto(f"/det/experiments/{found['id']}")
    expect(page.get_by_role("heading", level=1)).to_contain_text("mnist")
    for words in ("Completed", "alice", "Best loss (lowest)"):
        expect(page.locator("main")).to_contain_text(words)
    take_pictures(page, tmp_path / "overview")
    page.goto(f"/det/experiments/{found['id']}/hyperparameters")
    expect(page.get_by_role("row").filter(has_text="lr")).to_contain_text("0.1")
    page.goto(f"/det/experiments/{found['id']}/metrics")
    page.get_by_role("button", name="loss: chart menu").click()
    with page.expect_download() as saved:
        page.get_by_role("menuitem", name="Download CSV", exact=True).click()
    rows = list(csv.DictReader(saved.value.path().read_text().splitlines()))
    assert sum(row["series"] == "training" for row in rows) == POINTS
    take_pictures(page, tmp_path / "metrics")
    page.goto(f"/det/experiments/{found['id']}/logs")
    expect(page.get_by_text("Lines 1 to 15")).to_be_visible()
    take_pictures(page, tmp_path / "logs")


def take_pictures(page: Page, path: Path) -> None:
    """In both themes, with axe's findings in both."""
    assert_accessible(page)
    page.screenshot(path=path.with_suffix(".light.png"))
    darken(page)
    assert_accessible(page, "color-contrast")
    page.screenshot(path=path.with_suffix(".dark.png"))
    page.emulate_media(color_scheme="light")
