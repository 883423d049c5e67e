"""det task: list, logs, generic tasks, clean up."""

import argparse

from determined.api import cluster, task
from determined.cli import log_follow, render
from determined.cli.commands.generic_task import COMMANDS
from determined.cli.connection import connect
from determined.cli.grammar import arg, command, group


def list_tasks(args: argparse.Namespace) -> None:
    found = cluster.tasks(connect(args))
    headers = ["Task ID", "Allocation ID", "Name", "Slots Needed", "Registered Time", "Agent", "Priority"]
    headers += ["Resource Pool", "Ports"]
    rows = []
    for allocation_id, t in sorted(found.items()):
        agents = sorted({a for r in t.get("resources") or [] for a in (r.get("agent_devices") or {})})
        ports = ", ".join(str(p.get("port")) for p in t.get("proxy_ports") or [])
        rows.append(
            [
                t.get("task_id"),
                allocation_id,
                t.get("name"),
                t.get("slots_needed"),
                render.time_of(t.get("registered_time")),
                ", ".join(agents) or "unassigned",
                t.get("priority"),
                t.get("resource_pool"),
                ports,
            ]
        )
    render.rows(headers, rows, args=args, data=found)


def logs(args: argparse.Namespace) -> None:
    log_follow.print_task(connect(args), args.task_id, args)


def cleanup_logs(args: argparse.Namespace) -> None:
    render.line(f"Removed the logs of {task.cleanup_logs(connect(args))} task(s)")


TREE = group(
    "task",
    "manage tasks",
    command("list ls", "list tasks", list_tasks, render.FORMATS, default=True),
    command(
        "logs",
        "fetch task logs",
        logs,
        arg("task_id"),
        *log_follow.LOG_ARGS,
        arg("--allocation-id", dest="allocation_ids", action="append", help="only lines of this allocation"),
    ),
    *COMMANDS,
    command("cleanup-logs", "remove logs past their retention", cleanup_logs),
)
