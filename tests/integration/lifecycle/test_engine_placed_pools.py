"""Pools whose engine chooses the nodes, pools whose engine grows, and work that somebody cancels behind our back."""

from collections.abc import Callable
from typing import Any

import pytest
from fake_engine import ElasticFake, PlacingFake
from http_cluster import HttpCluster, eventually
from world import World, WorldFactory

from determined.engines.model import GoneReason
from determined.master.lifecycle import experiment

MANAGER = {"type": "slurm", "name": "fake"}
NAMED_POOL = {"resource_manager": MANAGER, "resource_pools": [{"pool_name": "default"}]}  # no sinfo is asked for them


@pytest.fixture
async def placing(make_world: WorldFactory) -> World:
    """An engine without a single node that we know of."""
    return await make_world(nodes=0, engine=PlacingFake, resource_manager=MANAGER).open()


async def test_work_is_handed_over_at_once_with_nodes_yet_unknown(placing: World) -> None:
    await placing.submit(resources={"slots_per_trial": 4})
    launches = sorted(await placing.running(2), key=lambda launch: launch.rank)
    assert [(one.rank, one.slot_ids, one.node_id, one.size) for one in launches] == [
        (0, (0, 1), "default", 2),
        (1, (0, 1), "default", 2),
    ]
    assert {one.device for one in launches} == {PlacingFake.device}
    assert len({one.ticket for one in launches}) == 1
    for one in launches:
        await placing.exit(one.resource_id)
    await placing.until_state("COMPLETED")


async def test_nothing_waits_for_slots_that_others_have(placing: World) -> None:
    for _ in range(3):
        await placing.submit(resources={"slots_per_trial": 2})
    await placing.running(3)


async def test_what_the_submitter_says_to_the_engine_shapes_the_job_and_reaches_it(placing: World) -> None:
    options = {"slots_per_node": 1, "sbatch_args": ["--time=10"]}
    await placing.submit(resources={"slots_per_trial": 2}, slurm=options)
    launches = await placing.running(2)
    assert [one.slot_ids for one in launches] == [(0,), (0,)]
    for one in launches:
        assert {key: one.options[key] for key in options} == options


async def test_handed_over_work_is_handed_over_again_to_the_next_master(placing: World) -> None:
    await placing.submit(resources={"slots_per_trial": 2})
    [launch] = await placing.running()
    await placing.restart()
    await placing.until(lambda: placing.engine.starts == [launch.resource_id])
    assert len(placing.machine.launched) == 1


async def test_job_that_the_engine_will_never_take_ends_with_its_words(placing: World) -> None:
    await placing.submit(resources={"slots_per_trial": 3}, max_restarts=5)
    await placing.until_state("ERROR")
    [allocation] = await placing.rows("allocations")
    assert allocation["exit_kind"] == "invalid_request"
    assert allocation["exit_reason"] == "slots=3 fill no whole nodes of 2; ask for 4"
    assert placing.machine.launched == []


async def test_canceled_job_ends_the_trial_without_a_retry(placing: World) -> None:
    await placing.submit(resources={"slots_per_trial": 4}, max_restarts=5)
    first, _ = await placing.running(2)
    placing.engine.lose(first.resource_id, GoneReason.CANCELED)
    await placing.until_state("ERROR")
    trial, [allocation] = await placing.trial(), await placing.rows("allocations")
    assert (trial["state"], trial["restarts"]) == ("ERROR", 0)
    assert allocation["exit_reason"] == "the machine burnt down"
    assert len(placing.machine.launched) == 2


async def test_job_that_was_canceled_for_us_is_no_failure(placing: World) -> None:
    placing.machine.obey_kill = None
    await placing.submit()
    [launch] = await placing.running()
    await placing.write(experiment.kill, 1)
    placing.engine.lose(launch.resource_id, GoneReason.CANCELED)
    await placing.until_state("CANCELED")


async def test_rank_canceled_for_us_after_another_failed_leaves_the_failure_what_it_is(placing: World) -> None:
    placing.machine.obey_kill = None
    await placing.submit(resources={"slots_per_trial": 4}, max_restarts=1)
    first, second = await placing.running(2)
    await placing.exit(first.resource_id, 1)
    placing.engine.lose(second.resource_id, GoneReason.CANCELED)
    await placing.until(lambda: len(placing.machine.launched) == 4)
    assert (await placing.trial())["restarts"] == 1


async def test_queued_demand_is_told_to_an_engine_that_grows(make_world: WorldFactory) -> None:
    world = await make_world(engine=ElasticFake, slots=2, resource_manager=MANAGER).open()
    await world.submit(resources={"slots_per_trial": 2})
    [launch] = await world.running()
    await world.submit(resources={"slots_per_trial": 2})
    await world.submit(resources={"slots_per_trial": 4})
    await world.until(
        lambda: ("default", (2, 4)) in [(pool, tuple(sorted(sizes))) for pool, sizes in world.machine.told]
    )
    await world.exit(launch.resource_id)
    await world.until(lambda: world.machine.told[-1] == ("default", (4,)))


def test_reason_of_the_engine_is_the_reason_of_the_job(start_master: Callable[..., Any], sqlite_url: str) -> None:
    cluster = HttpCluster(start_master, sqlite_url, nodes={}, engine=PlacingFake, **NAMED_POOL)
    cluster.submit(resources={"slots_per_trial": 2})
    [launch] = cluster.launched()
    cluster.machine.waits[launch.allocation_id] = "Resources"
    eventually(lambda: _job(cluster).get("reason") == "Resources")
    job = _job(cluster)
    assert job["summary"]["state"] == "STATE_QUEUED"
    assert (job["requestedSlots"], job["allocatedSlots"]) == (2, 0)
    cluster.run(launch)
    job = _job(cluster)
    assert (job["summary"]["state"], job["reason"], job["allocatedSlots"]) == ("STATE_SCHEDULED", None, 2)


def test_submit_is_refused_with_the_words_of_the_engine(start_master: Callable[..., Any], sqlite_url: str) -> None:
    cluster = HttpCluster(start_master, sqlite_url, nodes={}, engine=PlacingFake, **NAMED_POOL)
    raw = "entrypoint: x\nname: x\nsearcher: {name: single, metric: loss}\nhyperparameters: {}\n"
    body = {"config": raw + "resources: {slots_per_trial: 3}", "activate": True, "modelDefinition": []}
    answer = cluster.user.post("/api/v1/experiments", body)
    assert answer.status == 400
    assert answer.message == "slots=3 fill no whole nodes of 2; ask for 4"
    body["config"] += "\nslurm: {slots_per_node: 1}"
    assert cluster.user.post("/api/v1/experiments", body).status == 200


def _job(cluster: HttpCluster) -> dict[str, Any]:
    [job] = cluster.user.get("/api/v1/job-queues-v2").json["jobs"]
    return dict(job.get("full") or job)
