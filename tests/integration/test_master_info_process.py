"""`python -m determined.master` as a process: how it starts, refuses to start, and stops."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import urllib3

Start = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    running: list[subprocess.Popen[bytes]] = []

    def run(*flags: str, pass_fds: tuple[int, ...] = ()) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-m", "determined.master", "--data-dir", str(tmp_path / "data"), *flags]
        environment = {k: v for k, v in os.environ.items() if not k.startswith("DET_")}
        process = subprocess.Popen(command, stderr=subprocess.PIPE, pass_fds=pass_fds, env=environment)
        running.append(process)
        return process

    yield run
    for process in running:
        process.kill()
        process.communicate()


def _start_and_wait(start: Start, *flags: str) -> tuple["subprocess.Popen[bytes]", int]:
    """The process and the port it told us."""
    reader, writer = os.pipe()
    process = start("--port", "0", "--ready-fd", str(writer), *flags, pass_fds=(writer,))
    os.close(writer)
    with os.fdopen(reader) as told:
        text = told.readline()
    assert text, process.communicate()[1].decode()
    return process, int(text)


def _get(port: int, path: str) -> Any:
    answer = urllib3.request("GET", f"http://127.0.0.1:{port}{path}", retries=False, timeout=60)
    assert answer.status == 200
    return answer.json()


def test_started_by_hand_it_says_how_commands_reach_it(start: Start, tmp_path: Path) -> None:
    process = start("--port", "0")
    assert process.stderr is not None
    messages = (json.loads(line)["message"] for line in process.stderr)
    said = next((message for message in messages if "DET_MASTER" in message), "nothing")
    port = int((tmp_path / "data" / "master.port").read_text())
    assert said == f"to use this master: export DET_MASTER=http://127.0.0.1:{port}"


def test_it_tells_its_port_serves_and_stops_on_a_signal(start: Start, tmp_path: Path) -> None:
    process, port = _start_and_wait(start, "--cluster-name", "lab")
    assert _get(port, "/info")["cluster_name"] == "lab"
    port_file = tmp_path / "data" / "master.port"
    assert int(port_file.read_text()) == port
    process.send_signal(signal.SIGTERM)
    _, log = process.communicate(timeout=60)
    entries = [json.loads(line) for line in log.splitlines()]
    assert {"time", "level", "logger", "message"} <= entries[0].keys()
    assert not [entry for entry in entries if "traceback" in entry]
    assert not port_file.exists()


def test_files_of_the_master_are_private(start: Start, tmp_path: Path) -> None:
    _start_and_wait(start)
    for name in ("master.db", "initial-password", "master.lock"):
        assert (tmp_path / "data" / name).stat().st_mode & 0o077 == 0, name
    assert (tmp_path / "data").stat().st_mode & 0o066 == 0


def test_the_first_password_is_not_in_the_log(start: Start, tmp_path: Path) -> None:
    process, _ = _start_and_wait(start)
    process.send_signal(signal.SIGINT)
    _, log = process.communicate(timeout=60)
    password = (tmp_path / "data" / "initial-password").read_text().strip()
    assert password
    assert password not in log.decode()
    assert "initial-password" in log.decode()


def test_a_second_master_on_the_same_data_is_refused(start: Start) -> None:
    first, port = _start_and_wait(start)
    second = start("--port", "0")
    _, log = second.communicate(timeout=60)
    assert second.returncode == 3
    assert f"another master (process {first.pid}) already uses" in log.decode()
    assert _get(port, "/info")


def test_data_of_a_killed_master_is_taken_over(start: Start) -> None:
    first, port = _start_and_wait(start)
    before = _get(port, "/info")["cluster_id"]
    first.kill()
    first.wait()
    _, again = _start_and_wait(start)
    assert _get(again, "/info")["cluster_id"] == before


def test_a_damaged_database_is_named_and_kept(start: Start, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    file = tmp_path / "data" / "master.db"
    file.write_bytes(b"garbage" * 1000)
    process = start("--port", "0")
    _, log = process.communicate(timeout=60)
    assert process.returncode == 3
    assert "is damaged" in log.decode()
    assert "Traceback" not in log.decode()
    assert file.read_bytes() == b"garbage" * 1000


def test_a_taken_port_is_named(start: Start) -> None:
    with socket.socket() as squatter:
        squatter.bind(("127.0.0.1", 0))
        squatter.listen()
        port = squatter.getsockname()[1]
        process = start("--port", str(port))
        _, log = process.communicate(timeout=60)
    assert process.returncode == 2
    assert f"port {port}" in log.decode()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("prot: 8080\n", "did you mean"),
        ("port: [\n", "line"),
        ("- a\n", "mapping"),
    ],
)
def test_a_bad_config_file_is_explained(start: Start, tmp_path: Path, text: str, says: str) -> None:
    file = tmp_path / "master.yaml"
    file.write_text(text)
    process = start("--master-config-path", str(file))
    _, log = process.communicate(timeout=60)
    assert process.returncode == 2
    assert says in log.decode()
    assert "Traceback" not in log.decode()


def test_an_engine_that_does_not_exist_is_told_in_one_line(start: Start, tmp_path: Path) -> None:
    config = tmp_path / "master.yaml"
    config.write_text("resource_manager: {type: kubernetes}\n")
    process = start("--config-file", str(config), "--port", "0")
    _, said = process.communicate(timeout=60)
    assert process.returncode == 3
    assert b"cannot start: resource_manager.type=kubernetes is not supported; use agent" in said
    assert b"Traceback" not in said


def test_a_missing_config_file_is_named(start: Start) -> None:
    process = start("--config-file", "/nowhere/master.yaml")
    _, log = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "/nowhere/master.yaml" in log.decode()


def test_an_upstream_config_file_is_accepted(start: Start, tmp_path: Path) -> None:
    file = tmp_path / "master.yaml"
    file.write_text(
        "root: /usr/share/determined/master\ncluster_name: old\nscim: {enabled: false}\nlog: {level: debug}\n"
    )
    _, port = _start_and_wait(start, "--config-file", str(file))
    assert _get(port, "/info")["cluster_name"] == "old"


def test_keys_of_the_config_without_effect_are_named_once_each(start: Start, tmp_path: Path) -> None:
    file = tmp_path / "master.yaml"
    sections = {
        "cache": {"cache_dir": "/var/cache"},
        "integrations": {"pachyderm": {"address": "old:1"}},
        "security": {"authz": {"type": "basic"}},
        "resource_manager": {"type": "agent", "agent_reattach_enabled": True},
        "resource_pools": [{"pool_name": "gpu", "provider": {"type": "aws"}}],
        "telemetry": {"segment_master_key": "kept-out-of-the-log"},
    }
    file.write_text(json.dumps(sections))
    process, _ = _start_and_wait(start, "--config-file", str(file))
    process.send_signal(signal.SIGTERM)
    _, log = process.communicate(timeout=60)
    messages = [json.loads(line)["message"] for line in log.splitlines()]
    remarks = [message for message in messages if "has no effect" in message]
    keys = [
        "cache",
        "integrations",
        "resource_manager.agent_reattach_enabled",
        "resource_pools[0].provider",
    ]
    keys += ["security.authz", "telemetry.segment_master_key"]
    assert remarks == [f"config key {key} is accepted and has no effect" for key in keys]
    assert b"kept-out-of-the-log" not in log


def test_the_identity_file_answers_challenges(start: Start, tmp_path: Path) -> None:
    secret = tmp_path / "identity"
    secret.write_text("s3cret\n")
    _, port = _start_and_wait(start, "--identity-file", str(secret))
    assert [len(proof) for proof in _get(port, f"/info?challenge={'00' * 16}")["proofs"]] == [64]
