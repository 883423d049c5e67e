"""`det shell` against a real master: ssh through the tunnel, files, ports, other users, and a master that is killed."""

import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cluster import HANG_SECONDS, ROOT, Client, Cluster, clean_environment, det, free_port

sys.path.insert(0, str(ROOT / "tests" / "unit" / "exec" / "shell_server"))

from terminal_client import window

pytest.importorskip("asyncssh")
pytestmark = pytest.mark.skipif(shutil.which("ssh") is None, reason="apt-get install openssh-client")

NO_SLOTS = ("--config", "resources.slots=0")


@pytest.fixture(scope="module")
def shell(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """A home and the id of a shell that several tests open."""
    home = tmp_path_factory.mktemp("home")
    shell_id = det(home, "shell", "start", "-d", *NO_SLOTS, master=cluster.url).stdout.strip()
    yield home, shell_id
    det(home, "shell", "kill", shell_id, master=cluster.url)


def test_a_shell_is_started_and_runs_a_command_with_its_status(cluster: Cluster, home: Path) -> None:
    words = ("shell", "start", *NO_SLOTS, "--", "echo task=$DET_TASK_ID; exit 6")
    done = det(home, *words, master=cluster.url, check=False)
    launched = re.search(r"Launched shell \(id: (.*), name: (.*)\)", done.stdout.splitlines()[0])
    assert launched and done.returncode == 6
    assert f"task={launched[1]}" in done.stdout
    assert f"Killed shell {launched[1]}" in det(home, "shell", "kill", launched[1], master=cluster.url).stdout
    ended = det(home, "shell", "open", launched[1], "true", master=cluster.url, check=False)
    assert ended.returncode == 1 and "has ended" in ended.stderr


def test_commands_from_standard_input_run_with_the_tasks_own_det(cluster: Cluster, shell: tuple[Path, str]) -> None:
    home, shell_id = shell
    version = det(home, "--version").stdout
    given = "COLUMNS=80 det --version\nexit\n"
    assert version in det(home, "shell", "open", shell_id, master=cluster.url, stdin=given).stdout


def test_det_inside_acts_for_the_owner(cluster: Cluster, shell: tuple[Path, str]) -> None:
    home, shell_id = shell
    done = det(home, "shell", "open", shell_id, "det", "user", "whoami", master=cluster.url)
    assert "You are logged in as user 'determined'" in done.stdout
    assert "To reconnect" not in done.stdout  # it would be taken for output of the command


def test_the_log_says_that_the_server_listens(cluster: Cluster, shell: tuple[Path, str]) -> None:
    home, shell_id = shell
    det(home, "shell", "open", shell_id, "true", master=cluster.url)
    assert "Server listening on" in det(home, "shell", "logs", shell_id, master=cluster.url).stdout


def test_files_and_ports_by_the_block_of_ssh_config(cluster: Cluster, shell: tuple[Path, str], tmp_path: Path) -> None:
    home, shell_id = shell
    config = tmp_path / "config"
    config.write_text(det(home, "shell", "ssh-config", shell_id, master=cluster.url).stdout)
    environment = clean_environment(HOME=str(home), XDG_CONFIG_HOME=str(home / "config"))
    host, data = f"det-{shell_id[:8]}", tmp_path / "data"
    data.write_bytes(os.urandom(1024 * 1024))

    def run(*words: str) -> bytes:
        done = subprocess.run(words, env=environment, capture_output=True, check=False, timeout=HANG_SECONDS)
        assert done.returncode == 0, done
        return done.stdout

    run("scp", "-F", str(config), str(data), f"{host}:there")
    assert run("ssh", "-F", str(config), host, "cat there") == data.read_bytes()
    port = int(free_port())
    with socket.create_server(("127.0.0.1", 0)) as listener:
        forward = f"-L127.0.0.1:{port}:127.0.0.1:{listener.getsockname()[1]}"
        words = ["ssh", "-F", str(config), "-oExitOnForwardFailure=yes", forward]
        with subprocess.Popen([*words, host, "echo up; cat"], env=environment, stdin=-1, stdout=-1) as forwarding:
            assert forwarding.stdout is not None and forwarding.stdin is not None
            assert forwarding.stdout.readline() == b"up\n"
            with socket.create_connection(("127.0.0.1", port)) as near, listener.accept()[0] as far:
                far.sendall(b"through")
                assert near.recv(7) == b"through"
            forwarding.stdin.close()


def test_the_command_of_ssh_can_be_shown(cluster: Cluster, shell: tuple[Path, str]) -> None:
    home, shell_id = shell
    shown = det(home, "shell", "show-ssh-command", shell_id, master=cluster.url).stdout
    key = home / ".cache" / "determined" / "shell" / shell_id / "key"
    assert shown.startswith("ssh ") and str(key) in shown and key.stat().st_mode & 0o777 == 0o600


def test_another_user_gets_no_key(cluster: Cluster, shell: tuple[Path, str], tmp_path: Path) -> None:
    _, shell_id = shell
    admin = Client(cluster.url, "admin")
    admin.post("/api/v1/users", {"user": {"username": "eve", "active": True, "admin": False}, "password": "Password-1"})
    eve = Client(cluster.url, "eve", "Password-1")
    seen = eve.get(f"/api/v1/shells/{shell_id}")["shell"]
    assert not seen.get("privateKey")
    assert admin.get(f"/api/v1/shells/{shell_id}")["shell"]["privateKey"]


def test_programs_outlive_a_killed_master_and_open_returns_to_them(tmp_path: Path) -> None:
    running = Cluster(tmp_path / "cluster")
    running.start()
    home = tmp_path / "home"
    home.mkdir()
    try:
        shell_id = det(home, "shell", "start", "-d", *NO_SLOTS, master=running.url).stdout.strip()
        program = str(Path(sys.executable).with_name("det"))
        variables = [f"HOME={home}", f"XDG_CONFIG_HOME={home}/config", f"DET_MASTER={running.url}"]
        argv = ["env", *variables, program, "shell", "open", shell_id]
        with window(argv) as client:
            client.type("KEPT=value; echo na''med\n")
            client.wait_for("named")
            running.kill()
            assert client.wait() == 255
        running.start()
        with window(argv) as client:
            client.wait_for("connection broke")
            client.type("echo [$KEPT]\n")
            client.wait_for("[value]")
            client.type("exit 3\n")
            assert client.wait() == 3
        det(home, "shell", "kill", shell_id, master=running.url)
    finally:
        running.stop()
        running.end_runners()
