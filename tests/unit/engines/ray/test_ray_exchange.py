"""The Ray engine and its supervisor against a stand-in dashboard, with the test as the bridge."""

import asyncio
import base64
import itertools
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from ray_dashboard import JobsDashboard

from determined._bound_address import of_url
from determined._version import __version__
from determined.engines.model import Device, GoneReason, Launch, NodesChanged, RunnerGone
from determined.engines.ray.bridge_supervisor import BridgeSupervisor, Home
from determined.engines.ray.config import RayManager, RayPool
from determined.engines.ray.engine import RayEngine
from determined.errors import FailedPrecondition, Unauthenticated, Unavailable
from determined.wire.bridge import (
    BridgedNode,
    BridgedRunner,
    BridgeOrder,
    EnrolRequest,
    Message,
    RunnerState,
    View,
    Wishes,
    enrol_proof,
    seal,
    unseal,
)
from determined.wire.codec import from_json

MASTER = "http://10.0.0.1:8080"
ADDRESS = of_url(MASTER)


@pytest.fixture
def dashboard() -> Iterator[JobsDashboard]:
    dashboard = JobsDashboard()
    yield dashboard
    dashboard.close()


@asynccontextmanager
async def opened(
    dashboard: JobsDashboard, *, cluster_id: str = "c1", token_file: str | None = None, **settings: float
) -> AsyncIterator[RayEngine]:
    manager = RayManager(dashboard_url=dashboard.url, auth_token_file=token_file, **settings)  # type: ignore[arg-type]
    engine = RayEngine("ray", Home(cluster_id, b"secret", MASTER), manager, [RayPool(name="default")])
    await engine.open()
    try:
        yield engine
    finally:
        await engine.close()


class Bridge:
    """Speaks as the bridge of the newest job does."""

    def __init__(self, engine: RayEngine, dashboard: JobsDashboard) -> None:
        self.job = dashboard.alive()[-1]
        words = dashboard.jobs[self.job]["entrypoint"].split()[-1]
        self.order = from_json(base64.urlsafe_b64decode(words), BridgeOrder)
        self._engine = engine
        self._number = 0
        self.key = ""

    def enrol(self, version: str = __version__) -> list[str]:
        proof = enrol_proof(self.order.ticket, self.job, ADDRESS)
        asked = EnrolRequest(job=self.job, proof=proof, determined=version, ray="2.60.0", python="3.11.7")
        enrolment = self._engine.enrol(asked)
        self.key = enrolment.key
        return enrolment.disown

    async def tell(self, *nodes: BridgedNode, **runners: RunnerState) -> Wishes:
        held = [BridgedRunner(resource_id=name, state=state, node="n1") for name, state in runners.items()]
        return await self.say(Message(number=0, view=View(nodes=list(nodes), runners=held)))

    async def say(self, message: Message) -> Wishes:
        self._number += 1
        message.number = self._number
        return unseal(
            self.key, await self._engine.exchange(seal(self.key, self.job, message, ADDRESS)), Wishes, ADDRESS
        )


async def met(engine: RayEngine, dashboard: JobsDashboard) -> Bridge:
    await until(lambda: bool(dashboard.alive()))
    bridge = Bridge(engine, dashboard)
    bridge.enrol()
    return bridge


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110 - the supervisor works in threads
            await asyncio.sleep(0.01)


def node(name: str = "n1", gpus: float = 4, **more: object) -> BridgedNode:
    return BridgedNode(id=f"id-{name}", name=name, address="10.0.0.2", total={"GPU": gpus}, **more)  # type: ignore[arg-type]


def launch(resource_id: str = "a", *, begun: bool = False, where: str = "n1") -> Launch:
    return Launch(
        "1.t.1", resource_id, "c", where, 0, (0, 1), Device.CUDA, MASTER, "token", ticket="ticket", begun=begun
    )


