"""Master process of this user: start, find, stop. Embedded masters and local clusters both are one."""

import contextlib
import errno
import fcntl
import os
import secrets
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec

from determined._version import __version__
from determined.api.certificates import first_certificate
from determined.api.own_master import (
    STATE_FILE,
    DamagedState,
    MasterState,
    UnsafeState,
    load,
    locked,
    moved_to,
    proves_itself,
    save,
    write_private,
)
from determined.deploy import environment, master_log
from determined.deploy.options import MasterOptions, keep, stored
from determined.errors import DeterminedError

_CONFIG = "master.yaml"
_NOTE = b"""\
# written by det at each start; changes are lost. For settings: det master start --config-file FILE,
# or of a cluster: det deploy local cluster-up --master-config-path FILE
"""
_READY_SECONDS = 180.0  # only ends a hang: a master that fails is noticed at once
_STOP_SECONDS = 60.0
_LOOPBACK = ("127.0.0.1", "::1")
_BUSY_SECONDS = 10.0  # how long a live process may take to prove itself before it is given up


class StartFailed(DeterminedError):
    code = "start_failed"


class MasterProcess:
    """The master whose data lies in `directory`. At most one runs there; two starters wait for each other."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.state_file = directory / STATE_FILE
        self.log_file = directory / "master.log"

    def find(self) -> MasterState | None:
        """Return the running master, proven to be ours; None when it does not run."""
        state = self._known()
        if state is None:
            return None
        deadline = time.monotonic() + _BUSY_SECONDS
        while not proves_itself(state):
            # a stale file names a process that is gone; a live master may only be too busy to answer in time
            if time.monotonic() > deadline or not _is_master(state.pid):
                return None
            time.sleep(0.1)
        return state

    def start(self, options: MasterOptions, meanwhile: Callable[[], None] | None = None) -> tuple[MasterState, bool]:
        """Start it, or return the one that runs; and whether this call started it.

        An older version is replaced (its training goes on meanwhile), a newer one is left alone. `meanwhile` is called
        while a master starts.
        """
        with self._lock():
            running = self.find()
            if running is not None and not _is_older(running.version):
                return running, False
            if running is not None:
                self._terminate(running)
            return self._spawn(options, self._known(), meanwhile), True

    def prepare(self) -> None:
        """Write the config of a master that never ran, for whoever fills its database before the first start."""
        with self._lock():
            if not (self.directory / _CONFIG).exists():
                options = stored(self.directory)
                self._config(options, options.password or self._first_password())

    def stop(self) -> bool:
        """Stop the master; return False when none was running. Training goes on; the next start finds it."""
        if not self.directory.exists():
            return False
        with self._lock():
            running = self.find()
            if running is None:
                return False
            self._terminate(running)
            return True

    def _known(self) -> MasterState | None:
        """Read the state file; rebuild it from the files beside it when it is lost or damaged."""
        try:
            state = load(self.state_file)
        except DamagedState:
            state = None
        return state or self._recovered()

    def _recovered(self) -> MasterState | None:
        try:
            config = self._written_config()
            certificate = self._certificate()
            scheme = "https" if certificate else "http"
            options = stored(self.directory)
            return MasterState(
                url=f"{scheme}://{_reached_at(options.host)}:{_number(self.directory / 'master.port')}",
                pid=_number(self.directory / "master.lock"),
                version=__version__,
                identity=(self.directory / "identity").read_text(),
                password=config["security"]["initial_user_password"],
                data_dir=str(self.directory),
                certificate=certificate,
            )
        except (FileNotFoundError, msgspec.DecodeError, KeyError, TypeError):
            return None

    def _certificate(self) -> str | None:
        """Return the certificate that the master serves, from its config; None when it serves plain http."""
        config = self._written_config()
        file = ((config["security"] or {}).get("tls") or {}).get("cert")
        return first_certificate((self.directory / file).read_text()) if file else None

    def _first_password(self) -> str:
        """Return the password of a config that `prepare` wrote: the users have it already. Else a new one."""
        try:
            return str(self._written_config()["security"]["initial_user_password"])
        except (FileNotFoundError, msgspec.MsgspecError, KeyError, TypeError):
            return secrets.token_urlsafe(12)

    def _written_config(self) -> dict[str, Any]:
        """Read the config that `_config` wrote: JSON below its note, which those of older versions lack."""
        lines = (self.directory / _CONFIG).read_bytes().splitlines(keepends=True)
        return msgspec.json.decode(b"".join(line for line in lines if not line.startswith(b"#")), type=dict[str, Any])

    @contextlib.contextmanager
    def _lock(self) -> Iterator[None]:
        # root's tasks may run as other users, who must pass to their run directories but not list ours
        self.directory.mkdir(parents=True, exist_ok=True, mode=0o711 if os.geteuid() == 0 else 0o700)
        status = self.directory.stat()
        if status.st_uid != os.getuid() or status.st_mode & 0o022:
            raise UnsafeState(
                f"{self.directory} must belong to you and be writable by you alone: chmod 700 {self.directory}"
            )
        with locked(self.directory / "start.lock"):
            yield

    def _spawn(
        self, options: MasterOptions, previous: MasterState | None, meanwhile: Callable[[], None] | None
    ) -> MasterState:
        """Start the master, on its previous port if that is free: runners that outlived it report there."""
        port = options.port
        if port == 0 and previous is not None:
            before = urlsplit(previous.url).port or 0
            port = before if is_free(options.host, before) else 0
        identity = previous.identity if previous else secrets.token_hex(32)
        password = options.password or (previous.password if previous else self._first_password())
        write_private(self.directory / "identity", identity.encode())
        config = self._config(options, password)
        keep(self.directory, options)
        process, read_fd = self._launch(options, config, port)
        try:
            if meanwhile is not None:
                meanwhile()
            port = self._wait_ready(process, read_fd)
        finally:
            os.close(read_fd)
        certificate = self._certificate()
        url = f"{'https' if certificate else 'http'}://{_reached_at(options.host)}:{port}"
        state = MasterState(
            url=url,
            pid=process.pid,
            version=__version__,
            identity=identity,
            password=password,
            data_dir=str(self.directory),
            certificate=certificate,
            past_urls=moved_to(url, previous),
        )
        save(self.state_file, state)
        return state

    def _launch(self, options: MasterOptions, config: Path, port: int) -> tuple["subprocess.Popen[bytes]", int]:
        read_fd, write_fd = os.pipe()
        command = [
            *(sys.executable, "-m", "determined.master"),
            *("--config-file", str(config), "--data-dir", str(self.directory)),
            *("--host", options.host, "--port", str(port)),
            *("--identity-file", str(self.directory / "identity"), "--ready-fd", str(write_fd)),
        ]
        if options.slots is not None:
            command += ["--slots", str(options.slots)]
        with master_log.opened(self.log_file) as log:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                pass_fds=[write_fd],
                cwd=self.directory,
                env=environment.for_master(),
            )
        os.close(write_fd)
        return process, read_fd

    def _config(self, options: MasterOptions, password: str) -> Path:
        """Write the generated config, or the user's own with what must be ours merged under it, and return its path."""
        data: dict[str, Any] = {
            "checkpoint_storage": {"type": "shared_fs", "host_path": str(self.directory / "checkpoints")},
            "security": {"initial_user_password": password},
        }
        if options.config_file:
            own = _own_config(Path(options.config_file))
            data = {**data, **own, "security": {**data["security"], **(own.get("security") or {})}}
        data.update(options.config)
        path = self.directory / _CONFIG
        write_private(path, _NOTE + msgspec.json.format(msgspec.json.encode(data), indent=2))
        return path

    def _wait_ready(self, process: "subprocess.Popen[bytes]", read_fd: int) -> int:
        deadline = time.monotonic() + _READY_SECONDS
        received = b""
        while time.monotonic() < deadline:
            readable, _, _ = select.select([read_fd], [], [], 0.2)
            if readable:
                received += os.read(read_fd, 4096)
                if received.endswith(b"\n"):
                    return int(received)
            if process.poll() is not None:
                raise StartFailed(f"the master could not start: {master_log.last_error(self.log_file)}")
        process.terminate()
        raise StartFailed(
            f"the master was not ready after {_READY_SECONDS:.0f} s: {master_log.last_error(self.log_file)}"
        )

    def _terminate(self, state: MasterState) -> None:
        if state.pid <= 0:  # a signal to 0 would reach this process and its shell, one to -1 all of this user
            raise DeterminedError(
                f"the master at {state.url} runs, but {self.directory / 'master.lock'} does not say as which process; "
                f"look for it with 'ps -ef | grep determined.master' and end it: kill PID"
            )
        with contextlib.suppress(ProcessLookupError):
            os.kill(state.pid, signal.SIGTERM)
        deadline = time.monotonic() + _STOP_SECONDS
        while time.monotonic() < deadline:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(state.pid, os.WNOHANG)
            if not proves_itself(state, timeout=0.5) and not _holds_data_dir(self.directory):
                return
            time.sleep(0.05)
        raise DeterminedError(
            f"the master (pid {state.pid}) did not stop in {_STOP_SECONDS:.0f} s; see {self.log_file}"
        )


