"""Two masters on one PostgreSQL database would both schedule: the second one never starts."""

import contextlib
import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from determined.errors import FailedPrecondition
from determined.master.db import dialects
from determined.master.db.ownership import Ownership


def test_a_second_master_with_another_directory_is_refused(
    start_process: Any, await_port: Any, postgres_url: str, tmp_path: Path
) -> None:
    first, _ = await_port("--data-dir", str(tmp_path / "one"), "--db-url", postgres_url)
    second = start_process("--data-dir", str(tmp_path / "two"), "--db-url", postgres_url, "--port", "0")
    _, log = second.communicate(timeout=60)
    assert second.returncode == 3
    assert "another master already uses the database" in log.decode()
    assert "Traceback" not in log.decode()
    assert first.poll() is None
    first.send_signal(signal.SIGKILL)
    first.wait()
    _, port = await_port("--data-dir", str(tmp_path / "two"), "--db-url", postgres_url)
    assert port


def test_a_database_server_that_is_away_is_waited_for_and_then_named(
    start_process: Any, silent: socket.socket, tmp_path: Path
) -> None:
    url = f"postgresql://postgres@127.0.0.1:{silent.getsockname()[1]}/x"
    started = time.monotonic()
    process = start_process("--data-dir", str(tmp_path / "d"), "--db-url", url, "--port", "0")
    _, log = process.communicate(timeout=60)
    assert time.monotonic() - started > 5
    assert process.returncode == 3
    assert "cannot reach the database" in log.decode()
    assert "Traceback" not in log.decode()


def test_a_database_server_that_comes_up_late_is_used(
    start_process: Any, silent: socket.socket, postgres_url: str, postgres_server: str, tmp_path: Path
) -> None:
    url = postgres_url.replace(postgres_server.rpartition(":")[2], str(silent.getsockname()[1]))
    reader, writer = os.pipe()
    flags = ("--data-dir", str(tmp_path / "d"), "--db-url", url, "--port", "0", "--ready-fd", str(writer))
    process = start_process(*flags, pass_fds=(writer,), patient=True)
    os.close(writer)
    line = process.stderr.readline()
    assert b"trying again" in line
    forwarder = _Forwarder(silent, int(postgres_server.rpartition(":")[2]))
    try:
        with os.fdopen(reader) as told:
            assert told.readline()
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
    finally:
        forwarder.close()


def test_the_right_to_write_is_taken_again_after_the_server_dropped_the_connection(postgres_url: str) -> None:
    engine, other = dialects.create_engine(postgres_url), dialects.create_engine(postgres_url)
    ours, theirs = Ownership(engine), Ownership(other)
    ours.take()
    with pytest.raises(FailedPrecondition, match="another master"):
        theirs.take(wait=0)
    _drop_connections(postgres_url)
    ours.keep()
    with pytest.raises(FailedPrecondition, match="another master"):
        theirs.take(wait=0)
    ours.release()
    theirs.take(wait=0)
    theirs.release()
    engine.dispose()
    other.dispose()


def _drop_connections(url: str) -> None:
    """And wait until the server has done it: what they held is free by then."""
    others = "FROM pg_stat_activity WHERE datname = current_database() AND pid != pg_backend_pid()"
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute(f"SELECT pg_terminate_backend(pid) {others}")
        deadline = time.monotonic() + 60
        while admin.execute(f"SELECT count(*) {others}").fetchone() != (0,):
            assert time.monotonic() < deadline, "the server did not drop the connections"
            time.sleep(0.01)


@pytest.fixture
def silent() -> Iterator[socket.socket]:
    """A port at which nobody listens, and which nobody else can get."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield held


class _Forwarder:
    """Passes connections on to another port: a server that was not there before."""

    def __init__(self, listener: socket.socket, target: int) -> None:
        self._target = target
        self._listener = listener
        listener.listen()
        self._sockets: list[socket.socket] = [self._listener]
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def close(self) -> None:
        for sock in self._sockets:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(60)
        for sock in self._sockets:
            sock.close()

    def _accept(self) -> None:
        while True:
            try:
                here, _ = self._listener.accept()
            except OSError:
                return
            there = socket.create_connection(("127.0.0.1", self._target))
            self._sockets += [here, there]
            for pair in ((here, there), (there, here)):
                thread = threading.Thread(target=_pump, args=pair)
                self._threads.append(thread)
                thread.start()


def _pump(source: socket.socket, sink: socket.socket) -> None:
    try:
        while part := source.recv(65536):
            sink.sendall(part)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        return
