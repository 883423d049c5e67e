"""A shell server as a process of its own, as the runner starts it, and OpenSSH's clients that connect to its socket."""

import json
import shlex
import socket
import subprocess
import sys
from pathlib import Path
from typing import IO, Any

from determined.master.auth import shell_keys

SECRET, TASK = b"secret of a cluster", "6f1c2a4e-0000-4000-8000-000000000001"
PROXY = Path(__file__).with_name("unix_socket_proxy.py")
TIMEOUT = 60
READY = f"Server listening on the tunnel of {TASK}\n"


class ShellRig:
    """A running server. `ssh` and the like return what the client printed."""

    def __init__(self, directory: Path, server: str = "asyncssh", **variables: str) -> None:
        self.directory = directory
        self.socket = directory / "s"
        self.home = directory / "work"
        self.home.mkdir()
        self.log_path = directory / "log"
        self._log: IO[bytes] = self.log_path.open("wb")
        settings = directory / "settings.json"
        settings.write_text(json.dumps(shell_keys.server_settings(SECRET, TASK, None, server)))
        self.write("key", shell_keys.owner_key(SECRET, TASK).private)
        self.write("known_hosts", f"{TASK} {shell_keys.host_key(SECRET, TASK).public}\n")
        own = {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "HOME": str(self.home), "DET_TASK_ID": TASK}
        own |= {"DET_SERVICE_SOCKET": str(self.socket), "DET_SERVICE_SETTINGS": str(settings), "LANG": "C.UTF-8"}
        own |= {"DET_SERVICE_PREFIX": f"/proxy/{TASK}/"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "determined.exec.shell_server"],
            env=own | variables,
            cwd=self.home,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
        )

    def wait_until_ready(self) -> None:
        assert self.process.stdout is not None
        lines = []
        while READY not in lines:
            lines.append(self.process.stdout.readline())
            assert lines[-1], f"ended early: {lines} {self.log_path.read_text()}"

    def close(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(TIMEOUT)
        finally:
            self.process.kill()
            assert self.process.stdout is not None
            self.process.stdout.close()
            self._log.close()

    def options(self, key: str = "key") -> list[str]:
        values = {
            "ProxyCommand": shlex.join([sys.executable, "-S", str(PROXY), str(self.socket)]),
            "UserKnownHostsFile": str(self.directory / "known_hosts"),
            "GlobalKnownHostsFile": "none",
            "StrictHostKeyChecking": "yes",
            "IdentityFile": str(self.directory / key),
            "IdentitiesOnly": "yes",
            "IdentityAgent": "none",
            "LogLevel": "ERROR",
        }
        return ["-F", "none", *(f"-o{name}={value}" for name, value in values.items())]

    def argv(self, *words: str, key: str = "key") -> list[str]:
        return ["ssh", *self.options(key), f"root@{TASK}", *words]

    def ssh(self, *words: str, stdin: bytes = b"", key: str = "key") -> "subprocess.CompletedProcess[bytes]":
        return subprocess.run(
            self.argv(*words, key=key), input=stdin, capture_output=True, check=False, timeout=TIMEOUT
        )

    def output(self, *words: str, stdin: bytes = b"") -> str:
        done = self.ssh(*words, stdin=stdin)
        assert done.returncode == 0, done
        return done.stdout.decode()

    def connect(self) -> Any:
        """Return a connection of AsyncSSH's client, to be entered."""
        import asyncssh

        sock = socket.socket(socket.AF_UNIX)
        sock.connect(str(self.socket))
        key = asyncssh.import_private_key(shell_keys.owner_key(SECRET, TASK).private)
        return asyncssh.connect(sock=sock, username="root", client_keys=[key], known_hosts=None)

    def write(self, name: str, text: str) -> None:
        (self.directory / name).touch(mode=0o600)
        (self.directory / name).write_text(text)
