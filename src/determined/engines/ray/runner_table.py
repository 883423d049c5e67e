"""Table of the engine's runners: what the master wants, what the bridge reports, what follows. No I/O, no clock."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from determined.engines.model import GoneReason, Launch, RunnerGone
from determined.wire.bridge import BridgedRunner, EndWish, RunnerState, View

ENDS = {
    RunnerState.EXITED: GoneReason.EXITED,
    RunnerState.LOST: GoneReason.LOST,
    RunnerState.NOT_STARTED: GoneReason.NOT_STARTED,
}


@dataclass(slots=True)
class RunnerTable:
    """Table of runners.

    `wanted`: those that `start` asked for and that are not gone. `gone`: those whose end was reported in this life.
    `forgotten`: those that nobody asks for any more, even if a bridge reports them.
    """

    wanted: dict[str, Launch] = field(default_factory=dict)
    reported: dict[str, BridgedRunner] = field(default_factory=dict)
    ending: dict[str, bool] = field(default_factory=dict)  # resource id -> by force
    forgotten: set[str] = field(default_factory=set)
    gone: set[str] = field(default_factory=set)
    _seen: set[str] = field(default_factory=set)  # wanted ones that a bridge has had

    def want(self, launch: Launch) -> list[RunnerGone]:
        """Record a wanted runner and return what is known of its end already."""
        resource_id = launch.resource_id
        self.wanted[resource_id] = launch
        self.forgotten.discard(resource_id)
        if launch.begun:
            self._seen.add(resource_id)
        runner = self.reported.get(resource_id)
        return self._end_events(runner) if runner is not None else []

    def take_view(self, view: View) -> list[RunnerGone]:
        """Take a bridge's view. A bridge holds every runner until it is forgotten: one that it lacks is lost."""
        self.reported = {runner.resource_id: runner for runner in view.runners}
        self._seen |= self.reported.keys() & self.wanted.keys()
        events = [event for runner in view.runners for event in self._end_events(runner)]
        vanished = [rid for rid in self.wanted if rid in self._seen and rid not in self.reported]
        return [*events, *self.lose(vanished, "Ray has no such actor any more: its node or the head was restarted")]

    def lose(self, resource_ids: Iterable[str], why: str) -> list[RunnerGone]:
        return [self._report_gone(RunnerGone(rid, GoneReason.LOST, why)) for rid in list(resource_ids)]

    def end(self, resource_id: str, *, force: bool) -> None:
        if resource_id in self.wanted:
            self.ending[resource_id] = force or self.ending.get(resource_id, False)

    def forget(self, resource_id: str) -> None:
        self.wanted.pop(resource_id, None)
        self.ending.pop(resource_id, None)
        self.forgotten.add(resource_id)

    def to_forget(self) -> list[str]:
        return sorted(self.forgotten & self.reported.keys())

    def end_wishes(self) -> list[EndWish]:
        return [EndWish(resource_id=rid, force=force) for rid, force in self.ending.items()]

    def alive(self) -> list[str]:
        return [rid for rid, runner in self.reported.items() if runner.state not in ENDS and rid not in self.gone]

    def strangers(self) -> list[str]:
        """Return the runners that the bridge has and this life of the master has not asked for."""
        known = self.wanted.keys() | self.gone | self.forgotten
        return [rid for rid in self.reported if rid not in known]

    def slots_on(self, node: str) -> set[int]:
        wanted = list(self.wanted.values())  # a copy: a submit asks from a thread
        held = (launch for launch in wanted if launch.node_id == node)
        return {slot for launch in held for slot in launch.slot_ids}

    def _end_events(self, runner: BridgedRunner) -> list[RunnerGone]:
        reason = ENDS.get(runner.state)
        if reason is None or runner.resource_id not in self.wanted:
            return []
        return [self._report_gone(RunnerGone(runner.resource_id, reason, runner.detail))]

    def _report_gone(self, event: RunnerGone) -> RunnerGone:
        self.gone.add(event.resource_id)
        self.wanted.pop(event.resource_id, None)
        self.ending.pop(event.resource_id, None)
        return event
