"""det resource-pool: list pools, bind them to workspaces."""

import argparse
from collections.abc import Callable

from determined.api import cluster, workspace
from determined.api.session import Session
from determined.cli import render
from determined.cli.connection import connect
from determined.cli.grammar import Run, arg, command, group


def list_pools(args: argparse.Namespace) -> None:
    pools = cluster.resource_pools(connect(args))
    headers = ["Name", "Description", "Agents", "Slots", "Used", "Scheduler", "Default for"]
    rows = []
    for p in pools:
        defaults = [
            n for n, is_default in (("compute", p.default_compute_pool), ("aux", p.default_aux_pool)) if is_default
        ]
        scheduler = str(p.scheduler_type).removeprefix("SCHEDULER_TYPE_").lower()
        rows.append(
            [p.name, p.description, p.num_agents, p.slots_available, p.slots_used, scheduler, ", ".join(defaults)]
        )
    render.rows(headers, rows, args=args, data=pools)


def changer(change: Callable[[Session, str, list[int]], None], said: str) -> Run:
    def run(args: argparse.Namespace) -> None:
        session = connect(args)
        ids = [workspace.by_name(session, name).id for name in args.workspace_names]
        change(session, args.pool_name, ids)
        render.line(f"{said} {', '.join(args.workspace_names)} ({args.pool_name})")

    return run


def list_workspaces(args: argparse.Namespace) -> None:
    session = connect(args)
    bound = [workspace.get(session, i) for i in cluster.bindings(session, args.pool_name)]
    render.rows(["ID", "Name"], [[w.id, w.name] for w in bound], args=args, data=bound)


_POOL = arg("pool_name", help="resource pool")
_WORKSPACES = arg("workspace_names", nargs="+", help="workspaces")

TREE = group(
    "resource-pool rp",
    "manage resource pools",
    command("list ls", "list resource pools", list_pools, render.FORMATS, default=True),
    group(
        "bindings",
        "which workspaces may use a pool",
        command("add", "add bindings", changer(cluster.bind, "Bound to"), _POOL, _WORKSPACES),
        command("remove", "remove bindings", changer(cluster.unbind, "No longer bound to"), _POOL, _WORKSPACES),
        command(
            "replace", "replace bindings", changer(cluster.replace_bindings, "Now bound to exactly"), _POOL, _WORKSPACES
        ),
        command("list-workspaces", "list bound workspaces", list_workspaces, _POOL, render.FORMATS),
    ),
)
