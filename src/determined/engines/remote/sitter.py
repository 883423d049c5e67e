"""`python -m determined.engines.remote.sitter`: brings up one runner on this host and stays until it has reported all.

Its argument parsing, its signals and its status are described in `main`; where directories lie in root.py.
"""

import argparse
import logging
import os
import secrets
import select
import signal
import socket
import sys
import threading
import time
from dataclasses import dataclass
from types import FrameType
from urllib.parse import urlsplit

import msgspec

from determined import _bound_address
from determined.engines.host import directory
from determined.engines.host.directory import DirectoryState
from determined.engines.host.runner import Runner
from determined.engines.model import RunAs
from determined.engines.remote import environment, root
from determined.engines.remote.claim import Master
from determined.errors import DeterminedError, FailedPrecondition, Unavailable
from determined.wire.claim import ClaimRequest, Order, claim_proof
from determined.wire.codec import from_json
from determined.wire.report import LaunchFile

logger = logging.getLogger("determined.engines.remote.sitter")

DONE, LOST, UNWANTED = 0, 1, 2
_STDIN = 0
_STEP_SECONDS = 0.1
_END_SECONDS = 10.0  # for the kernel to end a killed task


def main(arguments: list[str]) -> int:
    """Read an `Order` (wire/claim.py), one line of JSON, from standard input; end as the runner does.

    - status 0: the runner has reported everything; 1: it is lost; 2: the master wants nothing from here any more.
    - SIGTERM: this host is to be taken away (Slurm preempts, a node drains): the task is asked to save and leave.
    - SIGINT: the task is ended. SIGUSR1: runner and task are killed at once; what they left is still reported.
    - the process that started us is gone, or, with `--leash`, our standard input ends: runner and task are killed.
    """
    starter = os.getppid()
    parser = argparse.ArgumentParser(prog="sitter", description="Run one runner of a Determined allocation.")
    parser.add_argument("--leash", action="store_true", help="kill the runner when standard input ends")
    parser.add_argument("--place", action="store_true", help="tell the master which node this is")
    options = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(levelname)s: sitter: %(message)s")
    try:
        order = from_json(_first_line(), Order)
    except (OSError, ValueError) as e:
        logger.error("no order on standard input: %s", e)
        return LOST
    requests = _Requests(leashed=options.leash, starter=starter)
    _reset_signals()
    signal.signal(signal.SIGTERM, requests.on_signal)
    signal.signal(signal.SIGINT, requests.on_signal)
    signal.signal(signal.SIGUSR1, requests.on_signal)
    master = Master(order)
    try:
        claimed = master.claim(_request(order, place=options.place), requests.is_unwanted)
    except Unavailable as e:
        logger.error(
            "%s; open the way from %s to it, or set the master's advertised_url", e.message, socket.gethostname()
        )
        return LOST
    except DeterminedError as e:
        logger.error("%s", e.message)
        return UNWANTED
    if claimed is None:
        logger.error("ended before the master answered the claim")
        return LOST
    return Sitter(order, master, claimed, requests).run()


@dataclass(slots=True)
class _Requests:
    """Requests of others to the sitter. Signal handlers only set these fields."""

    leashed: bool
    starter: int
    leave: bool = False
    end: bool = False
    kill: bool = False

    def on_signal(self, number: int, _: FrameType | None) -> None:
        if number == signal.SIGTERM:
            self.leave = True
        elif number == signal.SIGUSR1:
            self.kill = True
        else:
            self.end = True

    def is_abandoned(self) -> bool:
        """Check whether our starter is gone, or has closed the other end of our standard input."""
        return os.getppid() != self.starter or (self.leashed and _has_ended(_STDIN))

    def is_unwanted(self) -> bool:
        """Check for any request to stop: before anything has begun, all of them mean the same."""
        return self.leave or self.end or self.kill or self.is_abandoned()


