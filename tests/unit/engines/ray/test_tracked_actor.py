"""What the answers of an actor say about its runner, also where they are late, lost or errors."""

import pytest
from fake_ray import Actor, ActorDiedError, ActorUnavailableError, FakeRay, RayError

from determined.engines.ray import tracked_actor
from determined.engines.ray.tracked_actor import TrackedActor
from determined.wire.bridge import RunnerState


class Tracked:
    """A tracked actor, with how often it woke the bridge."""

    def __init__(self, *, running: bool = True) -> None:
        self.ray, self.actor, self.woken = FakeRay(), Actor("r"), 0
        self.runner = TrackedActor(self.ray, self.actor, "r", "n1", {"GPU": 2.0}, self._wake)
        if running:
            self.actor.calls["facts"][0].answer(("n1", {"GPU": 2.0}))
            self.runner.look()

    def _wake(self) -> None:
        self.woken += 1

    def answer(self, value: object) -> None:
        self.actor.calls["wait"][-1].answer(value)
        self.runner.look()

    def fail(self, error: Exception, call: str = "wait") -> None:
        self.actor.calls[call][-1].fail(error)
        self.runner.look()

    @property
    def state(self) -> tuple[RunnerState, str]:
        return self.runner.state, self.runner.detail


def test_runner_runs_once_its_actor_answers_and_the_bridge_is_woken() -> None:
    tracked = Tracked(running=False)
    tracked.runner.look()
    assert tracked.state == (RunnerState.STARTING, "")
    tracked.actor.calls["facts"][0].answer(("n2", {"GPU": 4.0}))
    assert tracked.woken == 1
    tracked.runner.look()
    assert (tracked.runner.state, tracked.runner.node, tracked.runner.resources) == (
        RunnerState.RUNNING, "n2", {"GPU": 4.0},
    )  # fmt: skip


def test_wait_that_ends_without_an_end_is_asked_again() -> None:
    tracked = Tracked()
    for _ in range(3):
        tracked.answer(None)
    assert (tracked.state, len(tracked.actor.calls["wait"])) == ((RunnerState.RUNNING, ""), 4)


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        ((0, "words"), (RunnerState.EXITED, "")),
        ((2, "410 Gone"), (RunnerState.LOST, "the master refused it: 410 Gone")),
        ((1, ""), (RunnerState.LOST, "the sitter ended with status 1")),
        ((-9, "killed"), (RunnerState.LOST, "the sitter ended with status -9: killed")),
    ],
)
def test_status_of_the_sitter_is_the_end_of_the_runner(answer: tuple[int, str], state: tuple[RunnerState, str]) -> None:
    tracked = Tracked()
    tracked.answer(answer)
    assert tracked.state == state
    tracked.runner.look()
    assert tracked.state == state


def test_actor_that_cannot_be_placed_was_never_started() -> None:
    tracked = Tracked(running=False)
    tracked.fail(ActorDiedError("The actor died.\n\n  ImportError: no determined"), "facts")
    state, detail = tracked.state
    assert state is RunnerState.NOT_STARTED
    assert detail == "node n1: ActorDiedError: The actor died. ... ImportError: no determined"
    assert tracked.actor.is_killed


DEAD_NODE = """The actor died unexpectedly before finishing this task.
\tclass_name: RunnerActor
\tactor_id: 8d0c
\tnamespace: determined-c1
The actor died because its node has died. Node Id: 5ef1
\tthe actor's node was terminated unexpectedly
The actor never ran - it was cancelled before it started running."""
FAILED_START = """The actor died because of an error raised in its creation task, ray::RunnerActor.__init__() (pid=7)
  File "actor.py", line 35, in __init__
    self._sitter = subprocess.Popen(
OSError: [Errno 28] No space left on device"""


