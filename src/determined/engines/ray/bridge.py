"""`python -m determined.engines.ray.bridge ORDER`: a job of a Ray cluster that does there what a master wishes.

It holds no state of its own worth keeping: runners are detached actors that the next bridge finds by their names, and
the master says again and again what it wants. Its end ends nothing but itself.
"""

import base64
import contextlib
import logging
import platform
import sys
import threading
import time
from typing import Any

from determined._imports import load_optional
from determined._version import __version__
from determined.engines.ray.actor import RunnerActor
from determined.engines.ray.cluster_view import ClusterView
from determined.engines.ray.master_link import MasterLink
from determined.engines.ray.tracked_actor import TrackedActor, order_line
from determined.errors import DeterminedError, Unavailable
from determined.wire.bridge import BridgedNode, BridgeOrder, RunnerState, View, WantedRunner, Wishes
from determined.wire.codec import from_json, to_json

logger = logging.getLogger("determined.engines.ray.bridge")

RETIRED, REFUSED = 0, 2
_TELL_SECONDS = 2.0
_LOOK_SECONDS = 0.5
_ADOPT_SECONDS = 10.0
_SHUN_SECONDS = 60.0  # longer than Ray lists a node that is dead
_THREADS = 8  # of an actor: its wait, and short questions beside it


def main(arguments: list[str]) -> int:
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s: bridge: %(message)s")
    order = from_json(base64.urlsafe_b64decode(arguments[0]), BridgeOrder)
    ray: Any = load_optional("ray", extra="ray")
    link = MasterLink(order)
    try:
        versions = {"determined": __version__, "ray": ray.__version__, "python": platform.python_version()}
        enrolment = link.enrol(versions)
    except DeterminedError as e:
        logger.error("the master refuses this bridge: %s", e.message)
        return REFUSED
    ray.init(address="auto", namespace=enrolment.namespace, log_to_driver=False, logging_level=logging.WARNING)
    bridge = Bridge(ray, link, enrolment.namespace)
    for namespace in enrolment.disown:
        bridge.disown(namespace)
    bridge.run()
    return RETIRED


