"""OpenSSH's sshd instead of AsyncSSH, for tasks that ask for it (`shell.server: openssh`): one sshd per connection.

sshd gives sessions none of the task's variables, so every session goes through a script that sets them. Terminals do
not outlive their connection here.
"""

import asyncio
import contextlib
import os
import shlex
import shutil
import socket
from collections.abc import Mapping
from pathlib import Path

from determined.errors import FailedPrecondition
from determined.exec.shell_server.login_shell import TASK_PATH, find_shell, login_argv
from determined.exec.shell_server.session_environment import home_directory, session_variables
from determined.wire.shell_settings import ShellSettings

_PLACES = "/usr/sbin:/usr/local/sbin:/usr/lib/openssh:/usr/libexec/openssh:/usr/libexec:/usr/lib/ssh"
_CONFIG = """\
HostKey {directory}/host_key
AuthorizedKeysFile {directory}/authorized_keys
AuthenticationMethods publickey
PubkeyAuthentication yes
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
UsePAM no
StrictModes no
PidFile none
AcceptEnv *
AllowTcpForwarding yes
GatewayPorts no
AllowAgentForwarding no
X11Forwarding no
PrintMotd no
PrintLastLog no
Subsystem sftp {sftp}
ForceCommand /bin/sh {directory}/enter
"""
# sshd sets these for the session itself: of the client, the terminal, the account.
_SSHDS = ("USER", "LOGNAME", "SSH_CONNECTION", "LANG")


class OpenSsh:
    """Files of the server, and an sshd for each connection.

    Raises:
        FailedPrecondition: this node has no sshd.
    """

    def __init__(self, directory: Path, settings: ShellSettings, variables: Mapping[str, str]) -> None:
        self._sshd = _find("sshd")
        if os.getuid() == 0:  # sshd of root does not start without it; images have no service that makes it
            with contextlib.suppress(OSError):
                Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
        directory.mkdir(mode=0o700, exist_ok=True)
        self._config = directory / "sshd_config"
        _write(directory / "host_key", settings.host_key)
        _write(directory / "authorized_keys", "\n".join(settings.authorized_keys) + "\n")
        _write(directory / "enter", enter_script(variables))
        _write(self._config, _CONFIG.format(directory=directory, sftp=_find("sftp-server")))

    async def serve_connection(self, connected: socket.socket) -> None:
        """Serve one connection to its end."""
        with connected:
            connected.setblocking(True)
            # sshd starts itself again by its path, and says on standard error (-e) what it would tell syslog.
            process = await asyncio.create_subprocess_exec(
                self._sshd, "-i", "-e", "-f", str(self._config), stdin=connected.fileno(), stdout=connected.fileno()
            )
        await process.wait()


def enter_script(variables: Mapping[str, str]) -> str:
    """Return the script that every session starts: it sets the task's variables and runs what the client asks for."""
    shell = find_shell(variables)
    home = home_directory(variables, os.getuid())
    exported = session_variables(variables, {}, shell=shell, home=home, is_login=True)
    lines = [
        f"export {name}={shlex.quote(value)}"
        for name, value in exported.items()
        if name.isidentifier() and name not in _SSHDS and not name.startswith("LC_")
    ]
    login = [shlex.join(login_argv(shell, interactive=flag)) for flag in (True, False)]
    return "\n".join(
        [
            *lines,
            "unset SSH_CLIENT",
            f"cd {shlex.quote(str(Path.cwd()))}",
            f'[ -n "$SSH_ORIGINAL_COMMAND" ] && unset {TASK_PATH} && exec "$SHELL" -c "$SSH_ORIGINAL_COMMAND"',
            f'[ -n "$SSH_TTY" ] && exec {login[0]}',
            f"exec {login[1]}",
            "",
        ]
    )


def _find(program: str) -> str:
    path = shutil.which(program, path=f"{os.defpath}:{_PLACES}")
    if path is None:
        raise FailedPrecondition(
            f"{program} is not on this node; install openssh-server there, or leave `shell.server` out of the config"
        )
    return path


def _write(path: Path, text: str) -> None:
    path.unlink(missing_ok=True)
    path.touch(mode=0o600)
    path.write_text(text, errors="surrogateescape")
