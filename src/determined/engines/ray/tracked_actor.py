"""Runner as the bridge tracks it: a handle of its actor, the open calls, and their results.

Ray's error about an actor is acted upon at once; its list of nodes, which is late by half a minute, is not used.
"""

import logging
import time
from collections.abc import Callable
from typing import Any

from determined.wire.bridge import BridgedRunner, RunnerState
from determined.wire.claim import Order
from determined.wire.codec import to_json

logger = logging.getLogger(__name__)

DONE, UNWANTED = 0, 2  # statuses of a sitter
_CONFIRM_SECONDS = 3.0
_CAUSES = 3  # lines of an error
_WAIT_SECONDS = 30.0  # then asked again


class TrackedActor:
    """Runner in an actor. `wake` is called, in any thread, when something has changed.

    `actor` is None for one that never was.
    """

    def __init__(
        self,
        ray: Any,
        actor: Any,
        resource_id: str,
        node: str,
        resources: dict[str, float],
        wake: Callable[[], None],
        state: RunnerState = RunnerState.STARTING,
        detail: str = "",
    ) -> None:
        self.resource_id, self.node, self.resources = resource_id, node, resources
        self.asked_at = time.monotonic()
        self.state, self.detail = state, detail
        self._ray, self._actor, self._wake = ray, actor, wake
        self._sent: set[str] = set()
        self.is_cut_off = False  # its whole node does not answer, whatever Ray's list says
        self._doubtful_until: float | None = None
        self._alive = self._end = None
        if actor is not None:
            self._alive = self._ask(actor.facts.remote())
            self._end = self._ask(actor.wait.remote(_WAIT_SECONDS))

    @property
    def has_ended(self) -> bool:
        return self.state not in (RunnerState.STARTING, RunnerState.RUNNING)

    def report(self) -> BridgedRunner:
        return BridgedRunner(resource_id=self.resource_id, state=self.state, node=self.node, detail=self.detail)

    def look(self) -> None:
        """Take up what has been answered."""
        if self.has_ended:
            return
        self._look_for_life()
        if not self.has_ended and self._is_ready(self._end):
            self._look_at_end()

    def tell_to_end(self, *, force: bool) -> None:
        if self.has_ended:
            return
        if self.state is RunnerState.STARTING:
            self.give_up("it was ended before it had begun")
        else:
            self._tell("force" if force else "end", lambda: self._actor.end.remote(force=force))

    def tell_to_leave(self) -> None:
        if not self.has_ended:
            self._tell("leave", self._actor.leave.remote)

    def give_up(self, why: str) -> None:
        self.let_go()
        self._finish(RunnerState.NOT_STARTED, why)

    def let_go(self) -> None:
        """Kill the actor, which is no longer wanted; a sitter that is still there ends with it."""
        if self._actor is None:
            return
        try:
            self._ray.kill(self._actor, no_restart=True)
        except Exception as e:  # noqa: BLE001 - Ray names no class for this; a dead actor needs no killing
            logger.info("%s: its actor cannot be killed: %s", self.resource_id, e)

    def _look_for_life(self) -> None:
        """Check whether the actor is placed by now; or, where it was in doubt, whether it is there."""
        if self._alive is not None and self._is_ready(self._alive):
            asked, self._alive = self._alive, None
            try:
                self.node, self.resources = self._ray.get(asked)
            except self._ray.exceptions.RayError as e:
                # A process that died alone is known to be dead by now.
                self.is_cut_off = isinstance(e, self._ray.exceptions.ActorUnavailableError)
                self._lost(e)
                return
            if self._doubtful_until is not None:
                self._doubtful_until = None
                self._sent.clear()  # it may have missed the last calls
                self._end = self._ask(self._actor.wait.remote(_WAIT_SECONDS))
            self.state = RunnerState.RUNNING
        if self._doubtful_until is not None and time.monotonic() > self._doubtful_until:
            self.is_cut_off = True
            self._finish(RunnerState.LOST, f"node {self.node} does not answer any more")
            self.let_go()

    def _look_at_end(self) -> None:
        asked, self._end = self._end, None
        try:
            answer = self._ray.get(asked)
        except self._ray.exceptions.ActorUnavailableError:
            # It may be a moment's weakness: ask once more before its work is given up.
            self._doubtful_until = time.monotonic() + _CONFIRM_SECONDS
            self._alive = self._ask(self._actor.facts.remote())
            return
        except self._ray.exceptions.RayError as e:
            self._lost(e)
            return
        if answer is None:
            self._end = self._ask(self._actor.wait.remote(_WAIT_SECONDS))
            return
        status, words = answer
        if status == DONE:
            self._finish(RunnerState.EXITED, "")
        else:
            what = "the master refused it" if status == UNWANTED else f"the sitter ended with status {status}"
            self._finish(RunnerState.LOST, f"{what}: {words}" if words else what)

    def _lost(self, error: Exception) -> None:
        never = self.state is RunnerState.STARTING and self._doubtful_until is None
        state = RunnerState.NOT_STARTED if never else RunnerState.LOST
        self._finish(state, f"node {self.node}: {_gist(error)}")
        self.let_go()

    def _finish(self, state: RunnerState, detail: str) -> None:
        self.state, self.detail = state, detail
        self._alive = self._end = None

    def _tell(self, word: str, call: Callable[[], Any]) -> None:
        if word not in self._sent:
            self._sent.add(word)
            call()

    def _ask(self, ref: Any) -> Any:
        ref.future().add_done_callback(lambda _: self._wake())
        return ref

    def _is_ready(self, ref: Any) -> bool:
        return ref is not None and bool(self._ray.wait([ref], timeout=0, fetch_local=True)[0])


def order_line(order: Order) -> str:
    return to_json(order).decode()


def _gist(error: Exception) -> str:
    """Return the first line of an error and the causes after it, in one line.

    Ray indents its facts about the actor and the frames of a traceback. The cause is not always the last line: after it
    Ray may say that the actor never ran.
    """
    first, *rest = [line for line in str(error).splitlines() if line.strip()] or [""]
    causes = [line for line in rest if not line[0].isspace()] or rest[-1:]
    return f"{type(error).__name__}: {' ... '.join(line.strip() for line in (first, *causes[-_CAUSES:]))}"
