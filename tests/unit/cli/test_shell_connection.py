"""The ssh command of `det shell`: what it says, the files beside it, and that it connects to a real server."""

import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "exec" / "shell_server"))

from shell_rig import PROXY, SECRET, TASK, TIMEOUT, ShellRig

from determined.api.certificates import CertSpec
from determined.cli import shell_connection, ssh_process
from determined.cli.shell_connection import Connection, Master
from determined.errors import FailedPrecondition, Forbidden
from determined.master.auth import shell_keys
from determined.wire.allocation import AllocationState
from determined.wire.shell import Shell

MASTER = Master("https://master.example:8443", CertSpec(file="/a cert/100%.pem", name="other"), "ada")


def shell(**changes: object) -> Shell:
    owner = shell_keys.owner_key(SECRET, TASK)
    fields: dict[str, object] = {
        "id": TASK,
        "description": "Shell (a-b-c)",
        "job_id": "j",
        "resource_pool": "default",
        "start_time": "2026-11-18T00:00:00Z",
        "state": AllocationState.RUNNING,
        "username": "ada",
        "workspace_id": 1,
        "private_key": owner.private,
        "public_key": owner.public,
        "host_public_key": shell_keys.host_key(SECRET, TASK).public,
        "agent_user_group": {"user": "grace"},
    }
    return Shell(**(fields | changes))  # type: ignore[arg-type]


def needs_ssh() -> None:
    if shutil.which("ssh") is None:
        pytest.skip("there is no OpenSSH client here")


def effective(argv: list[str]) -> dict[str, str]:
    """Return what ssh itself understands: `ssh -G` prints it."""
    done = subprocess.run([argv[0], "-G", *argv[1:]], capture_output=True, check=True, text=True, timeout=TIMEOUT)
    return dict(line.split(" ", 1) for line in done.stdout.splitlines() if " " in line)


def test_ssh_understands_the_command(tmp_path: Path) -> None:
    needs_ssh()
    connection = shell_connection.prepare(shell(), MASTER, tmp_path)
    found = effective([*connection.argv(), "-F", "none"])
    assert (found["hostname"], found["user"]) == (TASK, "grace")
    assert found["userknownhostsfile"] == str(tmp_path / "known_hosts")
    assert found["stricthostkeychecking"] in ("true", "yes") and found["identitiesonly"] == "yes"
    words = shlex.split(found["proxycommand"].replace("%%", "%"))
    assert words[1:5] == ["-m", "determined.cli.tunnel", "https://master.example:8443", "%h"]
    assert words[5:] == ["--cert-file", "/a cert/100%.pem", "--cert-name", "other", "-u", "ada", "--auth"]


def test_a_terminal_is_left_to_ssh_unless_there_is_none_here(tmp_path: Path) -> None:
    connection = shell_connection.prepare(shell(), MASTER, tmp_path)
    assert "-T" not in connection.argv() and "-tt" not in connection.argv()
    assert "-T" in connection.argv(terminal=False)
    assert connection.argv(["-L", "1:a:2", "echo hi"])[-4:] == [f"grace@{TASK}", "-L", "1:a:2", "echo hi"]


def test_the_key_is_for_this_user_alone(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("an old one, open to all")
    (tmp_path / "key").chmod(0o644)
    shell_connection.prepare(shell(), MASTER, tmp_path)
    assert (tmp_path / "key").stat().st_mode & 0o777 == 0o600
    assert "PRIVATE KEY" in (tmp_path / "key").read_text()


def test_a_shell_whose_key_is_not_shown_belongs_to_somebody_else(tmp_path: Path) -> None:
    with pytest.raises(Forbidden, match="belongs to ada"):
        shell_connection.prepare(shell(private_key=None), MASTER, tmp_path)
    with pytest.raises(FailedPrecondition, match="host key"):
        shell_connection.prepare(shell(host_public_key=None), MASTER, tmp_path)


def test_a_host_block_says_the_same_as_the_command(tmp_path: Path) -> None:
    needs_ssh()
    connection = shell_connection.keep(shell(), MASTER, tmp_path / "cache")
    config = connection.directory / "config"
    assert config.read_text() == connection.host_block()
    by_name = effective(["ssh", "-F", str(config), f"det-{TASK[:8]}"])
    by_command = effective([*connection.argv(), "-F", "none"])
    for name in ("hostname", "user", "proxycommand", "userknownhostsfile", "identityfile", "hostkeyalias"):
        assert by_name[name] == by_command[name]


def test_kept_files_go_with_the_shell(tmp_path: Path) -> None:
    connection = shell_connection.keep(shell(), MASTER, tmp_path)
    assert shell_connection.kept(tmp_path) == [TASK]
    assert connection.directory.stat().st_mode & 0o777 == 0o700
    shell_connection.forget([TASK, "..", "", "a/../.."], tmp_path)
    assert shell_connection.kept(tmp_path) == [] and tmp_path.is_dir()
    assert shell_connection.kept(tmp_path / "none") == []


class _Direct(Connection):
    """A connection past the master, to the socket of a server."""

    def _proxy_command(self) -> str:
        return shlex.join([sys.executable, "-S", str(PROXY), str(self.directory / "s")])


@pytest.fixture
def rig() -> Iterator[ShellRig]:
    pytest.importorskip("asyncssh")
    needs_ssh()
    directory = Path(tempfile.mkdtemp(prefix="shell-"))
    rig = ShellRig(directory)
    try:
        rig.wait_until_ready()
        yield rig
    finally:
        rig.close()
        shutil.rmtree(directory, ignore_errors=True)


def test_it_connects_and_passes_the_status_on(rig: ShellRig, capfd: pytest.CaptureFixture[str]) -> None:
    shell_connection.prepare(shell(), MASTER, rig.directory)
    connection = _Direct(shell(), MASTER, rig.directory)
    assert ssh_process.run(connection.argv(["echo $DET_TASK_ID; exit 9"])) == 9
    assert capfd.readouterr().out == f"{TASK}\n"


def test_a_missing_ssh_is_named() -> None:
    with pytest.raises(FailedPrecondition, match="OpenSSH client"):
        ssh_process.run(["no-such-ssh"])


def test_a_client_that_a_signal_ended_has_its_status() -> None:
    assert ssh_process.run(["sh", "-c", "kill -TERM $$"]) == 128 + 15
