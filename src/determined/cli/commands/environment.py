"""det environment: the Python environments that tasks of this user have left on this machine."""

import argparse
import time
from datetime import UTC, datetime
from typing import Any

from determined.cli import environment, render
from determined.cli.grammar import arg, command, group
from determined.environments import cache
from determined.environments.cache import Cached
from determined.environments.cache_directory import Bounds, Place, place_of
from determined.errors import NotFound


def list_environments(args: argparse.Namespace) -> None:
    place = _place()
    environments = cache.list_cached(place)
    data = [_facts(place, one) for one in environments]
    rows = [
        [f["id"], f["python"], f["packages"], render.size_of(f["size"]), render.time_of(str(f["lastUsed"])), f["inUse"]]
        for f in data
    ]
    render.rows(["ID", "Python", "Packages", "Size", "Last Used", "In Use"], rows, args=args, data=data)


def clean(args: argparse.Namespace) -> None:
    place, now = _place(), time.time()
    known = {one.key for one in cache.list_cached(place)}
    unknown = [key for key in args.environment_ids if key not in known]
    if unknown:
        raise NotFound(f"there is no environment {unknown[0]} in {place.environments}; see: det environment list")
    gone = cache.clean(place, now, Bounds(days=args.older_than, size=2**63), args.environment_ids or None)
    if not args.environment_ids:
        cache.forget_resolutions(place, now, args.older_than)
    render.line(f"Removed {len(gone)} environment(s), {render.size_of(sum(one.size for one in gone))}")
    kept = [one for one in cache.list_cached(place) if cache.is_used(place, one.key)]
    if kept:
        render.line(f"Kept {len(kept)} in use: {', '.join(one.key for one in kept)}")


def _facts(place: Place, one: Cached) -> dict[str, Any]:
    return {
        "id": one.key,
        "python": one.record["python"],
        "packages": one.record["packages"],
        "size": one.size,
        "lastUsed": datetime.fromtimestamp(one.used, UTC).isoformat(),
        "inUse": cache.is_used(place, one.key),
        "path": str(one.path),
    }


def _place() -> Place:
    return place_of(environment.for_installer(), render.line)


TREE = group(
    "environment env",
    "Python environments of tasks on this machine",
    command("list ls", "list environments", list_environments, render.FORMATS, default=True),
    command(
        "clean",
        "remove environments that no task uses",
        clean,
        arg("environment_ids", nargs="*", metavar="ID", help="only these"),
        arg(
            "--older-than", type=float, default=0.0, metavar="DAYS", help="only those that no task has used for so long"
        ),
    ),
)
