"""Two tasks never hold the same slot, whatever is submitted, paused, killed, lost, disabled or restarted."""

import random
from collections import Counter
from contextlib import suppress

import pytest
from sqlalchemy import Connection
from world import World, WorldFactory

from determined.errors import DeterminedError
from determined.master.db.queries import node as nodes
from determined.master.lifecycle import experiment
from determined.master.lifecycle.states import TERMINAL
from determined.wire.report import ExitCause

STEPS = 40


@pytest.mark.parametrize(("scheduler", "seed"), [("priority", 20261115), ("fair_share", 1), ("round_robin", 2)])
async def test_no_slot_is_ever_held_twice(make_world: WorldFactory, scheduler: str, seed: int) -> None:
    rng = random.Random(seed)
    manager = {"scheduler": {"type": scheduler, "preemption": scheduler == "priority"}}
    world = make_world(slots=3, nodes=2, resource_manager=manager)
    _clear_away_first(world)
    await world.open()
    steps = 0
    while steps < STEPS or len(world.machine.launched) <= 10:  # a schedule that was idle would prove nothing
        steps += 1
        assert steps < 50 * STEPS
        await _do_something(world, rng)
        await world.reconciler.step()
        check(world)


def check(world: World) -> None:
    held = Counter((one.node_id, slot) for one in world.machine.alive.values() for slot in one.slot_ids)
    assert not [place for place, holders in held.items() if holders > 1], held
    sizes = {node.id: {slot.id for slot in node.slots} for node in world.machine.nodes}
    assert all(slot in sizes[node] for node, slot in held)


def _clear_away_first(world: World) -> None:
    """As real runners do: the task is gone, and its slots with it, before its exit is reported."""
    report = world.exit

    async def exit(resource_id: str, code: int = 0, cause: ExitCause = ExitCause.EXITED) -> None:
        world.machine.alive.pop(resource_id, None)
        await report(resource_id, code, cause)

    world.exit = exit  # type: ignore[method-assign]


async def _do_something(world: World, rng: random.Random) -> None:
    match rng.choice(["submit"] * 3 + ["run"] * 2 + ["exit"] * 5 + ["verb", "lose", "slot", "restart"]):
        case "submit":
            trials = rng.randint(1, 3)
            search = {"name": "random", "metric": "loss", "max_trials": trials}
            wanted = {"slots_per_trial": rng.choice([0, 1, 2, 3, 6]), "priority": rng.randint(1, 99)}
            await world.submit(searcher=search, resources=wanted, max_restarts=2)
        case "run":
            with suppress(DeterminedError):  # one of them may just be leaving
                await world.running(len(world.machine.alive))
        case "exit" if world.machine.alive:
            await world.exit(rng.choice(sorted(world.machine.alive)), rng.choice([0, 0, 1]))
        case "verb":
            await _steer(world, rng)
        case "lose" if world.machine.alive:
            world.engine.lose(rng.choice(sorted(world.machine.alive)))
        case "slot":
            await _toggle_slot(world, rng)
        case "restart":
            await world.restart()


async def _steer(world: World, rng: random.Random) -> None:
    live = [e["id"] for e in await world.rows("experiments") if e["state"] not in TERMINAL]
    if not live:
        return
    verb = rng.choice([experiment.pause, experiment.activate, experiment.activate, experiment.cancel, experiment.kill])
    with suppress(DeterminedError):  # not from this state; another step will find one
        await world.write(verb, rng.choice(live))


async def _toggle_slot(world: World, rng: random.Random) -> None:
    node, slot, draining = f"node{rng.randrange(2)}", rng.randrange(3), rng.random() < 0.5

    def change(conn: Connection) -> None:
        if rng.random() < 0.6:
            nodes.drop_override(conn, node, slot)
        else:
            nodes.put_override(conn, node, slot, enabled=False, draining=draining)

    await world.db.write(change)
