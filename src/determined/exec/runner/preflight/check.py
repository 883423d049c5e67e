"""The check before a start on several nodes: at most five seconds, every node comes to the same verdict.

Two rounds through the master: facts, then what each found out about the others. A node that is only slow fails nothing:
the check is then incomplete, says so, and training starts.
"""

import contextlib
import logging
import socket
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeVar

import msgspec

from determined.errors import DeterminedError, FailedPrecondition
from determined.exec.master_link import STALE
from determined.exec.runner.preflight import findings, ports
from determined.exec.runner.preflight.directory import CheckpointDirectory
from determined.exec.runner.preflight.facts import Facts, Packages, calls_python, installed, interfaces, resolved
from determined.exec.runner.preflight.findings import Finding
from determined.exec.runner.preflight.peers import ConnectionCheck, PeerListener, check_connection

logger = logging.getLogger(__name__)

T = TypeVar("T")
Say = Callable[[str, str], None]  # level, text

FAIL, WARN, SKIP = "fail", "warn", "skip"
# Seconds after rendezvous by which each step must be over.
_FACTS_BY, _GATHERED_BY, _REACHED_BY, _OVER_BY = 1.5, 2.5, 3.8, 4.7
_INSPECTION_SECONDS = 60.0
_MARK_SECONDS = 1.5
_LATE_SECONDS = 0.1  # that an answer may need after its time is over
_TOPIC = "preflight "


class Gathering(Protocol):
    """Part of a MasterLink that the check needs."""

    def all_gather(self, topic: str, data: dict[str, Any], *, peers: int, timeout: float) -> list[dict[str, Any]]: ...


@dataclass(frozen=True, slots=True)
class Here:
    """Facts of this node and of the task it is about to start."""

    node: str
    token: str = field(repr=False)
    variables: dict[str, str]
    workdir: Path
    config: dict[str, Any] | None
    interface: str | None = None  # that the cluster's config asks for
    entrypoint: str | list[str] = "python3"


class _Incomplete(Exception):
    """Raised when a check took too long to be sure of its result."""


class Preflight:
    """Check of all nodes. Create it before rendezvous: it inspects the interpreter while the other nodes start."""

    def __init__(self, here: Here, master: Gathering, say: Say) -> None:
        from determined.config import ExperimentConfig  # only tasks of several nodes wait for it

        self._here = here
        self._master = master
        self._say = say
        self._mode = ExperimentConfig.load(here.config or {}).preflight
        self.has_begun = False
        if self._mode != SKIP:
            self._packages = _aside(lambda: installed(here.variables, here.workdir, _INSPECTION_SECONDS))
            self._interfaces = _aside(interfaces)
            self._directory = _aside(lambda: CheckpointDirectory.of(here.config))

    def check(self, addresses: Sequence[str], rank: int) -> None:
        """Check the nodes after rendezvous. Raises FailedPrecondition when they cannot train together."""
        if self._mode == SKIP or len(addresses) < 2:
            return
        self.has_begun = True
        began = time.monotonic()
        try:
            findings_of_all = self._check(addresses, rank, began)
        except STALE:
            raise
        except _Incomplete as e:
            return self._say("WARNING", f"preflight incomplete: {e}; training starts unchecked")
        except Exception as e:
            # Whatever goes wrong in a check must not stop a training that would work.
            logger.exception("preflight")
            return self._say("WARNING", f"preflight incomplete: {type(e).__name__}: {e}; training starts unchecked")
        self._conclude(findings_of_all, len(addresses), time.monotonic() - began)

    def _conclude(self, findings_of_all: list[Finding], nodes: int, seconds: float) -> None:
        fatal = [one.text for one in findings_of_all if one.fatal]
        if fatal and self._mode == FAIL:
            raise FailedPrecondition(
                f"preflight: {'; '.join(fatal)} (to start nevertheless: `preflight: warn` in the experiment config)"
            )
        for one in findings_of_all:
            self._say("WARNING", f"preflight: {one.text}")
        if not fatal:
            self._say("INFO", f"preflight: {nodes} nodes reach each other and fit together ({seconds:.2f} s)")

    def _check(self, addresses: Sequence[str], rank: int, began: float) -> list[Finding]:
        with contextlib.ExitStack() as cleanup:
            look = _Look(self._here.token, rank, began)
            number = _soon(_aside(lambda: resolved(addresses[rank])), began + _FACTS_BY) or addresses[rank]
            mine = self._own_facts(look, addresses[rank], number, cleanup)
            everyone = self._facts_of_all(mine, len(addresses), look)
            local = [*self._local(mine, number), *look.reach(mine, everyone)]
            directory = _soon(self._directory, began + _FACTS_BY)
            if directory is not None and rank != 0:
                local += look.for_mark(directory, mine, everyone[0])
            shared = findings.skew(everyone, fatal=calls_python(self._here.entrypoint))
            return findings.unique([*shared, *self._verdicts(local, shared, len(addresses), look)])

    def _own_facts(self, look: "_Look", address: str, number: str, cleanup: contextlib.ExitStack) -> Facts:
        by = look.began + _FACTS_BY
        listener = PeerListener(number, look.rank, look.token)
        cleanup.callback(listener.close)
        packages = _soon(self._packages, by) or Packages("", {})
        directory = _soon(self._directory, by)
        mark = None
        if directory is not None and look.rank == 0:
            _aside(lambda: directory.sweep(time.time()))
        if directory is not None and look.rank == 0 and (mark := _soon(_aside(directory.leave_mark), by)):
            cleanup.callback(directory.remove_mark, mark)
        return Facts(
            rank=look.rank,
            host=socket.gethostname(),
            node=self._here.node,
            address=address,
            interface=(_soon(self._interfaces, by) or {}).get(number),
            port=listener.port,
            python=packages.python or None,
            versions=packages.versions,
            place=directory.place if directory is not None else None,
            mark=mark,
        )

    def _facts_of_all(self, mine: Facts, peers: int, look: "_Look") -> list[Facts]:
        gathered = self._gather(_TOPIC + "facts", mine, peers, look.began + _GATHERED_BY)
        return sorted((msgspec.json.decode(one, type=Facts) for one in gathered), key=lambda facts: facts.rank)

    def _local(self, mine: Facts, number: str) -> list[Finding]:
        """Return the findings of this node alone."""
        local = []
        present = set((_soon(self._interfaces, time.monotonic()) or {}).values())
        if present and not findings.is_present(self._here.interface or "", present):
            local.append(findings.absent_interface(self._here.interface or "", mine, present))
        if mine.rank == 0:
            taken = ports.taken(number, self._here.variables)
            local += [findings.port_taken(mine, name, port, ports.owner(port)) for name, port in taken]
        return local

    def _verdicts(self, local: list[Finding], shared: list[Finding], peers: int, look: "_Look") -> list[Finding]:
        """Return the findings of all nodes, by rank.

        Without them only what all facts say is fatal: this node may be the slow one.
        """
        verdict_of_this_node = [[one.text, one.fatal] for one in local]
        try:
            gathered = self._gather(
                _TOPIC + "verdicts", {"rank": look.rank, "found": verdict_of_this_node}, peers, look.began + _OVER_BY
            )
        except _Incomplete:
            if any(one.fatal for one in shared):
                return []
            for one in local:
                self._say("WARNING", f"preflight: {one.text}")
            raise
        verdicts = sorted((msgspec.json.decode(one) for one in gathered), key=lambda verdict: verdict["rank"])
        return [Finding(text, fatal) for verdict in verdicts for text, fatal in verdict["found"]]

    def _gather(self, topic: str, content: Any, peers: int, deadline: float) -> list[str]:
        # As text: the master may change the spelling of keys, and package names are keys here.
        data = {"json": msgspec.json.encode(content).decode()}
        try:
            answer = self._master.all_gather(topic, data, peers=peers, timeout=max(0.1, deadline - time.monotonic()))
        except STALE:
            raise
        except DeterminedError as e:
            raise _Incomplete(f"not every node has sent its {topic.removeprefix(_TOPIC)} in time ({e.message})") from e
        return [str(one["json"]) for one in answer]


