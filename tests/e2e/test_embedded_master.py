"""The master `det` starts by itself: one per user, found safely, stopped, started again, backed up, mended."""

import contextlib
import json
import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cluster import HANG_SECONDS, clean_environment, det, eventually, free_port, keep_port, lives, write_experiment
from determined.api import own_master
from determined.api.own_master import MasterState
from small_relay import relaying

UNIT_API = Path(__file__).parents[1] / "unit" / "api"
sys.path.insert(0, str(UNIT_API))

from small_master import serving  # noqa: E402

DET = str(Path(sys.executable).with_name("det"))
WAITING = """
import pathlib, sys, time
print("begun", flush=True)
deadline = time.monotonic() + 300
while not pathlib.Path(sys.argv[1]).exists() and time.monotonic() < deadline:
    time.sleep(0.05)
print("let go", flush=True)
"""


def _directory(home: Path) -> Path:
    return home / "data" / "determined" / "embedded"


def _state(home: Path) -> MasterState:
    found = own_master.load(_directory(home) / "state.json")
    assert found is not None
    return found


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """A home whose embedded master does not outlive the test."""
    path = tmp_path / "home"
    path.mkdir()
    yield path
    det(path, "master", "stop", check=False)
    for pid_file in [*(_directory(path) / "runs").glob("*/pid"), _directory(path) / "master.lock"]:
        _kill(pid_file)


def _kill(pid_file: Path) -> None:
    try:
        os.kill(int(pid_file.read_text()), signal.SIGKILL)
    except (ValueError, OSError):  # just being written, or just removed: who writes it is about to end
        return


def _keep_port(state: MasterState) -> int:
    """While no master listens there nobody else is given its port."""
    return keep_port(int(state.url.rsplit(":", 1)[1]))


def test_two_submits_at_once_start_one_master_that_cli_and_sdk_find(home: Path, tmp_path: Path) -> None:
    missing = det(home, "e", "ls", check=False)
    assert missing.returncode == 1
    assert "det master start" in missing.stderr
    assert not (home / "data").exists(), "looking starts nothing"
    config = write_experiment(tmp_path / "m", "print('hello from', __name__)")
    env = clean_environment(HOME=str(home), XDG_CONFIG_HOME=str(home / "config"), XDG_DATA_HOME=str(home / "data"))
    words = [DET, "e", "create", str(config), str(config.parent), "-f"]
    both = [
        subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env) for _ in range(2)
    ]
    outputs = [each.communicate(timeout=HANG_SECONDS) for each in both]
    assert [each.returncode for each in both] == [0, 0], outputs
    assert all("hello from __main__" in out for out, _ in outputs)
    assert sum("Started a master of your own" in err for _, err in outputs) == 1
    assert len(json.loads(det(home, "e", "ls", "--json").stdout)) == 2
    code = "from determined.experimental import client; print(client.whoami().username, client.list_experiments())"
    sdk = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, check=True)
    assert sdk.stdout == "determined [Experiment(id=1), Experiment(id=2)]\n", "the SDK finds it as well"
    for name in ("state.json", "master.log", "identity", "master.yaml", "master.db", "start.lock", "master.lock"):
        assert (_directory(home) / name).stat().st_mode & 0o077 == 0, name
    assert _state(home).password not in (_directory(home) / "master.log").read_text()