class Bridge:
    """Bridge between master and cluster. One thread fetches wishes; the other follows them and reports on runners."""

    def __init__(self, ray: Any, link: MasterLink, namespace: str) -> None:
        self._ray, self._link, self._namespace = ray, link, namespace
        self._remote = ray.remote(RunnerActor)
        self._cluster_view = ClusterView(ray)
        self._runners: dict[str, TrackedActor] = {}
        self._nodes: dict[str, BridgedNode] = {}
        self._wishes: Wishes | None = None
        self._bundles: list[dict[str, float]] | None = None
        self._woken = threading.Event()
        self._lock = threading.Lock()
        self._last_sent: tuple[bytes, float] = (b"", 0.0)
        self._problem = ""
        self._unreachable: dict[str, float] = {}  # nodes that do not answer, and until when they are not reported

    def disown(self, namespace: str) -> None:
        """Kill the runners of a master that is gone for good, with its database: nobody will ever ask for them."""
        for name in self._names(namespace):
            logger.warning("%s: runner of a master that is no more; it is ended", name)
            self._ray.kill(self._ray.get_actor(name, namespace=namespace), no_restart=True)

    def run(self) -> None:
        self._adopt()
        threading.Thread(target=self._ask, daemon=True).start()
        while True:
            wishes = self._wishes
            if wishes is not None and wishes.retire:
                logger.info("another bridge has taken over")
                return
            try:
                self._turn(wishes)
            except self._ray.exceptions.RayError as e:
                logger.warning("Ray is in trouble: %s", e)
            self._woken.wait(_LOOK_SECONDS)
            self._woken.clear()  # before the look, so that nothing that comes during it is missed

    def _turn(self, wishes: Wishes | None) -> None:
        now = time.monotonic()
        for held in self._runners.values():
            held.look()
            if held.is_cut_off:
                held.is_cut_off = False
                self._unreachable[held.node] = now + _SHUN_SECONDS
        seen = self._cluster_view.nodes(self._runners.values())
        self._nodes = {name: node for name, node in seen.items() if self._unreachable.get(name, 0.0) < now}
        if wishes is not None:
            self._follow(wishes)
        self._warn_of_drains()
        self._tell()

    def _follow(self, wishes: Wishes) -> None:
        ending = {wish.resource_id: wish.force for wish in wishes.end}
        for wanted in wishes.wanted:
            if wanted.resource_id not in self._runners:
                self._runners[wanted.resource_id] = self._begin(wanted, doomed=wanted.resource_id in ending)
        for resource_id, force in ending.items():
            if resource_id in self._runners:
                self._runners[resource_id].tell_to_end(force=force)
        for resource_id in wishes.forget:
            held = self._runners.pop(resource_id, None)
            if held is not None:
                held.let_go()
                self._cluster_view.release(held)
        self._give_up_waiting(wishes.start_seconds)
        if wishes.bundles is not None and wishes.bundles != self._bundles:
            self._bundles = wishes.bundles
            self._ray.autoscaler.sdk.request_resources(bundles=wishes.bundles)

    def _begin(self, wanted: WantedRunner, *, doomed: bool) -> TrackedActor:
        node = self._nodes.get(wanted.node)
        if wanted.begun:
            return self._never(wanted, RunnerState.LOST, "it was begun, but Ray has no such actor any more")
        if doomed:
            return self._never(wanted, RunnerState.NOT_STARTED, "it was ended before it had begun")
        if node is None:
            return self._never(wanted, RunnerState.NOT_STARTED, f"node {wanted.node} is not in the Ray cluster now")
        logger.info("%s: starting on %s with %s", wanted.resource_id, wanted.node, wanted.resources)
        custom = {key: amount for key, amount in wanted.resources.items() if key not in ("CPU", "GPU")}
        actor = self._remote.options(
            name=wanted.resource_id,
            namespace=self._namespace,
            lifetime="detached",
            get_if_exists=True,
            max_restarts=0,
            max_concurrency=_THREADS,
            num_cpus=wanted.resources.get("CPU", 0),
            num_gpus=wanted.resources.get("GPU", 0),
            resources=custom,
            scheduling_strategy=self._ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(
                node_id=node.id, soft=False
            ),
        ).remote(order_line(wanted.order), wanted.node, wanted.resources)
        return TrackedActor(self._ray, actor, wanted.resource_id, wanted.node, wanted.resources, self._woken.set)

    def _never(self, wanted: WantedRunner, state: RunnerState, why: str) -> TrackedActor:
        return TrackedActor(self._ray, None, wanted.resource_id, wanted.node, {}, self._woken.set, state, why)

    def _give_up_waiting(self, seconds: float) -> None:
        for held in self._runners.values():
            if held.state is RunnerState.STARTING and time.monotonic() - held.asked_at > seconds:
                held.give_up(self._why_unplaced(held, seconds))

    def _why_unplaced(self, held: TrackedActor, seconds: float) -> str:
        node = self._nodes.get(held.node)
        if node is None:
            return f"node {held.node} has left the Ray cluster" if held.node else "its actor does not answer"
        taken = {key: node.taken[key] for key in held.resources if key in node.taken}
        return (
            f"Ray has not placed {held.resources} on {held.node} within {seconds:.0f} s;"
            f" other Ray jobs hold {taken or 'nothing'} of its {[node.total.get(key, 0) for key in held.resources]}"
        )

    def _warn_of_drains(self) -> None:
        draining = {node.name for node in self._nodes.values() if node.draining}
        for held in self._runners.values():
            if held.node in draining:
                held.tell_to_leave()

    def _tell(self) -> None:
        view = View(nodes=list(self._nodes.values()), runners=[held.report() for held in self._runners.values()])
        text, now = to_json(view), time.monotonic()
        if text == self._last_sent[0] and now - self._last_sent[1] < _TELL_SECONDS:
            return
        try:
            self._take(self._link.tell(view))
        except Unavailable as e:
            if e.message != self._problem:
                logger.warning("%s", e.message)
            self._problem = e.message
            return
        self._last_sent, self._problem = (text, now), ""

    def _ask(self) -> None:
        while True:
            known = self._wishes.version if self._wishes is not None else ("", 0)
            try:
                self._take(self._link.ask(known))
            except Unavailable:
                time.sleep(1.0)  # the other thread says why

    def _take(self, wishes: Wishes) -> None:
        """Take new wishes. Older ones are ignored: they could start again what is over."""
        with self._lock:
            known = self._wishes
            if known is not None and wishes.version[0] == known.version[0] and wishes.version[1] <= known.version[1]:
                return
            self._wishes = wishes
        self._woken.set()

    def _adopt(self) -> None:
        """Adopt all actors at once, also slow or unplaced ones: left out, they would be lost and yet live on."""
        actors = {}
        for name in self._names(self._namespace):
            with contextlib.suppress(ValueError):  # it went a moment ago
                actors[name] = self._ray.get_actor(name, namespace=self._namespace)
        facts = {name: actor.facts.remote() for name, actor in actors.items()}
        if facts:
            self._ray.wait(list(facts.values()), num_returns=len(facts), timeout=_ADOPT_SECONDS)
        for name, asked in facts.items():
            self._runners[name] = self._found(name, actors[name], asked)

    def _found(self, name: str, actor: Any, facts: Any) -> TrackedActor:
        """Track an actor of an earlier bridge.

        One that fails is tracked too: the next look at it tells how it ended.
        """
        node, resources, state = "", dict[str, float](), RunnerState.RUNNING
        try:
            node, resources = self._ray.get(facts, timeout=0)
            logger.info("%s: found on %s", name, node)
        except self._ray.exceptions.GetTimeoutError:
            logger.warning("%s: its actor has not answered within %.0f s", name, _ADOPT_SECONDS)
            state = RunnerState.STARTING
        except self._ray.exceptions.RayError as e:
            logger.warning("%s: its actor fails: %s", name, e)
        return TrackedActor(self._ray, actor, name, node, resources, self._woken.set, state)

    def _names(self, namespace: str) -> list[str]:
        named = self._ray.util.list_named_actors(all_namespaces=True)
        return [entry["name"] for entry in named if entry["namespace"] == namespace]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
