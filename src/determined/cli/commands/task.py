"""det task: list, logs, generic tasks, clean up."""

import argparse
from typing import Any

from determined._json import JsonObject
from determined.api import cluster, task
from determined.cli import log_follow, render, task_ids
from determined.cli.commands.generic_task import COMMANDS
from determined.cli.connection import connect
from determined.cli.grammar import OWN_TASKS, arg, command, group


def list_tasks(args: argparse.Namespace) -> None:
    found = cluster.tasks(connect(args))
    headers = ["Task ID", "Allocation ID", "Name", "Slots Needed", "Registered Time", "Agent", "Priority"]
    rows = [_row(allocation_id, one) for allocation_id, one in sorted(found.items())]
    render.rows([*headers, "Resource Pool", "Ports"], rows, args=args, data=found)


def _row(allocation_id: str, found: JsonObject) -> list[Any]:
    agents = sorted({agent for one in found.get("resources") or [] for agent in one.get("agent_devices") or {}})
    ports = sorted(one["port"] for one in found.get("proxy_ports") or [])
    is_prioritised = found.get("scheduler_type") == "priority"
    return [
        found.get("task_id"),
        allocation_id,
        found.get("name"),
        found.get("slots_needed"),
        render.time_of(found.get("registered_time")),
        ", ".join(agents) or "unassigned",
        found.get("priority") if is_prioritised else "N/A",
        found.get("resource_pool"),
        ", ".join(map(str, ports)),
    ]


def logs(args: argparse.Namespace) -> None:
    log_follow.print_task(connect(args), args.task_id, args)


def cleanup_logs(args: argparse.Namespace) -> None:
    render.line(f"Removed the logs of {task.cleanup_logs(connect(args))} task(s)")


TREE = task_ids.accepting_short(
    group(
        "task",
        "manage tasks",
        command("list ls", "list tasks", list_tasks, render.FORMATS, default=True),
        command(
            "logs",
            "fetch task logs",
            logs,
            arg("task_id", completes=OWN_TASKS),
            *log_follow.LOG_ARGS,
            arg("--allocation-id", dest="allocation_ids", action="append", help="only lines of this allocation"),
        ),
        *COMMANDS,
        command("cleanup-logs", "remove logs past their retention", cleanup_logs),
    )
)
