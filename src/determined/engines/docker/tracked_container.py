"""Runner in a container, as the engine tracks it: its directory on this host. Blocking; no request to Docker here."""

import asyncio
import logging
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from determined.engines.docker.api import Ended
from determined.engines.docker.container_spec import visible_devices
from determined.engines.host import directory, process, restart_delays
from determined.engines.host.directory import DirectoryState
from determined.engines.model import Container, GoneReason, Launch, Mount, RunnerGone
from determined.errors import FailedPrecondition, Unavailable
from determined.rundir.container import RESOURCES_TYPE
from determined.rundir.layout import RunDir
from determined.storage.local_base import make_base
from determined.wire.report import LaunchFile

logger = logging.getLogger(__name__)

KILLED_STATUS = 137
_MAKE_SECONDS = 60
ENDED_EARLY = "it was ended before it began"


@dataclass(slots=True)
class TrackedContainer:
    """Runner in a container.

    `launch`: what this master process asked for. `bringing`: the work that gets its container up, if any.
    `retry_at`, `idle_since`: times of the event loop's clock.
    """

    run_dir: RunDir
    name: str  # of its container
    retry_at: float = 0.0
    launch: Launch | None = None
    identity: process.Identity | None = None
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    bringing: asyncio.Task[None] | None = None
    is_fetching: bool = False  # its image
    idle_since: float = 0.0
    restarts: int = 0
    is_again: bool = False  # not its first start
    was_killed: bool = False  # by us: that death does not speak against it
    given_up: bool = False
    ended: Ended | None = None  # how its container last did

    @property
    def resource_id(self) -> str:
        return self.run_dir.path.name

    @property
    def next_delay(self) -> float:
        return restart_delays.delay_after(self.restarts)

    @property
    def retries_exhausted(self) -> bool:
        """Limit of restarts reached: from then on a request to end it is granted."""
        return restart_delays.are_exhausted(self.restarts)

    def look(self) -> tuple[DirectoryState, bool, bool]:
        """Return the state of its directory, whether a runner has begun there, and whether its records are shipped."""
        return directory.find(self.run_dir), self.has_begun(), directory.is_drained(self.run_dir)

    def has_begun(self) -> bool:
        """Check whether a runner has come so far that it can report: what it needs of its image is there."""
        return self.run_dir.control.exists()

    def only_drains(self) -> bool:
        """Check whether it was started again after its task had begun."""
        return self.is_again and self.run_dir.started.exists()

    def is_hopeless(self) -> bool:
        """Check whether it ended again and again with nothing left to report, or nobody wants its reports any more."""
        if self.given_up or self.was_ended_early():
            return True
        enough = restart_delays.ENOUGH if self.has_begun() else 1
        return self.restarts >= enough and directory.is_drained(self.run_dir)

    def was_ended_early(self) -> bool:
        """Check whether it was killed before it could report anything: if it hung there, it would only hang again."""
        return self.was_killed and not self.has_begun()

    def take(self, launch: Launch, *, known: bool) -> None:
        """Make the directory, or take up the one that is there. `known`: its node is one of ours.

        Raises:
            Unavailable: nothing can begin here now, or it was begun and its directory is gone.
            FailedPrecondition: it can never be run.
        """
        self.identity = process.resolve(launch.run_as)
        if self.run_dir.path.exists():
            self._tell(launch)
            return
        if launch.begun:
            raise Unavailable(f"it was begun, but its run directory {self.run_dir.path} is gone")
        if not known:
            raise Unavailable(f"node '{launch.node_id}' does not exist")
        if launch.container is not None:
            _check_mounts(launch.container, self.identity)
        directory.make(self.run_dir, self.identity)
        try:
            self._write(launch)
        except Unavailable:
            directory.remove(self.run_dir)
            raise

    def note_end(self, ended: Ended) -> None:
        """Record the end of its container, and note what only Docker knows for the runner that reports it."""
        self.ended = ended
        if ended.out_of_memory and ended.code == KILLED_STATUS and not self.was_killed:
            try:
                directory.write_private(self.run_dir.out_of_memory, b"", self.identity)
            except Unavailable as e:
                logger.warning("%s: %s", self.resource_id, e.message)

    def exit_event(self, state: DirectoryState, words: str) -> RunnerGone:
        """Return the event of its end. `words`: the last output of its container."""
        if state is DirectoryState.DONE:
            return RunnerGone(self.resource_id, GoneReason.EXITED)
        if self.was_ended_early():
            return RunnerGone(self.resource_id, GoneReason.NOT_STARTED, ENDED_EARLY)
        said = words or directory.last_words(self.run_dir)
        text = f"{self._how()}{': ' + said if said else ''}"
        if not self.has_begun():
            image = self.launch.container.image if self.launch and self.launch.container else None
            # The same image would fail in the same way again.
            return RunnerGone(
                self.resource_id, GoneReason.CANCELED, f"the runner does not run in image {image}; {text}"
            )
        if not directory.is_drained(self.run_dir):
            text += f"; what it could not report is kept in {directory.aside_of(self.run_dir)}"
        return RunnerGone(self.resource_id, GoneReason.LOST, text)

    def clear_away(self, state: DirectoryState) -> None:
        """Remove the directory once its end is on record. Records that never reached the master are kept."""
        directory.clear_away(self.run_dir, state)

    def _tell(self, launch: Launch) -> None:
        """Write the master's present address. A failure is only logged: the runner may be alive and well."""
        try:
            if directory.find(self.run_dir) is not DirectoryState.DONE:
                self._write(launch)
        except Unavailable as e:
            logger.warning("%s: cannot be told the master's address: %s", self.resource_id, e.message)

    def _write(self, launch: Launch) -> None:
        file: LaunchFile = msgspec.structs.replace(
            directory.launch_file(launch),
            resources_type=RESOURCES_TYPE,
            visible_devices=visible_devices(launch),
            master_cert_file=self._keep_cert(launch),
        )
        directory.write_launch(self.run_dir, file, self.identity)

    def _keep_cert(self, launch: Launch) -> str | None:
        """Copy the master's certificate to the run directory, which is mounted in every container."""
        if launch.master_cert_file is None:
            return None
        kept = self.run_dir.path / "master.crt"
        try:
            content = Path(launch.master_cert_file).read_bytes()
        except OSError as e:
            raise Unavailable(f"the master's certificate cannot be read: {e}") from e
        directory.write_private(kept, content, self.identity)
        return str(kept)

    def _how(self) -> str:
        if self.ended is None:
            return "its container is gone"
        if self.ended.out_of_memory:
            return f"its container ran out of memory (OOMKilled, status {self.ended.code})"
        return f"its container ended with status {self.ended.code}{' ' + self.ended.error if self.ended.error else ''}"