class _Look:
    """Checks of this node on the others."""

    def __init__(self, token: str, rank: int, began: float) -> None:
        self.token = token
        self.rank = rank
        self.began = began

    def reach(self, mine: Facts, everyone: Sequence[Facts]) -> list[Finding]:
        """Try to reach the chief; the chief tries to reach everyone."""
        peers = everyone[1:] if mine.rank == 0 else everyone[:1]
        hosts = len({facts.host for facts in everyone})
        deadline = self.began + _REACHED_BY
        knocks = [(peer, _aside(lambda peer=peer: self._check_connection(peer, deadline))) for peer in peers]  # type: ignore[misc]
        unreached = []
        for peer, answer in knocks:
            result = _soon(answer, deadline + _LATE_SECONDS) or ConnectionCheck(
                "its name is not resolved in time", certain=False
            )
            if result.reason is not None and result.certain:
                unreached.append(findings.unreachable(mine, peer, result.reason, hosts))
            elif result.reason is not None:
                unreached.append(findings.slow(mine, peer, result.reason))
        return unreached

    def for_mark(self, directory: CheckpointDirectory, mine: Facts, chief: Facts) -> list[Finding]:
        if chief.mark is None:
            return []
        name, deadline = chief.mark, min(self.began + _REACHED_BY, time.monotonic() + _MARK_SECONDS)
        looked = _soon(_aside(lambda: [directory.look_for(name, deadline)]), deadline + _LATE_SECONDS)
        if looked is None:
            return [findings.slow_directory(mine, chief)]
        return [] if looked[0] is None else [findings.not_shared(mine, chief, looked[0])]

    def _check_connection(self, peer: Facts, deadline: float) -> ConnectionCheck:
        return check_connection(peer.address, peer.port or 0, peer.rank, self.token, deadline)


def _aside(work: Callable[[], T]) -> "Future[T]":
    """Run `work` in a thread that nobody has to wait for: a name server or a file system may hang for minutes."""
    answer: Future[T] = Future()

    def run() -> None:
        try:
            answer.set_result(work())
        except BaseException as e:  # noqa: BLE001 (raised again where the result is asked for)
            answer.set_exception(e)

    threading.Thread(target=run, name="preflight", daemon=True).start()
    return answer


def _soon(answer: "Future[T]", deadline: float) -> T | None:
    """Return the result; None when there is none by the deadline."""
    try:
        return answer.result(max(0.0, deadline - time.monotonic()))
    except TimeoutError:
        return None