@pytest.mark.parametrize(
    ("text", "gist"),
    [
        (
            DEAD_NODE,
            "The actor died unexpectedly before finishing this task."
            " ... The actor died because its node has died. Node Id: 5ef1"
            " ... The actor never ran - it was cancelled before it started running.",
        ),
        (
            FAILED_START,
            "The actor died because of an error raised in its creation task, ray::RunnerActor.__init__() (pid=7)"
            " ... OSError: [Errno 28] No space left on device",
        ),
        ("", ""),
    ],
    ids=["dead node", "failed start", "no text"],
)
def test_reason_of_a_failed_start_keeps_the_cause_that_ray_names(text: str, gist: str) -> None:
    tracked = Tracked(running=False)
    tracked.fail(ActorDiedError(text), "facts")
    assert tracked.state == (RunnerState.NOT_STARTED, f"node n1: ActorDiedError: {gist}")


def test_actor_that_dies_while_it_runs_is_lost_at_once() -> None:
    tracked = Tracked()
    tracked.fail(ActorDiedError("node died"))
    assert tracked.state == (RunnerState.LOST, "node n1: ActorDiedError: node died")
    assert not tracked.runner.is_cut_off


def test_moment_of_weakness_is_forgiven_and_what_it_may_have_missed_is_said_again() -> None:
    tracked = Tracked()
    tracked.runner.tell_to_end(force=False)
    tracked.fail(ActorUnavailableError("connection reset"))
    assert tracked.state == (RunnerState.RUNNING, "")
    tracked.actor.calls["facts"][-1].answer(("n1", {"GPU": 2.0}))
    tracked.runner.look()
    tracked.runner.tell_to_end(force=False)
    assert (tracked.state, tracked.actor.forces) == ((RunnerState.RUNNING, ""), [False, False])
    tracked.answer((0, ""))
    assert tracked.runner.state is RunnerState.EXITED


def test_node_that_stays_silent_is_given_up_and_avoided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracked_actor, "_CONFIRM_SECONDS", -1.0)
    tracked = Tracked()
    tracked.fail(ActorUnavailableError("connection reset"))
    tracked.runner.look()
    assert tracked.state == (RunnerState.LOST, "node n1 does not answer any more")
    assert tracked.runner.is_cut_off and tracked.actor.is_killed


@pytest.mark.parametrize(("error", "cut_off"), [(ActorUnavailableError("x"), True), (ActorDiedError("x"), False)])
def test_second_failure_ends_the_doubt(error: RayError, cut_off: bool) -> None:
    tracked = Tracked()
    tracked.fail(ActorUnavailableError("connection reset"))
    tracked.fail(error, "facts")
    assert (tracked.runner.state, tracked.runner.is_cut_off) == (RunnerState.LOST, cut_off)


def test_end_is_said_once_and_force_after_it_once_more() -> None:
    tracked = Tracked()
    for force in (False, False, True, True, False):
        tracked.runner.tell_to_end(force=force)
    assert tracked.actor.forces == [False, True]


def test_runner_that_has_not_begun_is_ended_by_killing_its_actor() -> None:
    tracked = Tracked(running=False)
    tracked.runner.tell_to_end(force=False)
    assert tracked.state == (RunnerState.NOT_STARTED, "it was ended before it had begun")
    assert tracked.actor.is_killed and tracked.actor.forces == []


def test_ended_runner_hears_nothing_any_more() -> None:
    tracked = Tracked()
    tracked.answer((0, ""))
    tracked.runner.tell_to_end(force=True)
    tracked.runner.tell_to_leave()
    assert tracked.actor.forces == [] and tracked.actor.calls["leave"] == []


def test_drain_is_said_once() -> None:
    tracked = Tracked()
    for _ in range(3):
        tracked.runner.tell_to_leave()
    assert len(tracked.actor.calls["leave"]) == 1


def test_runner_that_never_had_an_actor_is_only_reported() -> None:
    runner = TrackedActor(FakeRay(), None, "r", "n1", {}, lambda: None, RunnerState.LOST, "why")
    runner.look()
    runner.let_go()
    report = runner.report()
    assert (report.resource_id, report.state, report.node, report.detail) == ("r", RunnerState.LOST, "n1", "why")
