"""What a bridge does with the master's wishes, also with old, doubled and lost messages."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from fake_ray import Actor, ActorDiedError, FakeRay

from determined.engines.ray import bridge as bridge_module
from determined.engines.ray.bridge import Bridge
from determined.errors import Unavailable
from determined.wire.bridge import EndWish, RunnerState, View, WantedRunner, Wishes
from determined.wire.claim import Order

SPACE = "determined-c1"


class Link:
    """Master that keeps what it is told; `is_away`: it does not answer."""

    def __init__(self) -> None:
        self.told: list[View] = []
        self.is_away = False
        self.answer = Wishes(answers=0)

    def tell(self, view: View) -> Wishes:
        if self.is_away:
            raise Unavailable("no answer from the master")
        self.told.append(view)
        return self.answer


class Ground:
    """A bridge on a cluster of one node with four GPUs."""

    def __init__(self) -> None:
        self.ray, self.link = FakeRay(), Link()
        self.ray.add_node("n1", GPU=4.0, CPU=8.0)
        self.bridge = Bridge(self.ray, self.link, SPACE)  # type: ignore[arg-type]

    def turn(self, *wanted: WantedRunner, end: Sequence[EndWish] = (), forget: Sequence[str] = (), **more: Any) -> View:
        """One turn with these wishes; what the master heard last."""
        self.bridge._turn(Wishes(answers=1, wanted=list(wanted), end=list(end), forget=list(forget), **more))
        return self.link.told[-1]

    def begin(self, *names: str) -> list[Actor]:
        self.bridge._turn(None)  # the nodes are known from the first look on
        self.turn(*(wanted(name) for name in names))
        for actor in self.ray.actors:
            actor.calls["facts"][-1].answer((NODE, {"GPU": 2.0}))
        self.turn(*(wanted(name) for name in names))
        return self.ray.actors


NODE = "n1-n1-id-"


def wanted(name: str, *, node: str = NODE, begun: bool = False) -> WantedRunner:
    order = Order(master_url="http://m:1", allocation_id="1.a.1", ticket="t")
    return WantedRunner(resource_id=name, node=node, order=order, resources={"GPU": 2.0, "mark": 0.1}, begun=begun)


@pytest.fixture
def ground() -> Ground:
    return Ground()


def states(view: View) -> dict[str, RunnerState]:
    return {runner.resource_id: runner.state for runner in view.runners}


def test_runner_becomes_one_detached_actor_on_its_node_with_its_resources(ground: Ground) -> None:
    [actor] = ground.begin("a")
    assert (actor.name, actor.namespace, actor.options["lifetime"]) == ("a", SPACE, "detached")
    assert (actor.options["num_gpus"], actor.options["resources"]) == (2.0, {"mark": 0.1})
    affinity = actor.options["scheduling_strategy"]
    assert (affinity.node_id, affinity.soft) == ("n1-id-of-ray", False)
    assert json.loads(actor.arguments[0])["ticket"] == "t"
    assert states(ground.link.told[-1]) == {"a": RunnerState.RUNNING}


def test_wishes_that_come_twice_start_nothing_twice(ground: Ground) -> None:
    ground.begin("a")
    for _ in range(3):
        ground.turn(wanted("a"))
    assert len(ground.ray.actors) == 1


def test_ended_runner_is_reported_until_it_is_forgotten_and_not_begun_again(ground: Ground) -> None:
    [actor] = ground.begin("a")
    actor.calls["wait"][-1].answer((0, ""))
    assert states(ground.turn(wanted("a"))) == {"a": RunnerState.EXITED}
    assert states(ground.turn(wanted("a"))) == {"a": RunnerState.EXITED}
    assert states(ground.turn(forget=["a", "unknown"])) == {}
    assert actor.is_killed and len(ground.ray.actors) == 1


@pytest.mark.parametrize(
    ("wish", "end", "state", "words"),
    [
        (wanted("a", begun=True), [], RunnerState.LOST, "Ray has no such actor any more"),
        (wanted("a", node="gone"), [], RunnerState.NOT_STARTED, "node gone is not in the Ray cluster now"),
        (wanted("a"), [EndWish(resource_id="a")], RunnerState.NOT_STARTED, "ended before it had begun"),
    ],
    ids=["begun before", "node gone", "to end"],
)
def test_runner_that_must_not_begin_is_reported_with_why(
    ground: Ground, wish: WantedRunner, end: list[EndWish], state: RunnerState, words: str
) -> None:
    ground.bridge._turn(None)
    [runner] = ground.turn(wish, end=end).runners
    assert runner.state is state and words in runner.detail
    assert ground.ray.actors == []


def test_end_reaches_the_actor_once_however_often_it_is_wished(ground: Ground) -> None:
    [actor] = ground.begin("a")
    for force in (False, False, True):
        ground.turn(wanted("a"), end=[EndWish(resource_id="a", force=force), EndWish(resource_id="nobody")])
    assert actor.forces == [False, True]


def test_actor_that_ray_does_not_place_is_given_up_with_who_holds_what_it_needs(ground: Ground) -> None:
    ground.ray.free["n1-id-of-ray"] = {"CPU": 8.0, "GPU": 1.0}
    ground.bridge._turn(None)
    ground.turn(wanted("a"))
    [runner] = ground.turn(wanted("a"), start_seconds=-1.0).runners
    assert runner.state is RunnerState.NOT_STARTED
    assert "Ray has not placed {'GPU': 2.0, 'mark': 0.1}" in runner.detail
    assert ground.ray.actors[0].is_killed


def test_view_that_did_not_arrive_is_told_again_and_an_unchanged_one_is_not(ground: Ground) -> None:
    ground.bridge._turn(None)
    ground.bridge._turn(None)
    assert len(ground.link.told) == 1
    ground.link.is_away = True
    ground.turn(wanted("a", begun=True))
    ground.link.is_away = False
    ground.bridge._turn(None)
    assert [states(view) for view in ground.link.told] == [{}, {"a": RunnerState.LOST}]


def test_older_wishes_of_one_life_are_ignored_and_those_of_another_taken(ground: Ground) -> None:
    """An answer that was overtaken could start again what is over."""
    take = ground.bridge._take
    for version in (("life", 5), ("life", 4), ("life", 5)):
        take(Wishes(answers=1, version=version, start_seconds=float(version[1])))
    held = ground.bridge._wishes
    assert held is not None and held.start_seconds == 5.0
    take(Wishes(answers=1, version=("next", 1)))
    assert ground.bridge._wishes is not None and ground.bridge._wishes.version == ("next", 1)


def test_actors_of_an_earlier_bridge_are_taken_up_also_slow_and_failing_ones(
    ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bridge_module, "_ADOPT_SECONDS", 0.0)
    well, slow, dead = (Actor(name, SPACE) for name in ("well", "slow", "dead"))
    ground.ray.actors += [well, slow, dead, Actor("other", "determined-c2")]
    well.facts = _answering(well, lambda ref: ref.answer((NODE, {"GPU": 1.0})))
    dead.facts = _answering(dead, lambda ref: ref.fail(ActorDiedError("gone")))
    ground.bridge._adopt()
    ground.bridge._turn(None)
    assert states(ground.link.told[-1]) == {
        "well": RunnerState.RUNNING, "slow": RunnerState.STARTING, "dead": RunnerState.LOST,
    }  # fmt: skip


def _answering(actor: Actor, answer: Any) -> Any:
    """A method that is answered as soon as it is called."""

    class Method:
        def remote(self) -> Any:
            ref = actor._call("facts")
            answer(ref)
            return ref

    return Method()


def test_runners_of_a_master_that_is_no_more_are_killed_and_no_others(ground: Ground) -> None:
    ours, theirs = Actor("a", SPACE), Actor("b", "determined-old")
    ground.ray.actors += [ours, theirs]
    ground.bridge.disown("determined-old")
    assert (ours.is_killed, theirs.is_killed) == (False, True)


def test_autoscaler_is_asked_only_when_the_demand_changes(ground: Ground) -> None:
    for bundles in (None, [{"GPU": 4.0}], [{"GPU": 4.0}], [], []):
        ground.turn(bundles=bundles)
    assert ground.ray.requested == [[{"GPU": 4.0}], []]


def test_tasks_on_a_draining_node_are_asked_to_leave_once(ground: Ground) -> None:
    [actor] = ground.begin("a")
    ground.ray.draining.add("n1-id-of-ray")
    for _ in range(3):
        ground.turn(wanted("a"))
    assert len(actor.calls["leave"]) == 1


def test_what_other_ray_jobs_use_is_told_without_what_is_ours(ground: Ground) -> None:
    ground.ray.free["n1-id-of-ray"] = {"CPU": 8.0, "GPU": 1.0}
    ground.begin("a")
    [node] = ground.link.told[-1].nodes
    assert (node.total, node.taken) == ({"GPU": 4.0, "CPU": 8.0}, {"GPU": 1.0})
    ground.ray.actors[0].calls["wait"][-1].answer((0, ""))
    [node] = ground.turn(forget=["a"]).nodes
    assert node.taken == {"GPU": 1.0}, "Ray's books are late: what was just ours is not others' yet"


def test_node_that_died_or_just_joined_is_told_as_that(ground: Ground) -> None:
    ground.ray.add_node("n2", GPU=1.0)
    ground.ray.rows[0]["Alive"] = False
    del ground.ray.free["n2-id-of-ray"]
    [node] = ground.turn().nodes
    assert (node.name, node.taken) == ("n2-n2-id-", {})