def _own_config(path: Path) -> dict[str, Any]:
    from determined.config import parse_yaml

    try:
        return parse_yaml(path.read_text())
    except FileNotFoundError:
        raise StartFailed(
            f"there is no '{path}', the config of the last start; name another one or none:"
            " det master start --config-file FILE, det master start --config-file ''"
        ) from None


def is_free(host: str, port: int) -> bool:
    """Check that no other program listens there. What else is wrong with an address, the master itself says best."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as e:
            return e.errno != errno.EADDRINUSE
    return True


def loopback(host: str) -> str:
    """Return an address of loopback that this machine has, since some have IPv6 alone; any other `host` as it is."""
    choices = (host, *_LOOPBACK) if host in _LOOPBACK else (host,)
    return next((address for address in choices if _has_address(address)), host)


def _has_address(host: str) -> bool:
    try:
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
            probe.bind((host, 0))
    except OSError:
        return False
    return True


def _reached_at(host: str) -> str:
    if host in {"0.0.0.0", "::"}:
        return "127.0.0.1"
    return f"[{host}]" if ":" in host else host


def _number(path: Path) -> int:
    """Read a number from a file; 0 when the file is missing or holds something else."""
    try:
        return int(path.read_text())
    except (FileNotFoundError, ValueError):
        return 0


def _is_older(version: str) -> bool:
    return _parts(version) < _parts(__version__)


def _parts(version: str) -> list[int]:
    return [int(part) for part in version.split(".") if part.isdigit()]


def _is_master(pid: int) -> bool:
    """Check whether the process is a master at all: a stale pid may by now belong to any process."""
    import psutil

    try:
        return "determined.master" in psutil.Process(pid).cmdline()
    except (psutil.Error, ValueError):
        return False


def _holds_data_dir(directory: Path) -> bool:
    """Check whether some process still holds the master's own lock on the directory."""
    path = directory / "master.lock"
    if not path.exists():
        return False
    with path.open("r+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False
