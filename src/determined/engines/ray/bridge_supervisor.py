"""Supervisor of one bridge in the Ray cluster: submits it, watches it, finds out why it ended, submits another."""

import asyncio
import base64
import hashlib
import hmac
import ipaddress
import logging
import secrets
import socket
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from determined import _bound_address
from determined._version import __version__
from determined.engines.ray.config import RayManager
from determined.engines.ray.jobs import Dashboard, Job
from determined.errors import DeterminedError, FailedPrecondition, Unauthenticated
from determined.wire.bridge import BridgeOrder, Enrolment, EnrolRequest, enrol_proof
from determined.wire.codec import to_json

logger = logging.getLogger(__name__)

PREFIX = "determined-bridge-"
_QUIET_SECONDS = 12.0  # a bridge says something every two
_BIRTH_SECONDS = 60.0  # Ray takes its time to start a job
_STEP_SECONDS = 1.0
_DELAYS = (1.0, 2.0, 5.0, 10.0, 30.0)  # of a dashboard that does not answer
# After a bridge that ended at once: what it lacks is installed by people, and every try is a job in the cluster's list.
_RESENDS = (1.0, 5.0, 30.0, 60.0, 120.0, 300.0, 600.0)
_MASTER = "determined_master"


@dataclass(frozen=True, slots=True)
class Home:
    """Identity of the master: `secret` seeds the keys of its bridges, so they are good after a restart as well."""

    cluster_id: str
    secret: bytes = field(repr=False)
    url: str
    cert: str | None = None  # PEM
    cert_name: str | None = None
    host: str = field(default_factory=socket.gethostname)

    @property
    def address(self) -> str:
        """Address that tells this master from others on the Ray cluster: a loopback URL needs its host for that."""
        return f"{self.url} on {self.host}" if _is_loopback(urlsplit(self.url).hostname or "") else self.url