async def next_gone(engine: RayEngine) -> RunnerGone:
    async with asyncio.timeout(60):
        async for event in engine.events():
            if isinstance(event, RunnerGone):
                return event
    raise AssertionError("the engine was closed")


async def test_ticket_is_good_once(dashboard: JobsDashboard) -> None:
    async with opened(dashboard) as engine:
        bridge = await met(engine, dashboard)
        with pytest.raises(Unauthenticated):
            bridge.enrol()


async def test_wrong_ticket_does_not_use_up_the_right_one(dashboard: JobsDashboard) -> None:
    async with opened(dashboard) as engine:
        await until(lambda: bool(dashboard.alive()))
        bridge = Bridge(engine, dashboard)
        guessed = EnrolRequest(job=bridge.job, proof="guessed", determined=__version__, ray="2.60.0", python="3.11.7")
        with pytest.raises(Unauthenticated):
            engine.enrol(guessed)
        bridge.enrol()
        assert bridge.key


async def test_bridge_of_another_version_is_refused_with_what_to_install(dashboard: JobsDashboard) -> None:
    async with opened(dashboard) as engine:
        await until(lambda: bool(dashboard.alive()))
        with pytest.raises(FailedPrecondition, match=f"install redetermined=={__version__}"):
            Bridge(engine, dashboard).enrol("0.0.1")


async def test_nodes_are_offered_as_soon_as_a_bridge_tells_of_them(dashboard: JobsDashboard) -> None:
    async with opened(dashboard) as engine:
        assert engine.possible_sizes("default") is None
        bridge = await met(engine, dashboard)
        await bridge.tell(node(), node("n2", draining=True))
        assert [(n.id, len(n.slots)) for n in engine.nodes()] == [("n1", 4)]
        assert await anext(engine.events()) == NodesChanged()
        assert await asyncio.to_thread(engine.nodes) == engine.nodes(), "also for a thread that asks"


async def test_start_becomes_a_wish_with_exact_resources_and_no_token(dashboard: JobsDashboard) -> None:
    async with opened(dashboard) as engine:
        bridge = await met(engine, dashboard)
        await bridge.tell(node())
        await engine.start(launch())
        (wanted,) = (await bridge.tell(node())).wanted
        assert (wanted.resource_id, wanted.node, wanted.resources) == ("a", "n1", {"GPU": 2.0})
        assert wanted.order.ticket == "ticket"
        assert "token" not in str(wanted.order)


async def test_wish_is_answered_to_a_bridge_that_waits(dashboard: JobsDashboard) -> None:
    async with opened(dashboard) as engine:
        bridge = await met(engine, dashboard)
        known = (await bridge.tell(node())).version
        waiting = asyncio.create_task(bridge.say(Message(number=0, known=known, wait_seconds=20)))
        await asyncio.sleep(0)
        await engine.start(launch())
        assert [wanted.resource_id for wanted in (await waiting).wanted] == ["a"]


async def test_older_bridge_is_retired(dashboard: JobsDashboard) -> None:
    async with opened(dashboard) as engine:
        old = await met(engine, dashboard)
        await old.tell(node())
        dashboard.jobs[old.job]["status"] = "FAILED"
        engine._open_supervisor().last_message_at = -1000.0
        await until(lambda: bool(dashboard.alive()))
        async with asyncio.timeout(60):
            # The dashboard has the new job a moment before the engine has its answer.
            while not (await old.tell(node())).retire:  # noqa: ASYNC110 - it asks, and nobody tells
                await asyncio.sleep(0.01)
        new = Bridge(engine, dashboard)
        new.enrol()
        assert not (await new.tell(node())).retire


async def test_runner_that_a_new_bridge_does_not_find_is_lost(dashboard: JobsDashboard) -> None:
    async with opened(dashboard) as engine:
        bridge = await met(engine, dashboard)
        await bridge.tell(node())
        await engine.start(launch())
        await bridge.tell(node(), a=RunnerState.RUNNING)
        await bridge.tell(node())
        event = await next_gone(engine)
        assert (event.resource_id, event.reason) == ("a", GoneReason.LOST)


