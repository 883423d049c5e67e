"""Stores that the packages of four trackers wrote, brought into the data directory of a master that is stopped."""

from pathlib import Path
from typing import Any

from cluster import ROOT, Client, Cluster, det

STORES = ROOT / "tests" / "integration" / "importing" / "tracker_stores"
SOURCES = {
    "mlflow": str(STORES / "mlflow" / "mlruns"),
    "wandb": str(STORES / "wandb"),
    "tensorboard": str(STORES / "tensorboard"),
    "optuna": f"sqlite:///{STORES / 'optuna' / 'study.db'}",
}


def bring_in(site: Cluster, home: Path) -> None:
    """Import stores by `det master import`, each into a workspace with the name of its tracker; then start again."""
    site.stop()
    for kind, source in SOURCES.items():
        place = ("--data-dir", str(site.directory), "--workspace", kind)
        det(home, "master", "import", kind, "--source", source, *place)
    site.start()


def experiment(client: Client, kind: str, name: str) -> dict[str, Any]:
    """Return the experiment of this name that came from the store of a tracker."""
    listed = client.get("/api/v1/experiments")["experiments"]
    [found] = [one for one in listed if (one["workspaceName"], one["name"]) == (kind, name)]
    return dict(found)
