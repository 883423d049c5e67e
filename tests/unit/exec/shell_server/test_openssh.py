"""`shell.server: openssh`: the node's own sshd, one per connection."""

import os
import pwd
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from shell_rig import TASK, TIMEOUT, ShellRig
from terminal_client import window

from determined.errors import FailedPrecondition
from determined.exec.shell_server import openssh

USER = pwd.getpwuid(os.getuid()).pw_name
MOUNTS = Path("/proc/mounts").read_text().splitlines()


@pytest.fixture
def sshd(directory: Path) -> Iterator[ShellRig]:
    if shutil.which("sshd", path="/usr/sbin:/usr/bin:/usr/local/sbin") is None or shutil.which("ssh") is None:
        pytest.skip("there is no OpenSSH here: apt-get install openssh-server openssh-client")
    rig = ShellRig(directory, "openssh", OWN="it's own\nand two lines")
    try:
        rig.wait_until_ready()
        yield rig
    finally:
        rig.close()


def as_user(rig: ShellRig, *words: str) -> list[str]:
    return [word.replace("root@", f"{USER}@") for word in rig.argv(*words)]


def run(rig: ShellRig, *words: str, stdin: bytes = b"") -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(as_user(rig, *words), input=stdin, capture_output=True, check=False, timeout=TIMEOUT)


def test_commands_run_in_the_environment_and_directory_of_the_task(sshd: ShellRig) -> None:
    done = run(sshd, 'echo $DET_TASK_ID; pwd; echo "$OWN"; exit 3')
    lines = [TASK, str(sshd.home), "it's own", "and two lines"]
    assert done.returncode == 3, sshd.log_path.read_text()
    assert done.stdout.decode().splitlines() == lines


@pytest.mark.skipif(
    os.geteuid() != 0 and "gid=" not in next((m for m in MOUNTS if " devpts " in m), "gid="),
    reason="sshd gives terminals to the group tty, which takes root where /dev/pts is mounted without gid=",
)
def test_a_terminal_works(sshd: ShellRig) -> None:
    (sshd.home / ".bashrc").write_text("PS1='READY>'\n")
    with window(as_user(sshd), rows=33, columns=99) as client:
        client.wait_for("READY>")
        client.type("stty size; echo task=$DET_TASK_ID\n")
        assert b"33 99" in client.wait_for(f"task={TASK}")
        client.type("exit 2\n")
        assert client.wait() == 2


def test_a_shell_reads_commands_from_standard_input(sshd: ShellRig) -> None:
    assert run(sshd, stdin=b"echo [$DET_TASK_ID]\n").stdout.decode() == f"[{TASK}]\n"


def test_files_are_copied(sshd: ShellRig, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("text")
    target = f"{USER}@{TASK}:{sshd.home}/b"
    subprocess.run(["scp", *sshd.options(), str(tmp_path / "a"), target], check=True, timeout=TIMEOUT)
    assert (sshd.home / "b").read_text() == "text"


def test_another_key_is_refused(sshd: ShellRig) -> None:
    from determined.master.auth import shell_keys

    sshd.write("other", shell_keys.owner_key(b"s", "another task").private)
    words = [word.replace("root@", f"{USER}@") for word in sshd.argv("true", key="other")]
    done = subprocess.run(words, capture_output=True, check=False, timeout=TIMEOUT)
    assert b"Permission denied (publickey)" in done.stderr


def test_a_node_without_sshd_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openssh, "_PLACES", "/none")
    monkeypatch.setattr(os, "defpath", "/none")
    with pytest.raises(FailedPrecondition, match=r"shell\.server"):
        openssh._find("sshd")
