"""Commands without a terminal, by OpenSSH's client."""

import asyncio
import hashlib
import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from shell_rig import TASK, TIMEOUT, ShellRig


@pytest.fixture
def rig(shared_rig: ShellRig) -> ShellRig:
    """The server of all tests here."""
    return shared_rig


def test_the_status_of_a_command_is_that_of_ssh(rig: ShellRig) -> None:
    assert rig.ssh("exit 7").returncode == 7
    assert rig.ssh("true").returncode == 0


def test_a_command_that_a_signal_ended_is_a_failure_of_ssh(rig: ShellRig) -> None:
    assert rig.ssh("kill -KILL $$").returncode == 255


def test_output_and_errors_come_apart_and_as_they_are(rig: ShellRig) -> None:
    done = rig.ssh("cat; printf 'e\\r\\n\\000' >&2", stdin=bytes(range(256)))
    assert done.stdout == bytes(range(256)) and done.stderr == b"e\r\n\0"


def test_32_mib_go_through_in_both_directions(rig: ShellRig) -> None:
    data = os.urandom(1024 * 1024) * 32
    done = rig.ssh("cat", stdin=data)
    assert hashlib.sha256(done.stdout).digest() == hashlib.sha256(data).digest()


def test_a_command_that_reads_nothing_does_not_hang(rig: ShellRig) -> None:
    assert rig.ssh("exit 3", stdin=b"x" * 4 * 1024 * 1024).returncode == 3


def test_a_shell_without_a_terminal_reads_commands_from_standard_input(rig: ShellRig) -> None:
    assert rig.output(stdin=b"echo one\necho two; exit 0\necho three\n") == "one\ntwo\n"


def test_sessions_have_the_environment_and_directory_of_the_task(rig: ShellRig) -> None:
    assert rig.output("echo $DET_TASK_ID; pwd -P").split() == [TASK, str(rig.home.resolve())]
    assert rig.output("echo $DET_SERVICE_SETTINGS$DET_SERVICE_SOCKET") == "\n"
    assert rig.output("command -v python3").strip() == str(Path(sys.executable).with_name("python3"))


def test_the_environment_of_the_client_is_taken(rig: ShellRig) -> None:
    assert rig.output("-oSetEnv=OWN=mine", "echo $OWN") == "mine\n"


def test_nothing_of_a_bashrc_runs_before_a_command(rig: ShellRig) -> None:
    (rig.home / ".bashrc").write_text("echo from bashrc; PATH=/other:$PATH\n")
    assert rig.output("echo only this") == "only this\n"


def test_a_background_process_does_not_hold_a_connection_unless_it_writes(rig: ShellRig) -> None:
    assert rig.output("sleep 600 >/dev/null 2>&1 & echo started $!").startswith("started")


def test_a_script_like_that_of_an_editor_runs_from_standard_input(rig: ShellRig) -> None:
    """VS Code starts `bash` without a terminal, sends a script, and waits for marked lines."""
    script = b"""
        mkdir -p "$HOME/.editor-server/bin"
        printf '#!/bin/sh\\necho server runs\\n' > "$HOME/.editor-server/bin/server"
        chmod +x "$HOME/.editor-server/bin/server"
        echo "marker: start"
        echo "arch==$(uname -m)=="
        "$HOME/.editor-server/bin/server" </dev/null
        echo "marker: end"
    """
    done = subprocess.run(rig.argv("-T", "bash"), input=script, capture_output=True, check=True, timeout=TIMEOUT)
    assert done.stdout.decode().splitlines()[0] == "marker: start"
    assert done.stdout.decode().splitlines()[2:] == ["server runs", "marker: end"]


def test_a_command_goes_on_when_its_connection_is_lost(rig: ShellRig) -> None:
    mark = rig.home / "mark"
    words = f"echo started; exec >/dev/null 2>&1; while [ ! -e {rig.home}/go ]; do sleep 0.1; done; echo done > {mark}"
    client = subprocess.Popen(rig.argv(words), stdout=subprocess.PIPE)
    assert client.stdout is not None and client.stdout.readline() == b"started\n"
    client.kill()
    client.wait(TIMEOUT)
    client.stdout.close()
    (rig.home / "go").touch()
    assert rig.output(f"until [ -e {mark} ]; do sleep 0.1; done; cat {mark}") == "done\n"


def test_a_thousand_commands_leave_nothing_behind(rig: ShellRig) -> None:
    async def run() -> None:
        async with rig.connect() as connection:
            await connection.run("true", check=True)
            before = process.num_fds()
            for batch in range(100):
                answers = [connection.run(f"echo {batch * 10 + place}", check=True) for place in range(10)]
                results = await asyncio.gather(*answers)
                assert [int(str(one.stdout)) for one in results] == list(range(batch * 10, batch * 10 + 10))
            assert process.num_fds() <= before + 2
            assert not process.children(recursive=True)

    process = psutil.Process(rig.process.pid)
    asyncio.run(asyncio.wait_for(run(), 240))
