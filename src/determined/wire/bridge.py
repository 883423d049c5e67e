"""Messages between the Ray engine and its bridge, over HTTP.

The bridge is a job of the Ray cluster. It proves once that it has a ticket (`POST /api/v1/bridges/{engine}/enrol`) and
gets its key. From then on each message and each answer is sealed with that key
(`POST /api/v1/bridges/{engine}/exchange`), so neither believes a stranger and the key never travels again. The proof
and the seals cover the address of the master (`_bound_address`): passed on from another address they are not right, so
a relay learns neither the key nor the tickets of runners. Both sides tell the whole state: any message may be lost.
"""

import hashlib
import hmac
from enum import StrEnum
from typing import Annotated, TypeVar

import msgspec

from determined.errors import Unauthenticated
from determined.wire.claim import Order
from determined.wire.codec import Wire, from_json, to_json
from determined.wire.operation import Operation

T = TypeVar("T")


class BridgeOrder(Wire):
    """Order that the engine hands to a bridge, in its argument list: worthless to whoever reads it later."""

    master_url: str
    engine: str
    job: str
    ticket: str
    master_cert: str | None = None  # PEM
    master_cert_name: str | None = None


class EnrolRequest(Wire):
    job: str
    proof: str  # `enrol_proof`
    determined: str  # versions
    ray: str
    python: str


class Enrolment(Wire):
    """`disown`: namespaces of actors that no master will ever ask for again."""

    key: str
    namespace: str
    disown: list[str] = []


class Sealed(Wire):
    """A message and the proof that its sender has the key of `job`'s bridge."""

    job: str
    text: Annotated[str, msgspec.Meta(max_length=64 * 1024 * 1024)]
    seal: str


class RunnerState(StrEnum):
    STARTING = "starting"  # its actor is asked for
    RUNNING = "running"
    EXITED = "exited"  # it has reported everything
    LOST = "lost"
    NOT_STARTED = "not_started"


class BridgedNode(Wire):
    """`name` is what people see; `taken`: what Ray has given to others than us."""

    id: str
    name: str
    address: str
    total: dict[str, float]
    taken: dict[str, float] = {}
    labels: dict[str, str] = {}
    draining: bool = False


class BridgedRunner(Wire):
    resource_id: str
    state: RunnerState
    node: str = ""
    detail: str = ""


class View(Wire):
    """The cluster as the bridge sees it."""

    nodes: list[BridgedNode]
    runners: list[BridgedRunner]


class Message(Wire):
    """`number` grows: an older message is no news. `known`: the version of the wishes that the bridge has; with no view
    in it the answer may wait until there are others."""

    number: int
    known: tuple[str, int] = ("", 0)
    view: View | None = None
    wait_seconds: float = 0.0


class WantedRunner(Wire):
    """`resources`: exactly what its slots are in Ray's books. `begun`: it ran before and must not begin again."""

    resource_id: str
    node: str
    order: Order
    resources: dict[str, float] = {}
    begun: bool = False


class EndWish(Wire):
    resource_id: str
    force: bool = False


class Wishes(Wire):
    """`answers`: the number of the message this is the answer to. `version`: a life of the master and a number that
    grows in it. `retire`: another bridge has taken over."""

    answers: int
    version: tuple[str, int] = ("", 0)
    wanted: list[WantedRunner] = []
    end: list[EndWish] = []
    forget: list[str] = []
    start_seconds: float = 60.0  # for an actor to be placed
    bundles: list[dict[str, float]] | None = None  # what the cluster should be able to hold at once, what runs included
    retire: bool = False


def enrol_proof(ticket: str, job: str, address: str) -> str:
    """Prove to the master at `address` that the bridge of `job` holds the ticket, without showing it."""
    return hmac.digest(ticket.encode(), f"enrol\0{job}\0{address}".encode(), hashlib.sha256).hex()


def seal(key: str, job: str, content: Wire, address: str) -> Sealed:
    text = to_json(content).decode()
    return Sealed(job=job, text=text, seal=_digest(key, job, type(content), text, address))


def unseal(key: str, sealed: Sealed, kind: type[T], address: str) -> T:
    """Open a message. Raises Unauthenticated unless it was sealed with this key and address, as this kind."""
    expected = _digest(key, sealed.job, kind, sealed.text, address)
    if not hmac.compare_digest(expected.encode(), sealed.seal.encode()):
        raise Unauthenticated(f"the seal of a message of Ray job {sealed.job} is not right; start another bridge")
    try:
        return from_json(sealed.text, kind)
    except msgspec.ValidationError as e:
        raise Unauthenticated(f"a message of Ray job {sealed.job} cannot be read: {e}") from e


def _digest(key: str, job: str, kind: type, text: str, address: str) -> str:
    message = f"{kind.__name__}\0{job}\0{address}\0{text}".encode()
    return hmac.digest(key.encode(), message, hashlib.sha256).hex()


ENROL_BRIDGE = Operation("POST", "/api/v1/bridges/{engine:str}/enrol", EnrolRequest, Enrolment, ours=True)
EXCHANGE_WITH_BRIDGE = Operation("POST", "/api/v1/bridges/{engine:str}/exchange", Sealed, Sealed, ours=True)