def test_training_survives_a_stopped_and_a_killed_master_which_come_back_on_their_port(
    home: Path, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    config = write_experiment(tmp_path / "m", WAITING, {"entrypoint": f"python3 train.py {gate}"})
    det(home, "master", "start", "--slots", "3")
    det(home, "e", "create", str(config), str(config.parent))
    eventually(lambda: "begun" in det(home, "t", "logs", "1", check=False).stdout)
    before = _state(home)
    stopped = det(home, "master", "stop")
    _keep_port(before)
    assert "training goes on" in stopped.stdout
    assert det(home, "master", "status", check=False).returncode == 1
    det(home, "master", "start")
    again = _state(home)
    assert (again.url, again.password, again.identity) == (before.url, before.password, before.identity)
    assert len(json.loads(det(home, "slot", "--json").stdout)) == 3, "it starts as it was started before"
    os.kill(again.pid, signal.SIGKILL)
    eventually(lambda: not lives(again.pid))
    missing = det(home, "e", "ls", check=False)
    assert (missing.returncode, "det master start" in missing.stderr) == (1, True)
    det(home, "e", "create", str(config), str(config.parent), "--paused")
    assert _state(home).url == before.url
    gate.touch()
    assert det(home, "e", "wait", "1", "--polling-interval", "0.2").returncode == 0
    assert "let go" in det(home, "t", "logs", "1").stdout
    assert json.loads(det(home, "t", "describe", "1", "--json").stdout)["trial"]["restarts"] == 0


def test_slots_are_remembered_and_auto_offers_the_machines_devices_again(home: Path) -> None:
    assert "3 CPU slot(s) and no GPUs" in det(home, "master", "start", "--slots", "3").stderr
    running = det(home, "master", "start", "--slots", "auto").stderr
    assert "det master stop, then det master start --slots auto" in running
    det(home, "master", "stop")
    assert "3 CPU slot(s) and no GPUs" in det(home, "master", "start").stderr, "it says what it remembers"
    det(home, "master", "stop")
    assert "CPU slot(s)" not in det(home, "master", "start", "--slots", "auto").stderr
    det(home, "master", "stop")
    det(home, "master", "start")
    slots = json.loads(det(home, "slot", "--json").stdout)
    assert [slot for slot in slots if "artificial" in str(slot)] == []


def test_a_stranger_on_the_port_sees_no_token_and_the_master_takes_another(home: Path) -> None:
    det(home, "master", "start")
    det(home, "user", "whoami")
    before = _state(home)
    det(home, "master", "stop")
    port = _keep_port(before)
    greeting = {"version": "0.38.1", "serverVersion": before.version, "cluster_id": "x", "proofs": ["00" * 32]}
    everything = {("GET", "/info"): (200, greeting), ("GET", "/api/v1/me"): (200, {"user": {}})}
    with serving(everything, port=port) as stranger:
        assert det(home, "e", "ls", check=False).returncode == 1
        det(home, "master", "start")
        assert det(home, "user", "whoami").stdout.endswith("'determined'\n")
        assert _state(home).url != before.url
        assert stranger.tokens() == []
        assert {p.partition("?")[0] for p in stranger.paths()} == {"GET /info"}


def test_a_relay_on_the_port_that_the_master_has_left_sees_no_token_and_stops_nothing(
    home: Path, tmp_path: Path
) -> None:
    """The relay passes every byte on to the master's new port, so that only the address tells the two apart."""
    gate = tmp_path / "gate"
    config = write_experiment(tmp_path / "m", WAITING, {"entrypoint": f"python3 train.py {gate}"})
    det(home, "e", "create", str(config), str(config.parent))
    eventually(lambda: "begun" in det(home, "t", "logs", "1", check=False).stdout)
    before = _state(home)
    env = clean_environment(HOME=str(home), XDG_CONFIG_HOME=str(home / "config"), XDG_DATA_HOME=str(home / "data"))
    with (tmp_path / "followed").open("w+") as out:
        follower = subprocess.Popen([DET, "t", "logs", "-f", "1"], stdout=out, stderr=out, env=env)
        eventually(lambda: "begun" in (tmp_path / "followed").read_text())
        det(home, "master", "stop")
        with relaying(None, port=_keep_port(before)) as relay:
            det(home, "master", "start")
            relay.target = _state(home).url
            assert relay.target != before.url
            assert det(home, "-m", before.url, "user", "whoami").stdout.endswith("'determined'\n")
            gate.touch()
            assert follower.wait(HANG_SECONDS) == 0
            assert det(home, "e", "wait", "1", "--polling-interval", "0.2").returncode == 0
            assert relay.saw(b"GET /info?"), "it was asked who it is"
            assert not relay.saw(b"Bearer "), bytes(relay.heard)[-2000:]
    assert "let go" in (tmp_path / "followed").read_text()


def test_a_damaged_state_file_is_mended_and_an_unsafe_one_refused(home: Path) -> None:
    det(home, "master", "start")
    file = _directory(home) / "state.json"
    password = _state(home).password
    file.write_text("{")
    assert "Running version" in det(home, "master", "status").stdout
    det(home, "master", "stop")
    det(home, "master", "start")
    assert _state(home).password == password
    file.chmod(0o644)
    refused = det(home, "e", "ls", check=False)
    assert (refused.returncode, "chmod 600" in refused.stderr) == (1, True)
    file.chmod(0o600)
    assert det(home, "e", "ls").returncode == 0


def test_an_older_master_is_upgraded_by_a_submit_and_keeps_its_data(home: Path, tmp_path: Path) -> None:
    config = write_experiment(tmp_path / "m", "print('x')")
    det(home, "e", "create", str(config), str(config.parent), "--paused")
    old = _state(home)
    aged = MasterState(**{f: getattr(old, f) for f in old.__struct_fields__} | {"version": "0.0.1"})
    own_master.save(_directory(home) / "state.json", aged)
    done = det(home, "e", "create", str(config), str(config.parent), "--paused")
    assert "Upgraded" in done.stderr
    assert _state(home).pid != old.pid
    assert "Created experiment 2" in done.stdout


def test_a_backup_is_restored_and_a_corrupted_database_is_told_and_left_alone(home: Path, tmp_path: Path) -> None:
    config = write_experiment(tmp_path / "m", "print('x')")
    det(home, "e", "create", str(config), str(config.parent), "--paused")
    archive = tmp_path / "backup.tar.gz"
    det(home, "master", "backup", "-o", str(archive))
    assert archive.stat().st_mode & 0o777 == 0o600
    assert "det master restore" in det(home, "master", "backup", "--help").stdout
    running = det(home, "master", "restore", str(archive), check=False)
    assert (running.returncode, "det master stop" in running.stderr) == (1, True)
    det(home, "master", "stop")
    database = _directory(home) / "master.db"
    for side in ("-wal", "-shm"):
        database.with_name(f"master.db{side}").unlink(missing_ok=True)
    broken = b"not a database at all" * 1000
    database.write_bytes(broken)
    failed = det(home, "e", "create", str(config), str(config.parent), check=False)
    assert failed.returncode == 1
    assert str(database) in failed.stderr
    assert "damaged" in failed.stderr
    assert "Traceback" not in failed.stderr
    assert database.read_bytes() == broken
    det(home, "master", "restore", str(archive))
    det(home, "master", "start")
    assert re.search(r"^\s+1 \|", det(home, "e", "ls").stdout, re.M)


def test_a_local_cluster_keeps_upstreams_flags(home: Path, tmp_path: Path) -> None:
    port = free_port()
    own = tmp_path / "master.yaml"
    own.write_text("cluster_name: mine\nresource_pools:\n  - pool_name: default\n  - pool_name: other\n")
    up = ["deploy", "--no-preflight-checks", "local", "cluster-up", "--master-port", port, "--no-gpu", "--slots", "1"]
    try:
        det(home, *up, "--agents", "2", "--master-config-path", str(own), "--initial-user-password", "Passw0rdX")
        assert len(json.loads(det(home, "agent", "--json").stdout)) == 2
        assert "clusterName: mine" in det(home, "master", "info").stdout
        taken = det(home, *up, "--cluster-name", "second", check=False)
        assert (taken.returncode, f"port {port} is taken" in taken.stderr) == (1, True)
        agent = ["--agent-name", "third", "--agent-resource-pool", "other", "--slots", "4"]
        det(home, "deploy", "local", "agent-up", "localhost", *agent)
        found = {a["id"]: a for a in json.loads(det(home, "agent", "--json").stdout)}
        assert (found["third"]["resourcePools"], len(found["third"]["slots"])) == (["other"], 4)
        refused = det(home, "deploy", "local", "agent-up", "far.example", check=False)
        assert (refused.returncode, "Ray or Slurm" in refused.stderr) == (1, True)
        det(home, "deploy", "local", "agent-down", "--agent-name", "third")
        det(home, "master", "backup", "--cluster-name", "determined", "-o", str(tmp_path / "backup.tar.gz"))
        assert "serving on port" in det(home, "deploy", "local", "logs", "--no-follow").stdout
        own.write_text("prot: 5\n")
        wrong = det(home, *up, "--master-config-path", str(own), check=False)
        assert (wrong.returncode, "`prot`" in wrong.stderr, "Traceback" in wrong.stderr) == (1, True, False)
        assert "clusterName: mine" in det(home, "master", "info").stdout, "a refused config stops nothing"
        up[up.index(port)] = free_port()
        again = det(home, *up).stderr
        assert "Restarted cluster determined" in again and f"it was at http://127.0.0.1:{port}" in again
    finally:
        det(home, "deploy", "local", "cluster-down", "--delete-db")
    database = home / "data" / "determined" / "clusters" / "determined" / "master.db"
    assert not database.exists()
    det(home, "master", "restore", str(tmp_path / "backup.tar.gz"), "--cluster-name", "determined")
    assert database.exists()
    assert "is not running" in det(home, "deploy", "local", "master-down").stdout


def test_two_masters_are_both_named_and_each_can_be_asked(home: Path, tmp_path: Path) -> None:
    config = write_experiment(tmp_path / "m", "print('x')")
    det(home, "e", "create", str(config), str(config.parent), "--paused")
    embedded = _state(home).url
    words = ["--host", "0.0.0.0", "--master-port", free_port(), "--no-gpu", "--slots", "1"]
    up = det(home, "deploy", "local", "cluster-up", *words)
    try:
        cluster = up.stdout.split()[-1]
        assert "Others reach it at http://" in up.stderr and "security.tls" in up.stderr
        assert json.loads(det(home, "e", "ls", "--json").stdout) == []
        status = det(home, "master", "status").stdout
        assert embedded in status and f"cluster determined at {cluster}" in status
        assert f"Master at {cluster}" in det(home, "master", "info").stderr
        assert len(json.loads(det(home, "-m", embedded, "e", "ls", "--json").stdout)) == 1
        assert f"cluster determined answers at {cluster}; also yours: the embedded master ({embedded})" in _on_terminal(
            home, "e", "ls"
        )
    finally:
        det(home, "deploy", "local", "cluster-down")


def _on_terminal(home: Path, *words: str) -> str:
    """Return what `det` writes to a terminal."""
    here, there = pty.openpty()
    variables = clean_environment(HOME=str(home), XDG_CONFIG_HOME=f"{home}/config", XDG_DATA_HOME=f"{home}/data")
    subprocess.run([DET, *words], stdout=subprocess.DEVNULL, stderr=there, env=variables, check=True)
    os.close(there)
    written = b""
    with contextlib.suppress(OSError):  # the other end is closed: all is read
        while piece := os.read(here, 4096):
            written += piece
    os.close(here)
    return written.decode()


def test_a_cluster_that_an_import_has_filled_lets_its_user_in(home: Path) -> None:
    """The database gets its users from the import; the master that starts afterwards knows their password."""
    runs = Path(__file__).parents[1] / "integration" / "importing" / "tracker_stores" / "tensorboard"
    det(home, "master", "import", "tensorboard", "--source", str(runs))
    det(home, "master", "start")
    assert len(json.loads(det(home, "e", "ls", "-a", "--json").stdout)) > 0
