"""det agent: list, enable, disable."""

import argparse
from typing import Any

from determined.api import cluster
from determined.api.session import Session
from determined.cli import render
from determined.cli.connection import connect
from determined.cli.grammar import arg, command, group, one_of
from determined.constants import API_VERSION
from determined.wire.agent import Agent
from determined.wire.master import GET_INFO, GetInfo

_HEADERS = ["Agent ID", "Version", "Registered Time", "Slots", "Containers", "Resource Pool", "Enabled", "Draining"]
_HEADERS += ["Addresses"]


def list_agents(args: argparse.Namespace) -> None:
    session = connect(args)
    agents = cluster.agents(session)
    own = _own_version(session)
    render.rows(_HEADERS, [_row(a, own) for a in agents], args=args, data=agents)


def enable(args: argparse.Namespace) -> None:
    for agent_id in _set(args, enabled=True):
        render.line(f"Enabled agent {agent_id}")


def disable(args: argparse.Namespace) -> None:
    changed = _set(args, enabled=False)
    if args.csv or args.json:
        session = connect(args)
        disabled = [a for a in cluster.agents(session) if a.id in changed]
        own = _own_version(session)
        render.rows(_HEADERS, [_row(a, own) for a in disabled], args=args, data=disabled)
        return
    for agent_id in changed:
        render.line(f"Disabled agent {agent_id}")


def _set(args: argparse.Namespace, *, enabled: bool) -> list[str]:
    session = connect(args)
    ids = [a.id for a in cluster.agents(session)] if args.all else [args.agent_id]
    for agent_id in ids:
        cluster.set_agent(session, agent_id, enabled=enabled, drain=getattr(args, "drain", False))
    return ids


def _own_version(session: Session) -> str:
    """Return the master's own version: an agent of the same version has the API's number on the wire."""
    return str(session.call(GET_INFO, GetInfo()).get("serverVersion") or API_VERSION)


def _row(a: Agent, own_version: str) -> list[Any]:
    return [
        a.id,
        own_version if a.version == API_VERSION else a.version,
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
