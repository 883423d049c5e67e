"""A node that several pools share: work of each of them runs there, and no slot is given twice."""

import dataclasses
from collections import Counter
from typing import Any

import pytest
from fake_engine import make_node
from world import World, WorldFactory

from determined.master.lifecycle import experiment

POOLS = {"resource_pools": [{"pool_name": "default"}, {"pool_name": "second"}, {"pool_name": "third"}]}


@pytest.fixture
async def shared(make_world: WorldFactory) -> World:
    """One node of four slots in three pools."""
    world = make_world(**POOLS)
    world.machine.nodes = [dataclasses.replace(make_node("shared", 4), also_pools=("second", "third"), max_aux=2)]
    return await world.open()


def resources(pool: str, slots: int, **more: Any) -> dict[str, Any]:
    return {"resource_pool": pool, "slots_per_trial": slots, **more}


async def test_every_pool_of_a_node_may_use_it(shared: World) -> None:
    for pool in ("default", "second", "third"):
        await shared.submit(resources=resources(pool, 1))
    await shared.until(lambda: len(shared.machine.alive) == 3)
    assert sorted(launch.slot_ids for launch in shared.machine.launched) == [(0,), (1,), (2,)]


async def test_no_slot_is_given_to_two_pools_in_one_pass(shared: World) -> None:
    for pool in ("default", "second", "third"):
        await shared.submit(activate=False, resources=resources(pool, 2))

    def all_at_once(conn, now) -> None:  # type: ignore[no-untyped-def]
        for number in (1, 2, 3):
            experiment.activate(conn, now, number)

    await shared.write(all_at_once)
    await shared.until(lambda: len(shared.machine.alive) == 2 and shared.reconciler._cluster.reasons)
    used = Counter(slot for launch in shared.machine.alive.values() for slot in launch.slot_ids)
    assert used == {0: 1, 1: 1, 2: 1, 3: 1}
    [reason] = shared.reconciler._cluster.reasons.values()
    assert "waits for 2 free slots in pool" in reason and "0 of 4 free" in reason


async def test_slots_that_one_pool_gives_back_are_anothers(shared: World) -> None:
    await shared.submit(resources=resources("default", 4))
    [first] = await shared.running()
    await shared.submit(resources=resources("second", 3))
    await shared.until(lambda: shared.reconciler._cluster.reasons)
    await shared.exit(first.resource_id)
    [second] = await shared.running()
    assert second.slot_ids == (0, 1, 2)


async def test_places_of_tasks_without_slots_are_shared_as_well(make_world: WorldFactory) -> None:
    pools = [{"pool_name": name, "max_aux_containers_per_agent": 2} for name in ("default", "second")]
    world = make_world(resource_pools=pools)
    world.machine.nodes = [dataclasses.replace(make_node("shared", 0), also_pools=("second",))]
    await world.open()
    for pool in ("default", "second", "default", "second"):
        await world.submit(activate=False, resources=resources(pool, 0))

    def all_at_once(conn, now) -> None:  # type: ignore[no-untyped-def]
        for number in (1, 2, 3, 4):
            experiment.activate(conn, now, number)

    await world.write(all_at_once)
    await world.until(lambda: len(world.machine.alive) == 2 and len(world.reconciler._cluster.reasons) == 2)
    assert all("2 of 2 in use" in reason for reason in world.reconciler._cluster.reasons.values())
