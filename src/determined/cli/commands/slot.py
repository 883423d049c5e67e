"""det slot: list, enable, disable."""

import argparse

from determined.api import cluster
from determined.cli import render
from determined.cli.connection import connect
from determined.cli.grammar import Run, arg, command, group


def list_slots(args: argparse.Namespace) -> None:
    session = connect(args)
    tasks = cluster.tasks(session)
    names = {
        container["container_id"]: (allocation, task.get("name"))
        for allocation, task in tasks.items()
        for container in task.get("resources") or []
        if container.get("container_id")
    }
    headers = [
        "Agent ID",
        "Resource Pool",
        "Slot ID",
        "Enabled",
        "Draining",
        "Allocation ID",
        "Task Name",
        "Type",
        "Device",
    ]
    rows = []
    for agent in cluster.agents(session):
        for slot in (agent.slots or {}).values():
            used = names.get(slot.container.id) if slot.container else None
            allocation = used[0] if used else "OCCUPIED" if slot.container else "FREE"
            device = slot.device
            rows.append(
                [
                    agent.id,
                    ", ".join(agent.resource_pools or []),
                    slot.id,
                    slot.enabled,
                    slot.draining,
                    allocation,
                    used[1] if used else None,
                    str(device.type).removeprefix("TYPE_").lower() if device else None,
                    device.brand if device else None,
                ]
            )
    render.rows(headers, rows, args=args)


def setter(enabled: bool) -> Run:
    def run(args: argparse.Namespace) -> None:
        cluster.set_slot(connect(args), args.agent_id, args.slot_id, enabled=enabled)
        render.line(f"{'Enabled' if enabled else 'Disabled'} slot {args.slot_id} of agent {args.agent_id}")

    return run


TREE = group(
    "slot s",
    "manage slots",
    command("list ls", "list slots", list_slots, render.FORMATS, default=True),
    command("enable", "enable slot", setter(True), arg("agent_id"), arg("slot_id")),
    command("disable", "disable slot", setter(False), arg("agent_id"), arg("slot_id")),
)
