"""As much of Ray as a bridge uses, in memory: a test answers the calls of actors, or lets them fail."""

from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any


class RayError(Exception):
    """Base of Ray's errors."""


class ActorUnavailableError(RayError):
    """The actor may be back in a moment."""


class ActorDiedError(RayError):
    """The actor is dead."""


class GetTimeoutError(RayError):
    """Nothing was answered in time."""


class Ref:
    """Answer of an actor that is yet to come."""

    def __init__(self) -> None:
        self._future: Future[Any] = Future()

    def future(self) -> "Future[Any]":
        return self._future

    def answer(self, value: Any) -> None:
        self._future.set_result(value)

    def fail(self, error: Exception) -> None:
        self._future.set_exception(error)


class Actor:
    """Actor whose calls are noted by the method's name."""

    def __init__(self, name: str = "", namespace: str = "", **options: Any) -> None:
        self.name, self.namespace, self.options = name, namespace, options
        self.arguments: tuple[Any, ...] = ()
        self.calls: dict[str, list[Ref]] = {"facts": [], "wait": [], "end": [], "leave": []}
        self.forces: list[bool] = []
        self.is_killed = False
        self.facts, self.wait, self.leave = (self._method(name) for name in ("facts", "wait", "leave"))
        self.end = SimpleNamespace(remote=self._end)

    def _method(self, name: str) -> Any:
        return SimpleNamespace(remote=lambda *_: self._call(name))

    def _call(self, name: str) -> Ref:
        self.calls[name].append(Ref())
        return self.calls[name][-1]

    def _end(self, *, force: bool) -> Ref:
        self.forces.append(force)
        return self._call("end")


class FakeRay:
    """`rows`: nodes as `ray.nodes()` lists them. `free`: what is free on each, by its id."""

    exceptions = SimpleNamespace(
        RayError=RayError, ActorUnavailableError=ActorUnavailableError, GetTimeoutError=GetTimeoutError
    )

    def __init__(self) -> None:
        self.actors: list[Actor] = []
        self.rows: list[dict[str, Any]] = []
        self.free: dict[str, dict[str, float]] = {}
        self.draining: set[str] = set()
        self.requested: list[Any] = []
        self.util = SimpleNamespace(
            list_named_actors=self._named,
            scheduling_strategies=SimpleNamespace(NodeAffinitySchedulingStrategy=SimpleNamespace),
        )
        self.autoscaler = SimpleNamespace(sdk=SimpleNamespace(request_resources=self._request))
        listing = SimpleNamespace(get_draining_nodes=lambda: self.draining)
        self._private = SimpleNamespace(
            state=SimpleNamespace(available_resources_per_node=lambda: self.free, state=listing)
        )

    def add_node(self, name: str, **resources: float) -> None:
        self.rows.append({
            "Alive": True, "NodeID": f"{name}-id-of-ray", "NodeName": name, "NodeManagerAddress": "10.0.0.2",
            "Resources": {**resources, "memory": 1e9}, "Labels": None,
        })  # fmt: skip
        self.free[f"{name}-id-of-ray"] = dict(resources)

    def nodes(self) -> list[dict[str, Any]]:
        return self.rows

    def remote(self, cls: type) -> Any:
        return SimpleNamespace(options=lambda **options: SimpleNamespace(remote=lambda *a: self._create(options, a)))

    def _create(self, options: dict[str, Any], arguments: tuple[Any, ...]) -> Actor:
        actor = Actor(**options)
        actor.arguments = arguments
        self.actors.append(actor)
        return actor

    def _named(self, *, all_namespaces: bool) -> list[dict[str, str]]:
        return [{"name": a.name, "namespace": a.namespace} for a in self.actors if not a.is_killed]

    def _request(self, *, bundles: Any) -> None:
        self.requested.append(bundles)

    def get_actor(self, name: str, *, namespace: str) -> Actor:
        found = [a for a in self.actors if (a.name, a.namespace) == (name, namespace) and not a.is_killed]
        if not found:
            raise ValueError(name)
        return found[0]

    def kill(self, actor: Actor, *, no_restart: bool) -> None:
        actor.is_killed = True

    def wait(self, refs: list[Ref], **_: Any) -> tuple[list[Ref], list[Ref]]:
        return [r for r in refs if r.future().done()], [r for r in refs if not r.future().done()]

    def get(self, ref: Ref, timeout: float | None = None) -> Any:
        if not ref.future().done():
            raise GetTimeoutError
        return ref.future().result()
