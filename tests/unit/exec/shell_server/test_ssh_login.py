"""Who gets in: the owner's key, and nothing else; the server proves itself by its own key."""

import os
import socket
import subprocess
import sys

import pytest
from shell_rig import SECRET, TASK, TIMEOUT, ShellRig

from determined.master.auth import shell_keys


def test_another_key_is_refused(rig: ShellRig) -> None:
    rig.write("other", shell_keys.owner_key(SECRET, "another task").private)
    done = rig.ssh("true", key="other")
    assert done.returncode == 255 and b"Permission denied (publickey)" in done.stderr


def test_the_servers_own_key_does_not_let_anybody_in(rig: ShellRig) -> None:
    rig.write("host", shell_keys.host_key(SECRET, TASK).private)
    assert b"Permission denied" in rig.ssh("true", key="host").stderr


def test_no_password_is_asked_for(rig: ShellRig) -> None:
    done = rig.ssh("-oPubkeyAuthentication=no", "-oBatchMode=yes", "true")
    assert b"Permission denied (publickey)" in done.stderr


def test_a_server_with_another_key_is_not_trusted(rig: ShellRig) -> None:
    known = shell_keys.host_key(SECRET, "another task").public
    (rig.directory / "known_hosts").write_text(f"{TASK} {known}\n")
    done = rig.ssh("true")
    assert done.returncode == 255 and b"Host key verification failed" in done.stderr


def test_agent_and_x11_are_not_forwarded(rig: ShellRig) -> None:
    assert rig.output("-A", "-X", "echo [$SSH_AUTH_SOCK][$DISPLAY]") == "[][]\n"


def test_a_connection_that_says_nothing_leaves_the_server_as_it_was(rig: ShellRig) -> None:
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(rig.socket))
    assert rig.output("echo on") == "on\n"
    assert "Traceback" not in rig.log_path.read_text()


def test_it_ends_when_told_to_with_a_terminal_open(rig: ShellRig) -> None:
    client = subprocess.Popen(rig.argv("-tt", "echo up; sleep 600"), stdout=subprocess.PIPE, stdin=subprocess.PIPE)
    assert client.stdout is not None and client.stdin is not None
    assert client.stdout.readline().strip() == b"up"
    rig.process.terminate()
    assert rig.process.wait(TIMEOUT) == 0
    assert client.wait(TIMEOUT) == 255
    client.stdin.close()
    client.stdout.close()


def test_without_a_runner_it_says_who_starts_it() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "determined.exec.shell_server"],
        env={"PATH": "/bin"},
        capture_output=True,
        check=False,
        timeout=TIMEOUT,
        text=True,
    )
    assert done.returncode == 1 and "DET_SERVICE_SOCKET" in done.stdout


@pytest.mark.parametrize("name", ["root", "anybody"])
def test_the_name_does_not_matter(rig: ShellRig, name: str) -> None:
    words = [word.replace("root@", f"{name}@") for word in rig.argv("id -u")]
    assert int(subprocess.run(words, capture_output=True, check=True, timeout=TIMEOUT).stdout) == os.getuid()