async def test_bridge_of_an_earlier_life_is_heard_without_a_new_ticket(dashboard: JobsDashboard) -> None:
    async with opened(dashboard) as engine:
        bridge = await met(engine, dashboard)
        await bridge.tell(node())
    async with opened(dashboard) as engine:
        bridge._engine = engine
        starting = asyncio.create_task(engine.start(launch(begun=True)))
        await bridge.tell(node(), a=RunnerState.RUNNING)
        await starting
        assert list(await engine.running()) == ["a"]
        assert len(dashboard.jobs) == 1


async def test_stranger_with_another_key_is_not_heard(dashboard: JobsDashboard) -> None:
    async with opened(dashboard) as engine:
        bridge = await met(engine, dashboard)
        bridge.key = "guessed"
        with pytest.raises(Unauthenticated):
            await bridge.tell(node())
        assert engine.nodes() == []


async def test_silence_takes_the_nodes_and_then_the_runners(dashboard: JobsDashboard) -> None:
    async with opened(dashboard, bridge_grace=0.0, bridge_silence=0.5) as engine:
        bridge = await met(engine, dashboard)
        await bridge.tell(node())
        await engine.start(launch())
        event = await next_gone(engine)
        assert (event.resource_id, event.reason) == ("a", GoneReason.LOST)
        assert "no word" in event.detail
        assert engine.nodes() == []


async def test_runner_that_was_given_up_before_a_bridge_told_of_it_is_ended_when_one_does(
    dashboard: JobsDashboard,
) -> None:
    async with opened(dashboard, bridge_silence=0.5) as engine:
        bridge = await met(engine, dashboard)
        await bridge.tell(node())
        await engine.start(launch())
        await next_gone(engine)
        await engine.forget("a")
        known = (await bridge.tell(node())).version
        wishes = await bridge.tell(node(), a=RunnerState.RUNNING)
        assert wishes.forget == ["a"]
        assert wishes.version > known, "the bridge reads no wishes that it has read"


async def test_node_on_which_nothing_starts_rests_until_something_does(dashboard: JobsDashboard) -> None:
    async with opened(dashboard) as engine:
        bridge = await met(engine, dashboard)
        await bridge.tell(node(), node("n2"))
        await engine.start(launch())
        await bridge.tell(node(), node("n2"), a=RunnerState.NOT_STARTED)
        assert "the node is not used for 5 s" in (await next_gone(engine)).detail
        assert [offered.id for offered in engine.nodes()] == ["n2"]
        await bridge.tell(node(), node("n2"), c=RunnerState.RUNNING)
        assert [offered.id for offered in engine.nodes()] == ["n1", "n2"]


async def test_runner_that_was_ended_before_it_began_says_nothing_of_its_node(dashboard: JobsDashboard) -> None:
    async with opened(dashboard) as engine:
        bridge = await met(engine, dashboard)
        await bridge.tell(node())
        await engine.start(launch())
        await engine.kill("a", force=False)
        await bridge.tell(node(), a=RunnerState.NOT_STARTED)
        assert "not used" not in (await next_gone(engine)).detail
        assert [offered.id for offered in engine.nodes()] == ["n1"]


async def test_start_without_any_bridge_says_why(dashboard: JobsDashboard, tmp_path: Path) -> None:
    dashboard.token = "right"
    wrong = tmp_path / "token"
    wrong.write_text("wrong")
    async with opened(dashboard, token_file=str(wrong), bridge_silence=0.2) as engine:
        await until(lambda: engine._open_supervisor().problem is not None)
        with pytest.raises(Unavailable, match="auth_token_file"):
            await engine.start(launch())


