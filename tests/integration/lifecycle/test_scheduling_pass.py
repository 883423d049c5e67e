"""Scheduling over real rows: slots, pools, priorities, drains, exclusions, failures to start."""

from datetime import datetime

import pytest
from sqlalchemy import Connection, insert
from world import World, WorldFactory

from determined.master.db import schema
from determined.master.db.queries import node as nodes
from determined.master.lifecycle import allocation, experiment, reconciler, scheduling

PREEMPTING = {"resource_manager": {"scheduler": {"type": "priority", "preemption": True}}}


async def test_trials_share_a_node_by_lowest_free_slots_and_own_ports(world: World) -> None:
    await world.submit(resources={"slots_per_trial": 1})
    await world.submit(resources={"slots_per_trial": 2})
    await world.until(lambda: len(world.machine.alive) == 2)
    assert sorted(launch.slot_ids for launch in world.machine.launched) == [(0,), (1, 2)]
    ports = [set(a["ports"].values()) for a in await world.rows("allocations")]
    assert not ports[0] & ports[1]


async def test_request_that_does_not_fit_waits_with_a_reason(world: World) -> None:
    await world.submit(resources={"slots_per_trial": 3})
    await world.running()
    await world.submit(resources={"slots_per_trial": 2})
    await world.until(lambda: world.reconciler._cluster.reasons)
    [reason] = world.reconciler._cluster.reasons.values()
    assert "waits for 2 free slots in pool 'default': 1 of 4 free" in reason
    assert "; held by experiment 1 '" in reason and reason.endswith("' (3 slots)")
    [launch] = world.machine.alive.values()
    await world.exit(launch.resource_id)
    await world.until(lambda: len(world.machine.launched) == 2)
    assert not world.reconciler._cluster.reasons


async def test_trials_of_one_search_start_in_the_order_of_their_ids(make_world: WorldFactory) -> None:
    world = await make_world(slots=1).open()
    await world.submit(searcher={"name": "random", "metric": "loss", "max_trials": 6})
    started = []
    for _ in range(6):
        [launch] = await world.running()
        started.append(launch.allocation_id)
        await world.exit(launch.resource_id)
        await world.until(lambda gone=launch.resource_id: gone not in world.machine.alive)
    by_task = {row["task_id"]: row["id"] for row in await world.rows("trials")}
    assert [by_task[allocation_id.rsplit(".", 1)[0]] for allocation_id in started] == [1, 2, 3, 4, 5, 6]


