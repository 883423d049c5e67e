"""pid_server and pid_client, for launchers of one's own: a worker that dies ends the command; the status says so."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from determined.exec import pid_server

CLIENT = f"{sys.executable} -m determined.exec.pid_client"


def serve(address: str, workers: int, script: str, *options: str) -> int:
    command = [
        sys.executable,
        "-m",
        "determined.exec.pid_server",
        *options,
        address,
        str(workers),
        "--",
        "sh",
        "-c",
        script,
    ]
    return subprocess.run(command, check=False, timeout=60).returncode


@pytest.fixture
def address(tmp_path: Path) -> str:
    return str(tmp_path / "socket")


def test_workers_that_end_well_leave_the_status_to_the_command(address: str) -> None:
    assert serve(address, 2, f"{CLIENT} {address} -- true & {CLIENT} {address} -- true; wait") == 0
    assert serve(address, 1, f"{CLIENT} {address} -- true; exit 5") == 5
    assert serve(address, 1, f"{CLIENT} {address} -- true; kill -9 $$") == 128 + 9


def test_worker_that_dies_ends_a_command_that_would_wait_for_ever(address: str) -> None:
    began = time.monotonic()
    options = ("--on-fail", "SIGTERM", "--on-exit", "WAIT", "--grace-period", "0.1")
    assert serve(address, 2, f"{CLIENT} {address} -- sh -c 'kill -9 $PPID' & exec sleep 60", *options) == 128 + 15
    assert time.monotonic() - began < 30


def test_command_that_hides_a_dead_worker_is_found_out(address: str) -> None:
    hidden = f"{CLIENT} {address} -- false"
    assert serve(address, 1, f"{hidden}; exit 0", "-x", "SIGTERM", "--grace-period", "60") == 79
    trapped = f"trap 'exit 0' TERM; {hidden}; while :; do sleep 0.05; done"
    assert serve(address, 1, trapped, "-x", "SIGTERM", "--grace-period", "0") == 78


def test_command_that_leaves_before_its_workers_is_found_out(address: str) -> None:
    assert serve(address, 2, f"{CLIENT} {address} -- true") == 77


def test_command_is_ended_when_all_workers_are_done(address: str) -> None:
    assert serve(address, 1, f"{CLIENT} {address} -- true & exec sleep 60", "-e", "SIGTERM") == 128 + 15


def test_client_gives_the_status_of_its_command(address: str) -> None:
    assert serve(address, 1, f"{CLIENT} {address} -- sh -c 'exit 4'; exit $?") == 4


def test_signals_to_a_client_reach_its_command(address: str) -> None:
    worker = "trap 'exit 3' TERM; echo ready; while :; do sleep 0.05; done"
    with pid_server.listen(address):
        command = [sys.executable, "-m", "determined.exec.pid_client", address, "--", "sh", "-c", worker]
        client = subprocess.Popen(command, stdout=subprocess.PIPE)
        assert client.stdout is not None and client.stdout.readline() == b"ready\n"
        client.terminate()
        assert client.wait(60) == 3
        client.stdout.close()


def test_a_signal_nobody_knows_is_refused_before_anything_runs(address: str) -> None:
    assert serve(address, 1, "exit 0", "--on-fail", "SIGNONE") == 2


def test_addresses_of_either_internet_protocol_are_understood() -> None:
    assert pid_server.host_and_port("[::1]:70") == ("::1", 70)
    assert pid_server.host_and_port("a.example:70") == ("a.example", 70)
    assert pid_server.host_and_port("70") == ("127.0.0.1", 70)


def test_words_without_a_command_are_refused() -> None:
    for module, words in (("pid_server", ["1234", "1", "--"]), ("pid_client", ["1234"])):
        command = [sys.executable, "-m", f"determined.exec.{module}", *words]
        assert subprocess.run(command, check=False, capture_output=True, timeout=60).returncode == 1
