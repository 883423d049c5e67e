"""The files of a master process: stale, foreign or half written, and what is done to whom because of them."""

import fcntl
import json
import os
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from determined._bound_address import of_url
from determined.api import own_master
from determined.api.own_master import MasterState, UnsafeState
from determined.config import parse_yaml
from determined.deploy import process
from determined.deploy.options import MasterOptions
from determined.deploy.process import MasterProcess
from determined.errors import DeterminedError
from determined.wire.master_proof import identity_proof

IDENTITY = "the secret"


@pytest.fixture
def proven_url() -> Iterator[str]:
    """The address of somebody who knows the secret of the state file."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            nonce = bytes.fromhex(parse_qs(urlsplit(self.path).query)["challenge"][0])
            body = json.dumps({"proofs": [identity_proof(IDENTITY.encode(), nonce, of_url(url))]}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            return None

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield url
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def own(tmp_path: Path) -> MasterProcess:
    directory = tmp_path / "own"
    directory.mkdir(mode=0o700)
    return MasterProcess(directory)


@pytest.fixture
def signals(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """Signals that would have been sent: (pid, signal)."""
    sent: list[tuple[int, int]] = []
    monkeypatch.setattr(process.os, "kill", lambda pid, number: sent.append((pid, number)))
    monkeypatch.setattr(process, "_STOP_SECONDS", 0.1)
    return sent


@pytest.fixture
def like_a_master() -> Iterator[int]:
    """The pid of a process whose command line is that of a master."""
    code = "import sys; print(flush=True); sys.stdin.read()"
    running = subprocess.Popen(
        [sys.executable, "-c", code, "determined.master"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert running.stdout is not None
    running.stdout.readline()
    yield running.pid
    running.communicate()


def _state(own: MasterProcess, url: str, pid: int) -> MasterState:
    return MasterState(url=url, pid=pid, version="999", identity=IDENTITY, password="p", data_dir=str(own.directory))


def _written(own: MasterProcess, **changes: str | None) -> None:
    """Write the neighbours of a lost state file; None leaves one out."""
    files: dict[str, str | None] = {
        "master.yaml": json.dumps({"security": {"initial_user_password": "pw"}}),
        "identity": IDENTITY,
        "master.port": "1234\n",
        "master.lock": "77\n",
    }
    for name, text in (files | changes).items():
        if text is not None:
            (own.directory / name).write_text(text)


@pytest.mark.parametrize("pid", [0, -1])
def test_a_running_master_of_an_unknown_process_is_not_stopped_by_a_signal_to_everybody(
    own: MasterProcess, proven_url: str, signals: list[tuple[int, int]], pid: int
) -> None:
    own_master.save(own.state_file, _state(own, proven_url, pid))
    with pytest.raises(DeterminedError, match=r"runs, but .*master\.lock does not say as which process; .*kill PID"):
        own.stop()
    assert signals == []


def test_a_lost_state_and_an_empty_lock_file_end_in_words_too(
    own: MasterProcess, proven_url: str, signals: list[tuple[int, int]]
) -> None:
    _written(own, **{"master.port": str(urlsplit(proven_url).port), "master.lock": ""})
    own_master.write_private(own.state_file, b'{"url": "http://127.0.0.1:')
    with pytest.raises(DeterminedError, match="does not say as which process"):
        own.stop()
    assert signals == []


def test_a_master_that_does_not_stop_is_named_with_its_log(
    own: MasterProcess, proven_url: str, signals: list[tuple[int, int]], like_a_master: int
) -> None:
    own_master.save(own.state_file, _state(own, proven_url, like_a_master))
    with pytest.raises(DeterminedError, match=rf"\(pid {like_a_master}\) did not stop in 0 s; see {own.log_file}"):
        own.stop()
    assert signals == [(like_a_master, signal.SIGTERM)]


def test_a_newer_master_that_runs_is_left_alone(
    own: MasterProcess, proven_url: str, signals: list[tuple[int, int]]
) -> None:
    state = _state(own, proven_url, 77)
    own_master.save(own.state_file, state)
    assert own.start(MasterOptions(slots=3)) == (state, False)
    assert signals == [] and not (own.directory / "options.json").exists()


def test_a_busy_master_is_asked_again_as_long_as_its_process_lives(
    own: MasterProcess, like_a_master: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    own_master.save(own.state_file, _state(own, "http://127.0.0.1:1", like_a_master))
    answers = [False, False, True]
    monkeypatch.setattr(process, "proves_itself", lambda _state: answers.pop(0))
    found = own.find()
    assert found is not None and found.pid == like_a_master
    assert answers == []
    monkeypatch.setattr(process, "proves_itself", lambda _state: False)
    monkeypatch.setattr(process, "_BUSY_SECONDS", 0.0)
    assert own.find() is None


@pytest.mark.parametrize("pid", [os.getpid(), 2**22 + 1, 0, -1], ids=["ours", "unused", "zero", "negative"])
def test_a_process_that_is_no_master_is_not_waited_for(
    own: MasterProcess, pid: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    own_master.save(own.state_file, _state(own, "http://127.0.0.1:1", pid))
    asked: list[MasterState] = []
    monkeypatch.setattr(process, "proves_itself", asked.append)
    assert own.find() is None
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("changes", "url", "pid"),
    [
        ({"master.port": None}, "http://127.0.0.1:0", 77),
        ({"master.port": "12 34"}, "http://127.0.0.1:0", 77),
        ({"master.lock": None}, "http://127.0.0.1:1234", 0),
        ({"master.lock": "half a n"}, "http://127.0.0.1:1234", 0),
    ],
)
def test_what_is_left_of_a_lost_state_is_used(
    own: MasterProcess, changes: dict[str, str | None], url: str, pid: int
) -> None:
    _written(own, **changes)
    known = own._known()
    assert known is not None and (known.url, known.pid) == (url, pid)
    assert (known.identity, known.password) == (IDENTITY, "pw")
    assert own.find() is None


@pytest.mark.parametrize(
    "changes",
    [
        {"identity": None},
        {"master.yaml": None},
        {"master.yaml": '{"security": {"initial_user_pass'},
        {"master.yaml": "[]"},
        {"master.yaml": '{"security": null}'},
        {"master.yaml": '{"security": {}}'},
        {"master.yaml": '{"security": {"initial_user_password": "p", "tls": {"cert": "gone.pem"}}}'},
    ],
)
def test_a_state_that_cannot_be_put_together_again_is_none(own: MasterProcess, changes: dict[str, str | None]) -> None:
    _written(own, **changes)
    assert own._known() is None
    assert own.stop() is False


def test_a_state_file_that_others_can_read_stops_every_command(own: MasterProcess) -> None:
    own_master.save(own.state_file, _state(own, "http://127.0.0.1:1", 77))
    own.state_file.chmod(0o640)
    for command in (own.find, own.stop, lambda: own.start(MasterOptions())):
        with pytest.raises(UnsafeState, match="chmod 600"):
            command()


def test_the_lock_of_starters_is_private_also_when_it_was_not(own: MasterProcess) -> None:
    lock = own.directory / "start.lock"
    lock.touch()
    lock.chmod(0o666)
    assert own.stop() is False
    assert stat.S_IMODE(lock.stat().st_mode) == 0o600


def test_a_data_directory_is_held_as_long_as_its_lock_is(own: MasterProcess) -> None:
    assert not process._holds_data_dir(own.directory)
    path = own.directory / "master.lock"
    path.write_text("77\n")
    with path.open("r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert process._holds_data_dir(own.directory)
    assert not process._holds_data_dir(own.directory)
    assert path.read_text() == "77\n", "looking changes nothing"


def _merged(own: MasterProcess, options: MasterOptions) -> dict[str, Any]:
    path = own._config(options, "generated")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    return parse_yaml(path.read_text())


def test_a_generated_config_keeps_checkpoints_beside_the_data(own: MasterProcess) -> None:
    config = _merged(own, MasterOptions())
    assert config["checkpoint_storage"]["host_path"] == str(own.directory / "checkpoints")
    assert config["security"] == {"initial_user_password": "generated"}


def test_a_config_of_ones_own_gets_only_what_it_lacks(own: MasterProcess, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("slots: 3\nsecurity:\n  tls: {cert: c.pem, key: k.pem}\nslot_type: cuda\n")
    config = _merged(own, MasterOptions(config_file=str(file), config={"slot_type": "cpu"}))
    assert config["security"] == {"initial_user_password": "generated", "tls": {"cert": "c.pem", "key": "k.pem"}}
    assert (config["slots"], config["slot_type"]) == (3, "cpu"), "options of the command line win"
    file.write_text("security: {initial_user_password: mine}\ncheckpoint_storage: {type: directory}\n")
    config = _merged(own, MasterOptions(config_file=str(file)))
    assert config["security"]["initial_user_password"] == "mine"
    assert config["checkpoint_storage"] == {"type": "directory"}
    file.write_text("security:\n")
    assert _merged(own, MasterOptions(config_file=str(file)))["security"] == {"initial_user_password": "generated"}


def test_a_master_whose_state_is_lost_is_found_by_the_config_that_det_wrote(
    own: MasterProcess, proven_url: str
) -> None:
    _written(own, **{"master.port": str(urlsplit(proven_url).port), "master.lock": f"{os.getpid()}\n"})
    own._config(MasterOptions(), "pw")
    state = own.find()
    assert state is not None and (state.password, state.url) == ("pw", proven_url)


def test_a_config_of_ones_own_that_is_gone_is_named_with_the_way_on(own: MasterProcess, tmp_path: Path) -> None:
    with pytest.raises(DeterminedError, match=r"there is no '.*gone\.yaml', .*det master start --config-file ''"):
        own._config(MasterOptions(config_file=str(tmp_path / "gone.yaml")), "pw")


def test_a_first_start_uses_the_password_with_which_the_database_was_filled(
    own: MasterProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    own.prepare()
    written = (own.directory / "master.yaml").read_text()
    own.prepare()
    assert (own.directory / "master.yaml").read_text() == written, "a second import finds what the first has made"
    assert written.startswith("# written by det at each start; changes are lost. For settings: det ")
    password = parse_yaml(written)["security"]["initial_user_password"]

    class NotStarted(Exception):
        pass

    def refuse(options: MasterOptions, config: Path, port: int) -> None:
        assert parse_yaml(config.read_text())["security"]["initial_user_password"] == password
        raise NotStarted

    monkeypatch.setattr(own, "_launch", refuse)
    with pytest.raises(NotStarted):
        own.start(MasterOptions())


def test_a_config_that_a_start_has_written_is_left_as_it_is(own: MasterProcess) -> None:
    config = own.directory / "master.yaml"
    own.directory.mkdir(exist_ok=True)
    config.write_text('{"security": {"initial_user_password": "mine"}}')
    own.prepare()
    assert config.read_text() == '{"security": {"initial_user_password": "mine"}}'


@pytest.mark.parametrize(
    ("there", "asked", "taken"),
    [
        ({"127.0.0.1", "::1"}, "127.0.0.1", "127.0.0.1"),
        ({"::1"}, "127.0.0.1", "::1"),
        ({"127.0.0.1"}, "::1", "127.0.0.1"),
        (set(), "127.0.0.1", "127.0.0.1"),
        ({"::1"}, "10.0.0.7", "10.0.0.7"),
    ],
)
def test_an_address_of_loopback_stands_for_the_other_where_that_is_missing(
    monkeypatch: pytest.MonkeyPatch, there: set[str], asked: str, taken: str
) -> None:
    monkeypatch.setattr(process, "_has_address", there.__contains__)
    assert process.loopback(asked) == taken


def test_a_lost_state_is_looked_for_at_the_address_of_the_last_start(own: MasterProcess) -> None:
    _written(own, **{"options.json": json.dumps({"host": "::1"})})
    recovered = own._known()
    assert recovered is not None
    assert recovered.url == "http://[::1]:1234"
