"""det agent: list, enable, disable."""

import argparse
from typing import Any

from determined.api import cluster
from determined.cli import render
from determined.cli.connection import connect
from determined.cli.grammar import arg, command, group, one_of
from determined.wire.agent import Agent

_HEADERS = ["Agent ID", "Version", "Registered Time", "Slots", "Containers", "Resource Pool", "Enabled", "Draining"]
_HEADERS += ["Addresses"]


def list_agents(args: argparse.Namespace) -> None:
    agents = cluster.agents(connect(args))
    render.rows(_HEADERS, [_row(a) for a in agents], args=args, data=agents)


def enable(args: argparse.Namespace) -> None:
    for agent_id in _set(args, enabled=True):
        render.line(f"Enabled agent {agent_id}")


def disable(args: argparse.Namespace) -> None:
    changed = _set(args, enabled=False)
    if args.csv or args.json:
        disabled = [a for a in cluster.agents(connect(args)) if a.id in changed]
        render.rows(_HEADERS, [_row(a) for a in disabled], args=args, data=disabled)
        return
    for agent_id in changed:
        render.line(f"Disabled agent {agent_id}")


def _set(args: argparse.Namespace, *, enabled: bool) -> list[str]:
    session = connect(args)
    ids = [a.id for a in cluster.agents(session)] if args.all else [args.agent_id]
    for agent_id in ids:
        cluster.set_agent(session, agent_id, enabled=enabled, drain=getattr(args, "drain", False))
    return ids


def _row(a: Agent) -> list[Any]:
    return [
        a.id,
        a.version,
        render.time_of(a.registered_time),
        len(a.slots or {}),
        len(a.containers or {}),
        ", ".join(a.resource_pools or []),
        a.enabled,
        a.draining,
        ", ".join(a.addresses or []),
    ]


_WHICH = one_of(
    arg("agent_id", nargs="?", help="agent ID"),
    arg("--all", action="store_true", help="every agent"),
    required=True,
)

TREE = group(
    "agent a",
    "manage agents",
    command("list ls", "list agents", list_agents, render.FORMATS, default=True),
    command("enable", "enable agent", enable, _WHICH),
    command(
        "disable",
        "disable agent",
        disable,
        _WHICH,
        arg("--drain", action="store_true", help="let running tasks end first"),
        one_of(render.CSV, render.JSON),
    ),
)