def _check_mounts(container: Container, identity: process.Identity | None) -> None:
    """Check that the task's user can reach the host paths: Docker mounts as root, and would open others' homes to it.

    Raises:
        FailedPrecondition: the user cannot reach a host path, or the storage cannot be made.
    """
    if container.shared_fs is not None:
        _make_storage(container.shared_fs, identity)
    storage = [container.shared_fs] if container.shared_fs is not None else []
    sources = [mount.source for mount in (*container.mounts, *storage)]
    if identity is None or not sources:
        return
    for path in _unreachable(sources, identity):
        raise FailedPrecondition(
            f"{path} cannot be mounted: the task's user (uid {identity.uid}) cannot reach it, or it does not exist;"
            " correct host_path, or let that user in"
        )


def _unreachable(paths: list[str], identity: process.Identity) -> list[str]:
    """List those of the paths that do not exist for this user."""
    look = 'for path; do [ -e "$path" ] || printf "%s\\n" "$path"; done'
    done = subprocess.run(
        ["sh", "-c", look, "sh", *paths],
        check=False, capture_output=True, text=True, timeout=_MAKE_SECONDS, stdin=subprocess.DEVNULL, cwd="/",
        user=identity.uid, group=identity.gid, extra_groups=identity.groups,
    )  # fmt: skip
    return done.stdout.splitlines()


def _make_storage(storage: Mount, identity: process.Identity | None) -> None:
    """Create the storage directory with the rights of the task's user, as the task itself does without a container."""
    path = Path(storage.source)
    if path.exists():
        return
    try:
        if identity is None:
            make_base(path)
        else:
            _make_as(path, identity)
    except (OSError, subprocess.SubprocessError) as e:
        why = getattr(e, "stderr", None) or e
        raise FailedPrecondition(
            f"checkpoint storage {path} cannot be made: {str(why).strip()}; make it, or correct host_path"
        ) from e


def _make_as(path: Path, identity: process.Identity) -> None:
    subprocess.run(
        ["mkdir", "-p", "-m", "1777", "--", str(path)],  # as make_base does: other users' tasks save there as well
        check=True, capture_output=True, text=True, timeout=_MAKE_SECONDS, stdin=subprocess.DEVNULL, cwd="/",
        user=identity.uid, group=identity.gid, extra_groups=identity.groups,
    )  # fmt: skip
