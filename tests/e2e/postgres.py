"""A PostgreSQL server of the test's own: started, killed -9 and started again on its directory."""

import os
import pwd
import shutil
import signal
import subprocess
import time
from pathlib import Path

import psutil
import psycopg
import pytest

from cluster import HANG_SECONDS, eventually, free_port, lives

_USER = "nobody"


class PostgresServer:
    """Runs as a user of its own, for PostgreSQL refuses root. The directory must be one that user may enter."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.port = int(free_port())
        self.process: subprocess.Popen[bytes] | None = None
        self._identity = {"user": _USER, "group": pwd.getpwnam(_USER).pw_gid} if os.getuid() == 0 else {}

    @property
    def url(self) -> str:
        return f"postgresql://det@127.0.0.1:{self.port}/postgres"

    def create(self) -> None:
        self.directory.mkdir(parents=True)
        if self._identity:
            shutil.chown(self.directory, _USER, self._identity["group"])
        command = [_binary("initdb"), "-D", str(self.directory / "data"), "-A", "trust", "-U", "det", "--no-sync"]
        command += ["--encoding", "UTF8", "--locale", "C.UTF-8"]
        subprocess.run(command, check=True, capture_output=True, cwd="/", **self._identity)

    def start(self) -> None:
        command = [_binary("postgres"), "-D", str(self.directory / "data"), "-p", str(self.port)]
        command += ["-c", "listen_addresses=127.0.0.1", "-c", f"unix_socket_directories={self.directory}"]
        with Path(os.devnull).open("wb") as sink:
            self.process = subprocess.Popen(command, stdout=sink, stderr=sink, cwd="/", **self._identity)
        deadline = time.monotonic() + HANG_SECONDS
        while time.monotonic() < deadline:
            try:
                psycopg.connect(self.url, connect_timeout=20).close()
                return
            except psycopg.OperationalError:
                time.sleep(0.05)
        raise AssertionError("PostgreSQL did not come up")

    def kill(self) -> None:
        """kill -9 of the postmaster; its children end by themselves when they notice. Returns when they have: another
        server must not start while one of them may still write."""
        assert self.process is not None
        self.process.send_signal(signal.SIGSTOP)  # from now on it has no more children
        children = psutil.Process(self.process.pid).children(recursive=True)
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        eventually(lambda: not [child for child in children if lives(child.pid)])
        (self.directory / "data" / "postmaster.pid").unlink(missing_ok=True)

    def stop(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGQUIT)
            self.process.wait(timeout=HANG_SECONDS)


def _binary(name: str) -> str:
    found = shutil.which(name)
    if found:
        return found
    versions = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    if not versions:
        pytest.skip("PostgreSQL is not installed; as root: sh scripts/install_postgres.sh")
    return str(versions[-1])