async def test_cluster_without_determined_is_told_what_to_install(dashboard: JobsDashboard) -> None:
    async with opened(dashboard, bridge_silence=0.2) as engine:
        await until(lambda: bool(dashboard.alive()))
        dashboard.words = "/usr/bin/python: Error while finding module: No module named 'determined'"
        dashboard.jobs[dashboard.alive()[0]]["status"] = "FAILED"
        await until(lambda: engine._open_supervisor().problem is not None)
        with pytest.raises(Unavailable, match="lacks determined"):
            await engine.start(launch())


async def test_bridge_of_a_replaced_database_is_stopped_and_its_runners_disowned(dashboard: JobsDashboard) -> None:
    metadata = {"determined_master": MASTER, "namespace": "determined-c0"}
    dashboard.put("determined-bridge-c0-ray-1", metadata=metadata)
    dashboard.put("determined-bridge-c9-ray-1", metadata={**metadata, "determined_master": "http://other"})
    async with opened(dashboard) as engine:
        await until(lambda: len(dashboard.jobs) == 3)
        assert dashboard.stopped == ["determined-bridge-c0-ray-1"]
        assert Bridge(engine, dashboard).enrol() == ["determined-c0"]


async def test_bridge_of_another_hosts_master_with_the_same_loopback_address_is_left_alone(
    dashboard: JobsDashboard,
) -> None:
    url = "http://127.0.0.1:8080"
    dashboard.put(
        "determined-bridge-c0-ray-1",
        metadata={"determined_master": Home("c0", b"", url, host="theirs").address, "namespace": "determined-c0"},
    )
    dashboard.put(
        "determined-bridge-c2-ray-1",
        metadata={"determined_master": Home("c2", b"", url, host="ours").address, "namespace": "determined-c2"},
    )
    supervisor = BridgeSupervisor(
        "ray", Home("c1", b"secret", url, host="ours"), RayManager(dashboard_url=dashboard.url), lambda: 0
    )
    await supervisor._tend()
    assert dashboard.stopped == ["determined-bridge-c2-ray-1"], "that of a replaced database is stopped as before"
    assert len(dashboard.alive()) == 2


async def test_bridge_that_cannot_run_is_sent_ever_more_rarely_and_its_reason_said_once(
    dashboard: JobsDashboard, caplog: pytest.LogCaptureFixture
) -> None:
    now = 0.0
    supervisor = BridgeSupervisor(
        "ray", Home("c1", b"secret", MASTER), RayManager(dashboard_url=dashboard.url), lambda: now
    )
    dashboard.words = "No module named 'determined'"
    sent: list[float] = []
    while len(sent) < 10:
        await supervisor._tend()
        if dashboard.alive():
            sent.append(now)
            dashboard.jobs[dashboard.alive()[0]]["status"] = "FAILED"
        now = max(now + 1.0, supervisor._resend_at)
    pauses = [later - earlier for earlier, later in itertools.pairwise(sent)]
    assert pauses == sorted(pauses)
    assert pauses[0] <= 2 and pauses[-2:] == [601.0, 601.0]
    assert [r for r in caplog.messages if "lacks determined" in r] == [f"ray: {supervisor.problem}"]


async def test_queue_of_a_pool_that_may_grow_is_told_to_ray(dashboard: JobsDashboard) -> None:
    manager = RayManager(dashboard_url=dashboard.url)
    growing = RayPool(name="default", slots_per_node=4, max_nodes=2)
    engine = RayEngine("ray", Home("c1", b"secret", MASTER), manager, [growing])
    await engine.open()
    try:
        bridge = await met(engine, dashboard)
        assert (await bridge.tell(node())).bundles == []
        assert engine.possible_sizes("default") == [4, 4]
        await engine.start(launch())
        engine.demand("default", [8])
        assert (await bridge.tell(node())).bundles == [{"GPU": 2.0}, {"GPU": 4.0}, {"GPU": 4.0}]
    finally:
        await engine.close()
