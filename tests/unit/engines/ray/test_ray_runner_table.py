"""What the Ray engine concludes from what its bridge says."""

from determined.engines.model import Device, GoneReason, Launch
from determined.engines.ray.runner_table import RunnerTable
from determined.wire.bridge import BridgedRunner, RunnerState, View


def launch(resource_id: str, *, begun: bool = False) -> Launch:
    return Launch("1.t.1", resource_id, "c", "n1", 0, (0, 1), Device.CUDA, "http://m", "token", begun=begun)


def view(**states: RunnerState) -> View:
    return View(nodes=[], runners=[BridgedRunner(resource_id=name, state=state) for name, state in states.items()])


def test_wanted_runner_that_no_bridge_has_had_yet_is_no_loss() -> None:
    book = RunnerTable()
    assert book.want(launch("a")) == []
    assert book.take_view(view()) == []
    assert list(book.wanted) == ["a"]


def test_runner_that_a_bridge_had_and_the_next_lacks_is_lost_once() -> None:
    book = RunnerTable()
    book.want(launch("a"))
    assert book.take_view(view(a=RunnerState.RUNNING)) == []
    (event,) = book.take_view(view())
    assert (event.resource_id, event.reason) == ("a", GoneReason.LOST)
    assert book.take_view(view()) == []


def test_begun_runner_that_vanished_with_its_bridge_is_lost() -> None:
    book = RunnerTable()
    book.take_view(view(a=RunnerState.RUNNING))
    book.want(launch("a", begun=True))
    assert [event.reason for event in book.take_view(view())] == [GoneReason.LOST]


def test_end_is_told_once_and_again_to_the_next_life() -> None:
    book = RunnerTable()
    book.want(launch("a"))
    assert [event.reason for event in book.take_view(view(a=RunnerState.EXITED))] == [GoneReason.EXITED]
    assert book.take_view(view(a=RunnerState.EXITED)) == []
    following = RunnerTable()
    following.take_view(view(a=RunnerState.EXITED))
    assert [event.reason for event in following.want(launch("a"))] == [GoneReason.EXITED]


def test_force_is_not_taken_back_by_a_gentle_kill() -> None:
    book = RunnerTable()
    book.want(launch("a"))
    book.end("a", force=True)
    book.end("a", force=False)
    book.end("nobody", force=True)
    assert [(wish.resource_id, wish.force) for wish in book.end_wishes()] == [("a", True)]


def test_forgotten_runner_is_wished_away_until_the_bridge_has_none() -> None:
    book = RunnerTable()
    book.want(launch("a"))
    book.take_view(view(a=RunnerState.LOST))
    book.forget("a")
    book.take_view(view(a=RunnerState.LOST))
    assert book.to_forget() == ["a"]
    book.take_view(view())
    assert book.to_forget() == []


def test_runner_nobody_asked_for_is_a_stranger() -> None:
    book = RunnerTable()
    book.want(launch("ours"))
    book.take_view(view(ours=RunnerState.RUNNING, other=RunnerState.RUNNING))
    assert book.strangers() == ["other"]


def test_slots_of_a_node_are_those_of_its_wanted_runners() -> None:
    book = RunnerTable()
    book.want(launch("a"))
    assert book.slots_on("n1") == {0, 1}
    assert book.slots_on("n2") == set()