class Sitter:
    """Sitter of one runner.

    It starts the runner in the main thread: the runner dies with the thread that started it.
    """

    def __init__(self, order: Order, master: Master, claimed: LaunchFile, requests: _Requests) -> None:
        self._order, self._master, self._claimed, self._requests = order, master, claimed, requests
        self._root = environment.run_root(order.run_root)
        self._run_dir = directory.locate(self._root, claimed.resource_id)
        self._runner = Runner(self._run_dir, sys.executable, amend=self._amend)

    def run(self) -> int:
        try:
            root.make(self._root)
            self._runner.launch(self._claimed, RunAs())
            held = root.occupy(self._run_dir)
        except (FailedPrecondition, Unavailable, OSError) as e:
            logger.error("%s", e)
            return LOST
        # Aside: what others left may be large.
        threading.Thread(target=root.sweep, args=(self._root, time.time()), name="sweep", daemon=True).start()
        try:
            return self._stay()
        finally:
            if held is not None:
                held.close()

    def _stay(self) -> int:
        while True:
            if self._requests.is_abandoned():
                return self._drop()
            self._follow_requests()
            state = self._runner.look()
            if state is DirectoryState.DONE:
                self._runner.clear_away(state)
                return DONE
            if state is DirectoryState.DEAD and not self._restart_runner():
                logger.error("%s", self._runner.exit_event(state).detail)
                self._runner.clear_away(state)
                return LOST
            time.sleep(_STEP_SECONDS)

    def _drop(self) -> int:
        """Kill it all. Only a runner that just reports what a dead one left gets a moment for that."""
        self._runner.end(force=True)
        deadline = time.monotonic() + _END_SECONDS
        while (state := self._runner.look()) is DirectoryState.ALIVE and time.monotonic() < deadline:
            time.sleep(_STEP_SECONDS)
        if state is not DirectoryState.ALIVE:
            self._runner.clear_away(state)
        return LOST

    def _restart_runner(self) -> bool:
        """Start a dead runner again, to report what it left. False when that is hopeless."""
        if self._runner.is_hopeless():
            return False
        if time.monotonic() < self._runner.retry_at:
            return True
        self._runner.retry_at = time.monotonic() + self._runner.next_delay
        try:
            self._runner.restart()
        except (FailedPrecondition, Unavailable, OSError) as e:
            logger.warning("the runner cannot be started again: %s", e)
        return True

    def _follow_requests(self) -> None:
        if self._requests.kill:
            self._requests.kill = False
            self._runner.end(force=True)
        if self._requests.end:
            self._requests.end = False
            self._runner.end(force=False)
        if self._requests.leave:
            self._requests.leave = False
            threading.Thread(target=self._ask_to_leave, daemon=True).start()

    def _ask_to_leave(self) -> None:
        logger.info("this host wants the task to leave; the master is asked to preempt it")
        try:
            self._master.ask_to_leave(self._claimed)
        except DeterminedError as e:
            logger.warning("the master cannot be asked: %s; the task is ended", e.message)
            self._requests.end = True

    def _amend(self, file: LaunchFile) -> LaunchFile:
        return msgspec.structs.replace(
            file,
            master_url=self._order.master_url,  # it has just been reached there
            tied_to=os.getpid(),
            visible_devices=environment.visible_devices(),
            master_cert_file=self._keep_cert(),
            master_cert_name=self._order.master_cert_name,
        )

    def _keep_cert(self) -> str | None:
        """Write the master's certificate to the run directory, where the task finds it, and return its path."""
        if self._order.master_cert is None:
            return None
        path = self._run_dir.path / "master.crt"
        try:
            path.write_text(self._order.master_cert)
        except OSError as e:
            raise Unavailable(f"{path} cannot be written: {e}; free space or correct its owner") from e
        return str(path)


def _reset_signals() -> None:
    """Reset signals that our starter blocked or ignored (Ray's workers do): we and the task must not inherit that."""
    for ignored in (signal.SIGHUP, signal.SIGQUIT):
        signal.signal(ignored, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def _first_line() -> bytes:
    """Read the first line, unbuffered: `--leash` watches what follows."""
    line = bytearray()
    while not line.endswith(b"\n"):
        got = os.read(_STDIN, 1)
        if not got:
            break
        line += got
    return bytes(line)


def _has_ended(descriptor: int) -> bool:
    """Check whether a stream has ended; a closed or broken one has. Data on it means nothing."""
    try:
        return bool(select.select([descriptor], [], [], 0)[0]) and os.read(descriptor, 4096) == b""
    except OSError:
        return True


def _request(order: Order, *, place: bool) -> ClaimRequest:
    rank = order.rank if order.rank is not None else environment.slurm_rank() or 0
    claimant = secrets.token_hex(16)
    return ClaimRequest(
        allocation_id=order.allocation_id,
        rank=rank,
        claimant=claimant,
        proof=claim_proof(order.ticket, claimant, rank, _bound_address.of_url(order.master_url)),
        address=_address(order.master_url),
        node_id=(environment.slurm_node() or socket.gethostname()) if place else None,
        slot_ids=environment.slurm_gpus() if place else None,
    )


def _address(master_url: str) -> str:
    """Return the address of the interface that leads to the master: peers use the same network. Nothing is sent."""
    url = urlsplit(master_url)
    try:
        family, kind, number, _, there = socket.getaddrinfo(url.hostname, url.port or 80, type=socket.SOCK_DGRAM)[0]
        with socket.socket(family, kind, number) as probe:
            probe.connect(there)
            return str(probe.getsockname()[0])
    except OSError:
        return "127.0.0.1"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
