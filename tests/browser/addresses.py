"""List every address of the page, with real experiments behind it; `python tests/browser/addresses.py DIRECTORY` takes
a picture of each in both themes.
"""

import re
import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parents[1] / "e2e"), str(Path(__file__).parent)]

from ground import WIDE, chromium, sign_in
from playwright.sync_api import Page, expect
from populated import populate

from cluster import Cluster

# the letters are those of `populated.populate`
ADDRESSES = [
    "dashboard",
    "settings/appearance",
    "settings/account",
    "settings/tokens",
    "settings/shortcuts",
    "settings/raw",
    "workspaces",
    "workspaces/{w}/projects",
    "workspaces/{w}/pools",
    "projects/{p}/runs",
    "projects/{p}/experiments",
    "projects/{p}/searches",
    "projects/{p}/notes",
    "projects/{p}/charts",
    "projects/{p}/runs?group=state",
    "compare?trials=1,2,5",
    "experiments/new",
    "experiments/new?from={e}&mode=fork",
    "experiments/new?from={s}&mode=continue",
    "experiments/new?from={s}&mode=hpsearch",
    "experiments/{e}",
    "experiments/{e}/visualization/learning-curve",
    "experiments/{e}/visualization/hp-parallel-coordinates",
    "experiments/{e}/visualization/hp-scatter-plots",
    "experiments/{e}/visualization/hp-heat-map",
    "experiments/{e}/visualization/importance",
    "experiments/{e}/visualization/history",
    "experiments/{e}/visualization/timeline",
    "experiments/{e}/visualization/pareto",
    "experiments/{e}/trials",
    "experiments/{e}/code",
    "experiments/{e}/checkpoints",
    "experiments/{e}/notes",
    "experiments/{e}/logs",
    "experiments/{s}/overview",
    "experiments/{s}/metrics",
    "experiments/{s}/hyperparameters",
    "experiments/{s}/checkpoints",
    "experiments/{s}/code",
    "experiments/{s}/notes",
    "experiments/{s}/profiler",
    "experiments/{s}/logs",
    "experiments/{f}",
    "experiments/{r}",
    "experiments/{q}",
    "searches/{e}/runs",
    "experiments/{s}/trials/{t}/overview",
    "experiments/{s}/trials/{t}/metrics",
    "experiments/{s}/trials/{t}/hyperparameters",
    "experiments/{s}/trials/{t}/checkpoints",
    "experiments/{s}/trials/{t}/code",
    "experiments/{s}/trials/{t}/workloads",
    "experiments/{s}/trials/{t}/profiler",
    "experiments/{s}/trials/{t}/metadata",
    "experiments/{s}/trials/{t}/logs",
    "clusters",
    "clusters/queue",
    "clusters/logs",
    "clusters/historical-usage",
    "resourcepool/default",
    "resourcepool/default/active",
    "resourcepool/default/queued",
    "resourcepool/default/stats",
    "resourcepool/default/configuration",
    "tasks",
    "tasks?all=1&state=ended",
    "tasks/{c}/logs",
    "tasks/{c}/config",
    "tasks/new/notebook",
    "tasks/new/notebook?checkpoint={u}",
    "tasks/new/shell",
    "tasks/new/command",
    "tasks/new/tensorboard?experiments={e}",
    "templates",
    "templates?q=zz",
    "templates/create",
    "templates/edit?name={tpl}",
    "webhooks",
    "webhooks?q=zz",
    "webhooks/create",
    "webhooks/{h}",
    "webhooks/{h}?delivery={d}",
    "models",
    "models/{m}",
    "models?labels=ordinary&archived=1",
    "models/{m}/versions/1",
    "models/{m}/compare?versions=1-2",
    "no/such/page",
]
# every address of a page that is still to come
COMING = [
    "workspaces/{w}/members",
    "workspaces/{w}/policies",
    "policies",
    "admin/user-management",
    "admin/group-management",
]
REDIRECTS = {
    "": "dashboard",
    "reload": "dashboard",
    "cluster": "clusters",
    "cluster/logs": "clusters/logs",
    "cluster/historical-usage": "clusters/historical-usage",
    "logs": "clusters/logs",
    "jobs": "clusters",
    "projects": "projects/1/experiments",
    "admin": "admin/user-management",
    "workspaces/{w}/tasks": "tasks?workspace={w}&all=1",
    "workspaces/{w}/templates": "templates?workspace={w}",
    "workspaces/{w}/models": "models?workspace={w}",
    "trials/{t}": "experiments/{s}/trials/{t}",
    "trials/{t}/logs": "experiments/{s}/trials/{t}/logs",
}


def settled(page: Page) -> None:
    """The page shows its heading and no placeholder any more."""
    expect(page.get_by_role("heading", level=1).first).to_be_visible()
    expect(page.get_by_role("status").filter(has_text="Loading")).to_have_count(0)


def take_pictures(directory: Path) -> None:
    site = Cluster(directory / "master", slots=4)
    site.start()
    try:
        named = populate(site.url)
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