class BridgeSupervisor:
    """Supervisor of a bridge. `problem`: why there is no bridge, for people; None while all is well."""

    def __init__(self, engine: str, home: Home, settings: RayManager, now: Callable[[], float]) -> None:
        self._engine, self._home, self._settings, self._now = engine, home, settings, now
        self._dashboard = Dashboard(settings.dashboard_url, settings.auth_token_file)
        self._tickets: dict[str, str] = {}
        self._submitted: str | None = None
        self._since = now()
        self._failures = 0
        self._sent_in_vain = 0
        self._resend_at = now()
        self._disown: set[str] = set()
        self.current: str | None = None
        self.last_message_at: float | None = None
        self.problem: str | None = None

    @property
    def namespace(self) -> str:
        return f"determined-{self._home.cluster_id}"

    @property
    def address(self) -> str:
        """Address that proofs and seals are bound to: the one at which bridges find the master."""
        return _bound_address.of_url(self._home.url)

    def key(self, job: str) -> str:
        return hmac.digest(self._home.secret, f"bridge:{self._engine}:{job}".encode(), hashlib.sha256).hex()

    def enrol(self, request: EnrolRequest) -> Enrolment:
        """Enrol a bridge and return its key.

        Raises Unauthenticated for a ticket that is used, or was never given; FailedPrecondition for another version.
        """
        ticket = self._tickets.get(request.job)
        if ticket is None or not _is_same(enrol_proof(ticket, request.job, self.address), request.proof):
            raise Unauthenticated(f"Ray job {request.job} has no ticket that is good; a new bridge is sent in a moment")
        del self._tickets[request.job]  # only now: a guess must not cost the bridge its own
        if request.determined != __version__:
            self._note(
                f"the Ray cluster has determined {request.determined} (ray {request.ray}, python {request.python}),"
                f" but this master is {__version__}; install redetermined=={__version__} on its nodes"
                " (its wheel or a checkout)"
            )
            raise FailedPrecondition(self.problem or "")
        logger.info("%s: a bridge is up: ray %s, python %s", self._engine, request.ray, request.python)
        self.current = request.job
        return Enrolment(key=self.key(request.job), namespace=self.namespace, disown=sorted(self._disown))

    def record_message(self, job: str) -> bool:
        """Record a message and return whether it comes from the bridge that we listen to."""
        if self.current is None and job.startswith(self._prefix):
            self.current = job  # of an earlier start of this master
        if job != self.current:
            return False
        self.last_message_at, self.problem, self._failures, self._sent_in_vain = self._now(), None, 0, 0
        return True

    async def run(self) -> None:
        while True:
            delay = _STEP_SECONDS
            try:
                await self._tend()
            except DeterminedError as e:
                self._note(e.message)
                delay = self._next_delay()
            except Exception:
                # The loop's edge: without it a surprise would leave the cluster without a bridge for good.
                logger.exception("%s: tending the bridge failed; trying again", self._engine)
                delay = self._next_delay()
            await asyncio.sleep(delay)

    @property
    def _prefix(self) -> str:
        return f"{PREFIX}{self._home.cluster_id}-{self._engine}-"

    async def _tend(self) -> None:
        if self.last_message_at is not None and self._now() - self.last_message_at < _QUIET_SECONDS:
            return
        jobs = await asyncio.to_thread(self._dashboard.jobs)
        await self._clear_strangers(jobs)
        live = [job for job in jobs if job.id.startswith(self._prefix) and job.is_alive]
        lost = [job for job in live if job.metadata.get(_MASTER) != self._home.address]  # they look for us elsewhere
        live = [job for job in live if job not in lost]
        for old in (*lost, *live[:-1]):
            await asyncio.to_thread(self._dashboard.stop, old.id)
        if live and self._now() - max(self._since, self.last_message_at or 0.0) < _BIRTH_SECONDS:
            return  # it is on its way, or busy, or looks for us
        if live:
            logger.warning("%s: bridge %s says nothing; another one is sent", self._engine, live[-1].id)
            await asyncio.to_thread(self._dashboard.stop, live[-1].id)
        await self._explain(jobs)
        if self._now() >= self._resend_at:
            await self._submit()

    async def _clear_strangers(self, jobs: list[Job]) -> None:
        """Stop bridges of a master at our own address with another database.

        That master is gone, and nobody will ask for its runners again.
        """
        for job in jobs:
            ours = job.id.startswith(f"{PREFIX}{self._home.cluster_id}-")
            if ours or not job.id.startswith(PREFIX) or job.metadata.get(_MASTER) != self._home.address:
                continue
            self._disown.add(job.metadata.get("namespace", ""))
            if job.is_alive:
                logger.warning("%s: %s belongs to a database that was replaced; it is stopped", self._engine, job.id)
                await asyncio.to_thread(self._dashboard.stop, job.id)

    async def _explain(self, jobs: list[Job]) -> None:
        """Note why the bridge that we sent has ended."""
        ended = next((job for job in jobs if job.id == self._submitted and not job.is_alive), None)
        if ended is None:
            return
        words = await asyncio.to_thread(self._dashboard.last_words, ended.id)
        self._submitted = None
        if "No module named" in words and "determined" in words:
            self._note(
                f"the Python of the Ray cluster ('{self._settings.python}' on its head) lacks determined; install"
                f" redetermined=={__version__} on its nodes (its wheel or a checkout),"
                " or name the right one: resource_manager.python"
            )
        elif self.problem is None:
            self._note(f"bridge {ended.id} ended ({ended.status}): {words or ended.message}")
        self._resend_at = self._now() + _RESENDS[min(self._sent_in_vain, len(_RESENDS) - 1)]
        self._sent_in_vain += 1

    async def _submit(self) -> None:
        job = self._prefix + secrets.token_hex(4)
        ticket = secrets.token_urlsafe(32)
        home = self._home
        order = BridgeOrder(
            master_url=home.url, engine=self._engine, job=job, ticket=ticket,
            master_cert=home.cert, master_cert_name=home.cert_name,
        )  # fmt: skip
        words = base64.urlsafe_b64encode(to_json(order)).decode()
        self._tickets = {job: ticket}
        entrypoint = f"{self._settings.python} -m determined.engines.ray.bridge {words}"
        metadata = {_MASTER: home.address, "namespace": self.namespace}
        await asyncio.to_thread(self._dashboard.submit, job, entrypoint, metadata)
        self._submitted, self._since = job, self._now()
        self.current, self.last_message_at = job, None
        logger.info("%s: sent bridge %s to %s", self._engine, job, self._settings.dashboard_url)

    def _note(self, problem: str) -> None:
        if problem != self.problem:
            logger.warning("%s: %s", self._engine, problem)
        self.problem = problem

    def _next_delay(self) -> float:
        self._failures += 1
        return _DELAYS[min(self._failures, len(_DELAYS)) - 1]


def _is_same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode(), other.encode())


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
