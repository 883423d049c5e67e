"""How the ends of an allocation's runners add up: whose failure it was, and who pays for it."""

import pytest
from world import World, WorldFactory

from determined.engines.model import GoneReason, Launch
from determined.master.lifecycle import allocation
from determined.wire.report import Exit, ExitCause


@pytest.fixture
async def gang(make_world: WorldFactory) -> World:
    """Two nodes of two slots; whoever is killed says nothing by itself."""
    world = await make_world(nodes=2, slots=2).open()
    world.machine.obey_kill = None
    return world


async def test_node_lost_after_its_peer_failed_is_the_cause_and_costs_no_restart(gang: World) -> None:
    first, second = await _running(gang)
    await gang.exit(first.resource_id, 1)
    gang.clock.advance(5)
    gang.engine.lose(second.resource_id)
    await gang.until(lambda: len(gang.machine.launched) == 4)
    assert (await gang.trial())["restarts"] == 0
    assert await _ends(gang) == ["transient", None]
    [ended, _] = await gang.rows("allocations")
    assert ended["exit_reason"] == f"node 1 ({second.node_id}): the machine burnt down"


async def test_node_found_lost_minutes_after_its_peer_failed_costs_no_restart(gang: World) -> None:
    first, second = await _running(gang)
    await gang.exit(first.resource_id, 1)
    gang.clock.advance(300)
    gang.engine.lose(second.resource_id)
    await gang.until(lambda: len(gang.machine.launched) == 4)
    assert (await gang.trial())["restarts"] == 0
    assert await _ends(gang) == ["transient", None]


async def test_rank_that_had_to_be_killed_by_force_was_not_lost(gang: World) -> None:
    first, second = await _running(gang)
    await gang.exit(first.resource_id, 1)
    await gang.write(allocation.confirm_kill, second.resource_id)
    gang.clock.advance(31)
    gang.ctx.bus.publish("schedule")
    await gang.until(lambda: (second.resource_id, True) in gang.machine.kills)
    gang.engine.lose(second.resource_id)
    await gang.until(lambda: len(gang.machine.launched) == 4)
    assert (await gang.trial())["restarts"] == 1
    assert await _ends(gang) == ["errored", None]
    [ended, _] = await gang.rows("allocations")
    assert ended["exit_reason"] == f"node 0 ({first.node_id}): exit 1"


async def test_node_lost_soon_after_it_heard_of_its_end_costs_no_restart(gang: World) -> None:
    first, second = await _running(gang)
    await gang.exit(first.resource_id, 1)
    await gang.write(allocation.confirm_kill, second.resource_id)
    gang.clock.advance(5)
    gang.engine.lose(second.resource_id)
    await gang.until(lambda: len(gang.machine.launched) == 4)
    assert (await gang.trial())["restarts"] == 0


@pytest.mark.parametrize("ahead", [-3600.0, 0.0, 3600.0])
async def test_clock_of_a_host_does_not_decide_who_failed_first(gang: World, ahead: float) -> None:
    first, second = await _running(gang)
    gang.clock.advance(60)
    failed_at = gang.clock.now().timestamp()
    gang.clock.advance(1)
    sent = gang.clock.now().timestamp()
    victim = Exit(ExitCause.EXITED, 1, "lost its peer", failed_at + 0.2 + ahead)
    culprit = Exit(ExitCause.EXITED, 9, "out of memory", failed_at)
    await gang.write(allocation.runner_exited, first.resource_id, victim, sent + ahead)
    await gang.write(allocation.runner_exited, second.resource_id, culprit, sent)
    [ended, *_] = await gang.rows("allocations")
    assert ended["exit_reason"] == f"node 1 ({second.node_id}): out of memory"


@pytest.mark.parametrize("told", [float("nan"), float("inf"), -1e300])
async def test_time_that_is_none_is_no_obstacle_to_an_end(gang: World, told: float) -> None:
    first, second = await _running(gang)
    exit = Exit(ExitCause.EXITED, 1, "failed", told)
    await gang.write(allocation.runner_exited, first.resource_id, exit, told)
    await gang.exit(second.resource_id, 137, ExitCause.KILLED)
    assert (await gang.rows("allocations"))[0]["exit_kind"] == "errored"


async def test_rank_that_ends_as_asked_after_its_peer_failed_changes_nothing(gang: World) -> None:
    first, second = await _running(gang)
    await gang.exit(first.resource_id, 3)
    await gang.exit(second.resource_id, 137, ExitCause.KILLED)
    await gang.until(lambda: len(gang.machine.launched) == 4)
    assert (await gang.trial())["restarts"] == 1
    [ended, _] = await gang.rows("allocations")
    assert (ended["exit_kind"], ended["exit_code"]) == ("errored", 3)
    assert ended["exit_reason"].startswith(f"node 0 ({first.node_id})")


async def test_lost_node_ends_its_peers_and_the_trial_is_retried_for_free(gang: World) -> None:
    first, second = await _running(gang)
    gang.engine.lose(first.resource_id)
    await gang.until(lambda: (second.resource_id, False) in gang.machine.kills)
    await gang.exit(second.resource_id, 137, ExitCause.KILLED)
    await gang.until(lambda: len(gang.machine.launched) == 4)
    assert (await gang.trial())["restarts"] == 0


async def test_rank_that_could_not_be_started_ends_its_peers_for_free(gang: World) -> None:
    first, second = await _running(gang)
    gang.engine.lose(second.resource_id, GoneReason.NOT_STARTED)
    await gang.until(lambda: (first.resource_id, False) in gang.machine.kills)
    await gang.exit(first.resource_id, 137, ExitCause.KILLED)
    await gang.until(lambda: len(gang.machine.launched) == 4)
    assert (await gang.trial())["restarts"] == 0


async def _running(world: World) -> list[Launch]:
    await world.submit(resources={"slots_per_trial": 4}, max_restarts=3)
    return sorted(await world.running(2), key=lambda launch: launch.rank)


async def _ends(world: World) -> list[str | None]:
    return [allocation["exit_kind"] for allocation in await world.rows("allocations")]
