"""Every address of the page, with real experiments behind it; `python tests/browser/addresses.py DIRECTORY` takes a
picture of each in both themes.
"""

import re
import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parents[1] / "e2e"), str(Path(__file__).parent)]

from ground import FAILING, REPORTING, WIDE, chromium, sign_in, submit
from playwright.sync_api import Page, expect

from cluster import Client, Cluster

# {e} a search of two trials, {s} a single one, {f} a failed one, {t} a trial of {s}
ADDRESSES = [
    "dashboard",
    "settings",
    "workspaces",
    "workspaces/1/projects",
    "projects/1/runs",
    "projects/1/experiments",
    "projects/1/searches",
    "projects/1/notes",
    "projects/1/charts",
    "compare?trials=1,2",
    "experiments/new",
    "experiments/{e}",
    "experiments/{e}/visualization",
    "experiments/{e}/trials",
    "experiments/{e}/code",
    "experiments/{e}/checkpoints",
    "experiments/{e}/notes",
    "experiments/{s}/overview",
    "experiments/{s}/metrics",
    "experiments/{s}/hyperparameters",
    "experiments/{s}/logs",
    "experiments/{f}",
    "searches/{e}",
    "experiments/{s}/trials/{t}/overview",
    "experiments/{s}/trials/{t}/metrics",
    "experiments/{s}/trials/{t}/hyperparameters",
    "experiments/{s}/trials/{t}/checkpoints",
    "experiments/{s}/trials/{t}/code",
    "experiments/{s}/trials/{t}/profiler",
    "experiments/{s}/trials/{t}/logs",
    "trials/{t}",
    "clusters",
    "clusters/logs",
    "clusters/historical-usage",
    "resourcepool/default",
    "tasks",
    "models",
    "templates",
    "webhooks",
    "policies",
    "admin/user-management",
    "no/such/page",
]


def ended_experiments(client: Client, place: Path) -> dict[str, int]:
    """Real experiments that have ended, by the letters of `ADDRESSES`."""
    search = {"name": "random", "metric": "x", "max_trials": 2, "max_length": {"batches": 20}}
    lr = {"lr": {"type": "double", "minval": 0.1, "maxval": 1.0}}
    many = submit(client, place / "many", REPORTING, searcher=search, hyperparameters=lr)
    single = submit(client, place / "single", REPORTING)
    failed = submit(client, place / "failed", FAILING)
    client.wait_state(many, "COMPLETED")
    client.wait_state(single, "COMPLETED")
    client.wait_state(failed, "ERROR")
    return {"e": many, "s": single, "f": failed, "t": client.trials(single)[0]["id"]}


def settled(page: Page) -> None:
    """The page shows its heading and no placeholder any more."""
    expect(page.get_by_role("heading", level=1).first).to_be_visible()
    expect(page.get_by_role("status").filter(has_text="Loading")).to_have_count(0)


def take_pictures(directory: Path) -> None:
    site = Cluster(directory / "master", slots=4)
    site.start()
    try:
        named = ended_experiments(Client(site.url), directory / "experiments")
        with chromium() as browser:
            for theme in ("light", "dark"):
                context = browser.new_context(base_url=site.url, color_scheme=theme, viewport=WIDE)
                sign_in(context, site.url)
                page = context.new_page()
                for address in ADDRESSES:
                    page.goto(f"/det/{address.format(**named)}")
                    page.wait_for_timeout(1000)
                    page.screenshot(path=directory / f"{re.sub(r'[^a-z0-9]+', '-', address)}-{theme}.png")
    finally:
        site.stop()
        site.end_runners()


if __name__ == "__main__":
    take_pictures(Path(sys.argv[1]))