async def test_rows_are_read_again_only_after_something_was_written(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks, look = [], scheduling.look
    await world.submit()
    await world.running()
    monkeypatch.setattr(scheduling, "look", lambda *given: looks.append(given) or look(*given))
    for _ in range(50):
        await world.reconciler.step()
    assert len(looks) <= 2  # one for the last report, one if a heartbeat was written meanwhile
    await world.submit()
    await world.until(lambda: len(world.machine.alive) == 2)


async def test_deadlines_are_looked_at_while_nothing_is_written(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    looks, look = [], scheduling.look
    await world.submit()
    [launch] = await world.running()
    await world.write(allocation.request_preemption, launch.allocation_id, "for a test")
    await world.reconciler.step()
    monkeypatch.setattr(scheduling, "look", lambda *given: looks.append(given) or look(*given))
    for _ in range(5):
        await world.reconciler.step()
    assert len(looks) >= 5


async def test_zero_slot_trials_run_beside_a_full_node(world: World) -> None:
    await world.submit(resources={"slots_per_trial": 4})
    await world.submit(resources={"slots_per_trial": 0})
    await world.until(lambda: len(world.machine.alive) == 2)
    assert () in [launch.slot_ids for launch in world.machine.launched]


async def test_higher_priority_preempts_gracefully_and_the_victim_comes_back(make_world: WorldFactory) -> None:
    world = await make_world(**PREEMPTING).open()
    low = await world.submit(resources={"slots_per_trial": 4, "priority": 50})
    [victim] = await world.running()
    high = await world.submit(resources={"slots_per_trial": 4, "priority": 10})

    async def flagged() -> bool:
        live = await world.live_allocation()
        return live is not None and live["preempt_at"] is not None

    await world.until(flagged)
    assert victim.resource_id in world.machine.alive
    await world.write(allocation.preempt_acked, victim.allocation_id)
    await world.exit(victim.resource_id)
    [winner] = await world.running()
    assert winner.allocation_id.startswith(f"{high}.")
    await world.exit(winner.resource_id)
    [again] = await world.running()
    assert again.allocation_id.startswith(f"{low}.") and again.allocation_id.endswith(".2")
    assert (await world.trial())["restarts"] == 0


async def test_pools_are_scheduled_apart(make_world: WorldFactory) -> None:
    world = make_world(slots=1, pools={"gpu": 2}, resource_pools=[{"pool_name": "default"}, {"pool_name": "gpu"}])
    await world.open()
    await world.submit(resources={"slots_per_trial": 2, "resource_pool": "gpu"})
    await world.submit(resources={"slots_per_trial": 1, "resource_pool": "default"})
    await world.until(lambda: len(world.machine.alive) == 2)
    assert {launch.node_id for launch in world.machine.launched} == {"gpu-node", "node0"}


async def test_change_of_pool_moves_a_running_trial_without_a_restart(make_world: WorldFactory) -> None:
    world = make_world(pools={"gpu": 2}, resource_pools=[{"pool_name": "default"}, {"pool_name": "gpu"}])
    await world.open()
    await world.submit()
    [launch] = await world.running()
    await world.write(experiment.set_resources, 1, {"pool": "gpu"})
    await world.write(allocation.preempt_acked, launch.allocation_id)
    await world.exit(launch.resource_id)
    [moved] = await world.running()
    assert moved.node_id == "gpu-node"
    assert (await world.trial())["restarts"] == 0
    assert (await world.experiment())["config"]["resources"]["resource_pool"] == "gpu"


async def test_draining_node_takes_nothing_new_and_lets_what_runs_finish(world: World) -> None:
    await world.submit()
    [first] = await world.running()
    await _override(world, "node0", enabled=False, draining=True)
    await world.submit()
    await world.reconciler.step()
    assert list(world.machine.alive) == [first.resource_id]
    await world.write(lambda conn, now: nodes.drop_override(conn, "node0", nodes.WHOLE_NODE))
    await world.until(lambda: len(world.machine.alive) == 2)


async def test_disabled_slot_is_not_used(world: World) -> None:
    await world.write(lambda conn, now: nodes.put_override(conn, "node0", 0, enabled=False, draining=False))
    await world.submit(resources={"slots_per_trial": 3})
    [launch] = await world.running()
    assert launch.slot_ids == (1, 2, 3)


async def test_multi_node_request_fills_whole_idle_nodes(make_world: WorldFactory) -> None:
    world = await make_world(nodes=2).open()
    await world.submit(resources={"slots_per_trial": 8})
    launches = await world.running(2)
    assert {launch.node_id for launch in launches} == {"node0", "node1"}
    assert sorted(launch.rank for launch in launches) == [0, 1]


async def test_failing_rank_ends_the_others_and_costs_one_restart(make_world: WorldFactory) -> None:
    world = await make_world(nodes=2).open()
    await world.submit(resources={"slots_per_trial": 8}, max_restarts=1)
    first, _ = await world.running(2)
    await world.exit(first.resource_id, 1)
    await world.until(lambda: len(world.machine.launched) == 4)
    assert (await world.trial())["restarts"] == 1
    [ended] = [a for a in await world.rows("allocations") if a["ended_at"] is not None]
    assert (ended["exit_kind"], ended["exit_code"]) == ("errored", 1)


async def test_daemons_are_stopped_when_the_workers_have_left(make_world: WorldFactory) -> None:
    world = await make_world(nodes=2).open()
    await world.submit(resources={"slots_per_trial": 8})
    first, second = await world.running(2)
    await world.write(allocation.mark_daemon, second.resource_id)
    await world.exit(first.resource_id)
    await world.until_state("COMPLETED")
    await world.until(lambda: not world.machine.alive)


async def test_lost_runner_is_retried_without_a_restart(world: World) -> None:
    await world.submit()
    [launch] = await world.running()
    world.engine.lose(launch.resource_id)
    await world.until(lambda: len(world.machine.launched) == 2)
    assert (await world.trial())["restarts"] == 0
    assert [a["exit_kind"] for a in await world.rows("allocations")] == ["transient", None]


async def test_engine_that_cannot_start_is_tried_again_ever_more_slowly(world: World) -> None:
    world.machine.refuse = "no more processes"
    await world.submit()

    async def failed(times: int) -> bool:
        return [a["exit_kind"] for a in await world.rows("allocations")].count("transient") >= times

    await world.until(lambda: failed(2))
    await world.reconciler.step()
    assert len(await world.rows("allocations")) == 2, "the third attempt waits"
    world.machine.refuse = None
    world.clock.advance(2)
    await world.running()
    assert (await world.trial())["restarts"] == 0


async def test_training_that_is_lost_again_and_again_goes_on_at_once_each_time(world: World) -> None:
    await world.submit()
    for times in range(1, 9):
        [launch] = await world.running()
        world.clock.advance(6)
        world.engine.lose(launch.resource_id)
        await world.until(lambda: len(world.machine.launched) == times + 1)  # noqa: B023 (used at once)
    assert (await world.trial())["restarts"] == 0


async def test_excluded_node_is_avoided_and_no_node_left_is_an_error(make_world: WorldFactory) -> None:
    world = await make_world(nodes=2).open()
    await world.submit(max_restarts=5)
    for _ in range(2):
        [launch] = await world.running()
        await world.write(_exclude, launch.allocation_id.rpartition(".")[0], launch.node_id)
        await world.exit(launch.resource_id, 1)
    await world.until_state("ERROR")
    assert {launch.node_id for launch in world.machine.launched} == {"node0", "node1"}
    assert [a["exit_kind"] for a in await world.rows("allocations")][-1] == "invalid_request"


async def test_experiment_of_a_pool_that_is_no_longer_configured_fails_at_start(make_world: WorldFactory) -> None:
    world = make_world(resource_pools=[{"pool_name": "default"}, {"pool_name": "gone"}])
    await world.open()
    await world.submit(resources={"slots_per_trial": 1, "resource_pool": "gone"})
    await world.close()
    world.config = make_world().config
    await world.open()
    await world.until_state("ERROR")
    assert "gone" in (await world.experiment())["error"]


async def test_hint_alone_starts_what_was_submitted(make_world: WorldFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reconciler, "_IDLE_SECONDS", 3600.0)  # no look without a hint
    world = await make_world(slots=8).open()
    for n in range(1, 9):
        await world.submit()
        await world.until(lambda n=n: len(world.machine.alive) == n)


async def _override(world: World, node_id: str, *, enabled: bool, draining: bool) -> None:
    await world.write(
        lambda conn, now: nodes.put_override(conn, node_id, nodes.WHOLE_NODE, enabled=enabled, draining=draining)
    )


def _exclude(conn: Connection, now: datetime, task_id: str, node_id: str) -> None:
    conn.execute(
        insert(schema.log_policy_hits).values(
            task_id=task_id, action="exclude_node", node_id=node_id, pattern="bad", line="bad"
        )
    )


@pytest.mark.parametrize("action", ["cancel_retries"])
async def test_canceled_retries_end_a_failing_trial_at_once(world: World, action: str) -> None:
    await world.submit(max_restarts=5)
    [launch] = await world.running()
    task_id = launch.allocation_id.rpartition(".")[0]

    def hit(conn: Connection, now: datetime) -> None:
        conn.execute(insert(schema.log_policy_hits).values(task_id=task_id, action=action, pattern="x", line="x"))

    await world.write(hit)
    await world.exit(launch.resource_id, 1)
    await world.until_state("ERROR")
    assert len(world.machine.launched) == 1
    assert any("trial failed and matched logs to a don't retry policy" in line for line in await world.log(task_id))
